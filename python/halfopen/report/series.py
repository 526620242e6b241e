"""The figures of the page that have a curve a column: requests, latency, retries, attempts, requests in flight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfopen.plots import style, words
from halfopen.plots.lanes import lanes_of, shown
from halfopen.report.figures import Plot, Trace, layout_of, number, pattern_of, text

if TYPE_CHECKING:
    from halfopen.result import Result

Values = npt.NDArray[Any]
_MOST_LINES = 12  # endpoints with a line of their own
# Curves of endpoints take theirs by turns, the line that answers the same as the one that is drawn.
_COLOURS = ("#1b6ca8", "#c8661b", "#2c8a4b", "#a3231f", "#7d3c98", "#8a6d00")


def series(result: Result) -> list[Plot]:
    """Those that have something to show."""
    edges = words.edges(result)
    if not len(edges):
        return []
    plots = [_requests(result, edges), _latency(result, edges), _extra(result, edges)]
    return [*(plot for plot in plots if plot is not None), _attempts(result, edges), _in_flight(result, edges)]


class _Curve(NamedTuple):
    """What is drawn, and what answers when it is pointed at: the value of the bin under the pointer, from its middle."""

    drawn: Trace
    pointed: Trace


def _steps(
    name: str, values: Values, edges: words.Numbers, said: str, notes: list[Any] | None = None, **more: Any
) -> _Curve:
    """A curve of steps, one a bin; before a gap and at the end the last value is said again for where its bin ends."""
    starts, listed = edges.tolist(), [None if value != value else value for value in values.tolist()]
    x, y = [], []
    for place, value in enumerate([*listed, None]):
        if value is None and place > 0 and listed[place - 1] is not None:
            x.append(starts[place])
            y.append(listed[place - 1])
        if place < len(listed):
            x.append(starts[place])
            y.append(value)
    look = {"type": "scatter", "mode": "lines", "name": name, "connectgaps": False}
    line = {"width": 1.5, **more.pop("line", {})}
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    drawn = {**look, "x": x, "y": y, "hoverinfo": "skip", **more, "line": {"shape": "hv", **line}}
    pointed = {
        **look,
        "x": middles,
        "y": listed,
        "showlegend": False,
        "hovertemplate": said,
        "line": {**line, "width": max(2, line["width"])},
    }
    return _Curve(drawn, {**pointed, "customdata": notes} if notes is not None else pointed)


def _rate(name: str, counts: Values, edges: words.Numbers, **more: Any) -> _Curve:
    said = "%{y:,.5~g} / s (%{customdata:,} in the bin)"
    return _steps(name, counts / np.diff(edges), edges, said, counts.tolist(), **more)


def _both(curves: Iterable[_Curve]) -> list[Trace]:
    """As Plotly takes them: a click on the legend hides the two together; the style sheet hides all named "at"."""
    out = []
    for place, curve in enumerate(curves):
        out += [
            {**curve.drawn, "legendgroup": str(place)},
            {**curve.pointed, "legendgroup": str(place), "uid": f"at{place}"},
        ]
    return out


def _filled(look: style.Look) -> dict[str, Any]:
    pattern = {**pattern_of(look), "bgcolor": look.colour} if look.pattern else {"shape": ""}
    pattern.pop("fillmode", None)
    return {
        "fillcolor": look.colour,
        "fillpattern": pattern,
        "line": {"color": look.colour, "width": 1 if look.hatch else 0},
    }


def _requests(result: Result, edges: words.Numbers) -> Plot:
    data = [
        _rate(style.OUTCOMES[name].label, counts, edges, stackgroup="ended", **_filled(style.OUTCOMES[name]))
        for name, counts in words.outcomes(result).items()
        if counts.any()
    ]
    arrived = {"color": style.MUTED, "width": 1}
    data.append(_rate(style.ARRIVED, result.series["requests"], edges, line=arrived))
    failed, worst = result.series["failed"], int(np.argmax(result.series["failed"]))
    about = f"Requests a second by outcome, stacked. {words.headline(result)}."
    if failed.any():
        about += f" Most failed in the bin at {number(edges[worst])} s: {int(failed[worst]):,}."
    return Plot(
        "requests", "Requests by outcome", about, _both(data), layout_of(result, 230, "requests / s", "reversed")
    )


def _latency(result: Result, edges: words.Numbers) -> Plot | None:
    values = np.concatenate([result.series[name] for name in style.QUANTILES])
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    data = [
        _steps(
            style.quantile(name),
            result.series[name],
            edges,
            "%{y:,.5~g} ms",
            line={"color": line.colour, "dash": line.dash, "width": line.width},
        )
        for name, line in style.QUANTILES.items()
    ]
    layout = layout_of(result, 210, "ms", "reversed")
    if values.min() > 0 and values.max() > 20 * values.min():
        layout["yaxis"] |= {"type": "log", "title": {"text": "ms, log", "standoff": 12}, "rangemode": "normal"}
    about = f"Latency of the requests that ended well, by quantile: from {values.min():,.4g} to {values.max():,.4g} ms."
    return Plot("latency", "Latency", about, _both(data), layout)


def _extra(result: Result, edges: words.Numbers) -> Plot | None:
    data = []
    if result.series["retried"].any():
        look = style.EXTRA["retried"]
        data.append(_rate(look.label, result.series["retried"], edges, fill="tozeroy", **_filled(look)))
    if result.series["fail_open_picks"].any():
        look = style.EXTRA["fail_open_picks"]
        line = {"color": look.colour, "width": 2}
        data.append(_rate(look.label, result.series["fail_open_picks"], edges, line=line))
    about = "Retries and picks of fail-open, a second."
    return (
        Plot("retries", "Retries and fail-open", about, _both(data), layout_of(result, 180, "per second"))
        if data
        else None
    )


def _attempts(result: Result, edges: words.Numbers) -> Plot:
    table, bins = result.endpoints, len(edges) - 1
    lanes_there = [lane for lane in lanes_of(result) if lane.kind == "endpoint"]
    counts = table["attempts"].reshape(-1, bins)
    failures = table["failures"].reshape(-1, bins)
    names = list(zip(table["upstream"][::bins].tolist(), table["endpoint"][::bins].tolist(), strict=True))
    eventful = {(lane.upstream, lane.name) for lane in lanes_there if lane.eventful}
    order = sorted(range(len(names)), key=lambda n: (names[n][0], shown(names[n][1])) not in eventful)
    alone = sorted(order[:_MOST_LINES])
    data = []
    for place, n in enumerate(alone):
        label = names[n][1] if len(result.upstreams) == 1 else f"{names[n][0]} {names[n][1]}"
        line = {"dash": ("solid", "dash", "dot", "dashdot")[place % 4], "color": _COLOURS[place % len(_COLOURS)]}
        said = "%{y:,.5~g} / s, %{customdata[1]:,} of %{customdata[0]:,} failed"
        notes = list(zip(counts[n].tolist(), failures[n].tolist(), strict=True))
        data.append(_steps(text(shown(label, 22)), counts[n] / np.diff(edges), edges, said, notes, line=line))
    rest = order[_MOST_LINES:]
    if rest:
        mean = counts[rest].mean(axis=0) / np.diff(edges)
        data.append(
            _steps(
                f"mean of {len(rest):,} more", mean, edges, "%{y:,.5~g} / s", line={"color": style.MUTED, "width": 3}
            )
        )
    height = max(240, 19 * len(data) + 70)  # the legend whole
    about = f"Attempts a second on each of {len(names):,} endpoints."
    return Plot("attempts", "Attempts by endpoint", about, _both(data), layout_of(result, height, "attempts / s"))


def _in_flight(result: Result, edges: words.Numbers) -> Plot:
    values = result.series["in_flight"]
    data = [_steps("in flight", values, edges, "%{y:,} at the bin's end", line={"color": "#1b4f72"})]
    about = f"Requests in flight at each bin's end: {int(values.max()):,} at most."
    return Plot("in_flight", "In flight", about, _both(data), layout_of(result, 150, "requests"))
