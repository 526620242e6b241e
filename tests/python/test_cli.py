"""The command line as its users meet it: exit statuses, messages, files, bytes.

HALFOPEN_BIN names the binary (else build/dev/halfopen or build/release/halfopen).
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<rest>.+)$")
EJECTION = {"event": "endpoint_ejected", "endpoint": "10.0.0.1:8080", "count": 1}


def scenario(**changes):
    """Two endpoints, one of which fails every request of the second second."""
    base = {
        "name": "small",
        "question": "Does a dead endpoint leave the rotation?",
        "duration_ms": 5000,
        "sample_ms": 100,
        "upstreams": [{
            "name": "api",
            "endpoints": [{"address": "10.0.0.1", "port": 8080},
                          {"address": "10.0.0.2", "port": 8080}],
            "health": {"eject_ms": 1000},
        }],
        "endpoints": {
            "*": {"latency": {"lognormal": {"p50_ms": 20, "p99_ms": 120}}},
            "10.0.0.1:8080": {"faults": [{"from_ms": 1000, "to_ms": 2000,
                                          "error": {"ratio": 1, "status": 503}}]},
        },
        "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": 200}],
        "expect": [EJECTION],
    }
    base.update(changes)
    return base


@pytest.fixture
def halfopen(binary, tmp_path):
    """Runs the command in a directory of its own; answers (status, stdout, stderr)."""
    def run(*words, env=(), **options):
        surroundings = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
        surroundings.update(env)
        done = subprocess.run([binary, *map(str, words)], cwd=tmp_path, env=surroundings,
                              capture_output=True, timeout=300, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.fixture
def write(tmp_path):
    def save(content, name="x.json"):
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (tmp_path / name).write_text(text)
        return name
    return save


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


# ---- run ------------------------------------------------------------------------------------------


def test_run_prints_an_account_of_80_columns(halfopen, write):
    status, out, err = halfopen("run", write(scenario()))
    assert (status, err) == (0, "")
    assert "10.0.0.1:8080 ejected: 5 failures in a row, limit 5" in out
    assert "█" in out and "░" in out
    assert max(map(columns, out.splitlines())) <= 80


def test_long_names_stay_within_80_columns(halfopen, write):
    long = scenario(name="n" * 300, question="why " * 100 + "w" * 200)
    long["upstreams"][0]["name"] = long["traffic"][0]["upstream"] = "u" * 90
    long["upstreams"][0]["endpoints"].append({"address": "2001:db8:85a3:1111:2222:8a2e:370:7334", "port": 65535})
    long["upstreams"][0]["endpoints"].append({"address": "h" * 60 + ".example", "port": 1})
    status, out, _ = halfopen("run", write(long))
    assert status == 0
    assert max(map(columns, out.splitlines())) <= 80


def test_ascii_is_ascii(halfopen, write):
    status, out, _ = halfopen("run", "--ascii", write(scenario(name="Überlast")))
    assert status == 0
    assert out.isascii()


def test_run_shows_expectations_but_does_not_fail_for_them(halfopen, write):
    status, out, _ = halfopen("run", write(scenario(expect=[{"never": "endpoint_ejected"}])))
    assert status == 0
    assert "FAILED" in out and "x.json:" in out


def test_json_and_jsonl_tell_the_same(halfopen, write):
    file = write(scenario())
    status, out, _ = halfopen("run", file, "--format", "json")
    assert status == 0
    document = json.loads(out)
    assert list(document) == ["format", "meta", "events", "intervals", "series", "summary", "expectations"]
    lines = [json.loads(line) for line in halfopen("run", file, "--format", "jsonl")[1].splitlines()]
    assert [line for line in lines if "t_ms" in line] == document["events"]
    summary = next(line for line in lines if line["type"] == "summary")
    assert {k: v for k, v in summary.items() if k != "type"} == document["summary"]
    assert lines[0]["fingerprint"] == document["meta"]["fingerprint"]


def test_several_files_give_several_documents(halfopen, write):
    files = write(scenario(name="first"), "a.json"), write(scenario(name="second"), "b.json")
    status, out, _ = halfopen("run", *files, "--format", "jsonl")
    assert status == 0
    assert [json.loads(line)["name"] for line in out.splitlines() if '"type":"meta"' in line] == ["first", "second"]


def test_the_same_bytes_twice(halfopen, write):
    file = write(scenario())
    for form in "text", "json", "jsonl":
        assert halfopen("run", file, "--format", form) == halfopen("run", file, "--format", form)


def test_setting_what_is_already_so_changes_no_byte(halfopen, write):
    file = write(scenario(seed=1))
    plain = halfopen("run", file, "--format", "json")
    assert plain == halfopen("run", file, "--format", "json", "--set", "/duration_ms=5000",
                             "--set", "/upstreams/0/health/eject_ms=1000")
    assert plain == halfopen("run", file, "--format", "json", "--seed", "1")


def test_set_changes_the_run_and_its_digest(halfopen, write):
    file = write(scenario())
    plain = json.loads(halfopen("run", file, "--format", "json")[1])
    status, out, _ = halfopen("run", file, "--format", "json", "--set", "/upstreams/0/health/consecutive_failures=2")
    assert status == 0
    changed = json.loads(out)
    assert changed["meta"]["digest"] != plain["meta"]["digest"]
    assert changed["events"][0]["because"]["threshold"] == 2


def test_other_seeds_give_other_fingerprints(halfopen, write):
    file = write(scenario())
    prints = {json.loads(halfopen("run", file, "--format", "json", "--seed", seed)[1])["meta"]["fingerprint"]
              for seed in (1, 2, 3, 2**64 - 1)}
    assert len(prints) == 4


# ---- where output goes ----------------------------------------------------------------------------


def test_output_file_holds_what_standard_output_would(halfopen, write, tmp_path):
    file = write(scenario())
    status, out, err = halfopen("run", file, "--format", "json", "-o", "t.json")
    assert (status, out, err) == (0, "", "")
    assert (tmp_path / "t.json").read_text() == halfopen("run", file, "--format", "json")[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.json", "x.json"]


def test_output_file_keeps_its_permissions_and_a_link_stays_a_link(halfopen, write, tmp_path):
    file = write(scenario())
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real.txt")
    assert halfopen("run", file, "-o", "link.txt")[0] == 0
    assert link.is_symlink()
    assert real.read_text() != "old"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_file_that_is_not_there_yet_stays_a_link(halfopen, write, tmp_path):
    file = write(scenario())
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to("folder/next")
    (tmp_path / "folder" / "next").symlink_to("new.txt")
    assert halfopen("run", file, "-o", "link.txt") == (0, "", "")
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "folder" / "next").is_symlink()
    assert (tmp_path / "folder" / "new.txt").read_text() == halfopen("run", file)[1]
    (tmp_path / "round").symlink_to("round")
    status, out, err = halfopen("run", file, "-o", "round")
    assert (status, out) == (2, "") and err.startswith("halfopen: can't write to round: ")
    assert (tmp_path / "round").is_symlink()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_a_stream_of_ours_is_written_to_and_its_file_never_replaced(binary, write, tmp_path, name):
    file, log = write(scenario()), tmp_path / "log"
    (tmp_path / "link").symlink_to("/dev/stdout")
    log.write_text("before\n")
    inode = log.stat().st_ino
    for _ in range(2):
        with open(log, "a") as out:
            assert subprocess.run([binary, "run", file, "--format", "json", "-o", name], cwd=tmp_path,
                                  stdout=out).returncode == 0
    once = subprocess.run([binary, "run", file, "--format", "json"], cwd=tmp_path, capture_output=True).stdout.decode()
    assert log.read_text() == "before\n" + 2 * once
    assert log.stat().st_ino == inode


def test_a_stream_that_is_not_open_is_told_before_the_run(halfopen, write):
    assert halfopen("run", write(scenario()), "-o", "/dev/fd/99") == (
        2, "", "halfopen: can't write to /dev/fd/99: Bad file descriptor\n")


def test_nothing_is_written_when_one_file_is_bad(halfopen, write, tmp_path):
    good, bad = write(scenario(), "good.json"), write("{", "bad.json")
    (tmp_path / "out.txt").write_text("before")
    status, out, err = halfopen("run", good, bad, "-o", "out.txt")
    assert (status, out) == (2, "")
    assert "bad.json:" in err
    assert (tmp_path / "out.txt").read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "good.json", "out.txt"]
    assert halfopen("run", good, bad)[:2] == (2, "")


@pytest.mark.parametrize("target", ["no/such/folder/t.json", "."])
def test_output_that_can_not_be_is_told_before_the_run(halfopen, write, target):
    status, out, err = halfopen("run", write(scenario()), "-o", target)
    assert (status, out) == (2, "")
    assert err.startswith("halfopen: ") and err.count("\n") == 1


def test_the_scenario_is_not_overwritten_by_its_own_timeline(halfopen, write, tmp_path):
    file = write(scenario())
    before = (tmp_path / file).read_bytes()
    status, _, err = halfopen("run", file, "-o", "./x.json")
    assert status == 2 and "overwrite" in err
    assert (tmp_path / file).read_bytes() == before


def test_output_may_be_a_device(halfopen, write):
    assert halfopen("run", write(scenario()), "-o", "/dev/null") == (0, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told(binary, write, tmp_path):
    file = write(scenario())
    with open("/dev/full", "w") as full:
        done = subprocess.run([binary, "run", file], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"can't write to standard output" in done.stderr


def test_a_closed_standard_output_is_told(binary, write, tmp_path):
    done = subprocess.run(["sh", "-c", 'exec "$0" run "$1" >&-', binary, write(scenario())], cwd=tmp_path,
                          stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"can't write to standard output" in done.stderr


def test_a_reader_that_leaves_is_no_error(binary, write, tmp_path):
    read, out = os.pipe()
    os.close(read)
    done = subprocess.run([binary, "run", write(scenario())], cwd=tmp_path, stdout=out, stderr=subprocess.PIPE)
    os.close(out)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_interrupt_ends_with_130_and_leaves_no_file(binary, write, tmp_path):
    # A million requests a second for an hour of virtual time: more than the moment until the signal.
    long = scenario(duration_ms=3_600_000)
    long["traffic"][0]["rate_rps"] = 50_000
    running = subprocess.Popen([binary, "run", write(long), "-o", "t.json"], cwd=tmp_path, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(timeout=1)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def on_a_terminal(binary, words, cwd, **env):
    master, slave = pty.openpty()
    surroundings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | env
    child = subprocess.Popen([binary, *words], cwd=cwd, stdout=slave, stderr=slave, env=surroundings)
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    assert child.wait(timeout=60) == 0
    return seen.decode()


def test_colour_only_on_a_terminal_and_not_against_no_color(binary, halfopen, write, tmp_path):
    file = write(scenario())
    assert "\x1b[" not in halfopen("run", file)[1]
    assert "\x1b[" in on_a_terminal(binary, ["run", file], tmp_path)
    assert "\x1b[" not in on_a_terminal(binary, ["run", file], tmp_path, NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(binary, ["run", file], tmp_path, TERM="dumb")
    assert "\x1b[" not in on_a_terminal(binary, ["run", file, "--format", "json"], tmp_path)


# ---- check ----------------------------------------------------------------------------------------


def test_check_holds(halfopen, write):
    status, out, err = halfopen("check", write(scenario()))
    assert status == 0
    assert out == "ok small (1 expectation)\n"
    assert err == "1 of 1 scenario held\n"


def test_check_fails_with_place_expectation_and_nearest_event(halfopen, write, tmp_path):
    wanted = {"event": "endpoint_ejected", "rule": "failure_ratio", "count": 1}
    file = write(scenario(expect=[wanted]))
    status, out, _ = halfopen("check", file)
    assert status == 1
    failed, place, got = out.splitlines()
    assert failed == "FAILED small"
    match = PLACE.match(place.strip())
    assert match["file"] == file
    assert "expected exactly 1 endpoint_ejected by rule failure_ratio" in match["rest"]
    line = (tmp_path / file).read_text().splitlines()[int(match["line"]) - 1]
    assert line[int(match["column"]) - 1] == "{"
    assert "got none; the nearest, at 1." in got and "5 failures in a row" in got


def test_an_unknown_event_fails_the_check_but_is_no_bad_file(halfopen, write):
    file = write(scenario(expect=[{"never": "endpoint_exploded"}]))
    assert halfopen("validate", file)[0] == 0
    status, out, _ = halfopen("check", file)
    assert status == 1
    assert "can't be evaluated" in out and "endpoint_exploded" in out


def test_the_highest_status_counts(halfopen, write):
    good = write(scenario(name="good"), "good.json")
    failing = write(scenario(name="failing", expect=[{"never": "endpoint_ejected"}]), "failing.json")
    bad = write("[]", "bad.json")
    assert halfopen("check", good)[0] == 0
    assert halfopen("check", good, failing)[0] == 1
    status, out, _ = halfopen("check", good, failing, bad)
    assert status == 2
    assert "ok good" in out and "FAILED failing" in out


def test_a_directory_is_its_scenarios_by_name(halfopen, write, tmp_path):
    (tmp_path / "d").mkdir()
    for name in "c", "a", "b":
        write(scenario(name=name), f"d/{name}.json")
    assert halfopen("run", "d/a.json", "--format", "json", "-o", "d/a.timeline.json")[0] == 0
    write("no scenario", "d/notes.txt")
    status, out, _ = halfopen("check", "d")
    assert status == 0
    assert out == ("ok a (1 expectation, golden timeline)\nok b (1 expectation)\nok c (1 expectation)\n")


def test_an_empty_directory_does_not_pass(halfopen, tmp_path):
    (tmp_path / "d").mkdir()
    status, _, err = halfopen("check", "d")
    assert status == 2 and "no scenario" in err


def test_a_golden_timeline_that_differs_shows_the_first_line(halfopen, write, tmp_path):
    file = write(scenario())
    assert halfopen("run", file, "--format", "json", "-o", "x.timeline.json")[0] == 0
    golden = tmp_path / "x.timeline.json"
    text = golden.read_text()
    golden.write_text(text.replace('"type":"endpoint_recovered"', '"type":"endpoint_revived"', 1))
    status, out, _ = halfopen("check", file)
    assert status == 1
    assert "x.timeline.json:" in out and "endpoint_revived" in out and "endpoint_recovered" in out
    number = int(re.search(r"x\.timeline\.json:(\d+)", out)[1])
    assert "endpoint_revived" in golden.read_text().splitlines()[number - 1]


def test_golden_timelines_leave_the_version_out(halfopen, write, tmp_path):
    file = write(scenario())
    halfopen("run", file, "--format", "json", "-o", "x.timeline.json")
    golden = tmp_path / "x.timeline.json"
    golden.write_text(re.sub(r'^"version":"[^"]*"', '"version":"99.0"', golden.read_text(), flags=re.M))
    assert halfopen("check", file)[0] == 0
    before = golden.read_bytes()
    assert halfopen("check", "--update", file)[0] == 0
    assert golden.read_bytes() == before


def test_a_truncated_golden_timeline_differs(halfopen, write, tmp_path):
    file = write(scenario())
    halfopen("run", file, "--format", "json", "-o", "x.timeline.json")
    golden = tmp_path / "x.timeline.json"
    for cut in 0, 1, 100, golden.stat().st_size - 1:
        golden.write_bytes(golden.read_bytes()[:cut])
        assert halfopen("check", file)[0] == 1


def test_update_writes_golden_timelines(halfopen, write, tmp_path):
    file = write(scenario())
    status, out, _ = halfopen("check", "--update", file)
    assert status == 0 and "golden timeline written" in out
    assert (tmp_path / "x.timeline.json").read_text() == halfopen("run", file, "--format", "json")[1]
    write(scenario(seed=2))
    assert halfopen("check", file)[0] == 1
    assert halfopen("check", "--update", file)[0] == 0
    assert halfopen("check", file)[0] == 0


def test_update_is_refused_in_continuous_integration(halfopen, write, tmp_path):
    status, out, err = halfopen("check", "--update", write(scenario()), env={"CI": "true"})
    assert (status, out) == (2, "")
    assert "CI" in err
    assert not (tmp_path / "x.timeline.json").exists()


def test_update_writes_nothing_beside_a_bad_file(halfopen, write, tmp_path):
    files = write(scenario(), "good.json"), write("{", "bad.json")
    assert halfopen("check", "--update", *files)[0] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "good.json"]


# ---- bad input ------------------------------------------------------------------------------------


def broken(path, value):
    """The scenario with one value replaced; the path's last step may be new."""
    out = scenario()
    place = out
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return out


