"""`halfopen sweep` as its users meet it: tables that do not depend on threads, shards or interruptions.

HALFOPEN_BIN names the binary (else build/dev/halfopen or build/release/halfopen).
"""

import csv
import io
import itertools
import json
import os
import pty
import re
import signal
import subprocess
import time
from decimal import Decimal

import pytest

RATE = "/traffic/0/rate_rps"
EJECT = "/upstreams/0/health/eject_ms"
IDENTITY = ["run", "replicate", "seed"]
RESULTS = ["expectations", "held", "fingerprint", "digest"]


def scenario(**changes):
    """Two endpoints, one of which fails every request for half a second."""
    base = {
        "name": "small",
        "duration_ms": 2000,
        "seed": 40,
        "upstreams": [{
            "name": "api",
            "endpoints": [{"address": "10.0.0.1", "port": 8080}, {"address": "10.0.0.2", "port": 8080}],
            "health": {"eject_ms": 300},
        }],
        "endpoints": {"10.0.0.1:8080": {"faults": [
            {"from_ms": 500, "to_ms": 1000, "error": {"ratio": 1, "status": 503}}]}},
        "traffic": [{"upstream": "api", "arrivals": "poisson", "rate_rps": 100}],
        "expect": [{"event": "endpoint_ejected", "at_least": 1},
                   {"event": "endpoint_ejected", "at_least": 1, "between_ms": [500, 600]}],
    }
    base.update(changes)
    return base


@pytest.fixture
def write(tmp_path):
    def save(content, name="x.json"):
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return name
    return save


