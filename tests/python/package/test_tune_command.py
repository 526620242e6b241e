"""`python -m halfopen tune`: reports, exit status, and what a killed search leaves behind."""

import json
import signal
import subprocess
import sys
import time

import pyarrow.parquet
import pytest
from sweeps import EJECT, FAILURES, scenario

import halfopen
from halfopen.__main__ import main

RUN = ["--trials", "9", "--replicates", "12", "--seed", "5", "--healthy-ejections-per-day", "any"]


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "halfopen", "tune", *map(str, arguments)], capture_output=True, check=False, text=True, **options
    )


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(scenario().to_dict()))
    return "small.json"


def rows(store):
    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in store.rglob("*.parquet"))


def test_the_command_says_what_the_function_says(file, tmp_path):
    out = command(file, *RUN, "--objective", "min:failed~2", "--constraint", "missed<=1", "--param", f"{FAILURES}=1:9",
                  "--param", f"{EJECT}=500:20000:log", "-o", "report.txt")  # fmt: skip
    assert (out.returncode, out.stdout, out.stderr) == (0, "", "")
    found = halfopen.tune(
        halfopen.Scenario.load(file), "min:failed~2", "missed<=1", trials=9, replicates=12, seed=5,
        healthy_ejections_per_day=None,
        params={FAILURES: (1, 9), EJECT: halfopen.Range(500, 20_000, log=True)}, progress=False,
    )  # fmt: skip
    text = (tmp_path / "report.txt").read_text()
    assert text.replace(text[text.index("  The search:\n") : text.index("  The runs behind")], "") == found.report()
    again = " ".join(found.report().split())
    assert f"halfopen sweep small.json --set {FAILURES}=" in again.replace("\\ ", "")
    # The command that the report prints makes the report again.
    printed = text[text.index("python -m halfopen tune") : text.index("  The runs behind")].replace("\\\n", " ")
    told = subprocess.run(
        printed.replace("python", sys.executable, 1), shell=True, capture_output=True, text=True, check=True
    ).stdout
    assert told == text


def test_the_search_can_be_run_again_with_what_it_was_told_of_a_healthy_endpoint(file, capsys):
    goals = ["--objective", "min:failed", "--param", f"{FAILURES}=1,2,3", "--format", "json", "--trials", "9", "--replicates", "3"]
    told = ["--healthy-ejections-per-day", "40", "--healthy-error-ratio", "0.001"]
    assert main(["tune", file, *goals, *told]) == 0
    document = json.loads(capsys.readouterr().out)
    assert " ".join(told) in document["commands"][0] and "healthy_ejections_per_day<=40" in document["constraints"]
    assert document["healthy_endpoint"][0]["error_ratio"] == {"value": 0.001, "from": "--healthy-error-ratio"}
    assert main(["tune", file, *goals]) == 0
    assert "healthy-" not in json.loads(capsys.readouterr().out)["commands"][0]