WHOLE = json.dumps(scenario(), indent=1)
TRAFFIC = ["traffic", 0]
HEALTH = ["upstreams", 0, "health"]
BAD = {
    "empty": "",
    "truncated": WHOLE[:-20],
    "truncated in a string": WHOLE[:12],
    "garbage behind": WHOLE + "x",
    "not an object": "[]",
    "bytes": "\x00\x01",
    "wrong type": broken(["duration_ms"], "long"),
    "a list for an object": broken(HEALTH, []),
    "a number for a text": broken(["name"], 3),
    "unknown key": broken(["durations_ms"], 5),
    "unknown key in health": broken([*HEALTH, "failure_ration"], 0.5),
    "ratio above 1": broken([*HEALTH, "failure_ratio"], 1.5),
    "ratio 0": broken([*HEALTH, "failure_ratio"], 0),
    "negative": broken([*HEALTH, "eject_ms"], -1),
    "half a count": broken([*HEALTH, "consecutive_failures"], 2.5),
    "count too large": broken([*HEALTH, "consecutive_failures"], 2**32),
    "duration too long": broken(["duration_ms"], 10**11),
    "10^12 requests": broken([*TRAFFIC, "rate_rps"], 10**12),
    "10^12 requests by time": broken(TRAFFIC, {"upstream": "api", "every_ms": 0.000001}),
    "NaN": WHOLE.replace("200", "NaN", 1),
    "infinite": WHOLE.replace("200", "1e999", 1),
    "duplicate endpoints": broken(["upstreams", 0, "endpoints", 1, "address"], "10.0.0.1"),
    "duplicate keys": WHOLE.replace('"sample_ms": 100', '"sample_ms": 100, "sample_ms": 100'),
    "no endpoints": broken(["upstreams", 0, "endpoints"], []),
    "port 0": broken(["upstreams", 0, "endpoints", 0, "port"], 0),
    "fault that ends before it begins": broken(["endpoints", "10.0.0.1:8080", "faults", 0, "to_ms"], 1000),
    "behaviour of a stranger": broken(["endpoints", "10.0.0.9:8080"], {}),
    "depth 10^5": "[" * 10**5 + "]" * 10**5,
    "depth 10^5 unclosed": '{"a":' * 10**5,
    "depth 10^5 inside": WHOLE.replace("[", "[" * 10**5, 1).replace("]", "]" * 10**5, 1),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("command", ["run", "check", "validate"])
def test_a_bad_file_is_told_with_its_place(halfopen, write, tmp_path, command, content):
    file = write(content)
    words = ["-o", "out.txt"] if command == "run" else []
    status, out, err = halfopen(command, file, *words)
    assert (status, out) == (2, "")
    places = [PLACE.match(line) for line in err.splitlines() if line.startswith(file)]
    assert places and all(places), err
    assert [p.name for p in tmp_path.iterdir()] == [file]


def test_a_file_that_is_not_there_is_told(halfopen, tmp_path):
    for command in "run", "check", "validate":
        status, out, err = halfopen(command, "nowhere.json")
        assert (status, out) == (2, "")
        assert "nowhere.json" in err


def test_a_directory_is_no_scenario(halfopen, tmp_path):
    status, out, err = halfopen("run", ".")
    assert (status, out) == (2, "")
    assert err


def test_validate_tells_all_mistakes_of_all_files(halfopen, write):
    first = broken([*HEALTH, "failure_ratio"], 1.5)
    first["duration_ms"] = "long"
    first["upstreams"][0]["endpoints"][1]["port"] = 70000
    first["trafic"] = []
    files = write(first, "first.json"), write("{", "second.json"), write(scenario(), "good.json")
    status, out, err = halfopen("validate", *files)
    assert (status, out) == (2, "ok good.json\n")
    for pointer in "/upstreams/0/health/failure_ratio", "/duration_ms", "/upstreams/0/endpoints/1/port", "/trafic":
        assert re.search(rf"^first\.json:\d+:\d+: {pointer}: ", err, re.M), pointer
    assert re.search(r"^second\.json:\d+:\d+: ", err, re.M)


@pytest.mark.parametrize("setting", ["/nowhere/at/all=1", "/upstreams/0/health/failure_ratio=7", "/duration_ms=soon"])
def test_a_bad_setting_is_told(halfopen, write, setting):
    status, out, err = halfopen("run", write(scenario()), "--set", setting)
    assert (status, out) == (2, "")
    assert setting.partition("=")[0] in err


# ---- usage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    [], ["fly"], ["--fly"], ["run"], ["check"], ["validate"], ["step"], ["step", "toaster"],
    ["run", "x.json", "--fly"], ["check", "x.json", "--fly"], ["validate", "x.json", "--fly"],
    ["run", "x.json", "--format", "yaml"], ["run", "x.json", "--format"],
    ["run", "x.json", "--seed", "-1"], ["run", "x.json", "--seed", "1e3"], ["run", "x.json", "--seed", str(2**64)],
    ["run", "x.json", "--seed", "0x10"], ["run", "x.json", "--seed", " 1"],
    ["run", "x.json", "--seed", "1", "--seed", "2"],
    ["run", "x.json", "--set", "duration_ms=1"], ["run", "x.json", "--set", "/duration_ms"],
], ids=" ".join)
def test_wrong_usage_is_status_2_and_one_sentence(halfopen, write, words):
    write(scenario())
    status, out, err = halfopen(*words)
    assert (status, out) == (2, "")
    said = err.splitlines()
    assert len(said) == 2 and said[0].startswith("halfopen: ")
    assert said[1] == "`halfopen --help` tells all commands and options."


