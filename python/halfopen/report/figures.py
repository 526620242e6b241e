"""The figures of the page, as Plotly's JSON says them. Plotly's Python side is not asked: it takes a second to import."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfopen.plots import style, words
from halfopen.plots.lanes import Heading, Lane, Rest, Row, drawable, lanes_of, shown

if TYPE_CHECKING:
    from halfopen.result import Result

Trace = dict[str, Any]
_THICK = 0.74  # of a lane, of the row that it has
_MARGIN = {"l": 230, "r": 170, "t": 26, "b": 30, "autoexpand": False}  # one for all, or their axes would not be one
_MOST_LINES = 12  # endpoints with a line of their own


class Plot(NamedTuple):
    """One figure: `about` is what is read out in place of it."""

    key: str
    title: str
    about: str
    data: list[Trace]
    layout: dict[str, Any]


def text(name: str) -> str:
    """A name for Plotly, which reads tags and entities in all that it writes."""
    return escape(name, quote=False)


def number(value: float) -> str:
    """For people, with all the digits that mean something."""
    return f"{value:,.10g}"


def lanes(result: Result, rows: list[Row]) -> Plot:
    """A row for each endpoint, breaker and fault; a trace for each state."""
    bars: dict[str, list[tuple[float, float, float, float, tuple[str, ...]]]] = {}
    duration = result.duration_ms / 1000
    for place, row in enumerate(rows):
        if isinstance(row, Lane):
            where = f"{row.upstream}: {row.label}" if len(result.upstreams) > 1 and row.upstream else row.label
            for span in drawable(row, duration):
                seconds = span.to_s - span.from_s
                note = f"{number(span.from_s)} s to {number(span.to_s)} s, {number(seconds)} s"
                words_of = (text(where), style.STATES[span.state].label, note, f"<br>{text(span.note)}" * bool(span.note))
                bars.setdefault(span.state, []).append((place, span.from_s, seconds, _THICK, words_of))
        elif isinstance(row, Rest):
            _rest(bars, place, row, duration)
    data = [_bars(state, bars[state]) for state in style.STATES if state in bars]
    ticks = [f"<b>{text(row.label)}</b>" if isinstance(row, Heading) else text(shown(row.label, 34)) for row in rows]
    layout = _layout(result, max(160, 24 * len(rows) + 60))
    layout |= {"barmode": "overlay", "hovermode": "closest"}
    layout["yaxis"] = {
        "range": [len(rows) - 0.5, -0.5], "tickvals": list(range(len(rows))), "ticktext": ticks,
        "fixedrange": True, "showgrid": False, "zeroline": False,
    }
    return Plot("lanes", "States", _lanes_about(result), data, layout)


def _rest(bars: dict[str, list[Any]], place: int, rest: Rest, duration: float) -> None:
    name = rest.label.removeprefix("… ")
    if rest.kind != "fault":
        bars.setdefault("healthy", []).append((place, 0, duration, _THICK, (name, "together", "the whole run", "")))
    edges, shares = rest.shares()
    state = "active" if rest.kind == "fault" else "ejected"
    for start, end, share in zip(edges, edges[1:], shares, strict=False):
        thick = _THICK * share
        note = f"{number(start)} s to {number(end)} s"
        what = f"{round(share * len(rest.lanes)):,} of {len(rest.lanes):,} {'active' if state == 'active' else 'not healthy'}"
        if share:
            bars.setdefault(state, []).append((place + (_THICK - thick) / 2, start, end - start, thick, (name, what, note, "")))


def _bars(state: str, bars: list[tuple[float, float, float, float, tuple[str, ...]]]) -> Trace:
    look = style.STATES[state]
    place, start, length, thick, note = (list(column) for column in zip(*bars, strict=True))
    marker: dict[str, Any] = {"color": look.colour, "line": {"width": 1 if look.hatch else 0, "color": look.colour}}
    marker["pattern"] = _pattern(look)
    return {
        "type": "bar", "orientation": "h", "name": look.label, "y": place, "base": start, "x": length, "width": thick,
        "customdata": note, "marker": marker,
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}%{customdata[3]}<extra></extra>",
    }


def _pattern(look: style.Look) -> dict[str, Any]:
    pattern = {"shape": look.pattern, "fgcolor": style.hatch_colour(look), "size": 6, "solidity": 0.25}
    return {**pattern, "fillmode": "overlay"} if look.pattern else {"shape": ""}


def _lanes_about(result: Result) -> str:
    lanes_there = lanes_of(result)
    parts = []
    for kind, out, said in (("endpoint", "ejected", "ejected"), ("breaker", "open", "open")):
        for lane in (lane for lane in lanes_there if lane.kind == kind):
            spans = [span for span in lane.spans if span.state == out]
            if spans and len(parts) < 12:
                total = number(round(sum(span.to_s - span.from_s for span in spans), 3))
                times = "once" if len(spans) == 1 else f"{len(spans):,} times"
                parts.append(f"{lane.upstream} {lane.name} {said} {times}, {total} s together")
    return "Lanes of states over time. " + ("; ".join(parts) or "Nothing was ejected and no breaker opened") + "."


def series(result: Result) -> list[Plot]:
    """Those that have something to show."""
    edges = words.edges(result)
    if not len(edges):
        return []
    plots = [_requests(result, edges), _latency(result, edges), _extra(result, edges)]
    return [*(plot for plot in plots if plot is not None), _attempts(result, edges), _in_flight(result, edges)]


def _steps(name: str, values: npt.NDArray[Any], edges: words.Numbers, **more: Any) -> Trace:
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
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "connectgaps": False, **more,
        "line": {"shape": "hv", "width": 1.5, **more.get("line", {})},
    }


def _rate(name: str, counts: npt.NDArray[Any], edges: words.Numbers, **more: Any) -> Trace:
    trace = _steps(name, counts / np.diff(edges), edges, **more)
    listed = counts.tolist()
    trace["customdata"] = [*listed, listed[-1]]
    trace["hovertemplate"] = "%{y:,.5~g} / s (%{customdata:,} in the bin)"
    return trace


def _filled(look: style.Look) -> dict[str, Any]:
    pattern = {**_pattern(look), "bgcolor": look.colour} if look.pattern else {"shape": ""}
    pattern.pop("fillmode", None)
    return {"fillcolor": look.colour, "fillpattern": pattern, "line": {"color": look.colour, "width": 1 if look.hatch else 0}}


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
    return Plot("requests", "Requests by outcome", about, data, _layout(result, 230, "requests / s", "reversed"))


def _latency(result: Result, edges: words.Numbers) -> Plot | None:
    values = np.concatenate([result.series[name] for name in style.QUANTILES])
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    data = [
        _steps(style.quantile(name), result.series[name], edges, hovertemplate="%{y:,.5~g} ms",
               line={"color": line.colour, "dash": line.dash, "width": line.width})
        for name, line in style.QUANTILES.items()
    ]
    layout = _layout(result, 210, "ms", "reversed")
    if values.min() > 0 and values.max() > 20 * values.min():
        layout["yaxis"] |= {"type": "log", "title": {"text": "ms, log", "standoff": 12}, "rangemode": "normal"}
    about = f"Latency of the requests that ended well, by quantile: from {values.min():,.4g} to {values.max():,.4g} ms."
    return Plot("latency", "Latency", about, data, layout)


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
    return Plot("retries", "Retries and fail-open", about, data, _layout(result, 180, "per second")) if data else None


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
        line = {"dash": ("solid", "dash", "dot", "dashdot")[place % 4]}
        trace = _rate(text(shown(label, 20)), counts[n], edges, line=line)
        listed = failures[n].tolist()
        trace["customdata"] = list(zip(trace["customdata"], [*listed, listed[-1]], strict=True))
        trace["hovertemplate"] = "%{y:,.5~g} / s, %{customdata[1]:,} of %{customdata[0]:,} failed"
        data.append(trace)
    rest = order[_MOST_LINES:]
    if rest:
        mean = _steps(f"mean of {len(rest):,} more", counts[rest].mean(axis=0) / np.diff(edges), edges,
                      line={"color": style.MUTED, "width": 3}, hovertemplate="%{y:,.5~g} / s")
        data.append(mean)
    height = max(240, 19 * len(data) + 70)  # the legend whole
    about = f"Attempts a second on each of {len(names):,} endpoints."
    return Plot("attempts", "Attempts by endpoint", about, data, _layout(result, height, "attempts / s"))


def _in_flight(result: Result, edges: words.Numbers) -> Plot:
    values = result.series["in_flight"]
    data = [_steps("in flight", values, edges, line={"color": "#1b4f72"}, hovertemplate="%{y:,} at the bin's end")]
    about = f"Requests in flight at each bin's end: {int(values.max()):,} at most."
    return Plot("in_flight", "In flight", about, data, _layout(result, 150, "requests"))


def _layout(result: Result, height: int, unit: str = "", order: str = "normal") -> dict[str, Any]:
    shapes = []
    for window in words.failed_windows(result):
        look = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "x0": window.from_s, "x1": window.to_s}
        line = {"color": style.BAD, "width": 1, "dash": "dashdot"}
        if window.from_s == window.to_s:
            shapes.append({"type": "line", **look, "line": line})
        else:
            shapes.append({"type": "rect", **look, "line": line, "fillcolor": style.BAD, "opacity": 0.15})
    return {
        "height": height, "autosize": True, "margin": _MARGIN,
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "hovermode": "x unified", "dragmode": "zoom",
        "font": {"family": "system-ui, sans-serif", "size": 12}, "showlegend": True,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": style.MUTED, "activecolor": "#2e86c1"}, "shapes": shapes,
        "legend": {"x": 1.01, "y": 1, "xanchor": "left", "font": {"size": 11}, "traceorder": order},
        "hoverlabel": {"bgcolor": "#ffffff", "bordercolor": style.MUTED, "font": {"color": style.INK}, "align": "left"},
        "xaxis": {"range": [0, result.duration_ms / 1000], "ticksuffix": " s", "hoverformat": ",.10~g", "zeroline": False,
                  "ticks": "outside", "ticklen": 4},
        "yaxis": {"title": {"text": unit, "standoff": 12}, "rangemode": "tozero", "fixedrange": True, "zeroline": False,
                  "hoverformat": ",.5~g", "ticks": "outside", "ticklen": 4},
    }
