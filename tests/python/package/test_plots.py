"""Result.plot: what is drawn equals the tables, artist by artist; what can't be drawn says so in a sentence."""

import itertools
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import halfopen
import numpy as np
import pytest
from halfopen.plots import style
from halfopen.plots.lanes import Heading, Lane, Rest, Span, drawable, rows_of

matplotlib = pytest.importorskip("matplotlib", reason="pictures need pip install 'halfopen[plot]'")

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
SHIPPED = [
    "brownout-one-of-four", "breaker-before-ejection", "bursts-streak-or-ratio", "retry-storm", "reload-carries-ejection",
    "retry-hides-no-failure", "brownout-all", "reference",
]  # fmt: skip


def run(name):
    return halfopen.run(halfopen.Scenario.load(SCENARIOS / f"{name}.json"))


def fleet(endpoints, bad, **more):
    """So many endpoints, of which every `bad`-th answers 500 from 1 s to 3 s."""
    names = [f"10.0.{n // 16}.{n % 16 + 1}" for n in range(endpoints)]
    faults = {
        f"{name}:8080": {"faults": [{"from_ms": 1000, "to_ms": 3000, "error": {"ratio": 1}}]} for name in names[::bad]
    }
    return halfopen.run(halfopen.Scenario.from_dict({
        "name": "fleet", "question": "Who is out?", "duration_ms": 5500, "sample_ms": 1000,
        "upstreams": [{
            "name": "api", "endpoints": [{"address": name, "port": 8080} for name in names],
            "health": {"consecutive_failures": 2, "eject_ms": 1000},
        }],
        "endpoints": {"*": {"latency": {"fixed": {"ms": 5}}}, **faults},
        "traffic": [{"upstream": "api", "every_ms": 2}], **more,
    }))  # fmt: skip


def drawn(axes, gid):
    found = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    assert len(found) == 1, gid
    return found[0]


def bars(axes):
    """{(row, state): [(from, to), …]} as drawn."""
    out = {}
    for artist in axes.collections:
        if (artist.get_gid() or "").startswith("lane "):
            _, row, state = artist.get_gid().split()
            boxes = [path.get_extents() for path in artist.get_paths()]
            assert all(round((box.y0 + box.y1) / 2, 9) == int(row) for box in boxes)
            out[int(row), state] = [(box.x0, box.x1) for box in boxes]
    return out