def test_one_set_takes_one_value(halfopen, write):
    """`--set A x.json` must not swallow the file."""
    assert halfopen("run", "--set", "/sample_ms=200", write(scenario()))[0] == 0


def test_help_alone_is_enough(halfopen):
    status, out, err = halfopen("--help")
    assert (status, err) == (0, "")
    for word in ("run", "check", "validate", "step", "--format", "text", "json", "jsonl", "--seed", "--set",
                 "--output", "-o", "--ascii", "--all", "--update", "--help", "--version", "NO_COLOR", "Default:",
                 "Examples:", "Exit status:", "health", "breaker", "retry_budget", "upstream"):
        assert word in out, word
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["run", "check", "validate", "step"])
def test_every_command_has_its_help(halfopen, command):
    status, out, _ = halfopen(command, "--help")
    assert status == 0
    assert f"Usage: halfopen {command}" in out and "Examples:" in out
    whole = halfopen("--help")[1]
    for option in re.findall(r"--[a-z]+", out):
        assert option in whole


def test_version(halfopen):
    status, out, _ = halfopen("--version")
    assert status == 0
    assert re.fullmatch(r"halfopen \d+\.\d+\.\d+\n", out)


# ---- step: its protocol has its own tests, this is the wiring ----------------------------------------


def test_step_answers_a_line_for_a_line(halfopen):
    status, out, _ = halfopen("step", "health", input=b'{"op":"report","t":1,"failure":true}\n')
    assert status == 0
    assert json.loads(out)["streak"] == 1


