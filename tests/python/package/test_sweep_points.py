"""Which runs a sweep has: grids, zips, constraints, lists of points; and what it says of those it can't have."""

import numpy as np
import pandas
import pytest
from sweeps import EJECT, FAILURES, scenario, small_sweep

import halfopen


def settings(*arguments, **more):
    return [tuple(point.values()) for point in halfopen.Sweep(scenario(), *arguments, **more).points]


def test_the_last_parameter_of_a_grid_varies_fastest():
    assert settings({FAILURES: [1, 3], EJECT: np.array([2000, 5000])}) == [(1, 2000), (1, 5000), (3, 2000), (3, 5000)]
    assert settings({FAILURES: range(1, 4)}) == [(1,), (2,), (3,)]
    assert settings() == [()]


def test_a_tuple_of_pointers_is_set_together():
    params = {(FAILURES, EJECT): zip([1, 3], [2000, 5000], strict=True), "/traffic/0/rate_rps": [10, 20]}
    assert settings(params) == [(1, 2000, 10), (1, 2000, 20), (3, 5000, 10), (3, 5000, 20)]


def test_constraints_drop_points():
    params = {FAILURES: [1, 2, 3], EJECT: [1000, 2000, 3000]}
    by_words = settings(params, where=f"{{{EJECT}}} >= 1000 * {{{FAILURES}}} and not {{{FAILURES}}} == 3")
    assert by_words == [(1, 1000), (1, 2000), (1, 3000), (2, 2000), (2, 3000)]
    assert settings(params, where=lambda at: at[EJECT] >= 1000 * at[FAILURES] and at[FAILURES] != 3) == by_words
    assert settings(params, where=[f"{{{FAILURES}}} in [1, 3]", lambda at: at[EJECT] == 1000]) == [(1, 1000), (3, 1000)]
    assert settings(params, where=f"1 < {{{FAILURES}}} < 3 and {{{EJECT}}} % 2000 == 0 or -{{{EJECT}}} < -2999") == [
        (1, 3000), (2, 2000), (2, 3000), (3, 3000)]  # fmt: skip


def test_points_are_listed_in_any_shape():
    points = [{FAILURES: 1, EJECT: 2000}, {EJECT: 5000, FAILURES: np.int64(3)}]
    assert settings(points=points) == [(1, 2000), (3, 5000)]
    assert settings(points=pandas.DataFrame(points)) == [(1, 2000), (3, 5000)]


def test_runs_are_numbered_and_have_common_seeds():
    sweep = small_sweep(replicates=3)
    assert len(sweep) == 12
    runs = sweep.runs()
    assert [run.number for run in runs] == list(range(1, 13))
    assert [(run.point, run.replicate, run.seed) for run in runs[2:5]] == [(0, 3, 9), (1, 1, 7), (1, 2, 8)]
    assert sweep[4] == runs[3] and list(sweep) == runs
    assert runs[3].settings == {FAILURES: 1, EJECT: 5000}
    assert small_sweep(replicates=2, seed=2**64 - 1)[2].seed == 0
    own = halfopen.Sweep(scenario(seed=40), {"/seed": [5, 90]}, replicates=2)
    assert [run.seed for run in own.runs()] == [5, 6, 90, 91]
    assert halfopen.Sweep(scenario(seed=40), replicates=2)[2].seed == 41


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"params": {FAILURES: []}}, "has no values"),
        ({"params": {FAILURES: 3}}, "needs a list of values, not 3: \\[3\\]"),
        ({"params": {EJECT: "5000"}}, "needs a list of values"),
        ({"params": {"eject_ms": [1]}}, "no JSON pointer; one looks like"),
        ({"params": {(FAILURES, EJECT): [(1,)]}}, "must be a tuple of 2"),
        ({"params": {FAILURES: [1]}, "points": [{EJECT: 1}]}, "not both"),
        ({"points": []}, "nothing to run"),
        ({"points": [{FAILURES: 1}, {EJECT: 1}]}, "point 1 and point 0 differ"),
        ({"points": [3]}, "lists dicts"),
        ({"params": {FAILURES: range(10_000), EJECT: range(10_000)}}, "more than 10000000 points"),
        ({"params": {FAILURES: range(1, 1001)}, "replicates": 10_001}, "more than 10000000 runs"),
        ({"params": {FAILURES: [1, 2]}, "where": f"{{{FAILURES}}} > 2"}, "leaves none of 2 points"),
        ({"params": {FAILURES: [1, 2]}, "where": f"{{{EJECT}}} > 2"}, "which is no parameter"),
        ({"params": {FAILURES: [1, 2]}, "where": f"{{{FAILURES}}} >"}, "is no expression"),
        ({"params": {FAILURES: [1, 2]}, "where": "__import__('os')"}, "Call can't be used there"),
        ({"params": {FAILURES: [1, 2]}, "where": f"{{{FAILURES}}}.real > 1"}, "Attribute can't be used there"),
        ({"params": {FAILURES: [1, 2]}, "where": "failures > 1"}, "failures can't be used there"),
        ({"params": {"/upstreams/0/health/eject_ms": [1], "/upstreams/0/health": [{}]}}, "would undo"),
        ({"params": {"/seed": [1]}, "seed": 7}, "would undo every value of /seed"),
        ({"replicates": 0}, "replicates is 0: it must be a whole number from 1"),
        ({"metrics": ["succes_ratio"]}, "did you mean 'success_ratio'"),
        ({"metrics": "missed"}, "is a list of names"),
    ],
)
def test_what_cannot_be_swept_is_told_in_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        halfopen.Sweep(scenario(), **arguments)


def test_a_sweep_needs_a_scenario():
    with pytest.raises(TypeError, match="Scenario.load"):
        halfopen.Sweep({"name": "x"})


def test_mistakes_of_points_come_before_anything_runs():
    sweep = halfopen.Sweep(scenario(), {FAILURES: [1, -1, "many"], EJECT: [1000, 2000]}, replicates=2)
    with pytest.raises(halfopen.ScenarioError) as caught:
        sweep.run()
    first, second = caught.value.mistakes
    assert (first.pointer, first.line) == (FAILURES, 0)
    assert first.message.endswith("(first in run 5, 2 points in all)") and second.message.endswith("(first in run 9, 2 points in all)")
    assert first.file == "<dict>"
    assert sweep.run([1, 2, 3]).table.rows == 3  # its points are in order
    for wrong in (0, 13):
        with pytest.raises(IndexError, match="numbered from 1 to 12"):
            sweep[wrong]
