"""Runs that last: their progress on a terminal, what an interrupt leaves behind, how much memory they take."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from test_cli import halfopen, scenario, write  # noqa: F401 (fixtures)

LINE = re.compile(r"(?P<label>\w+ .+?): (?P<reached>[\d,]+) s of (?P<total>[\d,.]+) s of virtual time, (?P<percent>\d+) %$")
BACK = "\r\x1b[K"  # takes the line back


def busy(**changes):
    """Forty-five million requests: no build is through with them before it is interrupted."""
    long = scenario(**{"duration_ms": 900_000, "sample_ms": 1000, "expect": [], **changes})
    long["traffic"][0]["rate_rps"] = 50_000
    return long


class Terminal:
    """A child whose standard error, and with `both` its standard output, is a terminal."""

    def __init__(self, words, cwd, both=True, **env):
        master, slave = pty.openpty()
        self.master = master
        surroundings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI")} | {"TERM": "xterm"} | env
        self.child = subprocess.Popen(list(map(str, words)), cwd=cwd, stderr=slave, env=surroundings,
                                      stdout=slave if both else subprocess.DEVNULL)
        os.close(slave)
        self.seen = ""

    def read_until(self, done, seconds=120):
        end = time.monotonic() + seconds
        while not done(self.seen) and time.monotonic() < end:
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # Linux says EIO when the other end is closed
                break
            if not piece:
                break
            self.seen += piece.decode()
        return self.seen

    def end(self, seconds=120):
        self.read_until(lambda _: False, seconds)
        os.close(self.master)
        return self.child.wait(timeout=60)


def lines_shown(seen):
    return [match for match in map(LINE.match, seen.split(BACK)) if match]


# ---- progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["run"], ["check"], ["check", "--jobs", "2"]], ids=" ".join)
def test_a_long_run_shows_how_far_it_is_and_takes_the_line_back(binary, write, tmp_path, words):  # noqa: F811
    files = [write(busy(), "x.json")] if words == ["run"] else [write(busy(), "x.json"), write(busy(), "y.json")]
    started = time.monotonic()
    terminal = Terminal([binary, *words, *files], tmp_path)
    terminal.read_until(lambda seen: seen != "")
    assert time.monotonic() - started > 1.9, "two seconds are not worth a line"
    terminal.read_until(lambda seen: len(lines_shown(seen)) >= 3)
    terminal.child.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    shown = lines_shown(terminal.seen)
    assert shown[0]["label"] == ("run x.json" if words == ["run"] else "check 2 scenarios")
    assert {match["total"] for match in shown} == {"900" if words == ["run"] else "1,800"}
    reached = [int(match["reached"].replace(",", "")) for match in shown]
    assert reached == sorted(reached) and reached[-1] > 0
    for match, seconds in zip(shown, reached):
        assert abs(int(match["percent"]) - 100 * seconds / int(match["total"].replace(",", ""))) <= 1.5
    assert max(len(match[0]) for match in shown) < 80
    assert terminal.seen.endswith(BACK), "the interrupt leaves no line behind"


def test_the_line_is_gone_when_the_account_is_printed(binary, write, tmp_path):  # noqa: F811
    # As long as three seconds take here: the first run measures.
    started = time.monotonic()
    short = busy(duration_ms=4000)
    subprocess.run([binary, "run", write(short, "short.json")], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    took = time.monotonic() - started
    file = write(busy(duration_ms=int(4000 * max(1, 4 / took))), "x.json")
    terminal = Terminal([binary, "run", file, "--format", "jsonl"], tmp_path)
    assert terminal.end() == 0
    assert lines_shown(terminal.seen)
    account = terminal.seen.rpartition(BACK)[2]
    assert account.startswith('{"type":"meta"') and account.endswith("}\r\n")


@pytest.mark.parametrize("how", ["dumb", "no terminal", "short"])
def test_no_line_where_nobody_could_read_it(binary, write, tmp_path, how):  # noqa: F811
    if how == "short":
        terminal = Terminal([binary, "run", write(scenario())], tmp_path, both=False)
        assert terminal.end() == 0 and terminal.seen == ""
        return
    words = [binary, "run", write(busy()), "-o", "t.txt"]
    if how == "dumb":
        terminal = Terminal(words, tmp_path, TERM="dumb")
        terminal.read_until(lambda seen: seen != "", 3.5)
        terminal.child.terminate()
        assert terminal.end() == 143 and terminal.seen == ""
    else:
        child = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE)
        time.sleep(3.5)
        child.terminate()
        assert child.communicate(timeout=60)[1] == b""


# ---- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name, status", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("words", [["run", "-o", "out.txt"], ["check", "--jobs", "1", "--junit", "out.txt"],
                                   ["check", "--jobs", "4", "--junit", "out.txt"], ["check", "--update"]], ids=" ".join)
def test_an_interrupt_leaves_nothing_half_written(binary, write, tmp_path, words, name, status):  # noqa: F811
    files = [write(busy(seed=seed), f"{seed}.json") for seed in (1, 2, 3)]
    (tmp_path / "out.txt").write_text("before")
    surroundings = {k: v for k, v in os.environ.items() if k != "CI"}
    child = subprocess.Popen([binary, *words, *files], cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL))
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=0.4)
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (status, b"", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == [*files, "out.txt"]
    assert (tmp_path / "out.txt").read_text() == "before"


def test_interrupts_while_files_are_written_leave_whole_files_only(binary, write, tmp_path):  # noqa: F811
    """Forty golden timelines are written while interrupts come at any moment: each is there whole, or not at all."""
    (tmp_path / "d").mkdir()
    for number in range(40):
        write(scenario(duration_ms=300, seed=number), f"d/{number}.json")
    surroundings = {k: v for k, v in os.environ.items() if k != "CI"}
    started = time.monotonic()
    subprocess.run([binary, "check", "--update", "d"], cwd=tmp_path, env=surroundings, capture_output=True)
    took = time.monotonic() - started
    whole = {path.name: path.read_bytes() for path in (tmp_path / "d").glob("*.timeline.json")}
    assert len(whole) == 40
    statuses = set()
    for attempt in range(24):
        for path in (tmp_path / "d").glob("*.timeline.json"):
            path.unlink()
        child = subprocess.Popen([binary, "check", "--update", "--jobs", "4", "d"], cwd=tmp_path, env=surroundings,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(took * attempt / 24)
        child.send_signal(signal.SIGINT)
        statuses.add(child.wait(timeout=60))
        left = {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir() if "timeline" in path.name}
        assert left.items() <= whole.items(), attempt
    assert 130 in statuses


# ---- memory ---------------------------------------------------------------------------------------

MEASURE = """
import resource, subprocess, sys
assert subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode == 0
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_kib(binary, file, cwd, *words):
    """In a process of its own: the peak of children never goes down again."""
    surroundings = os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=1"}  # freed memory counts as free
    done = subprocess.run([sys.executable, "-c", MEASURE, binary, "run", file, *words], cwd=cwd, capture_output=True,
                          text=True, check=True, env=surroundings)
    return int(done.stdout)


