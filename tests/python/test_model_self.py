"""The naive model against cases worked out by hand from the semantics page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

pytest.register_assert_rewrite("model.cases_upstream")

from model.cases_upstream import *  # noqa: E402, F403
from model.philox import h, philox4x64  # noqa: E402
from model.protocol import Stepper  # noqa: E402

LAST = 2**64 - 1


class Run:
    """A stepper with short names: `run("report", 5, failure=True)`."""

    def __init__(self, machine, **params):
        self.stepper = Stepper(machine)
        if params:
            self("params", 0, **params)

    def __call__(self, name, t, **values):
        return self.stepper.step(json.dumps({"op": name, "t": t, **values}))

    def reports(self, t, outcomes):
        """F and S in a row at one instant; the last answer."""
        for outcome in outcomes:
            answer = self("report", t, failure=outcome == "F")
        return answer


def kinds(answer):
    return [tuple(event.values()) for event in answer["events"]]


# -- health -------------------------------------------------------------------


def test_third_failure_ejects_and_not_the_second():
    run = Run("health", consecutive_failures=3, eject_ms=100)
    assert run.reports(0, "FF")["state"] == "healthy"
    answer = run.reports(0, "F")
    assert kinds(answer) == [("endpoint_ejected", "consecutive_failures")]
    assert (answer["streak"], answer["window_total"], answer["ejections"]) == (0, 0, 1)


def test_a_success_between_resets_the_streak():
    run = Run("health", consecutive_failures=3)
    assert run.reports(0, "FFSFF")["streak"] == 2
    assert run.reports(0, "F")["state"] == "ejected"


@pytest.mark.parametrize("outcomes, ejected", [
    ("FS" * 9 + "F", False),                # 10 of 19: the volume is one short
    ("FS" * 9 + "SF", True),                # 10 of 20
    ("S" + "FS" * 9 + "F", True),           # the same 20, reached by a failure
    ("S" * 11 + "FSFSFSFSF", False),        # 5 of 20
])
def test_volume_gate_at_19_and_20(outcomes, ejected):
    run = Run("health", consecutive_failures=1000)
    assert (run.reports(0, outcomes)["state"] == "ejected") is ejected


def test_ratio_49_and_50_percent():
    for failures, ejected in ((49, False), (50, True)):
        run = Run("health", consecutive_failures=1000, failure_min_volume=100)
        answer = run.reports(0, "S" * (100 - failures) + "F" * failures)
        assert (answer["state"] == "ejected") is ejected


def test_seven_of_a_hundred_at_007_is_divided():
    run = Run("health", consecutive_failures=1000, failure_ratio=0.07, failure_min_volume=100)
    assert 0.07 * 100 > 7
    assert kinds(run.reports(0, "S" * 93 + "F" * 7)) == [("endpoint_ejected", "failure_ratio")]


def test_a_success_never_ejects_though_it_completes_the_volume():
    run = Run("health", consecutive_failures=1000, failure_min_volume=4)
    assert run.reports(0, "FFFS")["state"] == "healthy"
    assert kinds(run.reports(0, "F")) == [("endpoint_ejected", "failure_ratio")]


def test_both_rules_at_once_name_the_streak():
    run = Run("health", consecutive_failures=4, failure_min_volume=4)
    assert kinds(run.reports(0, "FFFF")) == [("endpoint_ejected", "consecutive_failures")]


def test_until_minus_one_and_until():
    run = Run("health", consecutive_failures=1, eject_ms=100)
    run.reports(50, "F")
    assert run("is_candidate", 149)["result"] is False
    assert run("is_available", 150)["state"] == "half_open"
    assert run("is_available", 149)["state"] == "ejected"
    answer = run("is_candidate", 150)
    assert answer["result"] is True and kinds(answer) == [("endpoint_half_open",)]
    assert run("consume_probe", 150)["result"] is True
    assert run("consume_probe", 150)["result"] is False
    assert run("is_candidate", 150)["result"] is False


def test_half_open_failure_ejects_whole_again_and_success_recovers():
    run = Run("health", consecutive_failures=1, eject_ms=100, half_open_probes=2)
    run.reports(0, "F")
    assert [run("acquire", 100)["result"] for _ in range(3)] == [True, True, False]
    assert kinds(run.reports(130, "F")) == [("endpoint_ejected", "half_open_probe_failed")]
    assert run("acquire", 229)["result"] is False
    assert run("acquire", 230)["result"] is True
    assert kinds(run.reports(231, "S")) == [("endpoint_recovered", "half_open_probe")]


def test_an_ejection_is_not_extended_and_a_success_ends_it():
    run = Run("health", consecutive_failures=1, eject_ms=100)
    run.reports(0, "F")
    answer = run.reports(99, "FFF")
    assert (answer["ejections"], answer["streak"], answer["window_total"]) == (1, 3, 3)
    assert kinds(run.reports(100, "S")) == [("endpoint_recovered", "fail_open")]


def test_the_window_ends_at_exactly_window_ms():
    run = Run("health", window_ms=10)
    run.reports(100, "F")
    assert run.reports(109, "S")["window_total"] == 2
    assert run.reports(110, "S")["window_failures"] == 0


def test_time_stepping_back_holds_what_stands_behind_the_newest():
    run = Run("health", window_ms=10)
    run.reports(100, "S")
    assert run.reports(50, "F")["window_total"] == 2
    assert run.reports(109, "S")["window_failures"] == 1    # stamped 100, not 50
    assert run.reports(110, "S")["window_total"] == 2       # both gone at once


def test_probes_never_enter_the_window_but_share_the_streak():
    run = Run("health", consecutive_failures=2)
    run.reports(0, "F")
    answer = run("report_probe", 0, failure=True)
    assert kinds(answer) == [("endpoint_ejected", "consecutive_failures")]
    assert kinds(run("report_probe", 1, failure=False)) == [("endpoint_recovered", "active_probe")]


def test_until_saturates():
    run = Run("health", consecutive_failures=1, eject_ms=10**12)
    run.reports(LAST - 5, "F")
    assert run("is_candidate", LAST - 1)["result"] is False
    assert run("is_candidate", LAST)["result"] is True


def test_verdicts_count_to_their_thresholds():
    run = Run("health", eject_ms=1000)
    run("active", 0, success_threshold=2, failure_threshold=3)
    for _ in range(2):
        assert run("verdict", 1, ok=False)["state"] == "healthy"
    assert kinds(run("verdict", 1, ok=False)) == [("endpoint_ejected", "consecutive_failures")]
    assert run("verdict", 2, ok=True)["state"] == "ejected"
    assert kinds(run("verdict", 3, ok=True)) == [("endpoint_recovered", "active_probe")]


def test_successes_from_before_an_ejection_are_no_evidence():
    run = Run("health", consecutive_failures=1, eject_ms=1000)
    run("active", 0, success_threshold=2, failure_threshold=3)
    run("verdict", 0, ok=True)
    run("verdict", 0, ok=True)
    run.reports(1, "F")
    assert run("verdict", 2, ok=True)["state"] == "ejected"
    assert run("verdict", 3, ok=True)["state"] == "healthy"


# -- breaker ------------------------------------------------------------------


def test_breaker_opens_rejects_tries_and_closes():
    run = Run("breaker", consecutive_failures=2, open_ms=1500)
    assert run.reports(0, "F")["streak"] == 1
    answer = run.reports(10, "F")
    assert kinds(answer) == [("breaker_opened", "consecutive_failures")]
    assert (answer["until_ms"], answer["window_total"]) == (1510, 2)
    assert run("check", 509)["result"] == {
        "decision": "reject", "retry_after_ms": 1001, "retry_after_s": 2}
    assert run("check", 1509)["result"]["retry_after_s"] == 1
    answer = run("check", 1510)
    assert answer["result"] == {"decision": "allow"} and answer["probes_left"] == 0
    assert run("check", 1510)["result"]["retry_after_ms"] == 1000
    answer = run.reports(1511, "S")
    assert kinds(answer) == [("breaker_closed",)] and answer["window_total"] == 0


def test_breaker_shows_aged_counts_but_after_params():
    run = Run("breaker")
    run.reports(0, "F")
    assert run("check", 59999)["window_total"] == 1
    assert run("check", 60000)["window_total"] == 0
    assert run("params", 60000)["window_total"] == 1
    assert run.reports(60000, "S")["window_total"] == 1


def test_breaker_failed_trial_opens_again():
    run = Run("breaker", consecutive_failures=1, open_ms=5)
    run.reports(0, "F")
    run("check", 5)
    assert kinds(run.reports(6, "F")) == [("breaker_opened", "half_open_probe_failed")]
    assert run("check", 10)["result"]["retry_after_ms"] == 1


# -- retries ------------------------------------------------------------------


def test_ten_percent_needs_ten_requests():
    run = Run("retry_budget")
    for _ in range(9):
        run("request", 0)
    assert run("reserve", 0, percent=10)["result"] is False
    run("request", 0)
    assert run("reserve", 0, percent=10)["result"] is True
    assert run("reserve", 0, percent=10)["result"] is False
    answer = run("reserve", 10000, percent=10)
    assert (answer["result"], answer["requests"], answer["retries"]) == (False, 0, 0)


@pytest.mark.parametrize("base, cap, retry, delay", [
    (25, 250, 1, 25), (25, 250, 2, 50), (25, 250, 4, 200), (25, 250, 5, 250), (300, 250, 1, 300),
    (300, 250, 9, 300), (0, 250, 7, 0), (1, LAST, 64, 2**63), (1, LAST, 65, LAST),
    (3, LAST, LAST, LAST),
])
def test_nominal_backoff(base, cap, retry, delay):
    answer = Run("retry_budget")("nominal_backoff", 0, base_ms=base, cap_ms=cap, retry=retry)
    assert answer["result"] == delay


# -- hashes -------------------------------------------------------------------


def test_philox_known_answers_of_random123():
    assert philox4x64((0, 0, 0, 0), (0, 0)) == (
        0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)
    assert philox4x64((LAST,) * 4, (LAST,) * 2) == (
        0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0)


def test_h_of_nothing_is_the_finished_offset():
    x = 0xCBF29CE484222325
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD % 2**64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 % 2**64
    assert h(b"") == x ^ (x >> 33)


# -- the command --------------------------------------------------------------


def test_the_command_answers_errors_by_line_and_exits_with_two():
    lines = (b'{"op":"report","t":1,"failure":true}\n\n{"op":"report"}\n\xff\n'
             b'{"op":"is_candidate"}\n')
    done = subprocess.run([sys.executable, "-m", "tests.model", "health"], cwd=ROOT, input=lines,
                          stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [answer.get("line") for answer in answers] == [None, 3, 4, None]
    assert answers[3]["streak"] == 1
