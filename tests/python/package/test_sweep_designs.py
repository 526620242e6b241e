"""Designs: points that fill a space, and the recipe for SALib."""

import doctest
import math
import sys

import numpy as np
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


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[design\]'"):
        halfopen.design({EJECT: (1, 2)}, 4)


def test_the_recipe_for_salib():
    pytest.importorskip("SALib", reason="SALib is not installed: pip install SALib")
    tests = doctest.DocTestFinder().find(designs, "designs", extraglobs={"scenario": scenario()})
    (recipe,) = [test for test in tests if test.name == "designs"]
    assert len(recipe.examples) == 11
    runner = doctest.DocTestRunner()
    runner.run(recipe)
    assert runner.summarize(verbose=False).failed == 0
