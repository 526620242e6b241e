"""The parts of a search: what a metric counts as, where it looks, who is better, on numbers that are known."""

import json
import math

import numpy as np
import pytest
from sweeps import EJECT, FAILURES, scenario

import halfopen
from halfopen import Frame, Range, _core
from halfopen.params import key_of
from halfopen.stats import estimate
from halfopen.tuning import Constraint, Objective, default_space
from halfopen.tuning.bench import Candidate
from halfopen.tuning.goals import DEFAULTS, counted, needed
from halfopen.tuning.judge import Judge, on_front
from halfopen.tuning.space import Asking, present, rounded
from halfopen.tuning.words import continued, interval, side_by_side, verdict

NAN = math.nan

# ---- goals -------------------------------------------------------------------------------------------


def test_a_miss_is_never_better_than_a_detection():
    table = Frame({
        "time_to_detect_ms": np.array([40.0, NAN, 40.0, NAN]),
        "time_to_return_ms": np.array([9.0, NAN, NAN, NAN]),
        "missed": np.array([0, 1, 1, 0]),
        "survivor_load_max": np.array([1.5, NAN, NAN, 2.0]),
        "ejections": np.array([1, 0, 3, 1]),
    })  # fmt: skip
    assert counted(table, "time_to_detect_ms", 5000.0).tolist()[:3] == [40, 5000, 5000], "one of two found is a miss too"
    assert np.isnan(counted(table, "time_to_detect_ms", 5000.0)[3]), "nothing failed"
    assert counted(table, "time_to_return_ms", 5000.0).tolist()[:3] == [9, 5000, 5000]
    load = counted(table, "survivor_load_max", 5000.0)
    assert load[[0, 1, 3]].tolist() == [1.5, 1, 2] and np.isnan(load[2]), "ejected, and nobody was left to measure"
    assert set(needed([Objective("time_to_return_ms")])) == {"time_to_return_ms", "time_to_detect_ms", "missed"}
    assert set(needed([Constraint("survivor_load_mean", 2)])) == {"survivor_load_mean", "ejections"}


def test_goals_are_read_as_they_are_written():
    for text in ("min:failed", "max:success_ratio@a b-c", "min:failed~10", "min:latency_p99_ms@x~0.5", *DEFAULTS):
        assert str(Objective.of(text)) == text
    for text in ("failed<=0", "success_ratio>=0.99", "false_ejections@quiet day<=1.5"):
        assert str(Constraint.of(text)) == text
    assert Constraint.of(" failed@x <= 1e3 ") == Constraint("failed", 1000, "<=", "x")


def test_a_limit_itself_is_allowed():
    most, least = Constraint("failed", 20), Constraint("success_ratio", 0.5, ">=")
    assert (most.excess(20), most.excess(25), most.excess(0)) == (0, 0.25, 0)
    assert (least.excess(0.5), least.excess(0.4)) == (0, pytest.approx(0.1))
    assert Constraint("failed", 0).excess(0.05) == 0.05, "near 0 in units and not in limits"


# ---- the space ---------------------------------------------------------------------------------------


def test_the_default_space_is_that_of_the_settings_tables():
    data = scenario().to_dict()
    data["upstreams"][0] |= {"breaker": {}, "retries": {}, "active_health": {"interval_ms": 90_000, "timeout_ms": 100}}
    data["upstreams"].append({**data["upstreams"][0], "name": "other", "health": {}})
    del data["upstreams"][1]["active_health"], data["upstreams"][1]["breaker"], data["upstreams"][1]["retries"]
    given = halfopen.Scenario.from_dict(data)
    space = default_space(given)
    assert space[FAILURES] == Range(1, 20, log=True) and space["/upstreams/0/health/failure_ratio"] == Range(0.1, 1.0, log=True)
    assert space["/upstreams/0/retries/attempts"] == Range(0, 3)
    assert space["/upstreams/0/active_health/interval_ms"] == Range(1000, 90_000, log=True), "widened to what it has now"
    assert space["/upstreams/0/active_health/timeout_ms"] == Range(100, 8000, log=True)
    assert {name.split("/")[3] for name in space if name.startswith("/upstreams/1/")} == {"health"}
    assert not [name for name in space if name.rsplit("/", 1)[1] in ("path", "kind", "retry_statuses", "total_deadline_ms")]
    definitions = json.loads(_core.scenario_schema())["definitions"]
    for name, part in space.items():
        about = definitions[name.split("/")[3]]["properties"][name.split("/")[4]]
        assert about.get("minimum", 0) <= part.low <= about["default"] <= part.high <= about["maximum"], name
        assert part.whole is (about["type"] == "integer")
        assert part.low <= present(given, name)[0] <= part.high
    assert set(default_space([given, scenario()])) == {name for name in space if name.startswith("/upstreams/0/health/")}
    del data["upstreams"][0]["health"], data["upstreams"][0]["active_health"], data["upstreams"][0]["breaker"]
    del data["upstreams"][0]["retries"], data["upstreams"][1]["health"]
    with pytest.raises(ValueError, match="there is nothing to tune. small brownout has api with none of them, other with none of them. Add a block"):
        default_space(halfopen.Scenario.from_dict(data))


