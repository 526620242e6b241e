"""The `step` protocol (semantics, "The `step` command"): one operation, one answer.

An operation is a JSON object whose key `op` names it; its values stand beside.
Keys the table names without a `?` are required, except those of `params`.
"""

import json
from collections import Counter

from . import breaker as breaker_rules
from . import health as health_rules
from .active import ProbeLoop
from .balancer import ALGORITHMS
from .breaker import Breaker, BreakerParams, retry_after_s
from .health import EndpointHealth, HealthParams
from .retry_budget import REQUEST, RETRY, RetryBudget, nominal_backoff
from .upstream import Config, Upstream
from .values import DURATION, U32, U64, Refused, flag, read_params, text, whole

MAX_WEIGHT = 65536


class Machine:
    """Common to the four: events of one operation, and finding the operation's method."""

    operations = ()

    def __init__(self):
        self.events = []

    def emit(self, kind, **said):
        self.events.append({"type": kind, **said})

    def answer(self, op):
        """The answer to one operation; raises Refused, and then nothing has changed."""
        name = op.get("op")
        now = whole(op, "t", 0, U64, 0)
        if type(name) is not str or name not in self.operations:
            raise Refused(f"unknown operation {name!r}")
        self.events = []
        return self.shown(name, now, getattr(self, "do_" + name)(op, now))


class HealthMachine(Machine):
    operations = ("params", "report", "report_probe", "is_candidate", "consume_probe",
                  "acquire", "is_available", "active", "verdict")

    def __init__(self):
        super().__init__()
        self.params = HealthParams()
        self.tracker = EndpointHealth(self.emit)
        self.loop = None

    def do_params(self, op, now):
        self.params = read_params(op, health_rules.LIMITS, self.params)

    def do_report(self, op, now):
        self.tracker.report(self.params, now, flag(op, "failure"))

    def do_report_probe(self, op, now):
        self.tracker.report_probe(self.params, now, flag(op, "failure"))

    def do_is_candidate(self, op, now):
        return self.tracker.is_candidate(self.params, now)

    def do_consume_probe(self, op, now):
        return self.tracker.consume_probe()

    def do_acquire(self, op, now):
        return self.tracker.acquire(self.params, now)

    def do_is_available(self, op, now):
        return self.tracker.is_available(now)

    def do_active(self, op, now):
        successes = whole(op, "success_threshold", 1, U32)
        failures = whole(op, "failure_threshold", 1, U32)
        self.loop = ProbeLoop(self.tracker, self.params, successes, failures)

    def do_verdict(self, op, now):
        ok = flag(op, "ok")
        if self.loop is None:
            raise Refused("verdict before active")
        self.loop.verdict(now, ok)

    def shown(self, name, now, result):
        tracker = self.tracker
        return {"result": result, "state": tracker.label(now), "ejections": tracker.ejections,
                "streak": tracker.streak, "window_total": tracker.volume(),
                "window_failures": tracker.failures(), "events": self.events}


class BreakerMachine(Machine):
    operations = ("params", "check", "report")

    def __init__(self):
        super().__init__()
        self.params = BreakerParams()
        self.breaker = Breaker(self.emit)

    def do_params(self, op, now):
        self.params = read_params(op, breaker_rules.LIMITS, self.params)

    def do_check(self, op, now):
        wait, _ = self.breaker.check(self.params, now)
        if wait is None:
            return {"decision": "allow"}
        return {"decision": "reject", "retry_after_ms": wait, "retry_after_s": retry_after_s(wait)}

    def do_report(self, op, now):
        self.breaker.report(self.params, now, flag(op, "failure"))

    def shown(self, name, now, result):
        """The state with the one value that belongs to it; counts aged, but for `params`."""
        breaker = self.breaker
        key, value = {"closed": ("streak", breaker.streak), "open": ("until_ms", breaker.until),
                      "half_open": ("probes_left", breaker.slots)}[breaker.state]
        total, failures = breaker.stored_counts() if name == "params" else breaker.counts(now)
        return {"result": result, "state": breaker.state, key: value, "window_total": total,
                "window_failures": failures, "events": self.events}


class RetryBudgetMachine(Machine):
    operations = ("request", "reserve", "nominal_backoff")

    def __init__(self):
        super().__init__()
        self.budget = RetryBudget()

    def do_request(self, op, now):
        self.budget.request(now)

    def do_reserve(self, op, now):
        return self.budget.reserve(now, whole(op, "percent", 1, U32))

    def do_nominal_backoff(self, op, now):
        return nominal_backoff(whole(op, "base_ms", 0, U64), whole(op, "cap_ms", 0, U64),
                               whole(op, "retry", 1, U64))

    def shown(self, name, now, result):
        return {"result": result, "requests": self.budget.count(REQUEST),
                "retries": self.budget.count(RETRY)}


