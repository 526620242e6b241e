"""Random scenarios that the simulator must accept: all that a file can say, in small runs.

Everything is worked out from the file alone, so that one may be cut down (`reduced`) and judged again.
"""

import copy
import json
import math
import random
import subprocess
import tempfile

NAMES = ["api", "web", "img", "pay"]
ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "db.internal", "::1"]
BALANCERS = ["round_robin", "least_requests", "random", "ip_hash"]
BLOCKS = ["health", "active_health", "breaker", "retries", "timeouts"]


def ns(ms):
    return round(ms * 10**6)


def endpoint_name(endpoint):
    address = endpoint["address"]
    return f"[{address}]:{endpoint['port']}" if ":" in address else f"{address}:{endpoint['port']}"


def find(document, pointer):
    for step in pointer.split("/")[1:]:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def apply(document, op):
    """One operation of a JSON Patch, in place: add, replace, remove or move."""
    if op["op"] == "move":
        value = find(document, op["from"])
        apply(document, {"op": "remove", "path": op["from"]})
        op = {"op": "add", "path": op["path"], "value": value}
    parent, last = op["path"].rsplit("/", 1)
    target = find(document, parent)
    place = last if isinstance(target, dict) else len(target) if last == "-" else int(last)
    if op["op"] == "remove":
        del target[place]
    elif op["op"] == "add" and isinstance(target, list):
        target.insert(place, copy.deepcopy(op["value"]))
    else:
        target[place] = copy.deepcopy(op["value"])


def generations(given):
    """[(at_ms, upstreams)] in the order of time; the first is what the file begins with."""
    found, document = [(0, given["upstreams"])], {"upstreams": copy.deepcopy(given["upstreams"])}
    for reload in sorted(given.get("reloads", []), key=lambda reload: reload["at_ms"]):
        document["upstreams"] = copy.deepcopy(reload.get("upstreams", document["upstreams"]))
        for op in reload.get("patch", []):
            apply(document, op)
        found.append((reload["at_ms"], copy.deepcopy(document["upstreams"])))
    return found


def model_of(given, server):
    """How a server behaves: its own keys over those of "*", its faults after them."""
    base, own = (given.get("endpoints", {}).get(name, {}) for name in ("*", server))
    return {**base, **own, "faults": base.get("faults", []) + own.get("faults", [])}


