"""`halfopen analyze` as a command: what it prints, what it takes, what it refuses."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(path for path in (ROOT / "scenarios").glob("*.json") if not path.name.endswith(".timeline.json"))
BROWNOUT = ROOT / "scenarios" / "brownout-one-of-four.json"


@pytest.fixture
def analyze(binary):
    def run(*words):
        done = subprocess.run([binary, "analyze", *map(str, words)], capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_has_answers_that_fit_the_page(analyze, path):
    status, out, err = analyze(path)
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in out.splitlines())
    assert "nan" not in out and "inf " not in out


def pairs(node):
    """Every {low, high} in a document."""
    if isinstance(node, dict):
        if node.keys() == {"low", "high"}:
            yield node["low"], node["high"]
        for value in node.values():
            yield from pairs(value)
    elif isinstance(node, list):
        for value in node:
            yield from pairs(value)


def test_json_tells_where_its_inputs_come_from_and_keeps_its_bounds_in_order(analyze):
    status, out, _ = analyze(BROWNOUT, "--format", "json", "--healthy-error-ratio", "0.01")
    assert status == 0 and out.endswith("}\n")
    document = json.loads(out)
    assert document["format"] == "halfopen.analysis/1"
    (upstream,) = document["upstreams"]
    assert upstream["rate_rps"] == {"value": 1000, "from": "its traffic"}
    assert upstream["healthy_error_ratio"] == {"value": 0.01, "from": "--healthy-error-ratio"}
    assert upstream["sick_error_ratio"] == {"value": 0.6, "from": "its worst fault"}
    healthy, sick = upstream["ejection"]["healthy"], upstream["ejection"]["sick"]
    # (1 - p^k) / (p^k (1 - p)) attempts at 250 a second
    assert healthy["streak_alone_mean_s"] == pytest.approx((1 - 1e-10) / (1e-10 * 0.99) / 250, rel=1e-9)
    assert sick["bound"] == "exact" and sick["mean_s"]["high"] < 0.1
    found = list(pairs(document))
    assert len(found) > 20
    assert all(low is None or high is None or low <= high for low, high in found)


def test_options_change_the_settings_and_the_answers(analyze):
    def mean(*words):
        return json.loads(analyze(BROWNOUT, "--format", "json", *words)[1])["upstreams"][0]["ejection"]["sick"]["mean_s"]["low"]
    assert mean("--rate-rps", "2000") == pytest.approx(mean() / 2, rel=1e-6)
    assert mean("--set", "/upstreams/0/health/consecutive_failures=3") < mean()
    assert mean("--sick-error-ratio", "0.9") < mean()


def test_output_goes_to_a_file_which_must_not_be_the_input(analyze, tmp_path):
    target = tmp_path / "answers.txt"
    assert analyze(BROWNOUT, "-o", target)[:2] == (0, "")
    assert target.read_text().startswith("Exact answers for brownout-one-of-four\n")
    copy = tmp_path / "mine.json"
    copy.write_bytes(BROWNOUT.read_bytes())
    status, _, err = analyze(copy, "-o", copy)
    assert status == 2 and err.startswith("halfopen: ")
    assert copy.read_bytes() == BROWNOUT.read_bytes()


@pytest.mark.parametrize("words", [
    ["--rate-rps", "0"], ["--rate-rps", "-1"], ["--rate-rps", "ten"], ["--rate-rps", "nan"], ["--rate-rps", "1e8"],
    ["--healthy-error-ratio", "1.1"], ["--sick-error-ratio", "-0.1"], ["--sick-error-ratio", "60%"], ["--format", "yaml"],
], ids=" ".join)
def test_numbers_out_of_range_are_wrong_usage(analyze, words):
    status, out, err = analyze(BROWNOUT, *words)
    assert (status, out) == (2, "")
    assert err.splitlines()[0].startswith("halfopen: analyze: ")


def test_a_bad_file_is_told_and_nothing_is_printed(analyze, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{ "duration_ms": 0 }')
    status, out, err = analyze(bad)
    assert (status, out) == (2, "")
    assert str(bad) in err


def test_what_has_no_rate_says_which_option_gives_one(analyze):
    status, out, _ = analyze(ROOT / "scenarios" / "probes-in-lockstep.json")
    assert status == 0
    assert "No rate, because it has no traffic: give one with --rate-rps." in out


def test_the_same_bytes_twice(analyze):
    assert analyze(BROWNOUT, "--format", "json") == analyze(BROWNOUT, "--format", "json")
