"""The figure of a run: lanes over its series, one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from halfopen.plots import style, words
from halfopen.plots.canvas import Picture, plain
from halfopen.plots.lanes import Row, rows_of, shown
from halfopen.plots.panes import SERIES, lanes
from halfopen.plots.tidy import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from halfopen.result import Result

PANES = ("lanes", *SERIES)
_WIDTH = 10.0  # inches
_PANE = 1.45  # height of a pane with a series
_EMPTY = 0.45  # of one that has only a sentence to say


def figure(
    result: Result,
    panes: Sequence[str] | None = None,
    *,
    between_ms: tuple[float, float] | None = None,
    max_lanes: int = 64,
    ax: Axes | Sequence[Axes] | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """See `Result.plot`."""
    given = None if ax is None else listed(ax)
    names = _names(panes, None if given is None else len(given))
    span = _span(result, between_ms)
    rows = rows_of(result, max_lanes)
    if given is None:
        picture = Picture(figsize=figsize or _size(result, names, rows))
        heights = [_height(result, name, rows) for name in names]
        given = list(picture.subplots(len(names), sharex=True, height_ratios=heights, squeeze=False)[:, 0])
        _title(picture, given[0], result, zoomed=between_ms is not None)
    elif figsize is not None:
        raise ValueError("figsize is the size of a new figure: the axes that were given have theirs already")
    for name, axes in zip(names, given, strict=True):
        if name == "lanes":
            lanes(axes, result, rows, _font(rows))
        else:
            SERIES[name](axes, result)
        _finish(axes, result, span)
    given[-1].set_xlabel("virtual time (s)")
    return given[0].figure  # type: ignore[return-value]


def _names(panes: Sequence[str] | None, axes: int | None) -> tuple[str, ...]:
    if panes is None:
        names = PANES if axes is None else PANES[:1] if axes == 1 else PANES
    else:
        names = (panes,) if isinstance(panes, str) else tuple(panes)
    wrong = [name for name in names if name not in PANES]
    if wrong or not names:
        raise ValueError(f"panes are {', '.join(map(repr, PANES))}, one or more of them, not {panes!r}")
    if axes is not None and axes != len(names):
        raise ValueError(f"{len(names)} panes ({', '.join(names)}) need as many axes: {axes} given as ax")
    return names


def _span(result: Result, between_ms: tuple[float, float] | None) -> tuple[float, float]:
    if between_ms is None:
        return 0.0, result.duration_ms / 1000
    start, end = between_ms
    if not 0 <= start < end <= result.duration_ms:
        raise ValueError(
            f"between_ms is {between_ms!r}: it must be two times with 0 <= from < to <= {result.duration_ms:.10g}"
        )
    return start / 1000, end / 1000


def _row_height(rows: list[Row]) -> float:
    return 0.25 if len(rows) <= 20 else max(0.14, 5.0 / len(rows))


def _font(rows: list[Row]) -> float:
    return 9 if len(rows) <= 20 else min(9.0, max(6.0, 72 * 0.72 * _row_height(rows)))


def _height(result: Result, name: str, rows: list[Row]) -> float:
    if name == "lanes":
        return max(0.8, _row_height(rows) * len(rows))
    series = result.series
    empty = not len(series) or (name == "retries" and not any(series[column].any() for column in style.EXTRA))
    return _EMPTY if empty else _PANE


def _size(result: Result, names: Sequence[str], rows: list[Row]) -> tuple[float, float]:
    return _WIDTH, 1.4 + sum(_height(result, name, rows) + 0.1 for name in names)


def _title(picture: Picture, axes: Axes, result: Result, *, zoomed: bool) -> None:
    name = shown(result.name, 45) if result.name else "(no name)"  # as many as leave room for the verdict
    picture.suptitle(
        plain(f"{name} — {words.verdict(result)}" if len(result.expectations) else name),
        x=0.01,
        ha="left",
        fontsize=12,
        fontweight="bold",
        color=style.INK if result.ok else style.BAD,
        gid="title",
    )
    question = fill(shown(result.question, 400), 115) if result.question else ""
    headline = ("the whole run: " if zoomed else "") + words.headline(result)
    lines = [line for line in (question, headline) if line]
    axes.set_title(plain("\n".join(lines)), x=-0.0, loc="left", fontsize=9.5, color=style.INK)


def _finish(axes: Axes, result: Result, span: tuple[float, float]) -> None:
    axes.set_xlim(*span)
    axes.grid(axis="x", color="#d8dee4", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["right", "top"]].set_visible(False)
    for window in words.failed_windows(result):
        look: dict[str, Any] = {"color": style.BAD, "gid": f"expectation {window.number}"}
        if window.from_s < window.to_s:
            axes.axvspan(window.from_s, window.to_s, alpha=0.1, linewidth=0, zorder=5, **look)
        for edge in sorted({window.from_s, window.to_s}):
            axes.axvline(edge, linestyle="dashdot", linewidth=1, zorder=5, **look)
