"""Tuning by somebody who means no good: what can't be meant is refused with a sentence, and nothing is lost."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sweeps import EJECT, FAILURES, SCENARIO, scenario

import halfopen
from halfopen.__main__ import main

RUN = ["--trials", "6", "--replicates", "3"]


def tuned(objectives="min:failed", constraints=(), params=None, of=None, **more):
    options = {"trials": 4, "replicates": 3, "seed": 5, "progress": False, "healthy_ejections_per_day": None} | more
    params = {FAILURES: [1, 2, 3]} if params is None else params
    return halfopen.tune(scenario() if of is None else of, objectives, constraints, params=params, **options)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(SCENARIO))
    return "small.json"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--param", f"{FAILURES}=1:5:log:log"], 'consecutive_failures is a number, and "1:5:log:log" is none; a range is LO:HI'),
        (["--param", f"{FAILURES}=1:5,7"], 'and "1:5" is none; a range is LO:HI or LO:HI:log, alone'),
        (["--param", f"{FAILURES}=nan:5"], '"nan:5" is none'),
        (["--param", f"{FAILURES}=5:0"], "goes from a number to a larger one, not from 5 to 0"),
        (["--param", f"{FAILURES}=0:5"], "a range from 0 to 5 would go beyond"),
        (["--param", f"{FAILURES}=0,2"], "consecutive_failures is a number from 1 to 4294967295, and not 0"),
        (["--param", f"{FAILURES}=1.5,2"], "consecutive_failures is a whole number, and not 1.5"),
        (["--param", f"{FAILURES}=true"], "is a number, and true is none"),
        (["--param", f"{FAILURES}=2,,3"], 'a choice is empty; the empty text is ""'),
        (["--param", f"{FAILURES}=1:5", "--param", f"{FAILURES}=2:6"], f"--param {FAILURES} is given twice"),
        (["--set", f"{FAILURES}=1", "--set", f"{FAILURES}=2"], f"--set {FAILURES} is given twice"),
        (["--param", "/upstreams/-/health/eject_ms=1000:2000"], "small brownout has no upstream -; /upstreams/0 is api"),
        (["--param", "/upstreams/00/health/eject_ms=1000:2000"], "has no upstream 00"),
        (["--param", "/upstreams/0/nope/x=1,2"], "the scenario has nothing there"),
        (["--healthy-ejections-per-day", "nan"], "healthy_ejections_per_day is nan: it must be a number from 0"),
        (["--healthy-ejections-per-day", "few"], "it is a number, such as 1, or any; not few"),
        (["--healthy-error-ratio", "2"], "healthy_error_ratio is 2: it must be a number from 0 to 1"),
        (["--threads", "-1"], "threads is -1"),
        (["--level", "1"], "level is between 0 and 1"),
        (["--seed", str(2**64)], f"seed is {2**64}: it must be a whole number from 0 to 2^64 - 1"),
        (["--replicates", "1000000000"], "more than 10000000 runs"),
        (["--objective", "min:healthy_ejections_per_dya"], "did you mean 'healthy_ejections_per_day'?"),
        (["-o", "."], "Is a directory"),
    ],
)
def test_nonsense_is_a_sentence_and_two(arguments, sentence, file, capsys):
    try:
        status = main(["tune", file, *RUN, *arguments])
    except SystemExit as usage:
        status = usage.code
    out, said = capsys.readouterr()
    assert (status, out) == (2, "") and sentence in said


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: tuned(constraints=5), r"constraints has 5: it must be a text, such as 'failed<=10'"),
        (lambda: tuned([None]), r"objectives has None: it must be a text, such as 'min:failed', or halfopen.tuning.Objective"),
        (lambda: tuned(params=[1]), "params is .*: it must be {pointer: what it may be}"),
        (lambda: tuned(params={FAILURES: ("1", "5")}), "low, an end of a range, is '1': it must be a number"),
        (lambda: tuned(params={FAILURES: (1, True)}), "high, an end of a range, is True"),
        (lambda: tuned(level="x"), "level is 'x'"),
        (lambda: tuned(trials=2.5), "trials is 2.5: it must be a whole number from 1"),
        (lambda: tuned(seed=1.5), "seed is 1.5"),
        (lambda: tuned(sampler="tpe"), "sampler is 'tpe': it must be one of Optuna's"),
        (lambda: tuned(healthy_ejections_per_day="1"), "healthy_ejections_per_day is '1'"),
    ],
)
def test_other_kinds_of_things_are_named(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="is a number, and NaN is none"):
        tuned(params={FAILURES: [float("nan"), 2]})
    with pytest.raises(ValueError, match="5 is no JSON pointer"):
        tuned(params={5: (1, 2)})


def test_numbers_of_numpy_and_the_last_seeds_are_as_good():
    found = tuned(trials=np.int64(3), replicates=np.int32(3), seed=np.uint64(2**64 - 1), level=np.float64(0.9))
    assert json.loads(found.to_json())["trials"] == 3 and json.loads(found.to_json())["fresh_seed"] == 2
    assert found.replicate_table["seed"][:3].tolist() == [2, 3, 4] and tuned(constraints=None).constraints == ()


def test_choices_may_hold_commas(file, capsys):
    latencies = '{"fixed":{"ms":20}},{"uniform":{"min_ms":10,"max_ms":30}}'
    goals = ["--objective", "min:failed", "--param", f"/endpoints/*/latency={latencies}", "--param", "/upstreams/0/load_balancer=round_robin, random"]
    assert main(["tune", file, *RUN, *goals, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    tried = {json.dumps(one["settings"]["/endpoints/*/latency"]) for one in document["tried"]}
    assert '{"uniform": {"min_ms": 10, "max_ms": 30}}' in tried
    assert document["params"]["/upstreams/0/load_balancer"] == ["round_robin", "random"]


def test_a_scenario_without_traffic_is_told_of():
    found = tuned(of={"busy": scenario(), "empty": scenario(traffic=[], expect=[])})
    assert found.warnings[0].startswith("empty has no traffic") and len([one for one in found.warnings if "no traffic" in one]) == 1


def test_constraints_that_contradict_each_other():
    found = tuned(constraints=["failed>=5", "failed<=4"])
    assert found.recommended is None and "Nothing to paste" not in found.report() and "halfopen lint" not in found.report()
    assert "A healthy endpoint, as halfopen analyze" in found.report(), "of the nearest"


def test_processes_share_a_store(file, tmp_path):
    words = [sys.executable, "-m", "halfopen", "tune", file, "--trials", "18", "--replicates", "6", "--store", "store"]
    at_once = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60) for process in at_once]
    assert [process.returncode for process in at_once] == [0, 0] and said[0] == said[1] and said[0][1] == ""
    alone = subprocess.run(words[:-2], capture_output=True, text=True, check=True).stdout
    assert said[0][0] == alone
    # Other settings, seeds and objectives in the same store are other runs.
    other = [*words[:-2], "--set", f"{EJECT}=4000", "--objective", "max:ok", "--replicates", "4"]
    kept = subprocess.run([*other, "--store", "store"], capture_output=True, text=True, check=True).stdout
    assert kept == subprocess.run(other, capture_output=True, text=True, check=True).stdout != alone


def test_ctrl_c_while_the_report_is_written(file, monkeypatch, capsys):
    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(halfopen.Tuning, "report", interrupted)
        assert main(["tune", file, *RUN, "--store", "store"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert main(["tune", file, *RUN, "--store", "store"]) == 0


def test_ctrl_c_and_on(file):
    words = [sys.executable, "-m", "halfopen", "tune", file, "--trials", "36", "--replicates", "20", "--threads", "1"]
    process = subprocess.Popen([*words, "--store", "store"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    if process.returncode == 130:  # it may have been quick
        assert out == "" and said.startswith("interrupted: ")
    again = subprocess.run([*words, "--store", "store"], capture_output=True, text=True, check=True).stdout
    assert again == subprocess.run(words, capture_output=True, text=True, check=True).stdout
