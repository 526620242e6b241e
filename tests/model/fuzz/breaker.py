"""Operations for `step breaker`."""

from .base import DIVIDED, RATIOS, Source

REGIMES = {
    "streaks": {"volumes": (1000,)},
    "ratios": {"thresholds": (1000,)},
    "mixed": {},
    "division": {"macro": 0.01, "thresholds": (1000,), "params": 0.001},
    "trials": {"opens": (1, 2, 3, 5), "checks": 0.6, "thresholds": (1, 2)},
    "stepping": {"back": 0.08, "session": 2000},
    "saturate": {"saturate": 0.03, "back": 0.05, "session": 500},
    "crowded": {"unit": 1500, "volumes": (20, 50, 100), "thresholds": (30, 1000)},
}

MUST_HAPPEN = (
    "opened consecutive_failures", "opened error_ratio", "opened half_open_probe_failed",
    "half_open", "closed", "rejected open", "rejected half_open", "retry_after above 1 s",
    "late report while open", "aged hidden", "error", "time stepped back",
)


class BreakerSource(Source):
    window_ms = 60000
    malformed = tuple(
        [{"op": "params", "open_ms": 5, key: value} for key, value in (
            ("consecutive_failures", 0), ("consecutive_failures", 2**32), ("error_ratio", 0),
            ("error_ratio", 1.5), ("error_ratio", "x"), ("error_ratio", None),
            ("error_volume", 0), ("error_volume", -3), ("half_open_probes", 0),
            ("half_open_probes", 65536), ("half_open_probes", "1"))]
        + [{"op": "params", "half_open_probes": 9, "open_ms": value} for value in (0, 10**12 + 1)]
        + [{"op": "report"}, {"op": "report_probe", "failure": True}, {"op": "acquire"}])

    def __init__(self, rng, options, machine):
        options = {"unit": 6000, **options}
        super().__init__(rng, options, machine)
        self.queue.append(self.params(whole=True))

    def value(self, key):
        options = self.options
        if key == "consecutive_failures":
            return self.pick(options.get("thresholds", (1, 2, 3, 4, 5, 1000)))
        if key == "error_ratio":
            return self.pick(RATIOS)
        if key == "error_volume":
            return self.pick(options.get("volumes", (1, 2, 3, 5, 8, 20)))
        if key == "open_ms":
            return self.pick(options.get("opens", (1, 2, 10, 999, 1000, 1001, 5000, 61000)))
        return 1 + self.below(3)

    def params(self, whole=False):
        op = {"op": "params", "t": self.t}
        for key in ("consecutive_failures", "error_ratio", "error_volume",
                    "open_ms", "half_open_probes"):
            if whole or self.chance(0.4):
                op[key] = self.value(key)
        return op

    def edges(self):
        breaker = self.machine.breaker
        found = [breaker.until] * 2 if breaker.state == "open" else []
        if breaker.window:
            found.append(breaker.window[0][0] + 60000)
            if self.chance(0.2):
                found.append(self.pick(breaker.window)[0] + 60000)
        return found

    def burst(self):
        """Closed and empty, then n observations of which the last is the f-th failure."""
        failures, volume, ratio = self.pick(DIVIDED)
        early = volume - self.below(2)
        order = [True] * (failures - 1) + [False] * (early - failures)
        self.rng.shuffle(order)
        self.t += 61000
        self.queue += [
            {"op": "params", "t": self.t, "error_ratio": ratio, "error_volume": volume,
             "consecutive_failures": 1000, "open_ms": 100},
            {"op": "check", "t": self.t}, {"op": "report", "t": self.t, "failure": False}]
        self.t += 60000
        for failure in order + [True]:
            self.queue.append({"op": "report", "t": self.t, "failure": failure})
            self.t += self.chance(0.2)

    def fill(self):
        self.move()
        r = self.rng.random()
        if r < self.options.get("params", 0.02):
            self.queue.append(self.params())
        elif r < 0.02 + self.options.get("macro", 0.0):
            self.burst()
        elif r < 0.02 + self.options.get("checks", 0.35):
            self.queue.append({"op": "check", "t": self.t})
        else:
            self.queue.append({"op": "report", "t": self.t, "failure": self.failure()})


def observe(seen, op, answer, machine):
    """Count what happened, for the vacuity guard."""
    for event in answer["events"]:
        kind = event["type"].removeprefix("breaker_")
        seen[" ".join([kind] + [event[k] for k in ("rule",) if k in event])] += 1
    result = answer["result"]
    if result and result["decision"] == "reject":
        seen["rejected " + answer["state"]] += 1
        seen["retry_after above 1 s"] += result["retry_after_s"] > 1
    if op["op"] == "report" and answer["state"] == "open" and not answer["events"]:
        seen["late report while open"] += 1
    seen["aged hidden"] += answer["window_total"] < len(machine.breaker.window)