def storm():
    """Everything that a request can leave behind: queues, timeouts, retries, callers that leave, late answers. No
    ejections, though: events are part of the account, which is meant to grow."""
    long = scenario(duration_ms=100_000, sample_ms=1000, expect=[])
    long["upstreams"][0] |= {"retries": {"attempts": 2}, "timeouts": {"read_ms": 200},
                             "health": {"consecutive_failures": 1_000_000, "failure_ratio": 1}}
    long["endpoints"] = {
        "*": {"latency": {"lognormal": {"p50_ms": 20, "p99_ms": 300}}, "capacity": {"concurrency": 400, "queue": 100}},
        "10.0.0.1:8080": {"faults": [{"error": {"ratio": 0.3, "status": 503}}, {"hang": {"ratio": 0.01}}]},
    }
    long["traffic"] = [{"upstream": "api", "arrivals": "poisson", "rate_rps": 5000,
                        "abandon": {"ratio": 0.05, "after_ms": 50}}]
    return long


@pytest.mark.parametrize("kind", ["calm", "storm"])
def test_memory_does_not_grow_with_the_number_of_requests(binary, write, tmp_path, kind):  # noqa: F811
    """As many bins either way, so that what differs is requests: 250,000 and a million."""
    long = storm() if kind == "storm" else scenario(duration_ms=100_000, expect=[])
    long["traffic"][0]["rate_rps"] = 5000
    file = write(long)
    few = peak_kib(binary, file, tmp_path, "--set", "/duration_ms=50000", "--set", "/sample_ms=500")
    many = peak_kib(binary, file, tmp_path, "--set", "/duration_ms=200000", "--set", "/sample_ms=2000")
    print(f"{few} KiB for 250,000 requests, {many} KiB for a million")
    assert many < few + 2048, f"{few} KiB for 250,000 requests, {many} KiB for a million"
