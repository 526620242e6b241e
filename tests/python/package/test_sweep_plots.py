"""halfopen.plots over tidy frames: curves, bands, cells and fronts equal what NumPy says of the rows."""

import itertools
import math

import numpy as np
import pytest

pandas = pytest.importorskip("pandas", reason="sweeps are frames: pip install 'halfopen[pandas]'")
pytest.importorskip("matplotlib", reason="pictures need pip install 'halfopen[plot]'")

from halfopen import plots  # noqa: E402
from halfopen.plots.front import on_front  # noqa: E402

FAILURES, EJECT, LATE = (
    "/upstreams/0/health/consecutive_failures",
    "/upstreams/0/health/eject_ms",
    "/upstreams/0/health/late_reports",
)
T_95_OF_4 = 2.7764451051977987  # Student's t, 4 degrees of freedom, 97.5 %: from tables


def frame(failures=(2, 3, 5), ejects=(5000, 30000), late=("count",), replicates=5):
    draw = np.random.default_rng(7)
    rows = [
        {
            "replicate": replicate, FAILURES: streak, EJECT: eject, LATE: word,
            "failed": 100 * streak + eject / 1000 + draw.normal(0, 9), "false_ejections": 90 / streak + draw.normal(0, 2),
            "success_ratio": 1 - streak / 1000, "time_to_detect_ms": math.nan if (streak, eject) == (5, 5000) else 20.0 * streak,
        }
        for streak, eject, word, replicate in itertools.product(failures, ejects, late, range(1, replicates + 1))
    ]  # fmt: skip
    return pandas.DataFrame(rows).sample(frac=1, random_state=3)  # in any order


def test_response_curves_are_means_with_the_band_of_student():
    data = frame()
    axes = plots.response(data, FAILURES, "failed", by=EJECT).axes[0]
    curves = {line.get_label(): line for line in axes.get_lines()}
    assert list(curves) == ["5,000", "30,000"]
    for line, band, eject in zip(curves.values(), axes.collections, (5000, 30000), strict=True):
        rows = data[data[EJECT] == eject].groupby(FAILURES)["failed"]
        assert line.get_xdata().tolist() == [2, 3, 5]
        assert np.allclose(line.get_ydata(), rows.mean())
        reach = T_95_OF_4 * rows.std() / math.sqrt(5)
        corners = {(round(x, 6), round(y, 6)) for x, y in band.get_paths()[0].vertices}
        for x, low, high in zip([2, 3, 5], rows.mean() - reach, rows.mean() + reach, strict=True):
            assert {(x, round(low, 6)), (x, round(high, 6))} <= corners
    assert axes.get_xlabel() == f"consecutive_failures  ({FAILURES})"
    assert axes.get_ylabel() == "failed (requests)"
    assert axes.get_title(loc="left") == "failed: means over replicates, 95 % intervals"
    assert len({(line.get_linestyle(), line.get_marker()) for line in axes.get_lines()}) == 2, (
        "told apart without colour"
    )


def test_a_pane_a_metric_gaps_and_words():
    data = frame(late=("count", "ignore"))
    data = data[data[FAILURES] == 5]
    figure = plots.response(data, LATE, ["time_to_detect_ms", "success_ratio"], by=[EJECT])
    above, below = figure.axes
    assert [tick.get_text() for tick in below.get_xticklabels()] == list(dict.fromkeys(data[LATE]))
    assert [line.get_ydata().tolist() for line in above.get_lines()] == [[], [100, 100]]
    assert below.get_ylabel() == "success_ratio"
    wide = plots.response(frame(ejects=(100, 60000)), EJECT, "failed", by=FAILURES).axes[0]
    assert wide.get_xscale() == "log"
    alone = plots.response(frame(replicates=1), FAILURES, "failed", by=EJECT).axes[0]
    assert alone.get_title(loc="left") == "failed: one replicate: no intervals"
    assert not alone.collections


