"""Operations for `step upstream`."""

from .base import RATIOS, Source

POOL = (("10.0.0.1", 8080), ("10.0.0.1", 8081), ("10.0.0.2", 8080), ("::1", 8080),
        ("2001:db8::7", 443), ("api.internal", 80), ("api.internal", 65535), ("b", 1))
KEYS = tuple(f"user-{n}" for n in range(24)) + ("", "a", "10.1.2.3", "\u00fc\u4e2d", 'q"\\')
ALL = ("round_robin", "least_requests", "random", "ip_hash", None)

REGIMES = {
    "round_robin": {"algorithms": ("round_robin", None)},
    "slow_start": {"algorithms": ("round_robin",), "slow": (1, 7, 50, 400), "rebuilds": 0.03,
                   "threshold": 30, "moods": (0.0, 0.05, 0.3)},
    "least_requests": {"algorithms": ("least_requests",), "crowd": 14},
    "random": {"algorithms": ("random",), "crowd": 10},
    "ip_hash": {"algorithms": ("ip_hash",), "slow": (0, 0, 30)},
    "mixed": {"slow": (0, 0, 5, 40), "rebuilds": 0.03},
    "storm": {"rebuilds": 0.15, "health": 0.7, "breaker": 0.6, "slow": (0, 20)},
    "bare": {"health": 0.15, "breaker": 0.15},
    "no_breaker": {"breaker": 0.0, "late": (None, "count", "ignore"), "crowd": 12},
    "breaker_only": {"health": 0.0, "breaker": 1.0, "opens": (1, 3, 8)},
    "late_ignore": {"late": ("ignore",), "breaker": 0.3, "crowd": 12},
    "all_down": {"breaker": 0.2, "moods": (0.7, 1.0), "ejects": (5, 30, 100), "few": 3},
    "stepping": {"back": 0.08, "slow": (0, 10), "session": 2000},
    "saturate": {"saturate": 0.03, "back": 0.05, "slow": (0, 10, 10**12), "session": 500},
    "heavy": {"algorithms": ("round_robin",), "weights": (1, 9, 30000, 32000), "rebuilds": 0.04,
              "slow": (0, 10**4, 10**12, 10**12), "saturate": 0.03, "session": 500},
}

MUST_HAPPEN = (
    "ejected consecutive_failures", "ejected failure_ratio", "ejected half_open_probe_failed",
    "half_open", "recovered half_open_probe", "recovered fail_open", "recovered late_report",
    "breaker opened consecutive_failures", "breaker opened error_ratio",
    "breaker opened half_open_probe_failed", "breaker half_open", "breaker closed",
    "fail_open pick", "late report ignored", "round_robin", "least_requests", "random", "ip_hash",
    "ring_walked", "slow_start_ramp", "weights_reset", "weights_kept", "breaker_refused",
    "report_to_dropped_tracker", "report_to_dropped_breaker", "late_body", "slot_returned",
    "trial_returned", "fail_open_beside_half_open", "transition by a broken body",
    "error", "time stepped back",
)

ONE = [{"address": "10.0.0.9", "port": 1}]


def endpoint(**values):
    return {"op": "rebuild", "endpoints": [{"address": "b", "port": 1, **values}]}


