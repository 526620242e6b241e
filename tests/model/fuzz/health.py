"""Operations for `step health`."""

from .base import DIVIDED, RATIOS, Source

REGIMES = {
    "streaks": {"volumes": (1000,)},
    "ratios": {"thresholds": (1000,)},
    "mixed": {},
    "active": {"active": 0.45},
    "division": {"macro": 0.01, "thresholds": (1000,), "params": 0.001},
    "stepping": {"back": 0.10, "session": 2000},
    "saturate": {"saturate": 0.03, "back": 0.05, "session": 500},
    "slow": {"windows": (1000, 60000), "ejects": (1000, 30000), "volumes": (5, 20, 50),
             "unit": 2000, "back": 0.005},
}

MUST_HAPPEN = (
    "ejected consecutive_failures", "ejected failure_ratio", "ejected half_open_probe_failed",
    "half_open", "recovered half_open_probe", "recovered fail_open", "recovered active_probe",
    "acquire refused", "slot refused", "available and expired", "expired label", "error",
    "verdict ejected", "verdict below threshold", "window dropped", "time stepped back",
)


class HealthSource(Source):
    malformed = tuple(
        [{"op": "params", "eject_ms": 5, key: value} for key, value in (
            ("window_ms", 0), ("window_ms", 10**12 + 1), ("window_ms", "5"), ("window_ms", 2.5),
            ("consecutive_failures", 0), ("consecutive_failures", 2**32), ("failure_ratio", 0),
            ("failure_ratio", 1.01), ("failure_ratio", -0.5), ("failure_ratio", "1"),
            ("failure_min_volume", 0), ("failure_min_volume", 2**32), ("half_open_probes", 0),
            ("half_open_probes", 65536), ("half_open_probes", True))]
        + [{"op": "params", "window_ms": 7, "eject_ms": value} for value in (0, -1, 10**13)]
        + [{"op": "report_probe"}, {"op": "verdict"}, {"op": "verdict", "ok": 0},
           {"op": "active", "success_threshold": 0, "failure_threshold": 2},
           {"op": "active", "success_threshold": 1, "failure_threshold": 2**32},
           {"op": "active", "success_threshold": 1}, {"op": "active", "failure_threshold": 1},
           {"op": "check"}, {"op": "label"}])

    def __init__(self, rng, options, machine):
        super().__init__(rng, options, machine)
        self.verdicts = options.get("active", 0.1)
        self.queue.append(self.params(whole=True))

    def value(self, key):
        options = self.options
        if key == "window_ms":
            self.window_ms = self.pick(options.get("windows", (1, 2, 5, 10, 20, 50)))
            return self.window_ms
        if key == "consecutive_failures":
            return self.pick(options.get("thresholds", (1, 2, 3, 4, 4, 1000)))
        if key == "failure_ratio":
            return self.pick(RATIOS)
        if key == "failure_min_volume":
            return self.pick(options.get("volumes", (1, 2, 3, 5, 8, 12, 20)))
        if key == "eject_ms":
            return self.pick(options.get("ejects", (1, 2, 5, 10, 30)))
        return 1 + self.below(3)

    def params(self, whole=False):
        op = {"op": "params", "t": self.t}
        for key in ("window_ms", "consecutive_failures", "failure_ratio",
                    "failure_min_volume", "eject_ms", "half_open_probes"):
            if whole or self.chance(0.4):
                op[key] = self.value(key)
        return op

    def edges(self):
        tracker = self.machine.tracker
        found = [tracker.until] if tracker.state == "ejected" else []
        window = self.machine.params.window_ms
        if tracker.window:
            found.append(tracker.window[0][0] + window)
            found.append(self.pick(tracker.window)[0] + window)
        return found

    def burst(self):
        """An empty window, then n observations of which the last is the f-th failure."""
        failures, volume, ratio = self.pick(DIVIDED)
        self.t += self.machine.params.window_ms + 30
        early = volume - self.below(2)
        order = [True] * (failures - 1) + [False] * (early - failures)
        self.rng.shuffle(order)
        settle = {"t": self.t, "failure": False}
        self.queue.append({"op": "params", "t": self.t, "window_ms": 1000, "failure_ratio": ratio,
                           "consecutive_failures": 1000, "failure_min_volume": volume})
        self.queue += [{"op": "report_probe", **settle}] * 2
        self.t += 1000
        for failure in order + [True]:
            self.queue.append({"op": "report", "t": self.t, "failure": failure})
            self.t += self.chance(0.2)

    def fill(self):
        self.move()
        r = self.rng.random()
        if r < self.options.get("params", 0.02):
            self.queue.append(self.params())
        elif r < 0.03:
            if self.chance(self.options.get("macro", 0.0) * 10):
                self.burst()
            self.queue.append({"op": "active", "t": self.t, "success_threshold": 1 + self.below(3),
                               "failure_threshold": 1 + self.below(4)})
        elif r < 0.03 + self.verdicts:
            self.queue.append({"op": "verdict", "t": self.t, "ok": not self.failure()})
        else:
            self.traffic()

    def traffic(self):
        r = self.rng.random()
        if r < 0.55:
            self.queue.append({"op": "report", "t": self.t, "failure": self.failure()})
        elif r < 0.62:
            self.queue.append({"op": "report_probe", "t": self.t, "failure": self.failure()})
        else:
            name = self.pick(("is_candidate", "is_candidate", "consume_probe",
                              "acquire", "is_available"))
            self.queue.append({"op": name, "t": self.t})


def observe(seen, op, answer, machine):
    """Count what happened, for the vacuity guard."""
    name, result = op["op"], answer["result"]
    for event in answer["events"]:
        kind = event["type"].removeprefix("endpoint_")
        seen[" ".join([kind] + [event[k] for k in ("rule", "via") if k in event])] += 1
        seen["verdict ejected"] += name == "verdict" and kind == "ejected"
    if result is False:
        seen["acquire refused"] += name == "acquire"
        seen["slot refused"] += name == "consume_probe" and answer["state"] == "half_open"
    elif result and machine.tracker.state == "ejected":
        seen["available and expired"] += 1
    if name == "verdict" and op["ok"] and answer["state"] != "healthy":
        seen["verdict below threshold"] += 1
    if answer["state"] == "half_open" and machine.tracker.state == "ejected":
        seen["expired label"] += 1
    if name == "report" and not answer["events"]:
        seen["window dropped"] += answer["window_total"] <= seen["last total"]
    seen["last total"] = answer["window_total"]