def test_heat_map_cells_are_means_and_those_without_stay_empty():
    data = frame()
    figure = plots.heatmap(data, FAILURES, EJECT, "time_to_detect_ms")
    axes, bar = figure.axes
    cells = axes.collections[0].get_array()
    assert cells.shape == (2, 3)
    assert cells.tolist() == [[40, 60, None], [40, 60, 100]]
    assert sorted(text.get_text() for text in axes.texts) == ["100", "40", "40", "60", "60"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "3", "5"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["5,000", "30,000"]
    assert bar.get_ylabel() == "time_to_detect_ms"
    assert axes.patch.get_hatch()
    assert not plots.heatmap(frame(range(1, 14), range(1, 14)), FAILURES, EJECT, "failed").axes[0].texts


def test_the_front_is_what_no_other_beats():
    draw = np.random.default_rng(5)
    for _ in range(50):
        x, y = draw.integers(0, 6, (2, 12))
        beaten = [
            any((a <= p and b <= q) and (a < p or b < q) for a, b in zip(x, y, strict=True))
            for p, q in zip(x, y, strict=True)
        ]
        assert on_front(x, y).tolist() == [not one for one in beaten]


@pytest.mark.parametrize("best", [("low", "low"), ("high", "low"), ("low", "high"), ("high", "high")])
def test_pareto_draws_each_setting_once(best):
    data = frame()
    axes = plots.pareto(data, best=best).axes[0]
    means = data.groupby([FAILURES, EJECT])[["false_ejections", "failed"]].mean()
    drawn = [
        (x, y)
        for bars in axes.containers
        for x, y in zip(bars.lines[0].get_xdata(), bars.lines[0].get_ydata(), strict=True)
    ]
    assert np.allclose(sorted(drawn), sorted(map(tuple, means.to_numpy())))
    signs = np.array([1 if way == "low" else -1 for way in best])
    front = means.to_numpy()[on_front(*(means.to_numpy() * signs).T)]
    leaders = axes.containers[-1].lines[0]
    assert np.allclose(sorted(zip(leaders.get_xdata(), leaders.get_ydata(), strict=True)), sorted(map(tuple, front)))
    assert f"{len(front)} of 6 settings on the front" in axes.get_title(loc="left")
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named[-1].startswith(f"{len(front)}  consecutive_failures ")
    assert axes.get_xlabel() == f"false_ejections, {best[0]}er is better"


def test_pareto_leaves_out_what_was_not_measured_and_says_so():
    assert (
        plots.pareto(frame(), "time_to_detect_ms")
        .axes[0]
        .get_title(loc="left")
        .endswith("of 5 settings on the front; 1 more without a value")
    )


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda f: plots.response(f, "streak", "failed"), "the frame has no column 'streak'; it has replicate, "),
        (lambda f: plots.response(f, FAILURES, "failed"), f"{EJECT} varies as well, and a mean over all values would say nothing"),
        (lambda f: plots.response(f, FAILURES, []), "y is a metric's name, or several"),
        (lambda f: plots.response(f, FAILURES, LATE, by=EJECT), f"'{LATE}' holds no numbers: 'count'"),
        (lambda f: plots.response(f, FAILURES, "failed", by=[EJECT, "replicate", "success_ratio"]), "nobody could tell them apart"),
        (lambda f: plots.response(f[:0], FAILURES, "failed"), "the frame has no rows"),
        (lambda f: plots.response(f, FAILURES, "failed", by=EJECT, level=95), "level is between 0 and 1"),
        (lambda f: plots.heatmap(f, FAILURES, FAILURES, "failed"), f"{EJECT} varies as well"),
        (lambda f: plots.heatmap(f[f[EJECT] == 5000], FAILURES, FAILURES, "failed"), "a heat map is of two parameters"),
        (lambda f: plots.pareto(f, best=("low", "up")), '''best is ('low', 'up'): it must be two of "low" and "high"'''),
        (lambda f: plots.pareto(f.assign(failed=math.nan)), "no setting in which both false_ejections and failed were measured"),
        (lambda f: plots.pareto(f, ax=plots.pareto(f).axes[0], figsize=(2, 2)), "figsize is the size of a new figure"),
    ],
)  # fmt: skip
def test_what_can_not_be_drawn_says_why(call, sentence):
    with pytest.raises(ValueError) as caught:
        call(frame())
    assert sentence in str(caught.value)


def test_axes_are_the_callers():
    from matplotlib.figure import Figure

    mine = Figure()
    one, two, three, four = mine.subplots(2, 2).flat
    data = frame()
    assert plots.response(data, FAILURES, ["failed", "success_ratio"], by=EJECT, ax=[one, two]) is mine
    assert plots.heatmap(data, FAILURES, EJECT, "failed", ax=three) is mine
    assert plots.pareto(data, ax=four) is mine
    assert one.get_lines() and two.get_lines() and three.collections and four.containers


def test_a_sweep_draws_itself_in_each_of_the_three_ways():
    import halfopen
    from halfopen import build

    upstream = build.Upstream(name="api", endpoints=[{"address": "10.0.0.1", "port": 80}], health={})
    scenario = halfopen.Scenario.from_dict({
        "name": "plots", "duration_ms": 500, "upstreams": [upstream], "traffic": [{"upstream": "api", "arrivals": "uniform", "rate_rps": 200}],
        "endpoints": {"*": {"latency": {"fixed": {"ms": 1}}, "faults": [{"error": {"ratio": 0.5}}]}},
    })  # fmt: skip
    result = halfopen.Sweep(scenario, {FAILURES: [1, 3], EJECT: [100, 300]}, replicates=3).run()
    curve = result.plot(x=FAILURES, y="failed", by=EJECT)
    assert [line.get_label() for line in curve.axes[0].get_lines()] == ["100", "300"]
    assert result.plot("heatmap", x=FAILURES, y=EJECT, z="failed").axes
    assert result.plot("pareto", by=[FAILURES, EJECT]).axes
    with pytest.raises(ValueError, match="kind is 'pie': it must be response, heatmap or pareto"):
        result.plot("pie")
