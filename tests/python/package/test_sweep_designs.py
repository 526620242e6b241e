"""Designs and tuning: points that fill a space, Optuna by ask and tell, and the recipe for SALib."""

import doctest
import math
import sys

import numpy as np
import optuna
import pytest
from sweeps import EJECT, FAILURES, scenario

import halfopen
from halfopen import Range, designs

BALANCER = "/upstreams/0/load_balancer"
SPACE = {FAILURES: (1, 8), EJECT: Range(100, 10_000, log=True), BALANCER: ["round_robin", "random"]}


@pytest.mark.parametrize("method", ["sobol", "latin", "halton"])
def test_a_design_fills_its_space(method):
    points = halfopen.design(SPACE, 64, method=method, seed=3)
    assert points == halfopen.design(SPACE, 64, method=method, seed=3) != halfopen.design(SPACE, 64, method=method, seed=4)
    counts = np.bincount([point[FAILURES] for point in points])
    assert counts[0] == 0 and len(counts) == 9 and all(6 <= count <= 10 for count in counts[1:])
    assert all(type(point[FAILURES]) is int for point in points)
    decades = np.bincount([int(math.log10(point[EJECT])) for point in points], minlength=4)
    assert decades[2] == pytest.approx(32, abs=3) and decades[3] == pytest.approx(32, abs=3)
    assert sum(point[BALANCER] == "random" for point in points) == pytest.approx(32, abs=2)
    sweep = halfopen.Sweep(scenario(), points=points[:3], replicates=1)
    assert sweep.run().table[FAILURES].tolist() == [point[FAILURES] for point in points[:3]]


def test_the_ends_of_a_range():
    assert [Range(1, 3).at(share) for share in (0, 0.34, 0.99, 1)] == [1, 2, 3, 3]
    assert [Range(1.0, 3.0).at(share) for share in (0, 0.5, 1)] == [1, 2, 3]
    assert [Range(1, 99, log=True).at(share) for share in (0, 0.5, 1)] == [1, 10, 99]
    assert Range(1, 3.0).at(0.1) == pytest.approx(1.2) and Range(1.0, 3.0, integer=True).at(0.5) == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Range(3, 1), "to a larger one"),
        (lambda: Range(0, math.inf), "to a larger one"),
        (lambda: Range(0, 1, log=True), "begins above 0"),
        (lambda: Range(0.5, 1, integer=True), "has whole ends"),
        (lambda: halfopen.design({}, 4), "the space is empty"),
        (lambda: halfopen.design({EJECT: (1, 2, 3)}, 4), "a list of choices has brackets"),
        (lambda: halfopen.design({EJECT: "ab"}, 4), "neither a Range"),
        (lambda: halfopen.design({EJECT: []}, 4), "neither a Range"),
        (lambda: halfopen.design({EJECT: (1, 2)}, 6), "a power of two"),
        (lambda: halfopen.design({EJECT: (1, 2)}, 0, method="latin"), "from 1"),
        (lambda: halfopen.design({EJECT: (1, 2)}, 4, method="grid"), "one of sobol, latin, halton"),
    ],
)
def test_what_cannot_be_designed_is_told(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def study(*directions):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(directions=directions, sampler=optuna.samplers.TPESampler(seed=7))


def tuned():
    return halfopen.tune(
        study("minimize", "minimize"), scenario(), SPACE, ["failed", lambda mean: mean["ejections"] + mean["missed"]],
        trials=10, batch=4, replicates=3, seed=5, progress=False,
    )  # fmt: skip


def test_optuna_by_ask_and_tell_with_several_objectives():
    found = tuned()
    assert len(found.trials) == 10 and all(trial.state.name == "COMPLETE" for trial in found.trials)
    best = found.best_trials[0]
    table = halfopen.Sweep(scenario(), points=[best.params], replicates=3, seed=5).run().table
    assert best.values == [table["failed"].mean(), pytest.approx(table["ejections"].mean() + table["missed"].mean())]
    assert best.user_attrs["success_ratio"] == pytest.approx(table["success_ratio"].mean())
    assert [trial.params for trial in tuned().trials] == [trial.params for trial in found.trials]


def test_a_trial_that_cannot_be_run_or_measured_has_failed():
    space = {FAILURES: [3, -1], "/upstreams/0/health": [{"consecutive_failures": 2}, {}]}
    bad = halfopen.tune(study("minimize"), scenario(), {FAILURES: [-1, -2]}, ["failed"], trials=2, replicates=2)
    assert {trial.state.name for trial in bad.trials} == {"FAIL"} and FAILURES in bad.trials[0].user_attrs["why"]
    calm = scenario(endpoints={})
    none = halfopen.tune(study("minimize"), calm, {FAILURES: (1, 3)}, ["time_to_detect_ms"], trials=1, replicates=2)
    assert none.trials[0].user_attrs["why"] == "an objective was not measured in any replicate"
    some = halfopen.tune(study("minimize"), scenario(), {"/upstreams/0/health": space["/upstreams/0/health"]}, ["failed"],
                         trials=3, replicates=1)  # fmt: skip
    assert {trial.state.name for trial in some.trials} == {"COMPLETE"}


def test_what_cannot_be_tuned_is_told():
    with pytest.raises(ValueError, match="has 1 directions, and there are 2 objectives"):
        halfopen.tune(study("minimize"), scenario(), SPACE, ["failed", "missed"], trials=1)
    with pytest.raises(ValueError, match="did you mean 'failed'"):
        halfopen.tune(study("minimize"), scenario(), SPACE, ["faild"], trials=1)


def test_missing_libraries_are_named(monkeypatch):
    waiting = study("minimize")
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    monkeypatch.setitem(sys.modules, "optuna.distributions", None)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[design\]'"):
        halfopen.design({EJECT: (1, 2)}, 4)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[optuna\]'"):
        halfopen.tune(waiting, scenario(), {EJECT: (1, 2)}, ["failed"], trials=1)


def test_the_recipe_for_salib():
    pytest.importorskip("SALib", reason="SALib is not installed: pip install SALib")
    tests = doctest.DocTestFinder().find(designs, "designs", extraglobs={"scenario": scenario()})
    (recipe,) = [test for test in tests if test.name == "designs"]
    assert len(recipe.examples) == 11
    runner = doctest.DocTestRunner()
    runner.run(recipe)
    assert runner.summarize(verbose=False).failed == 0
