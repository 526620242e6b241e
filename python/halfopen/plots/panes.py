"""The panes of the figure of a run: each draws one of its tables into the axes that it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from halfopen.plots import style, words
from halfopen.plots.canvas import plain
from halfopen.plots.lanes import Heading, Lane, Rest, Row, drawable
from halfopen.plots.words import Numbers

if TYPE_CHECKING:
    from halfopen.result import Result

_NO_SERIES = "not in this timeline: JSON lines leave the series out"
_HEIGHT = 0.74  # of a lane, of the row that it has


def lanes(ax: Axes, result: Result, rows: list[Row], font: float) -> None:
    """A row for each endpoint, breaker and fault; states as bars with hatches."""
    states: set[str] = set()
    for place, row in enumerate(rows):
        if isinstance(row, Lane):
            states |= _lane(ax, place, row, result.duration_ms / 1000)
        elif isinstance(row, Rest):
            states |= _rest(ax, place, row, result.duration_ms / 1000)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), [plain(row.label) for row in rows], fontsize=font)
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        if isinstance(row, Heading):
            tick.set_fontweight("bold")
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    if not rows:
        _say(ax, "not in this timeline: JSON lines leave the lanes out")
        return
    handles: list[Patch | Line2D] = [
        _patch(look, style.state_label(states, look))
        for look in {look[1:]: look for name, look in style.STATES.items() if name in states}.values()
    ]
    if words.failed_windows(result):
        handles.append(Line2D([], [], color=style.BAD, linestyle="dashdot", label="a failed expectation\nlooked here"))
    _legend(ax, handles)


def _lane(ax: Axes, place: int, lane: Lane, duration_s: float) -> set[str]:
    by_state: dict[str, list[tuple[float, float]]] = {}
    for span in drawable(lane, duration_s):
        by_state.setdefault(span.state, []).append((span.from_s, span.to_s - span.from_s))
    for state, look in style.STATES.items():
        bars = by_state.get(state)
        if not bars:
            continue
        where = (place - _HEIGHT / 2, _HEIGHT)
        if not look.hatch:
            ax.broken_barh(bars, where, facecolor=look.colour, linewidth=0, zorder=2, gid=f"lane {place} {state}")
            continue
        # With an edge, so that a stretch shorter than a pixel is still seen.
        edge: dict[str, Any] = {"edgecolor": look.colour, "linewidth": 0.9}
        ax.broken_barh(bars, where, facecolor=look.colour, zorder=3, gid=f"lane {place} {state}", **edge)
        ax.broken_barh(bars, where, zorder=4, gid="hatch", **_hatch(look))
    return set(by_state)


def _hatch(look: style.Look) -> dict[str, Any]:
    """Drawn over an area, which has an edge of another colour: its hatch alone."""
    return {"facecolor": "none", "edgecolor": style.hatch_colour(look), "hatch": look.hatch, "linewidth": 0}


def _area(ax: Axes, top: Numbers, edges: Numbers, bottom: float | Numbers, look: style.Look, name: str) -> None:
    area: dict[str, Any] = {"baseline": bottom, "fill": True}
    edge: dict[str, Any] = {"edgecolor": look.colour, "linewidth": 0.8} if look.hatch else {"linewidth": 0}
    ax.stairs(top, edges, facecolor=look.colour, gid=name, **area, **edge)
    if look.hatch:
        ax.stairs(top, edges, gid="hatch", **area, **_hatch(look))


def _rest(ax: Axes, place: int, rest: Rest, duration_s: float) -> set[str]:
    bottom = place + _HEIGHT / 2
    out = set()
    if rest.kind != "fault":
        ax.broken_barh([(0, duration_s)], (place - _HEIGHT / 2, _HEIGHT), facecolor=style.STATES["healthy"].colour)
        out.add("healthy")
    edges, shares = rest.shares()
    if shares:
        state = "active" if rest.kind == "fault" else "ejected"
        heights = bottom - _HEIGHT * np.array(shares)
        look = style.STATES[state]
        _area(ax, heights, np.array(edges), bottom, look, f"rest {place}")
        out.add(state)
    return out


def requests(ax: Axes, result: Result) -> None:
    """Requests a second by how they ended, stacked, and those that arrived as a line."""
    ax.set_ylabel("requests / s")
    edges = words.edges(result)
    if not len(edges):
        return _say(ax, _NO_SERIES)
    seconds = np.diff(edges)
    bottom = np.zeros(len(seconds))
    handles: list[Patch | Line2D] = []
    for name, counts in words.outcomes(result).items():
        if not counts.any():
            continue
        look = style.OUTCOMES[name]
        top = bottom + counts / seconds
        _area(ax, top, edges, bottom, look, name)
        handles.append(_patch(look, look.label))
        bottom = top
    ax.stairs(result.series["requests"] / seconds, edges, baseline=None, color=style.INK, linewidth=1, gid="arrived")
    handles.append(Line2D([], [], color=style.INK, linewidth=1, label=style.ARRIVED))
    ax.set_ylim(bottom=0)
    _legend(ax, handles[::-1])


def latency(ax: Axes, result: Result) -> None:
    """Quantiles of the time that requests took which ended well; a gap where there was none."""
    ax.set_ylabel("latency (ms)")
    edges = words.edges(result)
    if not len(edges):
        return _say(ax, _NO_SERIES)
    seen = [result.series[name] for name in style.QUANTILES]
    values = np.concatenate(seen)
    values = values[~np.isnan(values)]
    if not len(values):
        return _say(ax, "no request ended well")
    handles = []
    for name in style.QUANTILES:  # the wide line first, so that all are seen where they are one
        line = style.QUANTILES[name]
        look: dict[str, Any] = {"color": line.colour, "linestyle": line.dashes, "linewidth": line.width}
        ax.stairs(result.series[name], edges, baseline=None, gid=name, **look)
        handles.append(Line2D([], [], label=style.quantile(name), **look))
    if values.min() > 0 and values.max() > 20 * values.min():
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        ax.set_ylabel("latency (ms), log")
    else:
        ax.set_ylim(0, 1.1 * values.max() or 1)
    _legend(ax, handles[::-1])
    return None


def retries(ax: Axes, result: Result) -> None:
    """Retries and picks of fail-open, a second."""
    edges = words.edges(result)
    if not len(edges):
        return _say(ax, _NO_SERIES)
    there = [name for name in style.EXTRA if result.series[name].any()]
    if not there:
        return _say(ax, "no retries, no fail-open picks")
    ax.set_ylabel("per second")
    seconds = np.diff(edges)
    handles: list[Patch | Line2D] = []
    if "retried" in there:
        look = style.EXTRA["retried"]
        _area(ax, result.series["retried"] / seconds, edges, 0.0, look, "retried")
        handles.append(_patch(look, look.label))
    if "fail_open_picks" in there:
        look = style.EXTRA["fail_open_picks"]
        line: dict[str, Any] = {"color": look.colour, "linewidth": 1.8}
        ax.stairs(result.series["fail_open_picks"] / seconds, edges, baseline=None, gid="fail_open_picks", **line)
        handles.append(Line2D([], [], label=look.label, **line))
    ax.set_ylim(bottom=0)
    _legend(ax, handles)
    return None


def _patch(look: style.Look, label: str) -> Patch:
    if not look.hatch:
        return Patch(facecolor=look.colour, linewidth=0, label=label)
    return Patch(label=label, **{**_hatch(look), "facecolor": look.colour})


def _legend(ax: Axes, handles: list[Patch] | list[Line2D] | list[Patch | Line2D]) -> None:
    """Beside the axes, where it covers nothing."""
    ax.legend(
        handles=handles,
        fontsize=8,
        handlelength=2.2,
        handleheight=1.2,
        **style.BESIDE,
    )


def _say(ax: Axes, sentence: str) -> None:
    """In place of data that is not there."""
    ax.set_yticks([])
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=style.MUTED, fontsize=9)


SERIES: dict[str, Callable[[Axes, Result], None]] = {"requests": requests, "latency": latency, "retries": retries}