def test_step_refuses_a_malformed_line_and_goes_on(halfopen):
    status, out, _ = halfopen("step", "breaker", input=b'nonsense\n{"op":"check","t":1}\n')
    assert status == 2
    refused, answered = map(json.loads, out.splitlines())
    assert refused["line"] == 1 and "error" in refused
    assert answered["result"] == {"decision": "allow"}


def test_step_ends_when_its_reader_does(binary, tmp_path):
    feed = [sys.executable, "-c", "import sys\nwhile True: sys.stdout.write('{\"op\":\"check\"}\\n')"]
    writer = subprocess.Popen(feed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    step = subprocess.Popen([binary, "step", "breaker"], stdin=writer.stdout, stdout=subprocess.PIPE)
    writer.stdout.close()
    step.stdout.readline()
    step.stdout.close()
    try:
        step.wait(timeout=60)
    finally:
        step.kill()
        writer.kill()
        writer.wait()


def test_validate_warns_of_an_expectation_that_can_never_hold(binary, tmp_path):
    file = tmp_path / "x.json"
    file.write_text('{ "duration_ms": 10, "upstreams": [ { "name": "api", "endpoints": [ { "address": "a", "port": 1 } ] } ],\n'
                    '  "expect": [ { "metric": "nope", ">": 1 } ] }')
    done = subprocess.run([binary, "validate", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert f"{file}:2:15: warning: /expect/0: this can't hold: there is no metric" in done.stderr
