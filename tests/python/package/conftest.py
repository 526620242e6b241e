"""Tests of the installed package: run from outside the checkout, so that python/halfopen cannot stand in for it."""

import sys
from pathlib import Path

import halfopen
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def scenarios():
    """Every scenario of the repository that has a golden timeline."""
    found = sorted((ROOT / "scenarios").glob("*.timeline.json"))
    return [path.with_name(path.name.replace(".timeline.json", ".json")) for path in found]


@pytest.fixture(scope="session")
def brownout():
    return halfopen.Scenario.load(ROOT / "scenarios/brownout-one-of-four.json")


@pytest.fixture(scope="session")
def result(brownout):
    return halfopen.run(brownout)


@pytest.fixture(scope="session")
def cli():
    """The command that the wheel brought."""
    place = Path(sys.executable).parent / "halfopen"
    assert place.is_file(), f"the wheel brought no {place}"
    return str(place)


@pytest.fixture(scope="session")
def storm():
    """A scenario that takes seconds: for what must interrupt it, or run beside it."""
    return halfopen.Scenario.of(
        duration_ms=3_600_000,
        upstreams=[{"name": "api", "endpoints": [{"address": "a", "port": 1}, {"address": "b", "port": 1}], "health": {}}],
        traffic=[{"upstream": "api", "arrivals": "poisson", "rate_rps": 20_000}],
    )
