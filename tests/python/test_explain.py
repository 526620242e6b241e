"""`halfopen explain`: the whole text of one answer, what the others must say, and whether it is true."""

import json
import os
import pty
import re
import subprocess
import unicodedata

import pytest

from conftest import ROOT

EXACT = """\
10.0.0.3:8080 of reset was ejected from 0.601 s to 1.000 s (399 ms), the end of
the run, by consecutive_failures.

What led there
       at  request  outcome  streak  failed
  0.101 s  2#0      503           1  1 of 1
  0.201 s  2#1      503           2  2 of 2
  0.301 s  2#2      200           0  2 of 3
  0.401 s  2#3      503           1  3 of 4
  0.501 s  2#4      503           2  4 of 5
  0.601 s  2#5      503           3  5 of 6  ejected

The counts against the limits
  consecutive_failures  3 failures in a row, limit 3: fired
  failure_ratio         5 of 6 failed (83.33 %), limit 50 %, but asked only from
                        20 observations on: 14 short

What happened then
  0.601 s  ejected: 3 failures in a row, limit 3; 5 of 6 failed (83.33 %); out
           for 30 s
  A trial would have had to wait until 30.601 s.

What the simulation knows
  It was right: 10.0.0.3:8080 was really failing: scripted outcomes from 0.000 s
  on.

What other settings would have done (each tried in a run of its own)
  consecutive_failures 4        not ejected then or later; as many requests fail
                                (10)
  no consecutive_failures rule  not ejected then or later; as many requests fail
                                (10)
"""


@pytest.fixture
def explain(binary):
    def run(name, *words, status=0):
        path = name if "/" in name else str(ROOT / f"scenarios/{name}.json")
        done = subprocess.run([binary, "explain", path, *map(str, words)], capture_output=True, timeout=300)
        assert done.returncode == status, done.stderr.decode()
        return done.stdout.decode() if status == 0 else done.stderr.decode()
    return run


def joined(text):
    """Without line ends, so that a sentence is found however it was broken."""
    return re.sub(r"\s+", " ", text)


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


# ---- the text ----------------------------------------------------------------------------------------


def test_the_whole_answer(explain):
    assert explain("exact-threshold-ejection", "10.0.0.3:8080") == EXACT


def test_the_ratio_on_its_line(explain):
    text = explain("ratio-at-the-line", "10.0.0.4:8080")
    assert "What led there (last 12 of 100; --all shows more)" in text
    assert "  0.991 s  3#98     503          49   49 of 99\n" in text
    assert "  1.001 s  3#99     503          50  50 of 100  ejected\n" in text
    assert "  consecutive_failures  streak 50 of 1,000: 950 short\n" in text
    assert "  failure_ratio         50 of 100 failed (50 %), limit 50 % from 20: fired\n" in text
    assert "  failure_ratio 0.51      not ejected then or later;" in text
    assert "  failure_min_volume 101  not ejected then or later;" in text


def test_all_shows_every_outcome_that_counted(explain):
    text = explain("ratio-at-the-line", "10.0.0.5:8080", "--all", "--no-what-if")
    assert len(re.findall(r"^ +\d\.\d{3} s  4#\d+ ", text, re.M)) == 100
    assert "\nWhat led there\n" in text
    assert "What other settings would have done" not in text


def test_how_near_an_endpoint_came_that_was_never_out(explain):
    text = joined(explain("ratio-at-the-line", "10.0.0.3:8080"))
    assert text.startswith("10.0.0.3:8080 of 49-percent was never ejected in this run. How near it came")
    assert "streak 49 of 1,000 at 1.001 s (2#99): 951 short" in text
    assert "49 of 100 failed (49 %) at 1.001 s, limit 50 % from 20" in text


def test_all_shows_more_of_a_quiet_stretch_too(explain):
    few = explain("ratio-at-the-line", "10.0.0.3:8080")
    assert "What was reported to it (last 12 of 100; --all shows more)\n" in few
    assert len(re.findall(r"  2#\d+ ", explain("ratio-at-the-line", "10.0.0.3:8080", "--all"))) == 100


