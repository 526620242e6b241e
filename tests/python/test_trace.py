"""`run --format trace`: every rule of the format on real scenarios, read back from the file."""

import json
import subprocess
from collections import defaultdict
from decimal import Decimal

import pytest

from conftest import ROOT

SCENARIOS = ["brownout-all", "breaker-before-ejection", "capacity-cascade", "gray-failure", "trial-abandoned",
             "clock-step-wall", "reload-carries-ejection", "brownout-one-of-four"]


def run(binary, name, *words):
    done = subprocess.run([binary, "run", str(ROOT / f"scenarios/{name}.json"), *words],
                          capture_output=True, check=True, timeout=300)
    return done.stdout


@pytest.fixture(scope="module", params=SCENARIOS)
def pair(request, binary):
    """A trace and the timeline of the same run. Times stay decimal: a nanosecond must not be rounded away."""
    trace = json.loads(run(binary, request.param, "--format", "trace"), parse_float=Decimal)
    timeline = json.loads(run(binary, request.param, "--format", "json"), parse_float=Decimal)
    return trace, timeline


@pytest.fixture
def events(pair):
    return pair[0]["traceEvents"]


def of(events, phases):
    return [event for event in events if event["ph"] in phases]


def threads(events):
    out = defaultdict(list)
    for event in of(events, "X"):
        out[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event))
    return out


def names(events, what):
    return {(e["pid"], e.get("tid")): e["args"]["name"] for e in of(events, "M") if e["name"] == what}


def test_the_document_says_what_it_is(pair):
    trace, timeline = pair
    assert list(trace) == ["displayTimeUnit", "traceEvents", "otherData"]
    assert trace["displayTimeUnit"] == "ms"
    other = trace["otherData"]
    assert other["format"] == "halfopen.trace/1"
    assert other["fingerprint"] == timeline["meta"]["fingerprint"]
    assert other["requests"] == timeline["summary"]["requests"]


def test_times_are_microseconds_from_0_on_and_metadata_has_none(events, pair):
    end = pair[1]["meta"]["duration_ms"] * 1000
    for event in events:
        if event["ph"] == "M":
            assert "ts" not in event
            continue
        assert 0 <= event["ts"] <= end
        assert round(event["ts"] * 1000) == event["ts"] * 1000  # whole nanoseconds


def test_ids_of_processes_and_threads_are_small_and_named(events):
    processes = names(events, "process_name")
    named = names(events, "thread_name")
    pids = {pid for pid, _ in processes}
    assert sorted(pids) == list(range(1, len(pids) + 1))
    for event in events:
        assert event["pid"] in pids
        if "tid" in event:
            assert (event["pid"], event["tid"]) in named
            assert event["tid"] > len(pids)
    tids = [tid for _, tid in named]
    assert len(tids) == len(set(tids))
    for name in [*processes.values(), *named.values()]:
        assert name[:2].isdigit() and name[2] == " "
    for what in ("process", "thread"):
        sorted_by = {(e["pid"], e.get("tid")): e["args"]["sort_index"]
                     for e in of(events, "M") if e["name"] == f"{what}_sort_index"}
        assert sorted_by.keys() == names(events, f"{what}_name").keys()


def test_slices_last_and_never_overlap_on_a_thread(events):
    for slices in threads(events).values():
        slices.sort(key=lambda s: s[:2])
        assert all(begin < end for begin, end, _ in slices)
        for (_, end, _), (begin, _, _) in zip(slices, slices[1:]):
            assert end <= begin


def test_states_and_faults_are_complete(events, pair):
    intervals = pair[1]["intervals"]
    wanted = sum(len(lane["lane"]) for kind in ("endpoints", "breakers") for lane in intervals[kind])
    assert len([e for e in of(events, "X") if e["cat"] in ("health", "breaker")]) == wanted
    faults = [e for e in of(events, "X") if e["cat"] == "fault"]
    assert len(faults) == sum(len(lane["lane"]) for lane in intervals["faults"])
    processes = names(events, "process_name")
    assert all(processes[e["pid"], None].endswith("injected") for e in faults)
    assert all(e["args"]["endpoint"] for e in faults)


def test_instants_are_the_events_with_their_reasons(events, pair):
    instants = [e for e in of(events, "i") if e["cat"] == "event"]
    assert [e["args"] for e in instants] == pair[1]["events"]
    assert all(e["s"] == "t" and "tid" in e for e in of(events, "i"))


def test_every_counter_has_a_point_in_every_bin(events, pair):
    meta, series = pair[1]["meta"], pair[1]["series"]
    points = defaultdict(list)
    for event in of(events, "C"):
        points[event["pid"], event["name"]].append(event)
    sample, bins = meta["sample_ms"] * 1000, len(series["requests"])
    starts = [i * sample for i in range(bins)]
    ends = [min((i + 1) * sample, meta["duration_ms"] * 1000) for i in range(bins)]
    for (_, name), of_it in points.items():
        assert [p["ts"] for p in of_it] == (ends if name == "in flight" else starts)
        assert all(p["args"].keys() == of_it[0]["args"].keys() for p in of_it)
    assert len(points) == 4 + len(series["endpoints"])
    lengths = [(end - begin) / Decimal(10**6) for begin, end in zip(starts, ends)]
    rates = points[1, "requests/s"]
    for key, column in (("ok", "ok"), ("fast-failed", "fast_failed")):
        counts = [round(p["args"][key] * length) for p, length in zip(rates, lengths)]
        assert counts == series[column]
    assert [p["args"]["requests"] for p in points[1, "in flight"]] == series["in_flight"]