@pytest.fixture
def halfopen(binary, tmp_path):
    """Runs the command in a directory of its own; answers (status, stdout, stderr)."""
    def run(*words):
        done = subprocess.run([binary, *map(str, words)], cwd=tmp_path, capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.fixture
def sweep(halfopen):
    """The table of a sweep that must succeed in silence."""
    def run(*words):
        status, out, err = halfopen("sweep", *words)
        assert (status, err) == (0, "")
        return out
    return run


PARAMS = "--param", f"{RATE}=50..150:50", "--param", f"{EJECT}=200,300,1000", "--replicates", "3"
WHOLE = 27


def rows_of(table):
    return list(csv.DictReader(io.StringIO(table)))


# ---- what is in the table -------------------------------------------------------------------------


def test_the_values_are_those_of_the_runs_one_by_one(sweep, halfopen, write):
    file = write(scenario())
    table = rows_of(sweep(file, "--param", f"{RATE}=50,150", "--param", f"{EJECT}=200,1000", "--replicates", 2))
    lines = sweep(file, "--param", f"{RATE}=50,150", "--param", f"{EJECT}=200,1000", "--replicates", 2,
                  "--format", "jsonl").splitlines()
    points = itertools.product(("50", "150"), ("200", "1000"), (1, 2))
    for number, (row, line, (rate, eject, replicate)) in enumerate(zip(table, lines, points, strict=True), 1):
        status, out, _ = halfopen("run", file, "--format", "json", "--set", f"{RATE}={rate}", "--set",
                                  f"{EJECT}={eject}", "--seed", 40 + replicate - 1)
        assert status == 0
        timeline = json.loads(out, parse_float=Decimal)
        entry = json.loads(line, parse_float=Decimal)
        assert list(entry) == list(row) == IDENTITY + [RATE, EJECT, *timeline["summary"], *RESULTS]
        assert [row[name] for name in [*IDENTITY, RATE, EJECT]] == [
            str(number), str(replicate), str(40 + replicate - 1), rate, eject]
        assert {name: entry[name] for name in timeline["summary"]} == timeline["summary"]
        for name, value in timeline["summary"].items():
            assert row[name] == ("" if value is None else str(value))
        held = [expectation["held"] for expectation in timeline["expectations"]]
        for found in row, entry:
            assert (int(found["expectations"]), int(found["held"])) == (len(held), sum(held))
            assert found["fingerprint"] == timeline["meta"]["fingerprint"]
            assert found["digest"] == timeline["meta"]["digest"]


def test_expectations_that_do_not_hold_are_counted_and_are_no_failure(sweep, write):
    table = rows_of(sweep(write(scenario()), "--param", f"{RATE}=1,1000"))
    assert [row["expectations"] for row in table] == ["2", "2"]
    assert [row["held"] for row in table] == ["0", "2"]


def test_what_was_not_measured_is_empty_or_null(sweep, write):
    file = write(scenario(traffic=[]))
    row = rows_of(sweep(file))[0]
    assert (row["requests"], row["success_ratio"], row["latency_p50_ms"]) == ("0", "", "")
    entry = json.loads(sweep(file, "--format", "jsonl"))
    assert (entry["requests"], entry["success_ratio"], entry["latency_p50_ms"]) == (0, None, None)


def test_values_of_every_kind_survive_the_table(sweep, write):
    values = ["plain", "a,b", 'say "x"', "", "two\nlines", "ü", "{"]
    written = ",".join(map(json.dumps, values))
    file = write(scenario())
    listed = sweep(file, "--list", "--format", "jsonl", "--param", "/name=" + written)
    assert [json.loads(line)["/name"] for line in listed.splitlines()] == values
    shown = [row["/name"] for row in rows_of(sweep(file, "--list", "--param", "/name=" + written))]
    assert shown == ["plain", "a,b", 'say "x"', "", '"two\\nlines"', "ü", "{"]
    objects = sweep(file, "--list", "--param", '/upstreams/0/health={"eject_ms": 200, "failure_ratio": 0.5},{}')
    assert [row["/upstreams/0/health"] for row in rows_of(objects)] == ['{"eject_ms":200,"failure_ratio":0.5}', "{}"]


def test_a_grid_is_written_in_exact_decimals(sweep, write):
    ratio = "/endpoints/10.0.0.1:8080/faults/0/error/ratio"
    table = rows_of(sweep(write(scenario()), "--list", "--param", ratio + "=0.1..0.5:0.1"))
    assert [row[ratio] for row in table] == ["0.1", "0.2", "0.3", "0.4", "0.5"]


def test_settings_and_a_seed_come_before_the_parameters(sweep, write):
    file = write(scenario())
    other = write(scenario(seed=9, duration_ms=1000), "y.json")
    assert sweep(file, *PARAMS, "--seed", 9, "--set", "/duration_ms=1000") == sweep(other, *PARAMS)


# ---- which runs -----------------------------------------------------------------------------------


def test_the_bytes_do_not_depend_on_the_number_of_threads(sweep, write):
    file = write(scenario())
    for form in "csv", "jsonl":
        tables = {sweep(file, *PARAMS, "--format", form, "--jobs", jobs) for jobs in (1, 3, 8)}
        assert len(tables) == 1
        assert tables.pop().count("\n") == WHOLE + (form == "csv")


@pytest.mark.parametrize("of", [1, 4, 8, WHOLE, 40])
def test_shards_are_the_whole(sweep, write, of):
    file = write(scenario())
    header, *whole = sweep(file, *PARAMS).splitlines()
    shards = []
    for index in range(1, of + 1):
        first, *rows = sweep(file, *PARAMS, "--shard", f"{index}/{of}").splitlines()
        assert first == header
        assert all(int(row.split(",")[0]) % of == index % of for row in rows)
        shards += rows
    assert sorted(shards, key=lambda row: int(row.split(",")[0])) == whole


def test_one_run_and_the_list_agree_with_the_whole(sweep, write):
    file = write(scenario())
    for form in "csv", "jsonl":
        whole = sweep(file, *PARAMS, "--format", form).splitlines()
        listed = sweep(file, *PARAMS, "--format", form, "--list").splitlines()
        assert len(listed) == len(whole)
        for row, entry in zip(whole, listed):
            assert row.startswith(entry.rstrip("}") + ",")
        head = form == "csv"
        for number in 1, 17, WHOLE:
            assert sweep(file, *PARAMS, "--format", form, "--run", number).splitlines() == \
                whole[:head] + [whole[number - 1 + head]]
        assert sweep(file, *PARAMS, "--format", form, "--list", "--shard", "2/5").splitlines() == \
            listed[:head] + listed[1 + head::5]


def test_a_run_that_is_not_there_is_told(halfopen, write):
    file = write(scenario())
    status, out, err = halfopen("sweep", file, *PARAMS, "--run", WHOLE + 1)
    assert (status, out, err) == (2, "", "halfopen: there is no run 28: this sweep has runs 1 to 27\n")
    for words in ("--run", "0"), ("--run", "1", "--shard", "1/2"), ("--shard", "3"), ("--shard", "0/3"), \
            ("--shard", "4/3"), ("--jobs", "0"), ("--replicates", "0"), ("--replicates", "1e3"), ("--format", "text"):
        status, out, err = halfopen("sweep", file, *PARAMS[:4], *words)
        assert (status, out) == (2, "")
        assert err.startswith("halfopen: sweep: " + words[0])


# ---- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("param, says", [
    ("eject_ms=1", "is not of the form"),
    ("/a", "is not of the form"),
    ("/a=", "a value is missing"),
    ("/a=1,,2", "a value is missing"),
    ("/a=[1,2", "its closing bracket is missing"),
    ("/a=1..5", "says no step"),
    ("/a=1..5:0", "would never arrive"),
    ("/a=1..5:-1", "the other sign"),
    ("/a=1..x5:1,1..5:q", "is no grid lo..hi:step"),
    ("/a=0..10000000:1", "has more than 10000000 values"),
])
def test_bad_parameters_are_a_sentence(halfopen, write, param, says):
    status, out, err = halfopen("sweep", write(scenario()), "--param", param)
    assert (status, out) == (2, "")
    assert err.startswith("halfopen: sweep: --param: ") and says in err


