"""The studies: a rule that a study means to be off is off, as the machines themselves have it."""

import json
import re
import sys
from pathlib import Path

import halfopen
import pytest

sys.path.append(str(Path(__file__).resolve().parents[3] / "results"))
import studies  # noqa: E402  (it lies beside the studies)

STUDIES = studies.studies()
MACHINES = {
    "breaker": (halfopen.Breaker, "error_ratio", "error_volume"),
    "health": (halfopen.EndpointHealth, "failure_ratio", "failure_min_volume"),
}


def unwanted(settings, machine, ratio, volume):
    """The rule by which a machine acts on nothing but failures, although its ratio is meant to be off; None if by none or by the streak.

    Meant to be off: a ratio of 1, or a volume beyond all windows. The machine is as after a start, a return or a closing: empty.
    """
    params = machine(**settings).params
    if params[ratio] < 1 and params[volume] < 1_000_000:
        return None
    one = machine(**settings)
    for now in range(min(params["consecutive_failures"], 2000)):
        one.report(now, failure=True)
    rules = [event.rule for event in one.take_events()]
    return next((rule for rule in rules if rule != "consecutive_failures"), None)


def upstreams(study):
    """The upstream of every point, as the simulator has it."""
    return [part.scenario.with_(point.settings).to_dict()["upstreams"][0] for part in study.parts for point in part.points]


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_ratio_that_is_meant_to_be_off_never_acts(study):
    seen = {(key, json.dumps(one[key], sort_keys=True)) for one in upstreams(study) for key in MACHINES if key in one}
    assert len(seen) > 1
    assert [(key, text) for key, text in seen if unwanted(json.loads(text), *MACHINES[key])] == []


def test_ratio_of_one_is_not_off():
    late = {"consecutive_failures": 48, "open_ms": 1000}
    assert unwanted(late | {"error_ratio": 1}, *MACHINES["breaker"]) == "error_ratio"
    assert unwanted(late | {"error_volume": studies.NEVER}, *MACHINES["breaker"]) is None
    assert unwanted({"consecutive_failures": studies.NEVER, "failure_ratio": 1}, *MACHINES["health"]) == "failure_ratio"


def test_recommended_breakers_of_pages_open_by_the_streak_alone():
    blocks = [json.loads("{" + found + "}")["breaker"] for found in re.findall(r'"breaker": \{[^}]*\}', STUDIES["3_fail_open_or_closed"].readme())]
    assert len(blocks) == 1
    assert [unwanted(block, *MACHINES["breaker"]) for block in blocks] == [None]
