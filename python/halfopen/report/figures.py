"""The lanes of the page, as Plotly's JSON says them, and what all its figures share.

Plotly's Python side is not asked: it takes a second to import.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from halfopen.plots import style, words
from halfopen.plots.lanes import Heading, Lane, Rest, Row, drawable, lanes_of, shown

if TYPE_CHECKING:
    from halfopen.result import Result

Trace = dict[str, Any]
_THICK = 0.74  # of a lane, of the row that it has
_MARGIN = {"l": 230, "r": 170, "t": 26, "b": 30, "autoexpand": False}  # one for all, or their axes would not be one


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
                words_of = (
                    text(where),
                    style.STATES[span.state].label,
                    note,
                    f"<br>{text(span.note)}" * bool(span.note),
                )
                bars.setdefault(span.state, []).append((place, span.from_s, seconds, _THICK, words_of))
        elif isinstance(row, Rest):
            _rest(bars, place, row, duration)
    data = [_bars(state, bars[state]) for state in style.STATES if state in bars]
    ticks = [f"<b>{text(row.label)}</b>" if isinstance(row, Heading) else text(shown(row.label, 34)) for row in rows]
    layout = layout_of(result, max(160, 24 * len(rows) + 60))
    layout |= {"barmode": "overlay", "hovermode": "closest"}
    layout["yaxis"] = {
        "range": [len(rows) - 0.5, -0.5],
        "tickvals": list(range(len(rows))),
        "ticktext": ticks,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
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
            bars.setdefault(state, []).append(
                (place + (_THICK - thick) / 2, start, end - start, thick, (name, what, note, ""))
            )


def _bars(state: str, bars: list[tuple[float, float, float, float, tuple[str, ...]]]) -> Trace:
    look = style.STATES[state]
    place, start, length, thick, note = (list(column) for column in zip(*bars, strict=True))
    marker: dict[str, Any] = {"color": look.colour, "line": {"width": 1 if look.hatch else 0, "color": look.colour}}
    marker["pattern"] = pattern_of(look)
    return {
        "type": "bar",
        "orientation": "h",
        "name": look.label,
        "y": place,
        "base": start,
        "x": length,
        "width": thick,
        "customdata": note,
        "marker": marker,
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}%{customdata[3]}<extra></extra>",
    }


def pattern_of(look: style.Look) -> dict[str, Any]:
    pattern = {"shape": look.pattern, "fgcolor": style.hatch_colour(look), "size": 6, "solidity": 0.25}
    return {**pattern, "fillmode": "overlay"} if look.pattern else {"shape": ""}


def _lanes_about(result: Result) -> str:
    lanes_there = lanes_of(result)
    parts: list[str] = []
    for kind, out, said in (("endpoint", "ejected", "ejected"), ("breaker", "open", "open")):
        for lane in (lane for lane in lanes_there if lane.kind == kind):
            spans = [span for span in lane.spans if span.state == out]
            if spans and len(parts) < 12:
                total = number(round(sum(span.to_s - span.from_s for span in spans), 3))
                times = "once" if len(spans) == 1 else f"{len(spans):,} times"
                parts.append(f"{lane.upstream} {lane.name} {said} {times}, {total} s together")
    return "Lanes of states over time. " + ("; ".join(parts) or "Nothing was ejected and no breaker opened") + "."


def layout_of(result: Result, height: int, unit: str = "", order: str = "normal") -> dict[str, Any]:
    shapes = []
    for window in words.failed_windows(result):
        look = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "x0": window.from_s, "x1": window.to_s}
        line = {"color": style.BAD, "width": 1, "dash": "dashdot"}
        if window.from_s == window.to_s:
            shapes.append({"type": "line", **look, "line": line})
        else:
            shapes.append({"type": "rect", **look, "line": line, "fillcolor": style.BAD, "opacity": 0.15})
    return {
        "height": height,
        "autosize": True,
        "margin": _MARGIN,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x unified",
        "dragmode": "zoom",
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "showlegend": True,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": style.MUTED, "activecolor": "#2e86c1"},
        "shapes": shapes,
        "legend": {"x": 1.01, "y": 1, "xanchor": "left", "font": {"size": 11}, "traceorder": order, "tracegroupgap": 0},
        "hoverlabel": {"bgcolor": "#ffffff", "bordercolor": style.MUTED, "font": {"color": style.INK}, "align": "left"},
        "xaxis": {
            "range": [0, result.duration_ms / 1000],
            "ticksuffix": " s",
            "hoverformat": ",.10~g",
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 4,
        },
        "yaxis": {
            "title": {"text": unit, "standoff": 12},
            "rangemode": "tozero",
            "fixedrange": True,
            "zeroline": False,
            "hoverformat": ",.5~g",
            "ticks": "outside",
            "ticklen": 4,
        },
    }