class UpstreamSource(Source):
    malformed = tuple(
        [{"op": "pick", "key": 5}, {"op": "pick", "key": ["a"]}, {"op": "pick", "t": -1},
         {"op": "rebuild"}, {"op": "build"}, {"op": "build", "endpoints": []},
         {"op": "rebuild", "endpoints": []}, {"op": "rebuild", "endpoints": {"address": "b"}},
         {"op": "rebuild", "endpoints": ["b:1"]}, {"op": "rebuild", "endpoints": [{"port": 1}]},
         {"op": "rebuild", "endpoints": [{"address": "b"}]},
         {"op": "rebuild", "endpoints": ONE * 2},
         {"op": "build", "endpoints": ONE, "load_balancer": "roundrobin"},
         endpoint(port=0), endpoint(port=65536), endpoint(port="1"), endpoint(address=7),
         endpoint(address=""), endpoint(weight=0), endpoint(weight=65537), endpoint(weight=-1),
         {"op": "rebuild", "endpoints": [{"address": "a", "port": 1, "weight": 65536}] + ONE},
         {"op": "done"}, {"op": "done", "dispatch": "1", "failure": True}, {"op": "abandon"},
         {"op": "done", "dispatch": -1, "failure": True}, {"op": "body_broken", "dispatch": 1.5},
         {"op": "check"}, {"op": "params", "window_ms": 5}]
        + [{"op": "rebuild", "endpoints": ONE, key: value} for key, value in (
            ("load_balancer", 3), ("late_reports", "never"), ("late_reports", True),
            ("health", True), ("breaker", 5), ("health", {"window_ms": 0}),
            ("health", {"failure_ratio": 2}), ("breaker", {"open_ms": 0}), ("slow_start_ms", -1),
            ("breaker", {"error_volume": "1"}), ("slow_start_ms", 10**12 + 1))])

    def __init__(self, rng, options, machine):
        super().__init__(rng, options, machine)
        self.endpoints = []
        self.live = []
        self.bodies = []
        self.moods = options.get("moods")
        if self.chance(0.2):
            self.queue += [{"op": "pick", "t": self.t}, {**self.load("rebuild")},
                           {"op": "done", "dispatch": 1, "failure": True}]
        self.queue.append(self.load("build"))

    # -- configuration -------------------------------------------------------

    def change_endpoints(self):
        """Add, remove, bring back, reorder, reweight, or leave."""
        listed = [dict(e) for e in self.endpoints]
        for _ in range(1 + self.below(2)):
            r = self.below(6)
            if r < 2 or not listed:
                used = {(e["address"], e["port"]) for e in listed}
                free = [place for place in POOL if place not in used]
                if free and len(listed) < self.options.get("few", 6):
                    address, port = self.pick(free)
                    listed.insert(self.below(len(listed) + 1), {"address": address, "port": port})
            elif r == 2 and len(listed) > 1:
                listed.pop(self.below(len(listed)))
            elif r == 3:
                self.rng.shuffle(listed)
            elif r == 4:
                self.pick(listed)["weight"] = self.pick(self.options.get("weights", (1, 2, 3, 5)))
        if sum(e.get("weight", 1) for e in listed) > 65536:
            listed[2:] = [{**e, "weight": 1} for e in listed[2:]]
        self.endpoints = listed
        return listed

    def health(self):
        options = self.options
        block = {"window_ms": self.pick((1, 5, 20, 50)),
                 "consecutive_failures": options.get("threshold", 1 + self.below(4)),
                 "failure_ratio": self.pick(RATIOS), "failure_min_volume": self.pick((1, 3, 8, 20)),
                 "eject_ms": self.pick(options.get("ejects", (1, 3, 10, 30))),
                 "half_open_probes": 1 + self.below(3)}
        return {key: value for key, value in block.items() if self.chance(0.97)}

    def breaker(self):
        block = {"consecutive_failures": self.pick((2, 3, 5, 8, 1000)),
                 "error_ratio": self.pick(RATIOS), "error_volume": self.pick((4, 8, 20, 30)),
                 "open_ms": self.pick(self.options.get("opens", (1, 2, 5, 12))),
                 "half_open_probes": 1 + self.below(3)}
        return {key: value for key, value in block.items() if self.chance(0.97)}

    def load(self, name):
        """A `build` or `rebuild`; absent keys are absent on purpose."""
        options = self.options
        if name == "build":
            self.endpoints = []
            for _ in range(4):
                self.change_endpoints()
        op = {"op": name, "t": self.t, "endpoints": self.change_endpoints()}
        if not op["endpoints"]:
            return self.load(name)
        if self.chance(options.get("health", 0.9)):
            op["health"] = self.health()
        if self.chance(options.get("breaker", 0.5)):
            op["breaker"] = self.breaker()
        for key, value in (("load_balancer", self.pick(options.get("algorithms", ALL))),
                           ("late_reports", self.pick(options.get("late", (None, None, "ignore")))),
                           ("slow_start_ms", self.pick(options.get("slow", (None,))))):
            if value is not None:
                op[key] = value
        return op

    # -- clock and moods -----------------------------------------------------

    def edges(self):
        upstream = self.machine.upstream
        if upstream is None:
            return []
        found = []
        slow = upstream.config.slow_start_ms
        for e in upstream.endpoints:
            if e.tracker and e.tracker.state == "ejected":
                found.append(e.tracker.until)
            if e.tracker and e.tracker.window:
                found.append(e.tracker.window[0][0] + upstream.config.health.window_ms)
            if slow and e.added_at is not None:
                found += [e.added_at + slow, e.added_at + slow - slow // 8]
        breaker = upstream.breaker
        if breaker and breaker.state == "open":
            found += [breaker.until] * 2
        if breaker and breaker.window and self.chance(0.1):
            found.append(breaker.window[0][0] + 60000)
        return found

    def failure(self):
        if self.moods and self.chance(0.04):
            self.failing = self.pick(self.moods)
        return self.chance(self.failing) if self.moods else super().failure()

    # -- traffic -------------------------------------------------------------

    def fill(self):
        """A reload, a wrong dispatch, a broken body, an end, or a pick."""
        self.move()
        crowd = self.options.get("crowd", 6)
        rebuilds = self.options.get("rebuilds", 0.01)
        r = self.rng.random() - rebuilds
        if r < 0:
            self.queue.append(self.load("rebuild"))
        elif r < 0.0004:
            self.live, self.bodies = [], []
            self.queue.append(self.load("build"))
        elif r < 0.02:
            self.wrong_dispatch()
        elif r < 0.07 and self.bodies:
            number = self.bodies.pop(self.below(len(self.bodies)))
            self.queue.append({"op": "body_broken", "t": self.t, "dispatch": number})
        elif self.live and (len(self.live) > crowd or self.chance(0.42)):
            self.finish(self.live.pop(self.below(len(self.live))))
        else:
            op = {"op": "pick", "t": self.t}
            if self.chance(0.6):
                op["key"] = self.pick(KEYS)
            self.queue.append(op)

    def finish(self, number):
        """Mostly an outcome; one in eight leaves instead."""
        if self.chance(0.12):
            self.queue.append({"op": "abandon", "t": self.t, "dispatch": number})
            return
        self.queue.append({"op": "done", "t": self.t, "dispatch": number,
                           "failure": self.failure()})
        self.bodies = self.bodies[-12:] + [number]

    def wrong_dispatch(self):
        """Unknown, finished, too early: all refused."""
        live, bodies = self.live or [0], self.bodies or [0]
        number = self.pick((0, 1, 10**6, 2**64 - 1, self.pick(live) + 1000))
        op = self.pick((
            {"op": "body_broken", "dispatch": self.pick(live)},
            {"op": "done", "dispatch": self.pick(bodies), "failure": True},
            {"op": "abandon", "dispatch": self.pick(bodies)},
            {"op": "done", "dispatch": self.pick(live)},
            {"op": "done", "dispatch": number if number != 1 or 1 not in self.live else 0,
             "failure": False}))
        self.queue.append({"t": self.t, **op})

    def learn(self, answer):
        """Dispatches are numbered by the answers."""
        if "dispatch" in answer:
            self.live.append(answer["dispatch"])


def observe(seen, op, answer, machine):
    """Count what happened, for the vacuity guard."""
    for event in answer["events"]:
        kind = event["type"].removeprefix("endpoint_").replace("breaker_", "breaker ")
        seen[" ".join([kind] + [event[k] for k in ("rule", "via") if k in event])] += 1
    if op["op"] == "body_broken" and answer["events"]:
        seen["transition by a broken body"] += 1
    if op["op"] == "build":
        seen["last fail-open"] = seen["last ignored"] = 0
    seen["fail_open pick"] += answer["fail_open_picks"] - seen["last fail-open"]
    seen["late report ignored"] += answer["late_reports_ignored"] - seen["last ignored"]
    seen["last fail-open"] = answer["fail_open_picks"]
    seen["last ignored"] = answer["late_reports_ignored"]