def test_what_a_scenario_has_now():
    given = scenario()
    assert present(given, FAILURES) == [3] and present(given, "/upstreams/0/health/failure_ratio") == [0.5]
    assert present(given, "/upstreams/0/slow_start_ms") == [0] and present(given, "/duration_ms") == [20_000]
    for nothing in ("/upstreams/0/breaker/open_ms", "/upstreams/0/timeouts/read_ms", "/upstreams/7/health/eject_ms", "/upstreams/x", "/no"):
        assert present(given, nothing) == []


@pytest.mark.parametrize(
    ("part", "value", "nice"),
    [
        (Range(1000, 60_000), 17_843, 18_000),
        (Range(1000, 60_000), 1234, 1200),
        (Range(1000, 60_000), 59_999, 60_000),
        (Range(1000, 59_700), 59_699, 59_700),
        (Range(1050, 9000), 1051, 1100),
        (Range(2, 10), 7, 7),
        (Range(9_990, 10_010), 9_993, 9_993),
        (Range(0, 3), 0, 0),
        (Range(0.1, 1.0), 0.45678, 0.46),
        (Range(95.0, 105.0), 101.234, 101.0),
    ],
)
def test_numbers_are_rounded_within_their_range(part, value, nice):
    got = rounded(part, value)
    assert got == nice and type(got) is type(nice) and part.low <= got <= part.high


def test_optuna_is_asked_for_choices_that_it_does_not_know():
    asking = Asking({"/a": [{"x": 1}, None, "text", 5], "/b": (1, 9), "/c": (0.5, 2.0)})
    names = asking.distributions["/a"].choices
    assert names == ('{"x":1}', None, "text", 5)
    assert asking.settings({"/a": names[0], "/b": 3, "/c": 0.7}) == {"/a": {"x": 1}, "/b": 3, "/c": 0.7}
    assert asking.params({"/a": {"x": 1}, "/b": 3, "/c": 1}) == {"/a": names[0], "/b": 3, "/c": 1.0}
    for outside in ({"/a": 6, "/b": 3, "/c": 1}, {"/a": 5, "/b": 10, "/c": 1}, {"/a": 5, "/b": 2.5, "/c": 1}, {"/a": 5, "/c": 1}):
        assert asking.params(outside) is None
    assert key_of({"/b": 5}) == key_of({"/b": 5.0}) != key_of({"/b": True})


# ---- who is better -----------------------------------------------------------------------------------


def candidate(number, *goals, limits=(), settings=None):
    limits = np.array(limits, dtype=float).reshape(-1, len(goals[0])) if limits else np.empty((0, len(goals[0])))
    return Candidate(number, settings or {}, None, np.array(goals, dtype=float), limits)


def judged(*candidates, objectives=("min:a",), constraints=(), level=0.95):
    goals = [Objective(text.split(":")[1], text.split(":")[0]) for text in objectives]
    return Judge(goals, constraints, candidates[0], level)


