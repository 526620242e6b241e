"""Scenarios and gateways' files in YAML, and warnings, as the users of the command line meet them."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "scenarios/gateway-demo.json"
GATEWAY = ROOT / "tests/corpus/gateway"
SMALL = """\
# One endpoint fails for a second.
name: small
duration_ms: 5000
upstreams:
  - name: api
    endpoints:
      - { address: 10.0.0.1, port: 8080 }
      - { address: 10.0.0.2, port: 8080 }
    health: { eject_ms: 1000 }
endpoints:
  10.0.0.1:8080:
    faults:
      - { from_ms: 1000, to_ms: 2000, error: { ratio: 1 } }
traffic:
  - { upstream: api, every_ms: 10 }
expect:
  - event: endpoint_ejected
    endpoint: 10.0.0.1:8080
    count: 1
"""


@pytest.fixture
def halfopen(binary, tmp_path):
    def run(*words):
        surroundings = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
        done = subprocess.run([binary, *map(str, words)], cwd=tmp_path, env=surroundings,
                              capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.fixture
def write(tmp_path):
    def save(text, name="x.yaml"):
        (tmp_path / name).write_text(text)
        return name
    return save


# ---- YAML -----------------------------------------------------------------------------------------


def test_check_takes_yaml_files_of_a_directory_and_compares_their_golden_timelines(halfopen, write, tmp_path):
    write(SMALL, "b.yaml")
    write(SMALL.replace("small", "other"), "a.yml")
    status, out, err = halfopen("check", "--update", ".")
    assert (status, err) == (0, "2 of 2 scenarios held\n")
    assert out == ("ok other (1 expectation, golden timeline written)\n"
                   "ok small (1 expectation, golden timeline written)\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.timeline.json", "a.yml", "b.timeline.json", "b.yaml"]
    status, out, _ = halfopen("check", ".")
    assert (status, out.count("golden timeline)")) == (0, 2)


def test_two_files_that_would_share_a_golden_timeline_are_told(halfopen, write):
    write(SMALL)
    write('{"duration_ms": 5, "upstreams": [{"name": "a", "endpoints": [{"address": "a", "port": 1}]}]}', "x.json")
    status, out, err = halfopen("check", ".")
    assert status == 2 and out.count("ok ") == 2
    assert err.startswith("halfopen: ./x.json and ./x.yaml would have the same golden timeline, ./x.timeline.json: "
                          "rename one of them\n")
    assert halfopen("check", "x.yaml", "x.yaml")[0] == 0


def test_a_failed_expectation_names_the_line_of_the_yaml_file(halfopen, write):
    status, out, _ = halfopen("check", write(SMALL.replace("count: 1", "count: 2")))
    assert status == 1
    assert "  x.yaml:17:5: expected exactly 2 endpoint_ejected of 10.0.0.1:8080\n" in out


def test_a_bad_yaml_file_is_answered_with_every_mistake_in_its_place(halfopen, write):
    status, out, err = halfopen("validate", write(SMALL.replace("eject_ms", "eject").replace("api, e", "app, e")))
    assert (status, out) == (2, "")
    places = [line.split(" ")[:2] for line in err.splitlines()]
    assert places == [["x.yaml:9:15:", "/upstreams/0/health/eject:"], ["x.yaml:15:17:", "/traffic/0/upstream:"]]


# ---- a gateway's own file -------------------------------------------------------------------------


def test_the_guides_block_gives_the_same_timeline_as_the_scenario_that_copied_it(halfopen):
    own = halfopen("run", DEMO, "--format", "json")
    gateway = halfopen("run", DEMO, "--format", "json", "--gateway", GATEWAY / "guide.yaml")
    assert gateway == own
    assert (own[0], own[2]) == (0, "")


def test_what_a_gateway_has_more_to_say_is_a_warning_in_its_own_file(halfopen):
    file = GATEWAY / "more_to_say.yaml"
    status, out, err = halfopen("check", DEMO, "--gateway", file)
    assert status == 1 and "FAILED gateway-demo" in out  # two failures in a row are not 5: its probes are gone
    assert [line.split(": ")[:3] for line in err.splitlines()[:3]] == [
        [f"{file}:3:5", "warning", "/upstreams/0/zone"],
        [f"{file}:7:9", "warning", "/upstreams/0/endpoints/0/labels"],
        [f"{file}:10:7", "warning", "/upstreams/0/health/consecutive_failure"]]


def test_with_a_gateways_file_the_golden_timeline_is_nobodys(halfopen, write, tmp_path):
    write(SMALL)
    assert halfopen("check", "--update", "x.yaml")[0] == 0
    golden = (tmp_path / "x.timeline.json").read_bytes()
    write(SMALL.replace("eject_ms: 1000", "eject_ms: 1001"), "gateway.yaml")
    status, out, _ = halfopen("check", "x.yaml", "--gateway", "gateway.yaml")
    assert (status, out) == (0, "ok small (1 expectation)\n")
    status, out, err = halfopen("check", "--update", "x.yaml", "--gateway", "gateway.yaml")
    assert (status, out) == (2, "") and "--update is refused with --gateway" in err
    assert (tmp_path / "x.timeline.json").read_bytes() == golden


def test_a_gateways_file_that_is_bad_or_missing_runs_nothing(halfopen, write, tmp_path):
    write(SMALL)
    status, out, err = halfopen("run", "x.yaml", "--gateway", GATEWAY / "bad.yaml")
    assert (status, out) == (2, "")
    assert f"{GATEWAY}/bad.yaml:6:36: /upstreams/0/endpoints/0/port: " in err
    status, out, err = halfopen("run", "x.yaml", "--gateway", "none.yaml")
    assert (status, out, err) == (2, "", "none.yaml: it can't be opened: No such file or directory\n")


def test_the_output_does_not_overwrite_the_gateways_file(halfopen, write, tmp_path):
    write(SMALL)
    write(SMALL, "g.yaml")
    status, _, err = halfopen("run", "x.yaml", "--gateway", "g.yaml", "--format", "json", "-o", "./g.yaml")
    assert status == 2 and "-o ./g.yaml would overwrite g.yaml" in err
    assert (tmp_path / "g.yaml").read_text() == SMALL


# ---- warnings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["validate", "run", "check"])
def test_a_warning_is_told_on_standard_error_and_changes_no_exit_status(halfopen, write, command):
    write(SMALL.replace("from_ms: 1000, to_ms: 2000, error", "from_ms: 5000, error").replace("count: 1", "count: 0"))
    status, out, err = halfopen(command, "x.yaml")
    assert status == 0 and out != ""
    assert err.splitlines()[0] == ("x.yaml:13:20: warning: /endpoints/10.0.0.1:8080/faults/0/from_ms: this fault "
                                   "begins at 5000 ms, and the run ends at 5000 ms: it never happens")
    write(SMALL.replace("from_ms: 1000, to_ms: 2000, error", "from_ms: 4999, error").replace("count: 1", "count: 0"))
    assert "warning" not in halfopen(command, "x.yaml")[2]
