"""`halfopen diff` and `halfopen init` as commands; what a diff says is tested beside it in tests/sim."""

import json
import subprocess

import pytest

from test_cli import halfopen, scenario, write  # noqa: F401 (fixtures)


@pytest.fixture
def timelines(halfopen, write):  # noqa: F811
    file = write(scenario())
    for seed in 1, 2:
        assert halfopen("run", file, "--seed", seed, "--format", "json", "-o", f"{seed}.json")[0] == 0
    assert halfopen("run", file, "--format", "jsonl", "-o", "1.jsonl")[0] == 0
    return "1.json", "2.json", "1.jsonl"


def test_the_same_is_0_and_different_is_1(halfopen, timelines):  # noqa: F811
    one, two, lines = timelines
    status, out, err = halfopen("diff", one, one)
    assert (status, err) == (0, "") and out.startswith("The timelines are the same, ")
    assert halfopen("diff", one, lines)[0] == 0
    status, out, err = halfopen("diff", one, two)
    assert (status, err) == (1, "")
    assert out.startswith("The timelines differ from event 1 on, ")
    assert "1.json, line 14:\n  at 1." in out and "2.json, line 14:\n  at 1." in out
    assert "\nmeta, seed: 1 | 2\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_version_alone_is_no_difference(halfopen, timelines, tmp_path):  # noqa: F811
    other = json.loads((tmp_path / "1.json").read_text())
    other["meta"]["version"] = "99.0"
    (tmp_path / "other.json").write_text(json.dumps(other))
    assert halfopen("diff", "1.json", "other.json")[0] == 0
    other["summary"]["ok"] += 1
    (tmp_path / "other.json").write_text(json.dumps(other))
    status, out, _ = halfopen("diff", "1.json", "other.json")
    assert status == 1
    ok = other["summary"]["ok"]
    assert f"\nsummary, ok: {ok - 1} | {ok}\n" in out


@pytest.mark.parametrize("other", ["x.json", "nowhere.json", ".", "cut.json", "empty.json"])
def test_what_is_no_timeline_is_2(halfopen, timelines, tmp_path, other):  # noqa: F811
    (tmp_path / "cut.json").write_bytes((tmp_path / "1.json").read_bytes()[:-3])
    (tmp_path / "empty.json").write_bytes(b"")
    for words in ("1.json", other), (other, "1.json"), (other, other):
        status, out, err = halfopen("diff", *words)
        assert (status, out) == (2, "")
        assert err.startswith(other + ":")


def test_a_pipe_may_be_one_of_them(binary, timelines, tmp_path):
    done = subprocess.run([binary, "diff", "1.json", "/dev/stdin"], input=(tmp_path / "1.json").read_bytes(),
                          cwd=tmp_path, capture_output=True)
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["diff"], ["diff", "1.json"], ["diff", "1.json", "2.json", "1.json"],
                                   ["diff", "--fly", "1.json", "2.json"], ["init", "a", "b"]], ids=" ".join)
def test_wrong_usage_is_2(halfopen, timelines, words):  # noqa: F811
    status, out, err = halfopen(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"halfopen: {words[0]}: ")


@pytest.mark.parametrize("command", ["diff", "init"])
def test_their_help_alone_is_enough(halfopen, command):  # noqa: F811
    status, out, _ = halfopen(command, "--help")
    assert status == 0
    assert f"Usage: halfopen {command}" in out and "Examples:" in out
    assert max(map(len, out.splitlines())) <= 80
    assert f"Usage: halfopen {command}" in halfopen("--help")[1]


# ---- init -----------------------------------------------------------------------------------------


def test_init_writes_a_scenario_that_is_valid_and_holds(halfopen, tmp_path):  # noqa: F811
    status, out, err = halfopen("init", "first.json")
    assert (status, out) == (0, "") and "first.json" in err
    text = (tmp_path / "first.json").read_text()
    assert halfopen("init") == (0, text, "")
    assert halfopen("init", "-")[1] == text
    assert '"$schema"' in text and "brownout" in text
    assert max(map(len, text.splitlines())) <= 120
    assert halfopen("validate", "first.json") == (0, "ok first.json\n", "")
    status, out, _ = halfopen("check", "first.json")
    assert (status, out) == (0, "ok first (7 expectations)\n")
    run = halfopen("run", "first.json", "--seed", "2")
    assert "HELD  7 expectations" in run[1]


def test_the_expectations_of_the_starter_can_fail(halfopen, tmp_path):  # noqa: F811
    """Without the brownout nothing is ejected, and the starter says so."""
    halfopen("init", "first.json")
    text = (tmp_path / "first.json").read_text()
    (tmp_path / "calm.json").write_text(text.replace('"error_ratio": 0.9', '"error_ratio": 0'))
    status, out, _ = halfopen("check", "calm.json")
    assert status == 1 and out.count("expected ") == 3


def test_each_part_of_the_starter_is_explained(halfopen):  # noqa: F811
    lines = halfopen("init")[1].splitlines()
    for part in "$schema", "name", "seed", "upstreams", "endpoints", "traffic", "expect":
        (at,) = [n for n, line in enumerate(lines) if line.startswith(f'  "{part}"')]
        around = lines[at - 4:at + 1]
        assert any("//" in line for line in around), part


def test_init_replaces_a_file_only_when_told(halfopen, tmp_path):  # noqa: F811
    (tmp_path / "mine.json").write_text("mine")
    status, out, err = halfopen("init", "mine.json")
    assert (status, out) == (2, "") and "mine.json exists" in err and "--force" in err
    assert (tmp_path / "mine.json").read_text() == "mine"
    assert halfopen("init", "--force", "mine.json")[0] == 0
    assert (tmp_path / "mine.json").read_text() == halfopen("init")[1]
    assert halfopen("init", "no/such/folder/x.json")[0] == 2