def test_differences_are_paired_and_have_their_level():
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 100, 20)
    now, other = candidate(0, 500 + luck), candidate(1, 499 + luck + rng.normal(0, 0.5, 20))
    judge = judged(now, other)
    found = judge.difference(other, now, 0, 1)
    assert found.verdict == "better" and found.estimate.high < 0, "by 1 of 500, with luck of 100 that both share"
    assert judge.difference(now, other, 0, 1).verdict == "worse"
    wide = judge.difference(other, now, 0, 100).estimate
    assert wide.high - wide.low > 1.5 * (found.estimate.high - found.estimate.low)
    assert judged(now, objectives=["max:a"]).difference(other, now, 0, 1).verdict == "worse"


def test_how_many_replicates_it_would_take():
    now, other = candidate(0, [0.0] * 8), candidate(1, [3.0, -2.0, 2.0, -1.0, 3.0, -2.0, 2.5, -1.5])
    found = judged(now).difference(other, now, 0, 1)
    assert found.verdict == "open" and found.replicates_needed > 8
    more = candidate(2, np.tile(other.goals[0], math.ceil(found.replicates_needed / 8) + 1))
    assert judged(candidate(0, [0.0] * more.replicates)).difference(more, candidate(0, [0.0] * more.replicates), 0, 1).verdict == "worse"
    even = candidate(3, [1.0, -1.0] * 4)
    assert judged(now).difference(even, now, 0, 1).replicates_needed is None, "no number would do"


@pytest.mark.parametrize(("replicates", "verdict"), [(2, "open"), (5, "open"), (6, "worse"), (20, "worse")])
def test_a_difference_that_never_varies_needs_replicates_too(replicates, verdict):
    now, other = candidate(0, [4.0] * replicates), candidate(1, [5.0] * replicates)
    assert judged(now).difference(other, now, 0, 1).verdict == verdict, "2 in 2^5 is more than 5 %, 2 in 2^6 less"
    assert judged(now).difference(candidate(2, [4.0] * replicates), now, 0, 1).verdict == "same"
    needed = judged(now).difference(other, now, 0, 1).replicates_needed
    assert needed == (6 if verdict == "open" else None)


def test_equal_settings_are_told_apart_as_seldom_as_said():
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(600):
        family = [candidate(n, rng.normal(0, 1, 10), rng.exponential(1, 10) - 1) for n in range(5)]
        judge = judged(*family, objectives=["min:a", "min:b"])
        verdicts = [judge.difference(one, family[0], k, 8).verdict for one in family[1:] for k in (0, 1)]
        wrong += any(verdict != "open" for verdict in verdicts)
    assert 0.01 < wrong / 600 < 0.065, "of five settings, all at once, at 95 %"


def test_the_recommendation_goes_by_the_order_of_the_objectives():
    noise = np.array([0.1, -0.1, 0.05, -0.05, 0.1, -0.1, 0.0, 0.0])
    now = candidate(0, 10 + noise, 5 + noise)
    good = candidate(1, 2 + noise, 9 + noise, settings={"/a": 1, "/b": 2})
    alike = candidate(2, 2 - noise, 9 - noise, settings={"/a": 1})
    judge = judged(now, objectives=["min:a", "min:b"])
    pick = lambda judge: judge.recommended([now, good, alike], lambda one: len(one.settings))  # noqa: E731
    assert pick(judge) is alike, "what can't be told apart: the fewer changes"
    assert pick(judged(now, objectives=["max:a", "min:b"])) is now
    assert pick(Judge([Objective("a", margin=20), Objective("b")], [], now, 0.95)) is now, "then the second one decides"


def test_a_limit_that_is_kept_for_sure_comes_before_fewer_changes():
    rng = np.random.default_rng(2)
    now = candidate(0, [5.0] * 12, limits=[[0.0] * 12])
    edge = candidate(1, [1.0] * 12, limits=[list(0.9 + rng.normal(0, 0.5, 12))], settings={"/a": 1})
    sure = candidate(2, [1.0] * 12, limits=[list(0.3 + rng.normal(0, 0.1, 12))], settings={"/a": 2, "/b": 2})
    judge = judged(now, constraints=[Constraint("failed", 1)])
    assert judge.feasible(edge, 12) and judge.reaches_beyond(edge, 0) and not judge.reaches_beyond(sure, 0)
    assert judge.recommended([now, edge, sure], lambda one: len(one.settings)) is sure
    assert judged(now).recommended([now, edge, sure], lambda one: len(one.settings)) is edge
    least = judged(now, constraints=[Constraint("failed", 0.8, ">=")])
    assert least.reaches_beyond(edge, 0) and least.feasible(edge, 12)