def test_too_many_runs_and_doubled_settings_are_refused(halfopen, write):
    file = write(scenario())
    for words, says in (
        (("--param", "/seed=1..10000:1", "--replicates", "1001"), "more than 10000000 runs"),
        (("--param", f"{RATE}=1", "--param", f"{RATE}=2"), "is given twice"),
        (("--param", f"{RATE}=1", "--param", "/traffic=[]"), "would undo"),
        (("--param", "/seed=1,2", "--seed", "3"), "undo every value of /seed"),
        (("--list", "-o", "t.csv"), "--list writes to standard output"),
    ):
        status, out, err = halfopen("sweep", file, *words)
        assert (status, out) == (2, "")
        assert says in err and err.count("\n") == 1


def test_every_bad_value_is_told_before_anything_runs(halfopen, write, tmp_path):
    file = write(scenario())
    status, out, err = halfopen("sweep", file, "--param", f"{EJECT}=200,-1,300,x", "--param", "/name=a,b,c",
                                "--replicates", 2, "-o", "t.csv")
    assert (status, out) == (2, "")
    first, where, second, where_too = err.splitlines()
    assert re.match(r"x\.json:\d+:\d+: /upstreams/0/health/eject_ms: eject_ms is -1: it must be", first)
    assert where == f'  in run 7, {EJECT}=-1, /name="a", and at 2 points more'
    assert 'eject_ms is "x"' in second
    assert where_too.startswith("  in run 19, ")
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_a_mistake_of_the_file_itself_is_told_once_and_many_are_cut_short(halfopen, write):
    status, out, err = halfopen("sweep", write(scenario(duration_ms=-5)), "--param", f"{RATE}=1..500:1")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "/duration_ms" in err
    status, out, err = halfopen("sweep", write(scenario()), "--param", f"{EJECT}=-500..-1:1")
    assert (status, out) == (2, "")
    assert err.count("\n") == 41 and err.endswith("halfopen: 480 more mistakes are not shown\n")
    status, out, err = halfopen("sweep", write(scenario()), "--param", "/nix/x=1")
    assert status == 2 and "--param /nix/x=1: " in err


