"""The bound machines against `halfopen step`: the same random operations, the same answers."""

import json
import subprocess
import sys
from pathlib import Path

import halfopen
import pytest
from halfopen.machines import jittered_backoff_ms, nominal_backoff_ms

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from model.fuzz import session  # noqa: E402

OPERATIONS = 6000


def short(events, endpoint=True):
    """Events as `step` shows them."""
    keys = ("rule", "via", "endpoint") if endpoint else ("rule", "via")
    return [{"type": one.type, **{key: getattr(one, key) for key in keys if getattr(one, key)}} for one in events]


class Health:
    def __init__(self):
        self.health, self.probe = halfopen.EndpointHealth(), None

    def step(self, op, t):
        result, health = None, self.health
        match op["op"]:
            case "params":
                health.configure(**{key: value for key, value in op.items() if key in health.params})
            case "report":
                health.report(t, failure=op["failure"])
            case "report_probe":
                health.report_probe(t, failure=op["failure"])
            case "active":
                thresholds = {key: op[key] for key in ("success_threshold", "failure_threshold")}
                self.probe = halfopen.ActiveProbe(health, **thresholds)
            case "verdict":
                self.probe.verdict(t, ok=op["ok"])
            case "consume_probe":
                result = health.consume_probe()
            case question:
                result = getattr(health, question)(t)
        seen = health.snapshot(t)
        counts = {key: seen[key] for key in ("state", "ejections", "streak", "window_total", "window_failures")}
        return {"result": result, **counts, "events": short(health.take_events())}


class Breaker:
    def __init__(self):
        self.breaker = halfopen.Breaker()

    def step(self, op, t):
        result, breaker = None, self.breaker
        match op["op"]:
            case "params":
                breaker.configure(**{key: value for key, value in op.items() if key in breaker.params})
                t = 0  # shown as stored
            case "report":
                breaker.report(t, failure=op["failure"])
            case "check":
                admission = breaker.check(t)
                result = {"decision": "allow" if admission else "reject"}
                if not admission:
                    result |= {key: getattr(admission, key) for key in ("retry_after_ms", "retry_after_s")}
                admission._core.settle()  # a `step` never gives back
        seen = breaker.snapshot(t)
        shown = {"closed": {"streak": seen["streak"]}, "open": {"until_ms": seen["until_ms"]},
                 "half_open": {"probes_left": seen["probes_left"]}}[seen["state"]]
        counts = {key: seen[key] for key in ("state", "window_total", "window_failures")}
        return {"result": result, **counts, **shown, "events": short(breaker.take_events())}


class RetryBudget:
    def __init__(self):
        self.budget = halfopen.RetryBudget()

    def step(self, op, t):
        result = None
        match op["op"]:
            case "request":
                self.budget.request(t)
            case "reserve":
                result = self.budget.reserve(t, op["percent"])
            case "nominal_backoff":
                result = nominal_backoff_ms(op["base_ms"], op["cap_ms"], op["retry"])
        return {"result": result, "requests": self.budget.requests, "retries": self.budget.retries}


class Upstream:
    KEYS = ("load_balancer", "slow_start_ms", "late_reports", "endpoints", "health", "breaker")

    def step(self, op, t):
        shown = {"result": None}
        config = {"name": "step", **{key: op[key] for key in self.KEYS if key in op}}
        match op["op"]:
            case "build":
                self.upstream, self.attempts = halfopen.Upstream(now=t, **config), []
            case "rebuild":
                self.upstream.reload(t, **config)
            case "pick":
                admission = self.upstream.admit(t)
                if not admission:
                    shown["retry_after_ms"] = admission.retry_after_ms
                elif dispatch := admission.pick(t, key=op.get("key")):
                    self.attempts.append(dispatch)
                    shown |= {"result": dispatch.endpoint, "dispatch": len(self.attempts)}
            case "done":
                self.attempts[op["dispatch"] - 1] = self.attempts[op["dispatch"] - 1].report(t, 500 if op["failure"] else 200)
            case "body_broken":
                self.attempts[op["dispatch"] - 1].broken(t)
            case "abandon":
                self.attempts[op["dispatch"] - 1].abandon()
        upstream = self.upstream
        endpoints = upstream.endpoints(t)
        return {**shown, "fail_open_picks": upstream.fail_open_picks, "late_reports_ignored": upstream.late_reports_ignored,
                "inflight": [one.in_flight for one in endpoints], "states": [one.state for one in endpoints],
                "breaker": upstream.breaker_state, "events": short(upstream.take_events())}