def test_a_breaker(explain):
    text = explain("breaker-before-ejection", "api")
    assert text.startswith("The breaker of api was open from 0.501 s to 1.601 s (1.1 s), by\nconsecutive_failures.\n")
    assert "  0.501 s  #4       10.0.0.2:8080  503           5  5 of 5  opened\n" in text
    flat = joined(text)
    assert "Meanwhile: 10 requests refused. A trial was possible from 1.501 s on; the one that succeeded was sent 99 ms later." in flat
    assert "What brought it back: #15, sent at 1.600 s, answered 200 at 1.601 s." in flat
    assert flat.count("was failing: error 100 % with 503 from 0.000 s to 0.550 s.") == 3
    assert "consecutive_failures 6 not opened then or later; 5 requests fail instead of 15" in flat
    assert "but back at 1.101 s instead of 1.601 s; 10 requests fail instead of 15" in flat


def test_what_let_it_back_a_late_answer(explain):
    text = joined(explain("late-report", "10.0.0.1:8080"))
    assert "A trial would have had to wait until 1.501 s." in text
    assert "What brought it back: 0#0, sent at 0.100 s, before it went out, answered 200 at 0.601 s." in text
    assert "late_reports ignore ejected at the same instant" in text
    assert "but back at 1.701 s instead of 0.601 s" in text


def test_late_answers_that_are_ignored_are_told_as_such(explain):
    text = joined(explain("late-report", "10.0.1.1:8080"))
    assert "Meanwhile: 1 trial, 1 late report (1 ok, 0 failed, ignored: 1)." in text
    assert "A trial was possible from 1.501 s on; the one that succeeded was sent 199 ms later." in text


def test_what_let_it_back_probes_and_the_other_outages(explain):
    text = explain("gray-failure", "probed/10.0.0.1:8080")
    assert "recovered: 2 probes in a row succeeded, limit 2" in joined(text)
    others = text[text.index("Its other outages\n"):].splitlines()
    assert others[1:] == [
        "  from 3.601 s to 5.005 s (1.404 s), by consecutive_failures",
        "  from 5.601 s to 7.007 s (1.406 s), by consecutive_failures",
        "  from 7.601 s to 9.009 s (1.408 s), by consecutive_failures",
        "  from 9.601 s to 10.000 s (399 ms), by consecutive_failures",
    ]


def test_a_failed_trial_is_part_of_the_story(explain):
    text = joined(explain("failed-trial", "10.0.0.1:8080"))
    assert "1.701 s ejected again: a trial failed; out for 1 s" in text
    assert "from 0.501 s to 2.901 s" in text


def test_the_pick_that_finds_it_half_open_may_choose_another_endpoint(explain):
    text = joined(explain("flapping-endpoint", "10.0.0.1:8080"))
    assert "6.400 s half-open: 1 trial granted" in text
    assert "A trial was possible from 6.400 s on; the one that succeeded was sent 100 ms later." in text


def test_a_clock_that_steps_back_makes_the_wait_longer(explain):
    text = joined(explain("clock-step-wall", "10.0.0.1:8080"))
    assert "out for 3 s" in text and "A trial was possible from 4.501 s on;" in text


def test_probes_bring_it_back_and_another_rule_of_theirs_is_named(explain):
    text = joined(explain("active-readmits-before-eject_ms", "10.0.0.1:8080"))
    assert "What brought it back: the probe that succeeded at 3.003 s." in text
    assert "no consecutive_failures rule ejected 500 ms later, by consecutive_failures: 6 failures in a row (active health);" in text


@pytest.mark.parametrize("requests, says", [
    ([0], "A trial was possible from 0.051 s on, but nobody asked for one."),
    ([0, 60], "A trial was possible from 0.051 s on, but none came to an end."),
    ([0, 60, 90], "A trial was possible from 0.051 s on, but none came to an end."),
])
def test_an_outage_that_lasts_until_the_end_says_whether_anybody_tried(explain, tmp_path, requests, says):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({
        "name": "x", "question": "?", "duration_ms": 100,
        "upstreams": [{"name": "a", "endpoints": [{"address": "10.0.0.1", "port": 80}],
                       "health": {"consecutive_failures": 1, "eject_ms": 50}}],
        "endpoints": {"*": {"latency": {"fixed": {"ms": 1}}, "faults": [
            {"to_ms": 10, "error": {"ratio": 1}}, {"from_ms": 50, "latency": {"add_ms": 500}}]}},
        "traffic": [{"upstream": "a", "at_ms": requests}]}))
    text = joined(explain(str(path), "10.0.0.1:80", "--no-what-if"))
    assert says in text
    assert ("Meanwhile: 1 trial." in text) == (len(requests) == 2)
    assert ("Meanwhile: 1 fail-open pick, 1 trial." in text) == (len(requests) == 3)