class Clock:
    """What the machines read since the start: milliseconds rounded down, and the steps that a wall clock obeys."""

    def __init__(self, clock):
        wall = clock.get("source", "wall") == "wall"
        self.steps = sorted((ns(step["at_ms"]), step["by_ms"] * wall) for step in clock.get("steps", []))

    def now(self, t):
        return t // 10**6 + sum(by for at, by in self.steps if at <= t)

    def first(self, reading, since):
        """The first instant from `since` on that reads as much."""
        for at in [since, *(at for at, _ in self.steps if at > since)]:
            missing = reading - self.now(at)
            reached = at if missing <= 0 else (at // 10**6 + missing) * 10**6
            if reached < min((step for step, _ in self.steps if step > at), default=math.inf):
                return reached
        raise AssertionError("a clock always gets there")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.duration = self.random.choice([1000, 1500.5, 2500, 4000, 8000, 15000, 20000])

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *values):
        return self.random.choice(values)

    def some(self, share=0.7, **values):
        """Each of the settings with that chance; a setting left out is its default."""
        return {name: value for name, value in values.items() if self.chance(share)}

    def time(self, low, high):
        """Mostly whole milliseconds, so that instants meet."""
        digits = self.pick(-2, -1, 0, 0, 1, 6)
        value = max(low, round(self.random.uniform(low, high), digits))
        return value if digits > 0 else int(value)

    def whole(self, low, high):
        return self.random.randint(low, high)

    def health(self):
        return self.some(0.85, window_ms=self.pick(100, 500, 3000, 60000), consecutive_failures=self.whole(1, 7),
                         failure_ratio=self.pick(0.07, 0.2, 0.5, 0.8, 1), failure_min_volume=self.whole(1, 15),
                         eject_ms=self.pick(1, 40, 150, 400, 1500), half_open_probes=self.whole(1, 3))

    def active_health(self):
        interval = self.pick(30, 100, 250, 700)
        return {"kind": self.pick("http", "http", "tcp"), "interval_ms": interval,
                "timeout_ms": self.whole(1, interval), "jitter_ms": self.pick(0, interval // 2, interval),
                **self.some(success_threshold=self.whole(1, 3), failure_threshold=self.whole(1, 3))}

    def breaker(self):
        return self.some(0.9, consecutive_failures=self.whole(2, 12), error_ratio=self.pick(0.1, 0.3, 0.5, 0.9),
                         error_volume=self.whole(3, 30), open_ms=self.pick(1, 50, 200, 800),
                         half_open_probes=self.whole(1, 3))

    def retries(self):
        base = self.pick(0, 1, 10, 60)
        return {"attempts": self.whole(1, 4), "backoff_base_ms": base, "backoff_cap_ms": base * self.pick(1, 3, 20),
                **self.some(0.6, retry_statuses=self.pick([503], [500, 502, 503, 504], [429, 503]),
                            retry_transport=self.chance(0.7), budget_percent=self.pick(5, 20, 100, 300),
                            total_deadline_ms=self.pick(50, 400, 3000))}

    def timeouts(self):
        return self.some(0.85, connect_ms=self.pick(5, 50, 300), read_ms=self.pick(15, 60, 300))

    def endpoint(self, address):
        return {"address": address, "port": 8080, **self.some(0.3, weight=self.whole(1, 5))}

    def upstream(self, name):
        made = {"name": name, **self.some(0.8, load_balancer=self.pick(*BALANCERS)),
                **self.some(0.3, slow_start_ms=self.pick(200, 2000)), **self.some(0.5, late_reports="ignore"),
                "endpoints": [self.endpoint(a) for a in self.random.sample(ADDRESSES, self.whole(1, 4))]}
        for block, share in zip(BLOCKS, (0.85, 0.5, 0.45, 0.5, 0.75)):
            if self.chance(share) and (block != "active_health" or "health" in made):
                made[block] = getattr(self, block)()
        return made

    def latency(self):
        return self.pick({"fixed": {"ms": self.pick(0, 1, 7.5, 40)}},
                         {"uniform": {"min_ms": 1, "max_ms": self.pick(1, 20, 80)}},
                         {"exponential": {"mean_ms": self.pick(0.5, 5, 30)}},
                         {"lognormal": {"p50_ms": 5, "p99_ms": self.pick(20, 200)}},
                         {"lognormal": {"mean_ms": 8, "sd_ms": self.pick(0, 4, 30)}},
                         {"pareto": {"min_ms": 2, "alpha": self.pick(0.8, 1.5, 3), "max_ms": 500}},
                         {"empirical": {"ms": [1, 2.25, 3, 5, 90]}})

    def capacity(self):
        return {"concurrency": self.whole(1, 8), **self.some(queue=self.whole(0, 12)),
                **self.some(0.6, overflow=self.pick("reset", {"status": 503}, {"status": 429}))}

    def fault(self):
        ratio = self.pick(0, 0.1, 0.4, 0.8, 1)
        down = self.pick("refused", "reset", "timeout")
        words = [self.pick("F", "F", "S", "503", "429", "500", "reset", "404") for _ in range(self.whole(1, 25))]
        kind = self.pick(
            {"error": {"ratio": ratio, **self.some(0.4, status=self.pick(500, 502, 429))}},
            {"down": self.some(kind=down)},
            {"latency": {"add_ms": self.pick(0.5, 30, 150), **self.some(0.5, factor=self.pick(0, 2, 9)),
                         **self.some(0.5, ramp_ms=self.time(0, self.duration))}},
            {"brownout": {"error_ratio": ratio, "latency_factor": self.pick(1, 3, 8),
                          "capacity_factor": self.pick(0.01, 0.5, 1), **self.some(0.3, status=500)}},
            {"flap": {"up_ms": self.time(20, 900), "down_ms": self.time(20, 900),
                      **self.some(0.5, jitter_ms=self.pick(1, 33.3, 400)), **self.some(kind=down)}},
            {"bursts": {"mean_good_ms": self.pick(5, 200, 900.5), "mean_bad_ms": self.pick(0.001, 30, 300),
                        "error_ratio": ratio, **self.some(0.3, status=self.pick(500, 404))}},
            {"cold_start": {"for_ms": self.time(1, 800), "latency_factor": self.pick(0, 3, 12.5)}},
            {"outcomes": " ".join(words)}, {"hang": {"ratio": ratio}}, {"truncate": {"ratio": ratio}})
        if "outcomes" not in kind:
            kind.update(self.some(0.5, scope=self.pick("traffic", "probes", "both")))
        begin = self.time(0, self.duration * 1.05)
        span = {"from_ms": begin} if self.chance(0.85) else {}
        if self.chance(0.75):
            span["to_ms"] = round(span.get("from_ms", 0) + self.time(1, self.duration / self.pick(1, 3)), 6)
        return {**span, **kind}

    def behaviour(self, faults):
        return {**self.some(0.6, latency=self.latency()), **self.some(0.4, capacity=self.capacity()),
                "faults": [self.fault() for _ in range(faults)]}

    def arrivals(self, budget):
        rate = round(budget * 1000 / self.duration, self.pick(0, 3))
        if self.chance(0.2):
            return {"every_ms": max(self.pick(5, 12.5, 40), self.duration // budget)}
        if self.chance(0.2):
            return {"at_ms": [self.time(0, self.duration) for _ in range(min(budget, 100))]}
        if self.chance(0.2):
            count = self.pick(1, 3, 20)
            return {"users": {"count": count, "think_ms": round(count * self.duration / budget, self.pick(1, 6))}}
        return {"arrivals": self.pick("poisson", "uniform"), **self.shape(rate)}

    def shape(self, rate):
        lengths, every = [self.time(1, self.duration) for _ in range(self.whole(1, 3))], self.time(1, self.duration / 3)
        rates = [self.pick(0, rate, 2 * rate) for _ in lengths]
        return self.pick(
            {"rate_rps": rate}, {"rate_rps": rate},
            {**self.some(0.5, rate_rps=rate),
             "stages": [{"target_rps": one, "duration_ms": length} for one, length in zip(rates, lengths)]},
            {"step": [{"rps": one, "for_ms": length} for one, length in zip(rates, lengths)]},
            {"burst": {"rps": 3 * rate, "for_ms": every / 4, "every_ms": every}},
            {"wave": {"mean_rps": rate, "amplitude_rps": rate * self.pick(0, 0.5, 1), "period_ms": lengths[0]}})

    def client(self):
        base = self.pick(0, 5, 40)
        return {"timeout_ms": self.pick(5, 30, 200), **self.some(
            retries=self.pick(1, 2, 4), backoff_base_ms=base, backoff_cap_ms=base + self.pick(50, 200),
            honours_retry_after=self.chance(0.5))}

    def traffic(self, name, budget):
        begin = self.some(0.3, from_ms=self.time(0, self.duration / 2))
        end = self.some(0.3, to_ms=self.time(self.duration / 2 + 100, self.duration * 1.2))
        return {"upstream": name, **begin, **end, **self.arrivals(budget),
                **self.some(0.4, keys={"clients": self.pick(1, 5, 100), **self.some(zipf=self.pick(0, 1, 1.7))}),
                **self.some(0.3, abandon={"ratio": self.pick(0.1, 0.5), "after_ms": self.time(0, 120)}),
                **self.some(0.35, client=self.client())}

    def change(self, upstreams):
        """One change to what stands: the operations of a patch, none where it does not fit."""
        number = self.whole(0, len(upstreams) - 1)
        one, at = upstreams[number], f"/upstreams/{number}"
        there = {endpoint["address"] for endpoint in one["endpoints"]}
        member = self.whole(0, len(one["endpoints"]) - 1)
        free = [name for name in NAMES if name not in {upstream["name"] for upstream in upstreams}]
        kind = self.pick(*"in in out out weight drop block block name gone new word move".split())
        if kind == "in" and len(there) < len(ADDRESSES):
            address = self.pick(*[a for a in ADDRESSES if a not in there])
            return [{"op": "add", "path": f"{at}/endpoints/{self.pick('-', member)}", "value": self.endpoint(address)}]
        if kind == "out" and len(there) > 1:
            return [{"op": "remove", "path": f"{at}/endpoints/{member}"}]
        if kind == "weight":
            return [{"op": "add", "path": f"{at}/endpoints/{member}/weight", "value": self.whole(1, 9)}]
        if kind == "drop" and (dropped := [block for block in BLOCKS if block in one]):
            block = self.pick(*dropped)
            gone = ["active_health", "health"] if block == "health" and "active_health" in one else [block]
            return [{"op": "remove", "path": f"{at}/{name}"} for name in gone]
        if kind == "block" and ((block := self.pick(*BLOCKS)) != "active_health" or "health" in one):
            return [{"op": "add", "path": f"{at}/{block}", "value": getattr(self, block)()}]
        if kind == "name" and free:
            return [{"op": "replace", "path": f"{at}/name", "value": self.pick(*free)}]
        if kind == "gone" and len(upstreams) > 1:
            return [{"op": "remove", "path": at}]
        if kind == "new" and free and len(upstreams) < 3:
            return [{"op": "add", "path": "/upstreams/-", "value": self.upstream(self.pick(*free))}]
        if kind == "word":
            word = self.pick("load_balancer", "slow_start_ms", "late_reports")
            values = {"load_balancer": BALANCERS, "slow_start_ms": [0, 500], "late_reports": ["count", "ignore"]}
            return [{"op": "add", "path": f"{at}/{word}", "value": self.pick(*values[word])}]
        first = {"op": "move", "from": f"{at}/endpoints/{member}", "path": f"{at}/endpoints/0"}
        return [first] if kind == "move" else []

    def reloads(self, upstreams):
        made, document = [], {"upstreams": copy.deepcopy(upstreams)}
        for at in sorted(self.time(0, self.duration) for _ in range(self.pick(0, 0, 1, 2, 3, 5))):
            ops = []
            for _ in range(self.whole(1, 3)):
                ops += (changes := self.change(document["upstreams"]))
                for op in changes:
                    apply(document, op)
            whole = {"upstreams": copy.deepcopy(document["upstreams"])}
            made.append({"at_ms": at, **(whole if self.chance(0.35) or not ops else {"patch": ops})})
        return made


def scenario(seed):
    make = Generator(seed)
    names = make.random.sample(NAMES, make.pick(1, 1, 2, 3))
    made = {"name": f"swarm-{seed}", "seed": make.pick(seed, 2**64 - 1 - seed), "duration_ms": make.duration,
            "sample_ms": make.pick(50, 100, 333.333333, 1000, 30000),
            "clock": {"start_unix_ms": 1700000000000, **make.some(0.7, source=make.pick("wall", "monotonic")),
                      **make.some(0.4, steps=[{"at_ms": make.time(0, make.duration), "by_ms": make.whole(-3000, 3000)}
                                              for _ in range(make.whole(1, 3))])},
            "upstreams": [make.upstream(name) for name in names]}
    made["reloads"] = make.reloads(made["upstreams"])
    held = [upstream for _, upstreams in generations(made) for upstream in upstreams]
    servers = sorted({endpoint_name(endpoint) for upstream in held for endpoint in upstream["endpoints"]})
    made["endpoints"] = {"*": make.behaviour(make.pick(0, 0, 0, 1))}
    made["endpoints"] |= {server: make.behaviour(make.pick(0, 1, 1, 2, 3)) for server in servers if make.chance(0.7)}
    callers = names + [make.pick(*sorted({upstream["name"] for upstream in held}))] * make.chance(0.5)
    made["traffic"] = [make.traffic(name, make.pick(60, 200, 500)) for name in callers]
    return made


def run(binary, given, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(given, file)
        file.flush()
        command = [binary, "run", "--format", "json", *options, file.name]
        return subprocess.run(command, capture_output=True, check=False)


def reduced(whole, fails, questions=300):
    """Without keys and list items that are not needed for `fails` to say yes."""
    def paths(at, here=""):
        for key in list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else []:
            yield f"{here}/{key}"
            yield from paths(at[key], f"{here}/{key}")

    needed = set()
    for _ in range(questions):
        if (path := next((path for path in paths(whole) if path not in needed), None)) is None:
            break
        apply(smaller := copy.deepcopy(whole), {"op": "remove", "path": path})
        if fails(smaller):
            whole = smaller
        else:
            needed.add(path)
    return whole