MACHINES = {"health": Health, "breaker": Breaker, "retry_budget": RetryBudget, "upstream": Upstream}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_machine_answers_as_step_does(cli, machine, seed):
    compared = 0
    for regime in session.regimes(machine):
        count = min(OPERATIONS // len(session.regimes(machine)), session.session_length(machine, regime))
        lines = session.generate(machine, regime, f"python/{seed}", count).lines
        theirs = subprocess.run([cli, "step", machine], input="\n".join(lines) + "\n", capture_output=True, text=True)
        answers = iter(theirs.stdout.splitlines())
        ours = MACHINES[machine]()
        for line in lines:
            if not line.strip():
                continue
            answer = json.loads(next(answers))
            if "error" in answer:
                continue  # said nothing to the machine
            op = json.loads(line)
            assert ours.step(op, op.get("t", 0)) == answer, (regime, line)
            compared += 1
    assert compared > OPERATIONS / 2


def test_wrong_settings_are_named_by_pointer():
    with pytest.raises(halfopen.ScenarioError) as caught:
        halfopen.EndpointHealth(eject_ms=0, consecutive_failures=3)
    assert [one.pointer for one in caught.value.mistakes] == ["/eject_ms"]
    with pytest.raises(halfopen.ScenarioError, match="did you mean"):
        halfopen.Breaker(open_mss=5)
    with pytest.raises(halfopen.ScenarioError) as caught:
        halfopen.Upstream(name="a", endpoints=[{"address": "x", "port": 0}], health={"eject_ms": 0})
    assert {one.pointer for one in caught.value.mistakes} == {"/endpoints/0/port", "/health/eject_ms"}
    health = halfopen.EndpointHealth()
    with pytest.raises(halfopen.ScenarioError):
        health.configure(eject_ms=0)
    assert health.params["eject_ms"] == 30000
    for bad in (-1, 1.5, "now", 2**64):
        with pytest.raises((TypeError, ValueError)):
            health.report(bad, failure=True)
    with pytest.raises(ValueError, match="percent"):
        halfopen.RetryBudget().reserve(0, 0)
    with pytest.raises(ValueError, match="from 1 to"):
        nominal_backoff_ms(25, 250, 0)
    assert [jittered_backoff_ms(9, u) for u in (0, 0.5, 0.999)] == [0, 5, 9]


def one_endpoint(**more):
    return halfopen.Upstream(name="api", endpoints=[{"address": "x", "port": 1}], **more)


def test_handles_give_back_what_they_hold():
    upstream = one_endpoint(breaker={"consecutive_failures": 1, "open_ms": 10}, health={"consecutive_failures": 9})
    upstream.admit(0).pick(0).report(0, 503)
    assert upstream.breaker_state == "open" and not upstream.admit(5) and upstream.admit(5).retry_after_s == 1
    with upstream.admit(20) as admission:
        assert admission and not upstream.admit(20), "one trial alone"
    with pytest.raises(ZeroDivisionError), upstream.admit(21) as admission, admission.pick(21) as dispatch:
        assert upstream.endpoints(21)[0].in_flight == 1 and not upstream.admit(21)
        1 / 0
    assert upstream.endpoints(22)[0].in_flight == 0
    dispatch = upstream.admit(23).pick(23)
    del dispatch
    assert upstream.endpoints(23)[0].in_flight == 0
    upstream.admit(24).pick(24).report(24, 200)
    assert upstream.breaker_state == "closed"
    events = upstream.take_events()
    assert [one.type for one in events] == ["breaker_opened", "breaker_half_open", "breaker_closed"]
    assert events[0].because["streak"] == 1 and events[0].upstream == "api" and upstream.take_events() == []


def test_a_handle_is_used_once():
    upstream = one_endpoint()
    admission = upstream.admit(0)
    dispatch = admission.pick(0)
    with pytest.raises(RuntimeError, match="pick"):
        admission.pick(0)
    with pytest.raises(ValueError, match="from 100 to 599"):
        dispatch.report(0, 99)
    with pytest.raises(ValueError, match="connect_timeout, refused"):
        dispatch.report(0, error="sneezed")
    with pytest.raises(ValueError, match="give one of them"):
        dispatch.report(0, 200, error="refused")
    body = dispatch.report(0, error="refused")
    with pytest.raises(RuntimeError, match="already"):
        dispatch.report(0, 200)
    body.broken(1)
    with pytest.raises(RuntimeError, match="already"):
        body.broken(1)
    closed = upstream.admit(0).pick(0).report(0, 200)
    closed.close()
    with pytest.raises(RuntimeError, match="already"):
        closed.broken(1)


def test_a_refused_admission_picks_nobody():
    upstream = one_endpoint(breaker={"consecutive_failures": 1})
    upstream.admit(0).pick(0).report(0, 503)
    with pytest.raises(RuntimeError, match="503"):
        upstream.admit(1).pick(1)


def test_handles_outlive_their_upstream():
    dispatch = one_endpoint(health={"consecutive_failures": 1}).admit(0).pick(0)
    assert dispatch.report(5, 503) is not None


def test_a_breaker_s_admission_gives_its_slot_back():
    breaker = halfopen.Breaker(consecutive_failures=1, open_ms=10)
    with breaker.check(0) as first:
        breaker.report(0, failure=True, admission=first)
    with breaker.check(10):
        assert breaker.snapshot(10)["probes_left"] == 0
    assert breaker.snapshot(10)["probes_left"] == 1 and breaker.state == "half_open"


def test_retries_are_decided_by_the_settings():
    upstream = one_endpoint(retries={"attempts": 1, "budget_percent": 100, "backoff_base_ms": 10, "total_deadline_ms": 50})
    upstream.admit(0)
    assert upstream.decide_retry(0, 200).answer == "not_retryable"
    assert upstream.decide_retry(0, 503, retries_made=1).answer == "attempts_used_up"
    assert upstream.decide_retry(0, 503, elapsed_ms=50).answer == "past_deadline"
    assert upstream.decide_retry(0, error="reset", u=0.5) == ("granted", 5)
    assert upstream.decide_retry(0, 503).answer == "budget_denied"
    assert (upstream.retry_budget.requests, upstream.retry_budget.retries) == (1, 1)


def test_config_is_whole():
    config = one_endpoint(health={"eject_ms": 7}).config
    assert config["health"]["eject_ms"] == 7 and config["retries"]["retry_statuses"] == [502, 503, 504]
    assert config["timeouts"]["read_ms"] is None and config["endpoints"] == [{"address": "x", "port": 1, "weight": 1}]
    assert "breaker" not in config
