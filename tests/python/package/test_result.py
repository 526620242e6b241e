"""Results: verdict, tables over C++ memory, pickles, files, notebooks."""

import gc
import pickle
import re
import subprocess
import xml.etree.ElementTree

import halfopen
import numpy as np
import pytest
from halfopen import Result, Scenario, ScenarioError

TABLES = ("events", "intervals", "series", "endpoints", "expectations")


def test_numbers_are_views_of_one_memory(result):
    for table in (getattr(result, name) for name in TABLES):
        for name in table.columns:
            first, second = table[name], table[name]
            assert len(first) == len(table) and not first.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                first[:] = first
            if first.dtype != object and len(first):
                assert np.shares_memory(first, second) and not first.flags.owndata, name


def test_series_is_the_run_s_own_memory():
    """Two tables of one run look at the same numbers, and these outlive everything else."""
    run = halfopen.run(Scenario.of(duration_ms=5000, upstreams=[{"name": "a", "endpoints": [{"address": "x", "port": 1}]}],
                                   traffic=[{"upstream": "a", "every_ms": 7}]))
    requests = run.series["requests"]
    assert np.shares_memory(requests, run._core.series().values("requests"))
    total = run.summary["requests"]
    del run
    gc.collect()
    assert requests.dtype == np.int64 and requests.sum() == total == 715


def test_words_are_codes_and_categories(result):
    events = result.events
    codes, words = events.codes("type"), events.categories("type")
    assert codes.dtype == np.int32 and not codes.flags.writeable and np.shares_memory(codes, events.codes("type"))
    assert [words[code] for code in codes] == list(events["type"])
    assert (events["type"] == "endpoint_ejected").sum() == result.summary["ejections"] == 19
    assert None in set(events["via"]) and (events.codes("via") == -1).any()
    with pytest.raises(TypeError, match="no column of words"):
        events.codes("t_ms")
    with pytest.raises(KeyError, match="t_ms"):
        events["t"]
    assert "type" in events and list(events) == list(events.columns) and "rows" in repr(events)


def test_missing_is_nan_in_numpy_and_none_in_python():
    scenario = Scenario.of(duration_ms=3000, upstreams=[{"name": "a", "endpoints": [{"address": "x", "port": 1}]}],
                           traffic=[{"upstream": "a", "at_ms": [1500]}])
    result = halfopen.run(scenario)
    assert np.isnan(result.series["latency_p50_ms"]).tolist() == [True, False, True]
    assert result.series.to_dict()["latency_p50_ms"] == [None, 1.0, None]
    assert result.summary["time_to_detect_ms"] is None and result.summary["requests"] == 1
    assert isinstance(result.summary["requests"], int)


def test_a_scenario_that_fails_says_why(brownout):
    scenario = brownout.with_({"/expect": [{"metric": "ejections", "==": 19}, {"metric": "ok", "<": 5}]})
    result = halfopen.run(scenario)
    assert not result.ok and len(result.failures) == 1
    failure = result.failures[0]
    assert failure.number == 1 and failure.expect == '{"<":5,"metric":"ok"}' and "120138" in failure.got
    assert result.expectations["held"].tolist() == [True, False]
    assert "1 of 2 expectations failed" in repr(result) and failure.got in result._repr_html_().replace("&#x27;", "'")
    assert halfopen.run(brownout).ok


def test_pickle_save_load(result, tmp_path):
    again = pickle.loads(pickle.dumps(result))
    assert again == result and hash(again) == hash(result) and again.summary == result.summary
    assert pickle.loads(pickle.dumps(again)).events.to_dict() == result.events.to_dict()
    result.save(tmp_path / "r.json")
    assert Result.load(tmp_path / "r.json") == result
    assert result != halfopen.run(Scenario.from_dict({"duration_ms": 1, "upstreams": []}))


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda text: text[: len(text) // 2], "/series/latency_p50_ms"),
        (lambda text: text.replace(b'"requests":[990,', b'"requests":[-1,'), "/series/requests/0"),
        (lambda text: text.replace(b'"requests":[990,', b'"requests":['), "/series/ok"),
        (lambda text: text.replace(b'"state":"healthy"', b'"state":"well"', 1), "/intervals/endpoints/0/lane/0/state"),
        (lambda text: text.replace(b'"type":"endpoint_ejected"', b'"type":"sneeze"', 1), "/events/0/type"),
        (lambda text: text.replace(b'"requests":120394', b'"requests":"many"', 1), "/summary/requests"),
        (lambda text: text.replace(b"halfopen.timeline/1", b"halfopen.timeline/9"), "/format"),
        (lambda _: b"[]", ""),
        (lambda _: b"", ""),
    ],
)
def test_files_that_are_no_timelines(result, tmp_path, change, pointer):
    bad = change(result.to_json())
    assert bad != result.to_json()
    file = tmp_path / "bad.json"
    file.write_bytes(bad)
    with pytest.raises(halfopen.ScenarioError) as caught:
        Result.load(file)
    assert pointer in [one.pointer for one in caught.value.mistakes], caught.value
    assert caught.value.mistakes[0].file == str(file)
    with pytest.raises(OSError, match="none.json"):
        Result.load(tmp_path / "none.json")


def test_lanes_for_a_notebook(result):
    html = result._repr_html_()
    assert len(html) < 50_000 and "<script" not in html and "http" not in html.replace("http://www.w3.org/2000/svg", "")
    svg = xml.etree.ElementTree.fromstring(re.search(r"<svg.*</svg>", html)[0])
    labels = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert labels[:5] == ["10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080", "10.0.0.4:8080", "10.0.0.1:8080 error"]
    titles = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert "active from 30 s to 60 s" in titles and any(title.startswith("half-open") for title in titles)
    assert "<table>" in result.events._repr_html_() and "29 rows more" in result.events._repr_html_()


def test_html_takes_any_name():
    scenario = Scenario.of(name="<b>&", question="<script>", duration_ms=10,
                           upstreams=[{"name": "<u>", "endpoints": [{"address": "x", "port": 1}]}])
    assert "<script>" not in halfopen.run(scenario)._repr_html_() and "<b>&<" not in halfopen.run(scenario)._repr_html_()


def test_two_upstreams_and_many_lanes_stay_small():
    upstreams = [{"name": name, "endpoints": [{"address": f"{name}{n}", "port": 1} for n in range(40)]} for name in "ab"]
    html = halfopen.run(Scenario.of(duration_ms=10, upstreams=upstreams))._repr_html_()
    assert "56 lanes" in html and len(html) < 50_000


def test_a_stream_that_was_cut_is_no_result(tmp_path, cli):
    scenario = Scenario.from_dict({"duration_ms": 10, "upstreams": [{"name": "a", "endpoints": [{"address": "a", "port": 1}]}],
                                   "expect": [{"never": "endpoint_ejected"}, {"metric": "requests", ">": 0}]})  # fmt: skip
    path = tmp_path / "run.jsonl"
    source = tmp_path / "a.json"
    source.write_text(scenario.to_json())
    subprocess.run([cli, "run", source, "--format", "jsonl", "-o", path], check=False)
    assert Result.load(path).ok is False
    lines = path.read_text().splitlines(keepends=True)
    for there in (1, 0):
        path.write_text("".join(lines[: len(lines) - 2 + there]))
        with pytest.raises(ScenarioError, match=f"with {there} of 2 expectations: it was cut off"):
            Result.load(path)
