"""Response curves: how metrics follow one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfopen.plots import style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from halfopen.plots.tidy import Tidy
    from halfopen.stats import Estimate, Method

_COLOURS = ("#1b4f72", "#b9470e", "#1a6b3c", "#7d3c98", "#8a6d00", "#5c5c5c")
_DASHES = ("solid", "dashed", "dashdot", "dotted")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_MOST_CURVES = 12


def response(
    frame: Tidy,
    x: str,
    y: str | Sequence[str],
    by: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    method: Method = "t",
    ax: Axes | Sequence[Axes] | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Draw a metric over a parameter: means over replicates, with the band of their confidence interval.

    Parameters
    ----------
    frame : `pandas.DataFrame`, a row a run.
    x : a column, mostly a parameter; what is no number is drawn in order of appearance.
    y : a metric, or several, a pane each.
    by : a parameter, or several: a curve for each of their settings.
    level, method : of confidence, between 0 and 1, and how: "t" or "bootstrap", as in `SweepResult.summary`.
    ax, figsize : axes to draw into, one a metric, or the size of a new figure in inches.

    Raises ValueError for a column that is not there, and if a parameter varies that is neither `x` nor in `by`.
    """
    metrics, by = tidy.names_of(y), tidy.names_of(by)
    if not metrics:
        raise ValueError("y is a metric's name, or several")
    tidy.told_apart(frame, (x, *by))
    curves = tidy.groups(frame, by)
    if len(curves) > _MOST_CURVES:
        raise ValueError(
            f"{', '.join(by)} make {len(curves)} curves, nobody could tell them apart: choose {_MOST_CURVES} at most"
        )
    figure, panes = tidy.axes_for(len(metrics), ax, figsize, (8.0, 0.9 + 3.0 * len(metrics)))
    for metric, axes in zip(metrics, panes, strict=True):
        _pane(axes, frame, x, metric, by, curves, partial(tidy.estimate, level=level, method=method))
    panes[-1].set_xlabel(tidy.label(x))
    if by or len(metrics) == 1:
        title = ", ".join(tidy.short(name) for name in by)
        panes[0].legend(
            fontsize=9,
            handlelength=3.2,
            title=title or None,
            alignment="left",
            **style.BESIDE,
        )
    return figure  # type: ignore[no-any-return]


def _pane(
    axes: Axes,
    frame: Tidy,
    x: str,
    metric: str,
    by: Sequence[str],
    curves: dict[tidy.Setting, npt.NDArray[np.int64]],
    estimate: partial[Estimate],
) -> None:
    values, along = tidy.numbers(frame, metric), tidy.column(frame, x)
    steps = tidy.ordered(along)
    numeric = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    where = [float(step) for step in steps] if numeric else [float(place) for place in range(len(steps))]
    replicated, level = False, estimate.keywords["level"]
    names = _names(list(curves)) if by else ["mean"]
    for place, rows in enumerate(curves.values()):
        found = [estimate(values[rows[_equal(along[rows], step)]]) for step in steps]
        there = [n for n, one in enumerate(found) if one.n]
        look: dict[str, Any] = {"color": _COLOURS[place % len(_COLOURS)], "linestyle": _DASHES[place % len(_DASHES)]}
        at = [where[n] for n in there]
        axes.plot(
            at, [found[n].mean for n in there], marker=_MARKS[place % len(_MARKS)], markersize=5, label=names[place], **look
        )
        low, high = [found[n].low for n in there], [found[n].high for n in there]
        if not np.isnan(low).all():
            replicated = True
            band = "" if by else f"{level * 100:g} % interval"
            axes.fill_between(at, low, high, color=look["color"], alpha=0.18, linewidth=0, label=band or "_band")
    if not numeric:
        axes.set_xticks(where, tidy.told(steps), **tidy.turned(tidy.told(steps)))
    elif where[0] > 0 and where[-1] >= 100 * where[0]:
        axes.set_xscale("log")
    axes.set_ylabel(tidy.label(metric))
    axes.grid(color="#d8dee4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["right", "top"]].set_visible(False)
    runs = f"means over replicates, {level * 100:g} % intervals" if replicated else "one replicate: no intervals"
    axes.set_title(f"{metric}: {runs}", loc="left", fontsize=10)


def _names(settings: list[tidy.Setting]) -> list[str]:
    """Of each curve, its values."""
    columns = [dict.fromkeys(column) for column in zip(*settings, strict=True)]
    words = [dict(zip(column, tidy.told(list(column)), strict=True)) for column in columns]
    return [", ".join(word[value] for word, value in zip(words, setting, strict=True)) for setting in settings]


def _equal(values: tidy.Values, step: Any) -> npt.NDArray[np.bool_]:
    return np.fromiter((value == step for value in values.tolist()), dtype=bool, count=len(values))
