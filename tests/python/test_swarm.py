"""A swarm of random scenarios: what must hold of every timeline, whatever happened in it.

The checks read the scenario and its timeline only. HALFOPEN_SWARM sets how many scenarios are run.
"""

import collections
import copy
import json
import os

import pytest

from swarm import Clock, endpoint_name, generations, model_of, ns, reduced, run, scenario

COUNT = int(os.environ.get("HALFOPEN_SWARM", "300"))
HEALTH = {"consecutive_failures": 5, "failure_ratio": 0.5, "failure_min_volume": 20, "eject_ms": 30000}
BREAKER = {"consecutive_failures": 5, "error_ratio": 0.5, "error_volume": 20, "open_ms": 30000}
ACTIVE = {"failure_threshold": 3, "success_threshold": 2, "interval_ms": 5000}
BY_PROBE = 2**32 - 1  # the volume that judges by a probe loop's parameters
# Each event: from which states, into which.
MOVES = {"endpoint_half_open": (("ejected",), "half_open"), "endpoint_recovered": (("ejected", "half_open"), "healthy"),
         "endpoint_ejected": (("healthy", "half_open"), "ejected"), "breaker_half_open": (("open",), "half_open"),
         "breaker_opened": (("closed", "half_open"), "open"), "breaker_closed": (("half_open",), "closed")}
RULES = ("consecutive_failures", "failure_ratio", "half_open_probe_failed", "error_ratio")
VIAS = {"half_open_probe": ("half_open",), "fail_open": ("ejected",), "active_probe": ("ejected", "half_open"),
        "late_report": ("ejected", "half_open")}
FAULTS = ("error", "down", "latency", "brownout", "flap", "outcomes", "hang", "truncate", "bursts",
          "cold_start")
COUNTED = "retries retries_denied fast_failed abandoned unfinished late_reports_ignored fail_open_picks".split()
PER_BIN = ("survivor_load_max", "survivor_load_mean")  # defined by bins, so they change with their width