def test_a_reload_may_end_an_outage(explain):
    text = joined(explain("reload-carries-ejection", "10.0.1.1:8080"))
    assert "from 0.301 s to 0.700 s (399 ms), when a reload gave it a fresh start or took it away" in text


def test_no_health_block_is_said(explain):
    assert "It has no health block: nothing can put it out." in explain("capacity-cascade", "10.0.0.1:8080")


# ---- --at ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at, says", [
    (300.999999, "At 0.301 s 10.0.0.1:8080 of three was healthy, since 0.000 s."),
    (301, "At 0.301 s 10.0.0.1:8080 of three was ejected, since 0.301 s."),
    (999.999999, "At 1.000 s 10.0.0.1:8080 of three was ejected, since 0.301 s."),
])
def test_the_instant_before_at_and_after_the_ejection(explain, at, says):
    text = joined(explain("exact-threshold-ejection", "10.0.0.1:8080", "--at", at, "--no-what-if"))
    assert text.startswith(says)
    assert ("What led there" in text) == (at >= 301)


def test_at_chooses_the_outage(explain):
    text = explain("gray-failure", "probed/10.0.0.1:8080", "--at", 4000, "--no-what-if")
    assert "was ejected from 3.601 s to 5.005 s" in text
    assert "  from 1.901 s to 3.003 s (1.102 s), by consecutive_failures\n" in text


def test_at_between_two_outages_tells_the_stretch(explain):
    text = joined(explain("gray-failure", "probed/10.0.0.1:8080", "--at", 3500))
    assert "was healthy from 3.003 s to 3.601 s (598 ms)." in text
    assert "streak 2 of 3 at 3.401 s (0#33): 1 short" in text


@pytest.mark.parametrize("at", ["1000", "-1", "nan", "soon", "1e99"])
def test_an_instant_outside_the_run_is_refused(explain, at):
    assert "--at" in explain("exact-threshold-ejection", "10.0.0.1:8080", f"--at={at}", status=2)


# ---- names -----------------------------------------------------------------------------------------------


def test_an_endpoint_of_several_upstreams_is_told_for_each_or_for_the_one_that_is_named(explain, tmp_path):
    upstream = {"endpoints": [{"address": "10.0.0.1", "port": 80}], "health": {"consecutive_failures": 1}}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({
        "name": "x", "question": "?", "duration_ms": 100,
        "upstreams": [{"name": "a", **upstream}, {"name": "b", **upstream}],
        "endpoints": {"*": {"latency": {"fixed": {"ms": 1}}, "faults": [{"error": {"ratio": 1}}]}},
        "traffic": [{"upstream": "a", "at_ms": [0]}, {"upstream": "b", "at_ms": [50]}]}))
    both = explain(str(path), "10.0.0.1:80")
    assert "10.0.0.1:80 of a was ejected from 0.001 s" in both
    assert "10.0.0.1:80 of b was ejected from 0.051 s" in both
    assert both.count("-" * 80) == 1
    assert "of a was" not in explain(str(path), "b/10.0.0.1:80")


@pytest.mark.parametrize("name, says", [
    ("10.0.0.1:808", "there is no endpoint (address:port) and no upstream '10.0.0.1:808'; did you mean '10.0.0.1:8080'?"),
    ("aip", "did you mean 'api'?"),
    ("api", "upstream 'api' has no breaker; name one of its endpoints, such as 10.0.0.1:8080"),
    ("something else", "there is no endpoint (address:port) and no upstream 'something else'\n"),
])
def test_a_name_that_is_none(explain, name, says):
    assert says in explain("flapping-endpoint", name, status=2)


def test_the_examples_of_the_help_work(binary):
    shown = subprocess.run([binary, "explain", "--help"], capture_output=True, check=True).stdout.decode()
    examples = re.findall(r"^  halfopen (explain .*)$", shown, re.M)
    assert len(examples) == 2
    for words in examples:
        done = subprocess.run([binary, *words.split()], cwd=ROOT, capture_output=True, check=True)
        assert b"What led there" in done.stdout