def test_ranks_put_constraints_before_fronts_and_ends_before_the_middle():
    limit = Constraint("failed", 1)
    now = candidate(0, [5.0], [5.0], limits=[[0.0]])
    ends, middle = [candidate(1, [0.0], [9.0], limits=[[0.0]]), candidate(2, [9.0], [0.0], limits=[[0.0]])], candidate(3, [4.0], [4.0], limits=[[1.0]])
    near, far = candidate(4, [0.0], [0.0], limits=[[1.5]]), candidate(5, [0.0], [0.0], limits=[[3.0]])
    unmeasured = candidate(6, [NAN], [0.0], limits=[[0.0]])
    judge = judged(now, objectives=["min:a", "min:b"], constraints=[limit])
    ranked = judge.ranked([far, near, middle, now, *ends, unmeasured], 1)
    assert [one.number for one in ranked][:4] == [1, 2, 3, 0] and [one.number for one in ranked][-2:] == [4, 5]
    line = [candidate(n, [float(x)], [float(10 - x)]) for n, x in enumerate((5, 0, 6, 10, 3, 5.5))]
    assert [one.number for one in judged(line[0], objectives=["min:a", "min:b"]).ranked(line, 1)] == [1, 3, 4, 2, 0, 5]
    assert not judge.feasible(unmeasured, 1) and judge.feasible(middle, 1) and not judge.feasible(near, 1)


def test_what_the_present_settings_do_not_measure_is_left_out_for_all():
    now, other = candidate(0, [1.0, NAN, 3.0]), candidate(1, [2.0, 9.0, 4.0])
    judge = judged(now)
    assert judge.means(other, 3) == [3.0] and judge.difference(other, now, 0, 1).estimate.n == 2
    assert judge.feasible(other, 3) and not judge.feasible(candidate(2, [2.0, NAN, NAN]), 3)
    late = judged(candidate(0, [NAN, NAN, 3.0]))
    assert late.difference(candidate(1, [NAN, NAN]), candidate(2, [NAN, NAN]), 0, 1).verdict == "open", "not the same"
    assert not late.there(0, 2) and late.there(0, 3) and late.feasible(candidate(1, [NAN, NAN]), 2)


def test_fronts():
    assert on_front([]) == []
    assert on_front([(1, 2), (2, 1), (2, 2), (1, 2), (0, 9)]) == [True, True, False, True, True]
    assert on_front([(3.0,), (3.0,), (4.0,)]) == [True, True, False]


# ---- how it is written -------------------------------------------------------------------------------


def test_too_few_replicates_are_said_and_one_run_is_no_interval():
    rng = np.random.default_rng(3)
    for replicates, words in ((5, "can't be told apart, too few replicates"), (6, "can't be told apart")):
        values = rng.normal(0, 1, replicates)
        found = judged(candidate(0, [0.0] * replicates)).difference(candidate(1, values), candidate(0, [0.0] * replicates), 0, 1)
        assert verdict(found, short=True) == words
    assert interval(estimate([3.0])) == "3 (one run)" and interval(estimate([3.0, 3.0])) == "3"


def test_columns_that_do_not_fit_go_below():
    lines = side_by_side(["", "one", "two"], [["a" * 8, "1", "2"], ["b" * 8, "3", "4"], ["c" * 30, "5", "6"]], 24)
    assert lines == ["     aaaaaaaa  bbbbbbbb", "one  1         3", "two  2         4", "     " + "c" * 30, "one  5", "two  6"]


def test_a_long_command_is_continued():
    lines = continued(["halfopen", "sweep", "a b.json", *(["--set", f"/upstreams/0/health/eject_ms={'9' * 30}"] * 2)], "  ")
    assert lines[0].endswith(" \\") and all(len(line) <= 80 for line in lines) and "'a b.json'" in lines[0]
    assert all(line.lstrip().startswith("--set /up") for line in lines[1:])
    assert EJECT in lines[1]