def test_a_file_that_is_not_there_is_told(halfopen):
    assert halfopen("sweep", "nix.json") == (2, "", "nix.json: it can't be opened: No such file or directory\n")


# ---- the output file ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_table_that_was_cut_anywhere_becomes_whole_again(sweep, halfopen, write, tmp_path, form):
    file, target = write(scenario()), tmp_path / "t"
    words = file, *PARAMS, "--format", form
    whole = sweep(*words).encode()
    assert sweep(*words, "-o", "t") == ""
    assert target.read_bytes() == whole
    ends = [match.end() for match in re.finditer(b"\n", whole)]
    for cut in (0, 5, ends[0] - 1, ends[0], ends[0] + 1, ends[3], ends[3] + 2, ends[4] - 1, ends[-2], ends[-1] - 1,
                ends[-1]):
        target.write_bytes(whole[:cut])
        status, out, err = halfopen("sweep", *words, "-o", "t")
        assert (status, out) == (0, "")
        assert target.read_bytes() == whole
        rows = max(whole[:cut].count(b"\n") - (form == "csv"), 0)
        assert err == (f"halfopen: t has {rows} of {WHOLE} runs already\n" if rows else "")


def test_rows_that_are_there_are_not_run_again(sweep, halfopen, write, tmp_path):
    words = write(scenario()), *PARAMS
    whole = sweep(*words)
    header, first, rest = whole.split("\n", 2)
    touched = first.split(",")
    touched[5] = "123456"  # requests, which nobody can know without running
    (tmp_path / "t").write_text("\n".join([header, ",".join(touched), ""]))
    assert halfopen("sweep", *words, "-o", "t")[0] == 0
    assert (tmp_path / "t").read_text() == "\n".join([header, ",".join(touched), rest])


def test_a_file_of_something_else_is_refused_unless_forced(sweep, halfopen, write, tmp_path):
    file, target = write(scenario()), tmp_path / "t"
    words = file, *PARAMS, "-o", "t"
    sweep(*words)
    mine = target.read_bytes()
    others = [
        (b"hello\n", words),
        (b"hello", words),
        (mine, (file, *PARAMS[:4], "-o", "t")),                      # fewer runs
        (mine, (*words, "--seed", 3)),
        (mine, (*words, "--set", "/duration_ms=1999")),
        (mine, (*words, "--format", "jsonl")),
        (mine, (*words, "--shard", "2/3")),
        (mine, (*words, "--param", "/name=a")),
        (mine + b"1,2,3\n", words),
    ]
    for content, command in others:
        target.write_bytes(content)
        status, out, err = halfopen("sweep", *command)
        assert (status, out) == (2, "")
        assert err.startswith("halfopen: t is another table: ") and "--force" in err and err.count("\n") == 1
        assert target.read_bytes() == content
    assert halfopen("sweep", *words, "--force") == (0, "", "")
    assert target.read_bytes() == mine


def test_neither_the_scenario_nor_a_folder_is_written_to(halfopen, write, tmp_path):
    file = write(scenario())
    before = (tmp_path / file).read_bytes()
    for words in ("-o", "./x.json", "--force"), ("-o", "."), ("-o", "no/such/t.csv"):
        status, out, err = halfopen("sweep", file, *words)
        assert (status, out) == (2, "")
        assert err.startswith("halfopen: ") and err.count("\n") == 1
    assert (tmp_path / file).read_bytes() == before
    assert halfopen("sweep", file, "-o", "/dev/null") == (0, "", "")


LONG = scenario(duration_ms=20_000, traffic=[{"upstream": "api", "arrivals": "poisson", "rate_rps": 2000}])


