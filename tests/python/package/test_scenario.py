"""Scenarios: made, changed, compared, refused."""

import pickle

import halfopen
import numpy as np
import pytest
from halfopen import Scenario, ScenarioError, build

SMALL = {
    "name": "small",
    "duration_ms": 2000,
    "upstreams": [{"name": "api", "endpoints": [{"address": "a", "port": 1}], "health": {"eject_ms": 500}}],
    "traffic": [{"upstream": "api", "every_ms": 10}],
}


def test_the_same_scenario_by_four_ways():
    yaml = """
name: small
duration_ms: 2000
upstreams: [{name: api, endpoints: [{address: a, port: 1}], health: {eject_ms: 500}}]
traffic: [{upstream: api, every_ms: 10}]
"""
    text = """{ // with a comment
      "name": "small", "duration_ms": 2000.0, "traffic": [{"upstream": "api", "every_ms": 10}],
      "upstreams": [{"name": "api", "endpoints": [{"address": "a", "port": 1}], "health": {"eject_ms": 500}}]}"""
    built = Scenario.of(
        name="small",
        duration_ms=2000,
        upstreams=[
            build.Upstream(name="api", endpoints=[build.Endpoint(address="a", port=1)], health=build.Health(eject_ms=500))
        ],
        traffic=[build.Traffic(upstream="api", every_ms=10)],
    )
    all_four = [Scenario.from_dict(SMALL), Scenario.from_yaml(yaml), Scenario.from_json(text), built]
    assert len(set(all_four)) == 1 and len({one.digest for one in all_four}) == 1
    assert halfopen.run(built).to_json() == halfopen.run(all_four[1]).to_json()


def test_with_makes_a_new_one():
    scenario = Scenario.from_dict(SMALL)
    changed = scenario.with_({"/upstreams/0/health/eject_ms": 700, "/upstreams/0/endpoints/-": {"address": "b", "port": 2}})
    assert scenario.to_dict()["upstreams"][0]["health"]["eject_ms"] == 500
    assert changed.to_dict()["upstreams"][0]["health"]["eject_ms"] == 700
    assert len(changed.to_dict()["upstreams"][0]["endpoints"]) == 2
    assert changed != scenario and changed.with_({}) == changed
    assert Scenario.from_dict(changed.to_dict()) == changed


def test_with_takes_words_as_words_and_numpy_as_numbers():
    scenario = Scenario.from_dict(SMALL)
    assert scenario.with_({"/name": "7"}).name == "7"
    values = {"/upstreams/0/health/consecutive_failures": np.int64(3), "/upstreams/0/health/failure_ratio": np.float64(0.25)}
    assert scenario.with_(values).to_dict()["upstreams"][0]["health"]["failure_ratio"] == 0.25
    with pytest.raises(TypeError, match="value that JSON has"):
        scenario.with_({"/name": object()})


def test_immutable_equal_hashable_picklable():
    scenario = Scenario.from_dict(SMALL).with_({"/duration_ms": 1000}).with_seed(2**64 - 1)
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario and hash(again) == hash(scenario) and again.seed == 2**64 - 1
    assert again != "small"
    with pytest.raises(AttributeError, match="with_"):
        scenario.seed = 3
    with pytest.raises(TypeError, match="load"):
        Scenario()
    assert "small" in repr(scenario) and scenario.digest in repr(scenario)


def test_pickle_survives_the_loss_of_files_that_it_names(tmp_path):
    (tmp_path / "times.csv").write_text("10\n20\n30\n")
    scenario = Scenario.from_dict({**SMALL, "traffic": [{"upstream": "api", "trace": "times.csv"}]}, folder=tmp_path)
    frozen, before = pickle.dumps(scenario), halfopen.run(scenario).to_json()
    (tmp_path / "times.csv").unlink()
    again = pickle.loads(frozen)
    assert again == scenario and halfopen.run(again).to_json() == before
    assert halfopen.run(again.with_({"/name": "small"})).to_json() == before
    assert scenario.to_dict()["traffic"][0]["trace"] == "times.csv"
    (tmp_path / "times.csv").write_text("10\n20\n30\n")
    assert Scenario.from_dict(scenario.to_dict(), folder=tmp_path) == scenario
    (tmp_path / "times.csv").write_text("10\n20\n31\n")
    assert Scenario.from_dict(scenario.to_dict(), folder=tmp_path) != scenario


def test_relative_paths_outlive_a_change_of_folder(tmp_path, monkeypatch):
    (tmp_path / "times.csv").write_text("10\n20\n30\n")
    (tmp_path / "one.json").write_text(
        '{"duration_ms":100,"upstreams":[{"name":"api","endpoints":[{"address":"a","port":1}]}],'
        '"traffic":[{"upstream":"api","trace":"times.csv"}]}'
    )
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.load("one.json")
    monkeypatch.chdir("/")
    assert halfopen.run(scenario.with_({"/duration_ms": 90})).summary["requests"] == 3
    with pytest.raises(ScenarioError) as caught:
        scenario.with_({"/duration_ms": 0})
    assert caught.value.mistakes[0].file == "one.json"


def test_mistakes_are_all_there_with_their_places():
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_json('{"duration_ms": 1,\n "upstreams": [{"name": "a", "endpoints": [{"address": "x", "port": 0}]}],\n "z": 1}')
    mistakes = [one for one in caught.value.mistakes if not one.warning]
    assert [(one.file, one.line, one.pointer) for one in mistakes] == [
        ("<json>", 2, "/upstreams/0/endpoints/0/port"),
        ("<json>", 3, "/z"),
    ]
    assert mistakes[0].column == 69 and "must be 1" in mistakes[0].message
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.mistakes == caught.value.mistakes and str(again) == str(caught.value)
    assert isinstance(again, ValueError)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"/nowhere/0": 1}, "/nowhere/0"),
        ({"nothing": 1}, ""),
        ({"/upstreams/0/health/eject_ms": -5}, "/upstreams/0/health/eject_ms"),
        ({"/upstreams/0/health/failure_ratio": float("nan")}, "/upstreams/0/health/failure_ratio"),
    ],
)
def test_changes_that_cannot_be(change, pointer):
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(SMALL).with_(change)
    assert caught.value.mistakes[0].pointer == pointer


def test_files_that_are_none(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(ScenarioError) as caught:
            Scenario.load(path)
        assert caught.value.mistakes[0].line == 0
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(ScenarioError):
        Scenario.load(tmp_path / "bytes.json")
    with pytest.raises((TypeError, ValueError)):
        Scenario.from_dict(SMALL).with_seed(-1)
    with pytest.raises(TypeError, match="Scenario"):
        halfopen.run(SMALL)


def test_warnings_do_no_harm():
    scenario = Scenario.from_dict({**SMALL, "traffic": []})
    assert all(one.warning for one in scenario.warnings)
