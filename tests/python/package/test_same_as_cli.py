"""The package and the command are one program: the same bytes, the same version, the same mistakes."""

import importlib.metadata
import json
import re
import subprocess
from pathlib import Path

import halfopen
import pytest

ROOT = Path(__file__).resolve().parents[3]


def output_of(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def test_the_package_is_the_installed_one():
    assert "site-packages" in halfopen.__file__ and not Path(halfopen.__file__).is_relative_to(ROOT / "python")


def test_one_version(cli):
    told = output_of(cli, "--version").decode().split()[-1]
    written = re.search(r"project\(halfopen VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert {told, halfopen.__version__, importlib.metadata.version("halfopen")} == {written}


def test_every_scenario_writes_the_command_s_bytes(cli, scenarios, tmp_path):
    assert len(scenarios) > 30
    written = tmp_path / "all.json"
    subprocess.run([cli, "run", *map(str, scenarios), "--format", "json", "-o", str(written)], check=True)
    ours = [halfopen.run(halfopen.Scenario.load(path)) for path in scenarios]
    assert b"".join(result.to_json() for result in ours) == written.read_bytes()
    for result in ours:
        assert json.loads(result.to_json())["meta"]["fingerprint"] == result.fingerprint


def test_seed_and_changes_are_the_command_s(cli, scenarios):
    path = scenarios[0]
    theirs = output_of(cli, "run", path, "--format", "json", "--seed", "7", "--set", "/duration_ms=9000")
    scenario = halfopen.Scenario.load(path).with_({"/duration_ms": 9000})
    assert halfopen.run(scenario, seed=7).to_json() == theirs
    assert halfopen.run(scenario.with_seed(7)).to_json() == theirs
    assert halfopen.run(scenario.with_({"/seed": 7})).to_json() == theirs
    assert halfopen.run(scenario.with_seed(8).with_({"/seed": 7})).to_json() == theirs
    assert halfopen.run(scenario).to_json() != theirs


def test_load_reads_what_the_command_wrote(cli, scenarios, tmp_path):
    """Tables of a file are those of the run, and so is the pickle."""
    for path in scenarios:
        ours = halfopen.run(halfopen.Scenario.load(path))
        file = tmp_path / "one.json"
        file.write_bytes(ours.to_json())
        back = halfopen.Result.load(file)
        assert back == ours and back.to_json() == ours.to_json()
        assert (back.summary, back.fingerprint, back.digest) == (ours.summary, ours.fingerprint, ours.digest), path
        assert ours.summary == json.loads(ours.to_json())["summary"], path
        assert list(ours.summary) == [row[0] for row in halfopen._core.metrics()]
        for name in ("events", "intervals", "series", "endpoints", "expectations"):
            assert getattr(back, name).to_dict() == getattr(ours, name).to_dict(), (path, name)


def test_load_reads_json_lines(cli, scenarios, tmp_path):
    path = next(path for path in scenarios if "brownout-one" in path.name)
    file = tmp_path / "one.jsonl"
    subprocess.run([cli, "run", path, "--format", "jsonl", "-o", str(file)], check=True)
    back, ours = halfopen.Result.load(file), halfopen.run(halfopen.Scenario.load(path))
    assert back.events.to_dict() == ours.events.to_dict()
    assert back.expectations.to_dict() == ours.expectations.to_dict()
    assert back.summary == ours.summary
    assert len(back.series) == 0 and back.ok
    with pytest.raises(ValueError, match="JSON lines"):
        back.to_json()


def test_mistakes_are_the_command_s(cli, tmp_path):
    file = tmp_path / "bad.json"
    file.write_text('{\n  "duration_ms": -1,\n  "upstreams": [{"name": "a", "endpoints": [], "healht": {}}],\n  "seed": 1.5\n}')
    theirs = subprocess.run([cli, "validate", file], capture_output=True, text=True)
    with pytest.raises(halfopen.ScenarioError) as caught:
        halfopen.Scenario.load(file)
    assert theirs.returncode == 2
    assert len(caught.value.mistakes) == 4
    for mistake in caught.value.mistakes:
        assert str(mistake) in theirs.stdout + theirs.stderr
        assert str(mistake) in str(caught.value)