def read_endpoints(op):
    """Validation: an upstream without endpoints, duplicates, ports and weights."""
    listed = op.get("endpoints")
    if type(listed) is not list or not 1 <= len(listed) <= 65536:
        raise Refused("endpoints must be a list of 1..65536")
    found = []
    for entry in listed:
        if type(entry) is not dict or text(entry, "address") == "":
            raise Refused("an endpoint must be an object with an address")
        found.append((entry["address"], whole(entry, "port", 1, 65535),
                      whole(entry, "weight", 1, MAX_WEIGHT, 1)))
    if len({(address, port) for address, port, _ in found}) < len(found):
        raise Refused("duplicate address:port")
    if sum(weight for _, _, weight in found) > MAX_WEIGHT:
        raise Refused("the weights add up to more than 65536")
    return tuple(found)


def read_block(op, key, limits, defaults):
    """A block that may be absent: None, or its parameters over the defaults."""
    if key not in op:
        return None
    if type(op[key]) is not dict:
        raise Refused(f"{key} must be an object")
    return read_params(op[key], limits, defaults)


def read_config(op):
    """The whole configuration of a `build` or `rebuild`: what is absent is at its default."""
    return Config(
        endpoints=read_endpoints(op),
        load_balancer=text(op, "load_balancer", ALGORITHMS, "round_robin"),
        health=read_block(op, "health", health_rules.LIMITS, HealthParams()),
        breaker=read_block(op, "breaker", breaker_rules.LIMITS, BreakerParams()),
        late_reports=text(op, "late_reports", ("count", "ignore"), "count"),
        slow_start_ms=whole(op, "slow_start_ms", 0, DURATION, 0))


class UpstreamMachine(Machine):
    operations = ("build", "rebuild", "pick", "done", "body_broken", "abandon")

    def __init__(self):
        super().__init__()
        self.upstream = None
        self.seen = Counter()

    def built(self):
        if self.upstream is None:
            raise Refused("nothing is built yet")
        return self.upstream

    def found(self, op, stage):
        dispatch = self.built().find(whole(op, "dispatch", 0, U64), stage)
        if dispatch is None:
            raise Refused(f"dispatch {op['dispatch']} is unknown, finished or not that far")
        return dispatch

    def do_build(self, op, now):
        self.upstream = Upstream(read_config(op), now, self.emit, self.seen)

    def do_rebuild(self, op, now):
        self.built().load(read_config(op), now)

    def do_pick(self, op, now):
        key = text(op, "key") if "key" in op else None
        return self.built().pick(now, key)

    def do_done(self, op, now):
        failure = flag(op, "failure")
        dispatch = self.found(op, "waiting")
        self.upstream.done(dispatch, now, failure)

    def do_body_broken(self, op, now):
        dispatch = self.found(op, "body")
        self.upstream.body_broken(dispatch, now)

    def do_abandon(self, op, now):
        dispatch = self.found(op, "waiting")
        self.upstream.abandon(dispatch)

    def shown(self, name, now, result):
        upstream = self.upstream
        answer = {"result": None}
        if name == "pick":
            picked, wait = result
            if picked:
                answer = {"result": picked[1].name(), "dispatch": picked[0]}
            else:
                answer["retry_after_ms"] = wait
        trackers = [e.tracker for e in upstream.endpoints]
        answer["fail_open_picks"] = upstream.fail_open_picks
        answer["late_reports_ignored"] = upstream.late_reports_ignored
        answer["inflight"] = [e.inflight for e in upstream.endpoints]
        answer["states"] = [tracker and tracker.label(now) for tracker in trackers]
        answer["breaker"] = upstream.breaker and upstream.breaker.state
        answer["events"] = self.events
        return answer


MACHINES = {"health": HealthMachine, "breaker": BreakerMachine,
            "retry_budget": RetryBudgetMachine, "upstream": UpstreamMachine}


def no_duplicates(pairs):
    """Validation: duplicate JSON keys are refused."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(line):
    """One line to an operation; anything else is refused."""
    try:
        op = json.loads(line, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except (ValueError, RecursionError) as problem:
        raise Refused(f"malformed line: {problem}") from problem
    if type(op) is not dict:
        raise Refused("an operation is a JSON object")
    return op


class Stepper:
    """Lines in, answers out: blank lines give None, errors name their line."""

    def __init__(self, machine):
        self.machine = MACHINES[machine]()
        self.line = 0
        self.errors = 0

    def step(self, line, op=None):
        """The answer to a line, given as text, or with its operation already parsed."""
        self.line += 1
        if not line.strip(" \t\r\n"):
            return None
        try:
            return self.machine.answer(parse(line) if op is None else op)
        except Refused as refusal:
            self.errors += 1
            return {"error": str(refusal), "line": self.line}
