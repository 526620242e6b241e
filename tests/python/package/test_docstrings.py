"""Every example in a docstring of the package gives what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import halfopen
import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMES = ["halfopen", *(one.name for one in pkgutil.walk_packages(halfopen.__path__, "halfopen.") if not one.name.endswith("__main__"))]


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in NAMES:
        module = importlib.import_module(name)
        for test in finder.find(module, name):
            if test.examples:
                yield pytest.param(module, test, id=test.name)


@pytest.mark.parametrize(("module", "test"), list(examples()))
def test_examples_give_what_they_say(module, test, tmp_path, monkeypatch):
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    scenario = halfopen.Scenario.load("scenarios/brownout-one-of-four.json")
    test.globs.update(vars(halfopen), halfopen=halfopen, scenario=scenario)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_there_are_examples():
    assert len(list(examples())) >= 6