def labels(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


def close(one, other):
    return len(one) == len(other) and np.allclose(np.array(one), np.array(other), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SHIPPED)
def test_lanes_are_the_intervals(name):
    result = run(name)
    axes = result.plot().axes[0]
    seen, upstream = {}, result.upstreams[0]
    for row, label in enumerate(labels(axes)):
        if label in result.upstreams:
            upstream = label
        elif label == "injected faults":
            break
        for (place, state), spans in bars(axes).items():
            if place == row:
                seen[upstream, label, state] = spans
    table = result.intervals
    wanted = {}
    for row in range(len(table)):
        if table["kind"][row] != "fault":
            key = table["upstream"][row], table["endpoint"][row] or "breaker", table["state"][row]
            wanted.setdefault(key, []).append((table["from_ms"][row] / 1000, table["to_ms"][row] / 1000))
    assert seen.keys() == wanted.keys()
    assert all(close(seen[key], wanted[key]) for key in wanted)


def test_faults_active_at_the_same_times_share_a_row():
    result = run("breaker-before-ejection")
    axes = result.plot().axes[0]
    assert labels(axes)[-2:] == ["injected faults", "10.0.0.1:8080 (+2) error"]
    assert close(bars(axes)[len(labels(axes)) - 1, "active"], [(0, 0.55)])


@pytest.mark.parametrize("name", SHIPPED)
def test_series_are_drawn_as_they_are(name):
    result = run(name)
    _, requests, latency, retries = result.plot().axes
    series = result.series
    seconds = np.diff(np.append(series["t_ms"], result.duration_ms)) / 1000
    ended = {
        "fast-failed": series["fast_failed"],
        "failed": series["failed"] - series["fast_failed"],
        "ok": series["ok"],
    }
    bottom = np.zeros(len(seconds))
    for gid, counts in ended.items():
        if counts.any():
            top, edges, baseline = drawn(requests, gid).get_data()
            assert np.allclose(baseline, bottom)
            assert np.allclose((top - baseline) * seconds, counts)
            assert np.allclose(edges[:-1] * 1000, series["t_ms"])
            bottom = top
    assert np.allclose(drawn(requests, "arrived").get_data().values * seconds, series["requests"])
    for gid in ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms"):
        assert np.array_equal(drawn(latency, gid).get_data().values, series[gid], equal_nan=True)
    for gid in ("retried", "fail_open_picks"):
        if series[gid].any():
            values, edges, _ = drawn(retries, gid).get_data()
            assert np.allclose(values * seconds, series[gid])
            assert np.allclose(edges[:-1] * 1000, series["t_ms"])
    if not series["retried"].any() and not series["fail_open_picks"].any():
        assert [text.get_text() for text in retries.texts] == ["no retries, no fail-open picks"]


def test_the_rate_of_a_shorter_last_bin_is_a_rate():
    result = fleet(4, 2)
    top = drawn(result.plot().axes[1], "arrived").get_data().values
    assert result.series["requests"].tolist()[-2:] == [500, 250]
    assert top[-2:] == pytest.approx([500, 500])


def test_titles_axes_and_units():
    result = run("brownout-one-of-four")
    figure = result.plot()
    assert figure.get_suptitle() == "brownout-one-of-four — All 20 expectations held"
    title = figure.axes[0].get_title(loc="left")
    assert result.question in title
    assert "120 s · 120,394 requests · 99.81 % ok · 226 failed · 19 ejections · seed 1" in title
    assert figure.axes[-1].get_xlabel() == "virtual time (s)"
    assert [axes.get_ylabel() for axes in figure.axes[1:3]] == ["requests / s", "latency (ms)"]
    assert {axes.get_xlim() for axes in figure.axes} == {(0.0, 120.0)}


def test_a_failed_expectation_is_named_and_framed():
    result = fleet(
        4,
        2,
        expect=[{"never": "endpoint_ejected", "between_ms": [500, 2000]}, {"event": "breaker_opened", "at_ms": 700}],
    )
    figure = result.plot()
    assert figure.get_suptitle() == "fleet — 2 of 2 expectations FAILED"
    for axes in figure.axes:
        frame = [artist for artist in axes.get_children() if artist.get_gid() == "expectation 0"]
        edges = [list(artist.get_xdata()) for artist in frame if hasattr(artist, "get_xdata")]
        back = axes.transData.inverted().transform
        areas = [back(artist.get_window_extent().get_points()) for artist in frame if not hasattr(artist, "get_xdata")]
        assert [area[:, 0].tolist() for area in areas] == [pytest.approx([0.5, 2])]
        assert edges == [[0.5, 0.5], [2, 2]]
        assert drawn(axes, "expectation 1").get_xdata() == [0.7, 0.7]


@pytest.mark.parametrize("endpoints, bad", [(1, 1), (16, 3), (17, 4), (64, 4), (64, 1), (64, 100)])
def test_every_endpoint_is_in_the_picture_and_nothing_is_cut_off(endpoints, bad):
    result = fleet(endpoints, bad)
    rows = rows_of(result, 64)
    alone = [row for row in rows if isinstance(row, Lane) and row.kind == "endpoint"]
    rest = [lane for row in rows if isinstance(row, Rest) and row.kind == "endpoint" for lane in row.lanes]
    assert len(alone) + len(rest) == endpoints
    assert not any(lane.eventful for lane in rest)
    figure = result.plot()
    assert labels(figure.axes[0]) == [row.label for row in rows]
    figure.canvas.draw()
    width, height = figure.bbox.size
    inside = figure.get_tightbbox().extents * figure.dpi
    assert inside[0] >= -1 and inside[1] >= -1 and inside[2] <= width + 1 and inside[3] <= height + 1
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - 3 for upper, lower in itertools.pairwise(boxes)), "labels one over the other"
    for axes in figure.axes:
        if axes.get_legend():
            assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1, "a legend over the data"
    assert height / figure.dpi < 16