def test_requests_begin_and_end_in_pairs_around_their_attempts(events, pair):
    open_slices, finished, attempts = defaultdict(list), [], 0
    for event in of(events, "bne"):
        assert event["cat"] == "request" and isinstance(event["id"], str) and event["pid"] > 1
        stack = open_slices[event["id"]]
        if event["ph"] == "b":
            assert (event["name"] == "request") == (not stack)
            stack.append(event)
            continue
        begin = stack.pop()
        assert begin["name"] == event["name"] and begin["pid"] == event["pid"] and begin["ts"] <= event["ts"]
        if event["name"] == "attempt":
            attempts += 1
            assert begin["args"].keys() == {"endpoint", "retry", "fail_open", "trial"}
            assert event["args"]["outcome"]
        else:
            finished.append((event["id"], event["args"]["end"]))
    assert not any(open_slices.values())
    assert len({name for name, _ in finished}) == len(finished)
    summary = pair[1]["summary"]
    if pair[0]["otherData"]["requests_written"] < summary["requests"]:
        return
    assert attempts == summary["attempts"]
    ends = [end for _, end in finished]
    assert ends.count("ok") == summary["ok"]
    assert ends.count("failed") == summary["failed"] - summary["fast_failed"]
    assert ends.count("fast-failed") == summary["fast_failed"]
    assert ends.count("abandoned") == summary["abandoned"]
    assert ends.count("unfinished") == summary["unfinished"]


def test_arrows_lead_from_failures_to_what_they_caused(events, pair):
    arrows = defaultdict(list)
    for event in of(events, "sf"):
        arrows[event["id"]].append(event)
    slices = threads(events)
    caused = set()
    for start, end in arrows.values():  # one of each: an arrow does not fork
        assert (start["ph"], end["ph"], end["bp"]) == ("s", "f", "e")
        assert (start["name"], start["cat"]) == (end["name"], end["cat"])
        source = [e for a, b, e in slices[start["pid"], start["tid"]] if a <= start["ts"] < b]
        target = [e for a, b, e in slices[end["pid"], end["tid"]] if a <= end["ts"] < b]
        assert len(source) == 1 and source[0]["cat"] == "failure"
        assert len(target) == 1 and target[0]["name"] in ("ejected", "open") and target[0]["ts"] == end["ts"]
        assert start["ts"] <= end["ts"]
        caused.add((end["pid"], end["tid"], end["ts"]))
    out = {(pid, tid, a) for (pid, tid), of_it in slices.items() for a, _, e in of_it
           if e["name"] in ("ejected", "open")}
    assert out == caused


def test_a_slice_is_written_before_the_arrow_that_it_holds(events):
    """Viewers take the events of one instant in the order of the file."""
    kinds = [event["ph"] for event in events]
    if "s" in kinds:
        assert max(i for i, kind in enumerate(kinds) if kind == "X") < kinds.index("s")


# ---- the cap, and the command ------------------------------------------------------------------------


def test_a_cap_thins_the_requests_evenly_and_leaves_the_rest(binary):
    whole = json.loads(run(binary, "brownout-one-of-four", "--format", "trace", "--trace-requests", "1000000"))
    few = json.loads(run(binary, "brownout-one-of-four", "--format", "trace", "--trace-requests", "100"))
    written = [e for e in few["traceEvents"] if e["ph"] == "b" and e["name"] == "request"]
    assert 50 <= len(written) <= 100
    assert few["otherData"]["requests_written"] == len(written)
    gaps = {b["args"]["index"] - a["args"]["index"] for a, b in zip(written, written[1:])}
    assert len(gaps) == 1
    assert f"the first of every {gaps.pop()}" in few["otherData"]["note"]
    def rest(trace):
        return [e for e in trace["traceEvents"] if e["ph"] not in "be"]
    assert rest(few) == rest(whole)
    assert whole["otherData"]["note"] == f"all {whole['otherData']['requests']} requests are written"


def test_no_requests_at_all_is_a_cap_too(binary):
    trace = json.loads(run(binary, "brownout-all", "--format", "trace", "--trace-requests", "0"))
    assert not [e for e in trace["traceEvents"] if e["ph"] in "be"]
    assert [e for e in trace["traceEvents"] if e["ph"] == "s"]


def test_the_bytes_are_the_same_every_time(binary):
    words = ("gray-failure", "--format", "trace")
    assert run(binary, *words) == run(binary, *words)


def test_a_trace_is_of_one_scenario(binary):
    files = [str(ROOT / f"scenarios/{name}.json") for name in SCENARIOS[:2]]
    done = subprocess.run([binary, "run", *files, "--format", "trace"], capture_output=True, timeout=60)
    assert done.returncode == 2 and done.stdout == b""
    assert b"one scenario at a time" in done.stderr


@pytest.mark.parametrize("word", ["-1", "1e3", "many"])
def test_the_cap_is_a_whole_number(binary, word):
    done = subprocess.run([binary, "run", str(ROOT / "scenarios/brownout-all.json"), "--format", "trace",
                           f"--trace-requests={word}"], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"is no whole number" in done.stderr
