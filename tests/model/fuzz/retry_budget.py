"""Operations for `step retry_budget`."""

from .base import Source

REGIMES = {
    "default": {"percents": (10,)},
    "mixed": {},
    "generous": {"percents": (50, 100, 101, 200, 1000), "reserves": 0.7},
    "sparse": {"unit": 12000},
    "stepping": {"back": 0.08, "session": 2000},
    "saturate": {"saturate": 0.03, "back": 0.05, "session": 500},
    "backoff": {"backoffs": 0.8},
}

MUST_HAPPEN = ("granted", "denied", "denied at 10 %", "granted at 10 %", "backoff at its cap",
               "backoff below its cap", "window dropped", "error", "time stepped back")

ENDS = (0, 1, 2, 3, 7, 25, 250, 1000, 2**31, 2**32, 2**53 + 1, 2**62, 2**63, 2**64 - 2, 2**64 - 1)
RETRIES = (1, 1, 2, 3, 4, 10, 31, 32, 33, 62, 63, 64, 65, 66, 128, 2**32, 2**64 - 1)


class RetryBudgetSource(Source):
    window_ms = 10000
    malformed = (
        {"op": "reserve"}, {"op": "reserve", "percent": 0}, {"op": "reserve", "percent": -1},
        {"op": "reserve", "percent": 2**32}, {"op": "reserve", "percent": "10"},
        {"op": "reserve", "percent": 10.5}, {"op": "nominal_backoff"},
        {"op": "nominal_backoff", "base_ms": 1, "cap_ms": 1, "retry": 0},
        {"op": "nominal_backoff", "base_ms": -1, "cap_ms": 1, "retry": 1},
        {"op": "nominal_backoff", "base_ms": 1, "cap_ms": 2**64, "retry": 1},
        {"op": "nominal_backoff", "base_ms": 1, "cap_ms": 1, "retry": 2**64},
        {"op": "nominal_backoff", "base_ms": 1, "cap_ms": 1}, {"op": "request", "t": "0"},
        {"op": "request", "t": 2**64}, {"op": "check"}, {"op": "requests"})

    def __init__(self, rng, options, machine):
        super().__init__(rng, {"unit": 1000, **options}, machine)

    def edges(self):
        window = self.machine.budget.window
        if not window:
            return []
        return [window[0][0] + 10000, self.pick(window)[0] + 10000]

    def fill(self):
        self.move()
        r = self.rng.random()
        backoffs = self.options.get("backoffs", 0.03)
        if r < backoffs:
            self.queue.append({"op": "nominal_backoff", "t": self.t, "retry": self.pick(RETRIES),
                               "base_ms": self.pick(ENDS), "cap_ms": self.pick(ENDS)})
        elif r < backoffs + (1 - backoffs) * self.options.get("reserves", 0.4):
            percents = self.options.get("percents", (1, 9, 10, 11, 20, 33, 50, 100, 2**32 - 1))
            self.queue.append({"op": "reserve", "t": self.t, "percent": self.pick(percents)})
        else:
            self.queue.append({"op": "request", "t": self.t})


def observe(seen, op, answer, machine):
    """Count what happened, for the vacuity guard."""
    if op["op"] == "reserve":
        word = "granted" if answer["result"] else "denied"
        seen[word] += 1
        seen[word + " at 10 %"] += op["percent"] == 10 and answer["requests"] >= 10
    elif op["op"] == "nominal_backoff":
        capped = answer["result"] == max(op["cap_ms"], op["base_ms"])
        seen["backoff at its cap" if capped else "backoff below its cap"] += 1
    else:
        seen["window dropped"] += answer["requests"] <= seen["last total"]
    seen["last total"] = answer["requests"]