class Judge:
    def __init__(self, given, timeline):
        self.given, self.timeline, self.wrong = given, timeline, []
        self.summary, self.series = timeline["summary"], timeline["series"]
        self.duration, self.sample = ns(given["duration_ms"]), ns(given.get("sample_ms", 1000))
        self.generations = [(ns(at), {one["name"]: one for one in found}) for at, found in generations(given)]
        self.upstreams = [one for _, found in self.generations for one in found.values()]
        self.clock = Clock(given.get("clock", {}))
        self.open, self.lanes = {}, collections.defaultdict(list)
        self.current, self.since, self.last_out = {}, 0, {}

    def holds(self, condition, what):
        if not condition:
            self.wrong.append(what)

    def same(self, got, want, what):
        self.holds(got == want, f"{what}: {got} where {want} is expected")

    def all(self):
        for check in (self.sums, self.requests, self.columns, self.walk, self.faults, self.servers):
            check()
        return self.wrong

    def sums(self):
        summary, series = self.summary, self.series
        for metric in ("requests", "ok", "failed", "fast_failed", "retries", "fail_open_picks"):
            self.same(sum(series[{"retries": "retried"}.get(metric, metric)]), summary[metric], f"sum of {metric}")
        for metric in ("attempts", "failures"):
            self.same(sum(sum(one[metric]) for one in series["endpoints"]), summary[metric], f"sum of {metric}")
        ended = summary["ok"] + summary["failed"]
        self.same(ended + summary["abandoned"] + summary["unfinished"], summary["requests"], "all requests")
        self.same(summary["success_ratio"], summary["ok"] / ended if ended else None, "success_ratio")
        admitted = summary["requests"] - summary["fast_failed"]  # no set is empty, so nobody else fails fast
        self.same(summary["attempts_per_request"], summary["attempts"] / admitted if admitted else None, "per request")
        for name, metric in (("endpoint_ejected", "ejections"), ("breaker_opened", "breaker_openings")):
            self.same(sum(e["type"] == name for e in self.timeline["events"]), summary[metric], metric)
        lanes = [i for breaker in self.timeline["intervals"]["breakers"] for i in breaker["lane"] if i["state"] == "open"]
        self.same(ns(summary["breaker_open_ms"]), sum(ns(i["to_ms"]) - ns(i["from_ms"]) for i in lanes), "breaker_open_ms")

    def requests(self):
        s, asked = self.summary, [one.get("retries", {}) for one in self.upstreams]
        admitted, failed = s["requests"] - s["fast_failed"], s["failed"] - s["fast_failed"]
        self.holds(admitted <= s["attempts"] <= admitted + s["retries"], "attempts beyond first ones and retries")
        self.holds(0 <= failed <= s["failures"] <= failed + s["retries"], "failures beyond answers and retries")
        most, tries = (max((one.get(name, default) for one in asked), default=0) for name, default in
                       (("budget_percent", 10), ("attempts", 0)))
        self.holds(s["retries"] * 100 <= most * admitted, "more retries than any budget grants")
        self.holds(s["retries"] <= tries * admitted and (tries or not s["retries_denied"]), "retries nobody asked for")
        if len(self.generations) == 1 and all("breaker" not in one for one in self.upstreams):
            whole = s["abandoned"] + s["unfinished"] > 0 or s["attempts"] == admitted + s["retries"]
            self.holds(s["fast_failed"] == 0 and whole, "requests refused, or cut short, with neither breaker nor reload")
        leaving = [{"abandon", "client"} & set(entry) for entry in self.given.get("traffic", [])]
        reasons = {"abandoned": any(leaving),
                   "late_reports_ignored": any(one.get("late_reports") == "ignore" for one in self.upstreams),
                   "fail_open_picks": any("health" in one for one in self.upstreams)}
        self.holds(all(s[metric] == 0 or reason for metric, reason in reasons.items()), f"none of {reasons}")

    def columns(self):
        series, bins = self.series, -(-self.duration // self.sample)
        for table in (series, *series["endpoints"]):
            lengths = {len(table[name]) for name in table if name not in ("endpoints", "upstream", "endpoint")}
            self.same(lengths, {bins}, "bins")
        names = [f"latency_p{percent}_ms" for percent in (50, 95, 99)]
        latencies, summary = [*zip(*(series[name] for name in names))], [self.summary[name] for name in names]
        told = [three for three in latencies if None not in three]
        for three, ok in [*zip(latencies, series["ok"]), (summary, self.summary["ok"])]:
            self.same([value is None for value in three], [ok == 0] * 3, "latency is null")
            self.holds(ok == 0 or 0 <= three[0] <= three[1] <= three[2], f"percentiles {three}")
        if told:
            within = min(three[0] for three in told) <= summary[0] and summary[2] <= max(three[2] for three in told)
            self.holds(within, f"percentiles of all {summary} beyond those of every bin")
        self.same(series["in_flight"][-1], self.summary["unfinished"], "in flight at the end")

    def walk(self):
        """Reloads and events in order give every lane; the timeline must show the same."""
        steps = [(at, 0, found) for at, found in self.generations if at < self.duration]
        events = [(ns(event["t_ms"]), 1, event) for event in self.timeline["events"]]
        self.same(events, sorted(events, key=lambda step: step[0]), "order of events")
        for t, is_event, what in sorted(steps + events, key=lambda step: step[:2]):
            (self.event if is_event else self.reload)(what, t)
        last = {key: state for key, (state, _, _) in self.open.items()}
        for key in last:
            self.move(key, None, self.duration)
        shown = collections.defaultdict(list)
        for one in self.timeline["intervals"]["endpoints"] + self.timeline["intervals"]["breakers"]:
            for i in one["lane"]:
                until = ns(i["eligible_ms"]) if "eligible_ms" in i else None
                shown[one["upstream"], one.get("endpoint")] += [(ns(i["from_ms"]), ns(i["to_ms"]), i["state"], until)]
        self.same(shown, self.lanes, "lanes")
        for one in self.series["endpoints"]:
            for i, state in enumerate(one["state"]):
                key, end = (one["upstream"], one["endpoint"]), (i + 1) * self.sample
                at_end = next((s for a, b, s, _ in self.lanes.get(key, []) if a <= end < b), None)
                self.same(state, at_end if end < self.duration else last.get(key), f"state of {key} in bin {i}")

    def move(self, key, state, t, eligible=None):
        old, since, until = self.open.get(key, (None, t, None))
        if old is not None and since < t:
            self.lanes[key].append((since, t, old, until))
        self.open[key] = (state, t, eligible)

    def state(self, key):
        return self.open.get(key, (None,))[0]

    def reload(self, found, t):
        def settle(key, there, kept, fresh):
            state = (self.state(key) if kept else fresh) if there else None
            if state != self.state(key):
                self.move(key, state, t)

        for name in {**self.current, **found}:
            old, new = self.current.get(name, {}), found.get(name, {})
            settle((name, None), "breaker" in new, "breaker" in old, "closed")
            was, now = ([endpoint_name(e) for e in one.get("endpoints", [])] for one in (old, new))
            for one in [*was, *now]:
                settle((name, one), one in now, one in was and "health" in old and "health" in new, "healthy")
        self.current, self.since = found, t

    def event(self, event, t):
        key, kind, because = (event["upstream"], event.get("endpoint")), event["type"], event["because"]
        what, (states, after), now = f"{kind} of {key} at {event['t_ms']}", MOVES[kind], self.clock.now(t)
        block, config, eligible = "health" if key[1] else "breaker", self.current.get(key[0], {}), None
        self.holds(block in config and self.state(key) in states, f"{what} from {self.state(key)}")
        if kind.endswith("half_open"):
            self.same(because, {"slots": config.get(block, {}).get("half_open_probes", 1)}, what)
            self.holds(now >= self.last_out.get(key, (0, 0))[1], f"{what} before its time")
        elif after in ("ejected", "open"):
            self.put_out(event, key, t, what, config)
            self.last_out[key] = (t, now + because["for_ms"])
            eligible = self.clock.first(now + because["for_ms"], t) if after == "ejected" else None
        else:
            self.holds(because["failures"] <= because["volume"], f"{what}: {because}")
        if kind == "endpoint_recovered":
            self.recovered(event, key, t, what, config)
        self.move(key, after, t, eligible)

    def put_out(self, event, key, t, what, config):
        because, rule, defaults = event["because"], event["rule"], HEALTH if key[1] else BREAKER
        block, bins = "health" if key[1] else "breaker", t // self.sample + 1
        streak, volume, failures = (because[name] for name in ("streak", "volume", "failures"))
        share = failures / volume if volume else None
        self.same(because["ratio"], share, f"{what}: ratio")
        in_row = streak >= because["threshold"]
        by_share = not in_row and volume >= because["min_volume"] and share is not None and share >= because["limit"]
        fits = {"consecutive_failures": in_row, "half_open_probe_failed": self.state(key) == "half_open",
                "failure_ratio" if key[1] else "error_ratio": by_share}
        self.holds(fits.get(rule) and streak >= 1 and failures <= volume, f"{what} by {rule}: {because}")
        self.holds(rule == "half_open_probe_failed" or self.state(key) != "half_open", f"{what} by {rule}: half-open")
        judged = tuple(because[name] for name in ("threshold", "limit", "min_volume", "for_ms"))
        if because["min_volume"] == BY_PROBE:
            active, health = {**ACTIVE, **config.get("active_health", {})}, {**HEALTH, **config.get("health", {})}
            self.same(judged, (active["failure_threshold"], 1, BY_PROBE, health["eject_ms"]), what)
            slept = t - self.since >= ns(active["interval_ms"])
            return self.holds("active_health" in config and slept, f"{what} by a probe that could not be")
        # A report is judged by the parameters of its dispatch.
        known = [tuple({**defaults, **found[key[0]][block]}[name] for name in defaults)
                 for at, found in self.generations if at <= t and block in found.get(key[0], {})]
        self.holds(judged in known, f"{what}: {judged} of {known}")
        mine = (key[0], key[1]) if key[1] else (key[0],)
        seen = [one for one in self.series["endpoints"] if mine == (one["upstream"], one["endpoint"])[:len(mine)]]
        most = sum(sum(one["attempts"][:bins]) for one in seen) * (2 if key[1] else 1)  # a broken body counts again
        self.holds(volume <= most, f"{what}: observations of nothing")
        return self.holds(failures <= sum(sum(one["failures"][:bins]) for one in seen), f"{what}: failures of nobody")

    def recovered(self, event, key, t, what, config):
        via, because = event["via"], event["because"]
        self.holds(self.state(key) in VIAS[via], f"{what} via {via} from {self.state(key)}")
        picked = any(self.series["fail_open_picks"][:t // self.sample + 1])
        self.holds(via != "fail_open" or picked, f"{what} without such a pick")
        late = [found.get(key[0], {}).get("late_reports") for at, found in self.generations if at <= t]
        self.holds(via != "late_report" or set(late) != {"ignore"}, f"{what} by a report that is to be ignored")
        if via == "active_probe":
            active = {**ACTIVE, **config.get("active_health", {})}
            count, interval = active["success_threshold"], ns(active["interval_ms"])
            self.same((because["successes"], because["threshold"]), (count, count), what)
            waited = t - self.since >= count * interval and t - self.last_out.get(key, (0,))[0] >= (count - 1) * interval
            self.holds("active_health" in config and waited, f"{what} by probes that could not be")

    def faults(self):
        """Of "*" first; each from its start to its end, a flap's while it is down, bursts while they are bad."""
        held = [endpoint_name(e) for _, found in self.generations for one in found.values() for e in one["endpoints"]]
        want = {(server, n): fault for server in held for n, fault in enumerate(model_of(self.given, server)["faults"])}
        told = self.timeline["intervals"]["faults"]
        self.same([(one["endpoint"], one["fault"]) for one in told], list(want), "fault lanes")
        for one, (key, fault) in zip(told, want.items()):
            kind, lane, flap = one["kind"], [(ns(a), ns(b)) for a, b in one["lane"]], fault.get("flap", {})
            scope = "traffic" if kind == "outcomes" else fault.get("scope", "both")
            self.holds(kind in fault and one["scope"] == scope, f"fault {key}: {kind} of {scope}")
            begin, end = ns(fault.get("from_ms", 0)), min(ns(fault.get("to_ms", 10**10)), self.duration)
            if kind == "bursts":
                edges = [begin, *(edge for part in lane for edge in part), end]
                rising = all(a < b for a, b in zip(edges[1:-2], edges[2:-1]))
                self.holds(not lane or rising and begin <= edges[1] and edges[-2] <= end, f"fault {key}: {lane}")
                continue
            if kind == "cold_start":
                self.same(lane, self.warm_ups(key[0], fault, begin, end), f"fault {key}")
                continue
            if not flap:
                self.same(lane, [(begin, end)] if begin < end else [], f"fault {key}")
                continue
            up, down, jitter = (ns(flap.get(name, 0)) for name in ("up_ms", "down_ms", "jitter_ms"))
            for a, b in lane:
                self.holds(up <= a - begin <= up + jitter and a < b <= end, f"fault {key} is up until {a}")
                self.holds(b - a <= down + jitter and (b == end or b - a >= down), f"fault {key}: down {a} to {b}")
                begin = b
            self.holds(begin == end or end - begin <= up + jitter, f"fault {key} stays up")

    def warm_ups(self, server, fault, begin, end):
        """From each return until it is warm or down again, of traffic and of probes, together and cut to [begin, end)."""
        held = model_of(self.given, server)["faults"]
        told = [one for one in self.timeline["intervals"]["faults"] if one["endpoint"] == server]
        parts = []
        for scope in ("traffic", "probes"):
            if fault.get("scope", scope) not in (scope, "both"):
                continue
            downs = []
            for other in (other for other in held if other.get("scope", scope) in (scope, "both")):
                if "down" in other:
                    downs.append((ns(other.get("from_ms", 0)), ns(other.get("to_ms", 10**10))))
                elif "flap" in other:
                    lane = next(one["lane"] for one in told if one["fault"] == held.index(other))
                    downs += [(ns(a), ns(b)) for a, b in lane]
            downs = merged(downs)
            for (_, back), (again, _) in zip(downs, [*downs[1:], (self.duration, 0)]):
                parts.append((max(back, begin), min(back + ns(fault["cold_start"]["for_ms"]), again, end)))
        return merged((a, b) for a, b in parts if a < b)

    def servers(self):
        """Who can't fail doesn't, and nobody is called who is not there."""
        slow = any("read_ms" in one.get("timeouts", {}) for one in self.upstreams)
        for one in self.series["endpoints"]:
            model, lane = model_of(self.given, one["endpoint"]), self.lanes.get((one["upstream"], one["endpoint"]), [])
            sound = not slow and "capacity" not in model and all("latency" in fault for fault in model["faults"])
            self.holds(not sound or not any(one["failures"]), f"failures of {one['endpoint']}, which is sound")
            for i, attempts in enumerate(one["attempts"]):
                there = any(a < (i + 1) * self.sample and b > i * self.sample for a, b, _, _ in lane)
                self.holds(there or attempts == 0, f"attempts at {one['endpoint']} in bin {i}, not configured")


def merged(intervals):
    """In order, and one of those that overlap or touch."""
    out = []
    for a, b in sorted(intervals):
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(b, out[-1][1]))
        else:
            out.append((a, b))
    return out


def judged(binary, given):
    """The timeline, none if the run went wrong, and all that does not hold."""
    done = run(binary, given)
    # What will surprise is warned of: a swarm is full of surprises.
    mistakes = [line for line in done.stderr.decode().splitlines() if ": warning: " not in line]
    if done.returncode != 0 or mistakes:
        return None, [f"exit {done.returncode}: {done.stderr.decode()}"]
    timeline = json.loads(done.stdout)
    return timeline, Judge(given, timeline).all()


@pytest.fixture(scope="module", name="swarm")
def fixture_swarm(binary):
    """(scenario, timeline, what is wrong) of each seed."""
    return [(given, *judged(binary, given)) for given in map(scenario, range(COUNT))]


def test_what_always_holds(binary, swarm):
    failed = [found for found in swarm if found[2]]
    if failed:
        given, timeline, wrong = failed[0]

        def fails(smaller):
            again, still = judged(binary, smaller)
            return still and (again is None) == (timeline is None) and (again or still[0][:7] == wrong[0][:7])

        names, small = [found[0]["name"] for found in failed], reduced(given, fails)
        pytest.fail(f"{names}\n{wrong}\nmade smaller: {judged(binary, small)[1]}\n{json.dumps(small)}")


@pytest.mark.skipif(COUNT < 200, reason="a small swarm need not meet everything")
def test_it_all_happened(swarm):
    """What never came about was not tested."""
    met = set()
    for timeline in [timeline for _, timeline, _ in swarm if timeline]:
        for event in timeline["events"]:
            met |= {event["type"], event.get("rule"), event.get("via")}
        met |= {fault["kind"] for fault in timeline["intervals"]["faults"] if fault["lane"]}
        met |= {metric for metric in COUNTED if timeline["summary"][metric] > 0}
    assert {*MOVES, *RULES, *VIAS, *FAULTS, *COUNTED} <= met


def test_what_makes_no_difference(binary, swarm):
    """Other words for the same, and what only the account depends on."""
    for given, timeline, _ in swarm[::20]:
        def same(what, changed, *options, parts=("events", "intervals", "series", "summary"), but=()):
            found = json.loads(run(binary, changed, *options).stdout)
            for metric in but:
                found["summary"][metric] = timeline["summary"][metric]
            for part in parts:
                assert found[part] == timeline[part], (given["name"], what, part)

        assert run(binary, given).stdout == run(binary, given).stdout, given["name"]
        same("another name and epoch", given, "--set", "/name=other", "--set", "/clock/start_unix_ms=5000000")
        same("wider bins", given, "--set", "/sample_ms=77.7", parts=("events", "intervals", "summary"), but=PER_BIN)
        whole, left, roomy = (copy.deepcopy(given) for _ in range(3))
        whole["reloads"] = [{"at_ms": at, "upstreams": found} for at, found in generations(given)[1:]]
        same("reloads in full", whole)
        for entry in left["traffic"]:
            entry.setdefault("abandon", {"ratio": 1, "after_ms": 10**6})
        same("callers that leave after the end", left)
        for model in roomy["endpoints"].values():
            model.setdefault("capacity", given["endpoints"]["*"].get("capacity", {"concurrency": 10**9}))
        same("room for all", roomy)
