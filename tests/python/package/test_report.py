"""Result.report: one page that holds all it needs, says what the tables say, and runs no name."""

import itertools
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import halfopen
import numpy as np
import pytest

plotly = pytest.importorskip("plotly", reason="reports need pip install 'halfopen[report]'")

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
EVIL = "</script><script>alert(1)</script>\"'<b>&amp;%{y}"


def run(name):
    return halfopen.run(halfopen.Scenario.load(SCENARIOS / f"{name}.json"))


class Page(HTMLParser):
    """What a browser would make of it: tags, scripts, tables, text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.tables, self.words, self.open = [], [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        elif tag == "table":
            self.rows = self.tables.setdefault(dict(attrs)["class"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif "style" not in self.open:
            self.words.append(data)
            if "td" in self.open or "th" in self.open:
                self.rows[-1][-1] += data

    @property
    def figures(self):
        return {one["key"]: one for one in json.loads(self.scripts[0][1])}


def page_of(result, tmp_path):
    result.report(tmp_path / "page.html")
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def curves(figure):
    """By name, those that are drawn and those that answer when they are pointed at."""
    drawn = {trace["name"]: trace for trace in figure["data"] if trace.get("showlegend", True)}
    pointed = {trace["name"]: trace for trace in figure["data"] if not trace.get("showlegend", True)}
    assert {name: trace["legendgroup"] for name, trace in drawn.items()} == {
        n: t["legendgroup"] for n, t in pointed.items()
    }
    return drawn, pointed


@pytest.fixture(scope="module")
def brownout(tmp_path_factory):
    result = run("brownout-one-of-four")
    text = page_of(result, tmp_path_factory.mktemp("report"))
    return result, text, Page(text)


def test_it_names_no_other_place(brownout):
    _, text, page = brownout
    library = max((script for _, script in page.scripts), key=len)
    ours = text.replace(library, "")
    assert len(ours) < 200_000 < len(library)
    assert not re.search(
        r"https?:|//[a-z]|@import|url\(|\b(?:src|href|srcset)\s*=", re.sub(r"^\s*// .*$", "", ours, flags=re.M)
    )
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "embed", "base", "a"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert len(re.findall(r"'sha256-[A-Za-z0-9+/]{43}='", policy)) == 2
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")


def test_it_says_what_the_tables_say(brownout):
    result, _, page = brownout
    said = " ".join(page.words)
    assert result.question in said
    assert "All 20 expectations held" in said
    assert result.digest in said and result.fingerprint in said
    events, table = page.tables["events"][1:], result.events
    assert len(events) == len(table) == 39
    assert [row[4] for row in events] == table["reason"].tolist()
    assert [float(row[0].replace(",", "")) for row in events] == pytest.approx(table["t_ms"] / 1000, abs=1e-8)
    assert [row[2] for row in page.tables["judged"][1:]] == result.expectations["expected"].tolist()
    assert {row[1] for row in page.tables["judged"][1:]} == {"held"}
    metrics = {row[0]: row[1] for row in page.tables["metrics"][1:]}
    assert metrics.keys() == result.summary.keys()
    assert metrics["requests"] == "120,394"
    assert len(page.tables["stretches"]) - 1 == sum(
        state in ("ejected", "half_open", "active") for state in result.intervals["state"]
    )


def test_figures_are_the_tables(brownout):
    result, _, page = brownout
    figures, table = page.figures, result.intervals
    bars = {trace["name"]: trace for trace in figures["lanes"]["data"]}
    assert list(bars) == ["healthy", "ejected", "half-open", "fault active"]
    for name, state in (
        ("healthy", "healthy"),
        ("ejected", "ejected"),
        ("half-open", "half_open"),
        ("fault active", "active"),
    ):
        rows = table["state"] == state
        assert np.allclose(bars[name]["base"], table["from_ms"][rows] / 1000)
        assert np.allclose(bars[name]["x"], (table["to_ms"] - table["from_ms"])[rows] / 1000)
        ticks = figures["lanes"]["layout"]["yaxis"]["ticktext"]
        assert [ticks[place].split()[0] for place in bars[name]["y"]] == table["endpoint"][rows].tolist()
    series, edges = result.series, [*(result.series["t_ms"] / 1000).tolist(), 120]
    outcomes = {"ok": series["ok"], "failed": series["failed"] - series["fast_failed"], "arrived": series["requests"]}
    drawn, pointed = curves(figures["requests"])
    assert drawn.keys() == pointed.keys() == outcomes.keys()
    for name, counts in outcomes.items():
        assert (drawn[name]["x"], drawn[name]["y"][:-1]) == (edges, counts.tolist()), "bins of one second"
        assert pointed[name]["customdata"] == pointed[name]["y"] == counts.tolist()
        assert pointed[name]["x"] == [edge + 0.5 for edge in edges[:-1]]
    for kind in curves(figures["latency"]):
        assert {name: line["y"][:120] for name, line in kind.items()} == {
            p: series[f"latency_{p}_ms"].tolist() for p in ("p50", "p95", "p99")
        }
    assert curves(figures["in_flight"])[1]["in flight"]["y"] == series["in_flight"].tolist()
    attempts = {name: line["customdata"] for name, line in curves(figures["attempts"])[1].items()}
    ends = result.endpoints
    for name in dict.fromkeys(ends["endpoint"]):
        mine = ends["endpoint"] == name
        assert attempts.pop(name) == [
            list(row) for row in zip(ends["attempts"][mine].tolist(), ends["failures"][mine].tolist(), strict=True)
        ]
    assert not attempts
    ranges = {
        json.dumps([figure["layout"]["xaxis"]["range"], figure["layout"]["margin"]]) for figure in figures.values()
    }
    assert len(ranges) == 1, "one time axis, one under the other"


@pytest.mark.parametrize(
    "name", ["brownout-one-of-four", "retry-storm", "reload-carries-ejection", "reference", "brownout-all"]
)
def test_plotly_knows_all_that_is_said_to_it(name, tmp_path):
    from plotly import graph_objects

    for figure in Page(page_of(run(name), tmp_path)).figures.values():
        graph_objects.Figure(data=figure["data"], layout=figure["layout"])  # raises for a key or value it does not know


def test_a_gap_is_a_gap_and_a_bin_before_it_is_seen(tmp_path):
    result = run("retry-storm")
    line = Page(page_of(result, tmp_path)).figures["latency"]["data"][0]
    assert line["name"] == "p50" and line["line"]["shape"] == "hv"
    seconds = 0.0
    points = list(zip(line["x"], line["y"], strict=True))
    for (x, y), (after, then) in itertools.pairwise(points):
        seconds += after - x if y is not None and then is not None else 0
    assert seconds == pytest.approx(np.sum(~np.isnan(result.series["latency_p50_ms"])) * 0.1)
    assert None in line["y"]


def evil():
    return halfopen.run(halfopen.Scenario.from_dict({
        "name": EVIL, "question": EVIL, "duration_ms": 2000,
        "upstreams": [
            {"name": EVIL, "endpoints": [{"address": "10.0.0.1", "port": 80}], "health": {"consecutive_failures": 1}},
            {"name": "b", "endpoints": [{"address": "10.0.0.2", "port": 80}]},
        ],
        "endpoints": {"10.0.0.1:80": {"faults": [{"error": {"ratio": 1}}]}},
        "traffic": [{"upstream": EVIL, "every_ms": 50}],
        "expect": [{"never": "endpoint_ejected", "upstream": EVIL, "between_ms": [0, 1000]}],
    }))  # fmt: skip


def test_names_are_text_wherever_they_are(tmp_path):
    text = page_of(evil(), tmp_path)
    page = Page(text)
    assert len(page.scripts) == 3
    assert not set("<>&") & set(page.scripts[0][1]), "nothing that could end the script"
    assert "alert(1)" not in page.scripts[1][1] + page.scripts[2][1]
    assert EVIL in " ".join(page.words)
    assert page.tables["events"][1][1] == EVIL
    assert "1 of 1 expectation FAILED" in " ".join(page.words)
    assert page.tables["judged"][1][1] == "FAILED"
    lanes = page.figures["lanes"]
    assert lanes["layout"]["yaxis"]["ticktext"][0].startswith("<b>&lt;/script&gt;&lt;script&gt;")
    assert all("<b>" not in note for trace in lanes["data"] for row in trace["customdata"] for note in row)
    assert [shape["x1"] for shape in lanes["layout"]["shapes"]] == [1]


def test_tables_have_headers_and_figures_words(brownout):
    _, text, page = brownout
    plots = [attrs for tag, attrs in page.tags if tag == "div" and attrs.get("class") == "drawing"]
    assert len(plots) == 5
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in plots)
    assert "10.0.0.1:8080 ejected 19 times" in plots[0]["aria-label"]
    tables = [tag for tag, _ in page.tags if tag == "table"]
    assert len(tables) == sum(tag == "caption" for tag, _ in page.tags) == 4
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.tags if tag == "th")
    assert text.startswith("<!doctype html>") and '<html lang="en">' in text
    assert "@media print" in text and "prefers-color-scheme: dark" in text


def test_the_same_bytes_again(brownout, tmp_path):
    _, text, _ = brownout
    assert page_of(run("brownout-one-of-four"), tmp_path) == text


def test_what_is_too_much_for_a_page_is_counted(tmp_path):
    result = halfopen.run(halfopen.Scenario.from_dict({
        "name": "many", "duration_ms": 60000, "upstreams": [{
            "name": "api", "endpoints": [{"address": "10.0.0.1", "port": 80}, {"address": "10.0.0.2", "port": 80}],
            "health": {"consecutive_failures": 1, "eject_ms": 10},
        }],
        "endpoints": {"10.0.0.1:80": {"latency": {"fixed": {"ms": 1}}, "faults": [{"error": {"ratio": 0.5}}]}},
        "traffic": [{"upstream": "api", "every_ms": 5}],
    }))  # fmt: skip
    assert len(result.events) > 3000
    text = page_of(result, tmp_path)
    page = Page(text)
    assert len(page.tables["events"]) == 2001
    assert f"{len(result.events) - 2000:,} events more are in the timeline, not on this page." in text
    assert sum(len(trace["x"]) for trace in page.figures["lanes"]["data"]) < 1700
    assert "changing, too fast to draw" in {trace["name"] for trace in page.figures["lanes"]["data"]}


def test_without_plotly_a_sentence_says_what_to_install():
    code = f"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == 'plotly': raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
import halfopen
halfopen.run(halfopen.Scenario.load({str(SCENARIOS / "breaker-before-ejection.json")!r})).report('/dev/null')
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    wanted = "ImportError: report() needs plotly, which is not installed: pip install 'halfopen[report]'"
    assert out.stderr.strip().splitlines()[-1] == wanted