def test_json_and_the_exit_status(file, capsys):
    goals = ["--objective", "min:failed", "--param", f"{FAILURES}=1,3"]
    assert main(["tune", file, *RUN, *goals, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "halfopen.tuning/1"
    assert document["paste"] == {"/upstreams/0": {"health": {"consecutive_failures": 1, "eject_ms": 5000}}}
    assert document["commands"][0].startswith("python -m halfopen tune small.json --objective min:failed")
    assert main(["tune", file, *RUN, *goals, "--constraint", "failed<=0"]) == 1
    assert "No setting that was tried keeps the constraints" in capsys.readouterr().out


def test_settings_are_changed_before_and_scenarios_keep_their_names(file, tmp_path):
    (tmp_path / "quiet.json").write_text(json.dumps(scenario(name="", endpoints={}).to_dict()))
    out = command(file, "quiet.json", *RUN, "--set", f"{FAILURES}=4", "--objective", "min:failed", "--param", f"{FAILURES}=1,4",
                  "--constraint", "failed@quiet<=0", "--format", "json")  # fmt: skip
    document = json.loads(out.stdout)
    assert [one["name"] for one in document["scenarios"]] == ["small brownout", "quiet"]
    assert document["confirmed"][0]["objectives"]["failed"]["against_recommended"]["verdict"] == "worse"
    assert f"halfopen sweep quiet.json --set {FAILURES}=4" in document["commands"][2]


def test_a_gateway_file_holds_what_is_tuned(file, tmp_path):
    data = scenario().to_dict()
    (tmp_path / "gateway.json").write_text(json.dumps({"upstreams": data.pop("upstreams")}))
    (tmp_path / "traffic.json").write_text(json.dumps(data))
    out = command("traffic.json", *RUN, "--gateway", "gateway.json", "--param", f"{FAILURES}=1,3", "--objective", "min:failed")
    assert out.returncode == 0 and '"consecutive_failures": 1' in out.stdout, out.stderr
    assert "halfopen sweep traffic.json --gateway gateway.json" in out.stdout


def test_a_killed_search_goes_on_where_it_was(file, tmp_path):
    arguments = [file, "--trials", "36", "--replicates", "20", "--objective", "min:failed", "--threads", "1"]
    whole = command(*arguments)
    assert whole.returncode == 0
    store = tmp_path / "store"
    process = subprocess.Popen(
        [sys.executable, "-m", "halfopen", "tune", *arguments, "--store", str(store)], stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 30
    while len(list(store.rglob("*.parquet"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was still at it"
    kept = rows(store)
    again = command(*arguments, "--store", store)
    assert (again.returncode, again.stdout) == (0, whole.stdout)
    document = json.loads(command(*arguments, "--store", store, "--format", "json").stdout)
    assert 0 < kept < document["runs"] == rows(store), "each run is there once: only what was missing ran"


def test_ctrl_c_is_answered(file, tmp_path):
    (tmp_path / "long.json").write_text(json.dumps(scenario(duration_ms=3_600_000, traffic=[
        {"upstream": "api", "arrivals": "poisson", "rate_rps": 20_000}]).to_dict()))  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "halfopen", "tune", "long.json", "--store", "store"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (tmp_path / "store").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert said == "interrupted: what has run is in the store, and the same command goes on from there\n"


def test_help_is_complete():
    said = command("--help").stdout
    for word in ("--objective", "--constraint", "--param", "--trials", "--replicates", "--seed", "--store", "-o", "exit status"):
        assert word in said
    top = subprocess.run([sys.executable, "-m", "halfopen", "--help"], capture_output=True, text=True, check=True).stdout
    assert "tune" in top and "report" in top


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: FILE"),
        (["no.json"], "no.json"),
        (["small.json", "--objective", "failed"], "one looks like min:failed"),
        (["small.json", "--constraint", "failed=3"], "one looks like false_ejections<=0"),
        (["small.json", "--param", "eject_ms=1:2"], "it looks like /upstreams/0/health/eject_ms=1000:60000"),
        (["small.json", "--param", f"{EJECT}="], "it looks like /upstreams/0/health/eject_ms=1000:60000"),
        (["small.json", "--param", f"{EJECT}=9:1"], "to a larger one"),
        (["small.json", "--param", f"{EJECT}=0:9:log"], "begins above 0"),
        (["small.json", "--param", f"{EJECT}=soon,never"], 'eject_ms is a number, and "soon" is none'),
        (["small.json", "--param", "/upstreams/0/load_balancer=best"], "none of the settings that were tried makes a scenario"),
        (["small.json", "--set", "eject_ms"], "it looks like /upstreams/0/health/eject_ms=5000"),
        (["small.json", "--trials", "many"], "invalid int value"),
        (["small.json", "--replicates", "1"], "replicates is 1: it must be a whole number from 2"),
        (["small.json", "--store", "small.json"], "a store is a folder"),
        (["small.json", "small.json"], "a file is given twice"),
        (["small.json", "-o", "no/report.txt", "--trials", "1000000"], "no/report.txt: No such file or directory"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_two(arguments, sentence, file, capsys):
    try:
        status = main(["tune", *arguments])
    except SystemExit as usage:
        status = usage.code
    out, said = capsys.readouterr()
    assert (status, out) == (2, "") and sentence in said


def test_a_missing_optuna_is_named(file, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert main(["tune", file]) == 2
    assert capsys.readouterr().err == "tune() needs optuna, which is not installed: pip install 'halfopen[optuna]'\n"


def test_text_and_json_need_no_pandas(file):
    code = (
        "import sys; sys.modules['pandas'] = None; sys.modules['matplotlib'] = None; from halfopen.__main__ import main;"
        "sys.exit(main(['tune', 'small.json', '--trials', '3', '--replicates', '2']))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert out.returncode == 0 and "Recommended" in out.stdout