def test_those_without_a_lane_share_one_that_says_how_many_are_out():
    result = fleet(64, 2)
    rows = rows_of(result, 10)
    place = next(place for place, row in enumerate(rows) if isinstance(row, Rest))
    rest = rows[place]
    assert rest.label == "… 54 more, 22 were out"
    top, edges, bottom = drawn(result.plot(max_lanes=10).axes[0], f"rest {place}").get_data()
    shares = (bottom - top) / 0.74
    table = result.intervals
    hidden = {lane.name for lane in rest.lanes}
    for edge, after, share in zip(edges, edges[1:], shares, strict=False):
        middle = (edge + after) / 2 * 1000
        there = (table["kind"] == "endpoint") & (table["from_ms"] <= middle) & (middle < table["to_ms"])
        out = [
            name in hidden and state != "healthy" for name, state in zip(table["endpoint"], table["state"], strict=True)
        ]
        assert share == pytest.approx(np.sum(there & np.array(out)) / 54)


def test_stretches_faster_than_a_pixel_become_one_that_says_so():
    spans = tuple(Span(n / 1000, (n + 1) / 1000, ("healthy", "ejected")[n % 2]) for n in range(20_000))
    out = drawable(Lane("endpoint", "api", "a:1", (*spans, Span(20, 40, "healthy"))), 40)
    assert len(out) <= 1501
    assert (out[0].from_s, out[-1]) == (0, Span(20, 40, "healthy"))
    assert all(one.to_s == other.from_s for one, other in itertools.pairwise(out))
    assert {span.state for span in out[:-1]} == {"changing"}
    assert sum(int(span.note.split()[0]) for span in out[:-1]) == 20_000


def lightness(colour):
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_without_colour_all_is_told_apart():
    for looks in (style.STATES, style.OUTCOMES):
        for (one, a), (other, b) in itertools.combinations(looks.items(), 2):
            if a[1:] == b[1:]:
                assert {one, other} in ({"healthy", "closed"}, {"ejected", "open"})
                continue
            hatched = a.hatch or b.hatch
            assert a.hatch != b.hatch if hatched else abs(lightness(a.colour) - lightness(b.colour)) > 0.05, (
                one,
                other,
            )
    assert style.EXTRA["retried"].hatch, "beside a line"
    assert len({line.dashes for line in style.QUANTILES.values()}) == 3
    axes = run("breaker-before-ejection").plot().axes[0]
    hatches = [artist.get_hatch() for artist in axes.collections if artist.get_gid() == "hatch"]
    assert sorted(hatches) == sorted(style.STATES[state].hatch for state in ("open", "half_open", "active"))