def test_seed_and_set_change_what_is_explained(explain):
    text = explain("exact-threshold-ejection", "10.0.0.1:8080", "--set",
                   "/upstreams/0/health/consecutive_failures=2", "--seed", 5)
    assert "was ejected from 0.201 s" in text
    assert "  consecutive_failures 3        ejected 100 ms later," in text


# ---- is it true? -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["brownout-all", "flapping-endpoint", "gray-failure", "failed-trial",
                                  "breaker-half-open-stampede"])
def test_what_it_says_of_another_setting_is_what_a_run_with_it_does(binary, explain, name):
    path = ROOT / f"scenarios/{name}.json"

    def run(*words):
        done = subprocess.run([binary, "run", str(path), "--format", "json", *words], capture_output=True, check=True)
        return json.loads(done.stdout)

    plain = run()
    out = next(e for e in plain["events"] if e["type"] in ("endpoint_ejected", "breaker_opened"))
    block, subject = ("health", out["upstream"] + "/" + out["endpoint"]) if "endpoint" in out else (
        "breaker", out["upstream"])
    upstreams = list(dict.fromkeys(lane["upstream"] for lane in plain["intervals"]["endpoints"]))
    number = upstreams.index(out["upstream"])
    assert out["rule"] == "consecutive_failures"
    more = out["because"]["streak"] + 1
    other = run("--set", f"/upstreams/{number}/{block}/consecutive_failures={more}")
    later = [e for e in other["events"] if e["type"] == out["type"] and e["upstream"] == out["upstream"]
             and e.get("endpoint") == out.get("endpoint")]
    text = joined(explain(name, subject))
    says = re.search(rf" consecutive_failures {more} (.*?) no consecutive_failures rule ", text).group(1)
    if not later:
        assert re.match(r"not \w+ then or later;", says)
    elif later[0]["t_ms"] > out["t_ms"]:
        ms = later[0]["t_ms"] - out["t_ms"]
        assert (f"ed {ms:g} ms later, by {later[0]['rule']}" in says
                or f"then, but at {later[0]['t_ms'] / 1000:.3f} s, by {later[0]['rule']}" in says)
    assert f"{other['summary']['failed']}" in says.rsplit(";", 1)[1].replace(",", "")


def test_it_is_the_same_every_time(explain):
    words = ("gray-failure", "10.0.0.1:8080")
    assert explain(*words) == explain(*words)


# ---- the page --------------------------------------------------------------------------------------------


def everybody():
    for path in sorted((ROOT / "scenarios").glob("*.timeline.json")):
        timeline = json.loads(path.read_text())
        for lane in timeline["intervals"]["endpoints"]:
            yield path.name.removesuffix(".timeline.json"), lane["upstream"] + "/" + lane["endpoint"]
        for lane in timeline["intervals"]["breakers"]:
            yield path.name.removesuffix(".timeline.json"), lane["upstream"]


def test_80_columns_for_everybody_in_every_scenario(explain):
    told = 0
    for name, subject in everybody():
        if name.startswith("brownout-one"):
            continue  # long runs
        text = explain(name, subject, "--no-what-if", "--ascii")
        assert text.endswith("\n") and not text.endswith("\n\n") and text.isascii()
        for line in text.splitlines():
            assert columns(line) <= 80 and line == line.rstrip(), line
        told += 1
    assert told > 40


def test_colour_only_on_a_terminal(binary, explain):
    assert "\x1b" not in explain("failed-trial", "10.0.0.1:8080")
    parent, child = pty.openpty()
    surroundings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    path = str(ROOT / "scenarios/exact-threshold-ejection.json")
    subprocess.run([binary, "explain", path, "10.0.0.1:8080", "--no-what-if"], stdout=child, check=True,
                   env=surroundings)
    os.close(child)
    shown = b""
    try:
        while piece := os.read(parent, 65536):
            shown += piece
    except OSError:  # Linux says so when the other end is closed and all is read
        pass
    os.close(parent)
    assert b"\x1b[1mWhat led there\x1b[0m" in shown


def test_a_rule_out_of_reach_is_no_probe(binary):
    """The what-if that switches the ratio rule off once looked like the report of an active probe."""
    done = subprocess.run([binary, "explain", str(ROOT / "scenarios" / "brownout-one-of-four.json"), "10.0.0.1:8080", "--at", "50000"],
                          capture_output=True, text=True, check=True)
    assert "no failure_ratio rule" in done.stdout
    assert "active health" not in done.stdout