def begin(binary, tmp_path, *words):
    """A sweep that has written some rows and is far from its end."""
    running = subprocess.Popen([binary, "sweep", *words], cwd=tmp_path, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    target = tmp_path / "t"
    for _ in range(2000):
        if target.exists() and target.read_bytes().count(b"\n") > 3:
            return running, target
        time.sleep(0.01)
    running.kill()
    pytest.fail("no rows in 20 seconds")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_sweep_that_was_ended_goes_on_where_it_was(binary, sweep, halfopen, write, tmp_path, stop):
    words = write(LONG), "--replicates", "2000", "--jobs", "2", "-o", "t"
    running, target = begin(binary, tmp_path, *words)
    running.send_signal(stop)
    said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[stop]
    left = target.read_bytes()
    done = left.count(b"\n") - 1
    assert 3 <= done < 2000
    if stop != signal.SIGKILL:
        assert left.endswith(b"\n")
        assert said == f"halfopen: interrupted after {done} of 2000 runs; the same command goes on from there\n"
    # A row that was torn: the seed, 40 + done, without its last digit.
    target.write_bytes(left + b"%d,%d,%d" % (done + 1, done + 1, (40 + done) // 10) if left.endswith(b"\n") else left)
    running, _ = begin(binary, tmp_path, *words)
    while target.read_bytes().count(b"\n") < done + 4:
        assert running.poll() is None, running.communicate()[1].decode()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    again = target.read_bytes()
    assert again.startswith(left[:left.rindex(b"\n") + 1])
    lines = again.decode().splitlines()
    assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(1, len(lines)))
    for number in 1, done, done + 1, done + 2:
        assert sweep(*words[:3], "--run", number).splitlines()[1] == lines[number]


def test_two_sweeps_do_not_write_one_file(binary, halfopen, write, tmp_path):
    words = write(LONG), "--replicates", "2000", "--jobs", "1", "-o", "t"
    running, _ = begin(binary, tmp_path, *words)
    status, out, err = halfopen("sweep", *words)
    running.kill()
    running.communicate()
    assert (status, out) == (2, "")
    assert err == "halfopen: t is being written by another sweep; wait for it, or name another file\n"


def test_a_reader_that_leaves_ends_the_sweep_and_is_no_error(binary, write, tmp_path):
    running = subprocess.Popen([binary, "sweep", write(scenario()), "--replicates", "10000000"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline().startswith(b"run,replicate,seed,requests")
    running.stdout.close()
    assert (running.wait(timeout=60), running.stderr.read()) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_told(halfopen, write):
    status, out, err = halfopen("sweep", write(scenario()), "-o", "/dev/full")
    assert (status, out) == (2, "")
    assert err == "halfopen: can't write to /dev/full: No space left on device\n"


# ---- terminals and help ---------------------------------------------------------------------------


def test_progress_is_for_terminals_and_is_erased(binary, write, tmp_path):
    words = [binary, "sweep", write(LONG), "--replicates", "2000", "-o", "t"]
    master, slave = pty.openpty()
    running = subprocess.Popen(words, cwd=tmp_path, stdout=slave, stderr=slave,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(slave)
    seen = b""
    while seen.count(b"ETA") < 2:
        seen += os.read(master, 4096)
    running.send_signal(signal.SIGINT)
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # Linux says EIO when the other end is closed
            break
        seen += piece
    os.close(master)
    assert running.wait(timeout=60) == 130
    assert re.search(rb"\r\x1b\[K[\d,]+/2,000 runs, [\d.,]+ runs/s, ETA \d+ (s|min|h)", seen)
    assert b"\r\x1b[Khalfopen: interrupted after " in seen


def test_the_help_fits_80_columns_and_tells_defaults(halfopen):
    status, out, err = halfopen("sweep", "--help")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    options = out[out.index("Options:"):out.index("Examples:")]
    entries = re.split(r"\n  (?=-)", options)[1:]
    assert len(entries) == 13
    for entry in entries[1:]:
        assert "Default: " in " ".join(entry.split()), entry