def test_panes_axes_and_sizes_are_the_callers():
    from matplotlib.figure import Figure

    result = fleet(4, 2)
    figure = result.plot(["latency", "lanes"], between_ms=(1000, 2500), figsize=(5, 4))
    assert [axes.get_ylabel() for axes in figure.axes] == ["latency (ms)", ""]
    assert figure.get_size_inches().tolist() == [5, 4]
    assert {axes.get_xlim() for axes in figure.axes} == {(1.0, 2.5)}
    mine = Figure()
    above, below = mine.subplots(2)
    assert result.plot(ax=above) is mine
    assert labels(above)[:2] == ["10.0.0.1:8080", "10.0.0.2:8080"]
    result.plot("requests", ax=below)
    assert drawn(below, "ok")
    assert len(mine.axes) == 2
    result.plot(["lanes", "requests"], ax=Figure().subplots(2))


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"panes": ["lane"]}, "panes are 'lanes', 'requests', 'latency', 'retries', one or more of them, not ['lane']"),
        ({"panes": []}, "one or more of them, not []"),
        ({"between_ms": (3000, 2000)}, "between_ms is (3000, 2000): it must be two times with 0 <= from < to <= 5500"),
        ({"between_ms": (0, 9000)}, "to <= 5500"),
        ({"max_lanes": 0}, "max_lanes is 0: it must be 1 or more"),
    ],
)
def test_what_can_not_be_drawn_says_what_can(options, sentence):
    with pytest.raises(ValueError) as caught:
        fleet(2, 2).plot(**options)
    assert sentence in str(caught.value)


def test_axes_must_fit_the_panes():
    from matplotlib.figure import Figure

    result = fleet(2, 2)
    with pytest.raises(ValueError, match=r"2 panes .lanes, latency. need as many axes: 3 given as ax"):
        result.plot(["lanes", "latency"], ax=Figure().subplots(3))
    with pytest.raises(ValueError, match="figsize is the size of a new figure"):
        result.plot(ax=Figure().subplots(), figsize=(3, 3))


def test_names_are_text_and_not_mathematics():
    name = r"$\frac$ <b> \n" + "\n" + "x" * 300
    figure = fleet(2, 2, name=name, question=r"Is $\sum^ it?").plot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(BytesIO(), format="png")
    assert "$" in figure.get_suptitle() and "\n" not in figure.get_suptitle() and "…" in figure.get_suptitle()
    assert r"\sum^ it?" in figure.axes[0].get_title(loc="left")


def test_a_timeline_of_json_lines_has_no_series_and_says_so(tmp_path, cli):
    path = tmp_path / "t.jsonl"
    scenario = SCENARIOS / "breaker-before-ejection.json"
    subprocess.run([cli, "run", scenario, "--format", "jsonl", "-o", path], check=True)
    figure = halfopen.Result.load(path).plot()
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len(said) == 4
    assert all("JSON lines leave the" in sentence for sentence in said)
    assert "All 7 expectations held" in figure.get_suptitle()


def test_a_notebook_shows_it_and_threads_draw_the_same_bytes():
    result = run("breaker-before-ejection")
    with ThreadPoolExecutor(4) as pool:
        pictures = set(pool.map(lambda _: result.plot()._repr_png_(), range(8)))
    assert len(pictures) == 1
    assert pictures.pop().startswith(b"\x89PNG\r\n")


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


_RUN = f"""
import sys, halfopen
result = halfopen.run(halfopen.Scenario.load({str(SCENARIOS / "breaker-before-ejection.json")!r}))
"""


def test_no_display_and_no_pyplot():
    out = python(
        _RUN + "result.plot().savefig('/dev/null', format='png'); print('matplotlib.pyplot' in sys.modules)",
        MPLBACKEND="TkAgg",
    )
    assert (out.stdout, out.returncode) == ("False\n", 0), out.stderr


BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] == {library!r}: raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
"""


def test_without_matplotlib_a_sentence_says_what_to_install():
    out = python(BLOCK.format(library="matplotlib") + _RUN + "result.plot()")
    wanted = "ImportError: plot() needs matplotlib, which is not installed: pip install 'halfopen[plot]'"
    assert out.stderr.strip().splitlines()[-1] == wanted


def test_headings_stand_for_several_upstreams_only():
    rows = rows_of(run("bursts-streak-or-ratio"), 64)
    assert [row.label for row in rows if isinstance(row, Heading)] == ["streak", "minute", "second", "injected faults"]
    assert not any(isinstance(row, Heading) for row in rows_of(fleet(2, 5), 64)[:2])
