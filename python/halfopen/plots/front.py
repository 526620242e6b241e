"""Pareto fronts: the settings that no other beats in both of two metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from halfopen.plots import style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from halfopen.plots.tidy import Tidy
    from halfopen.stats import Estimate

Best = Literal["low", "high"]
_MOST_NAMED = 20


class _Point(NamedTuple):
    setting: tidy.Setting
    x: Estimate
    y: Estimate


def on_front(x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which of some points no other is at least as low as in both and lower than in one. Equal points are all on it."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    out = np.zeros(len(xs), dtype=bool)
    lowest = np.inf
    order = np.lexsort((ys, xs))
    for n, place in enumerate(order):
        equal = n > 0 and xs[place] == xs[order[n - 1]] and ys[place] == ys[order[n - 1]]
        out[place] = out[order[n - 1]] if equal else ys[place] < lowest
        lowest = min(lowest, ys[place])
    return out


def pareto(
    frame: Tidy,
    x: str = "false_ejections",
    y: str = "failed",
    by: str | Sequence[str] | None = None,
    *,
    best: tuple[Best, Best] = ("low", "low"),
    level: float = 0.95,
    ax: Axes | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Draw two metrics against each other, a point a setting, and the front of those that no other setting beats.

    Parameters
    ----------
    frame : `pandas.DataFrame`, a row a run.
    x, y : metrics; means over replicates, with bars of their confidence intervals.
    by : the parameters that make a setting; without it all that vary.
    best : which way each is better: ("low", "low"), ("low", "high") for a success ratio as y, …
    level : of confidence, between 0 and 1; Student's t, as in `SweepResult.summary`.
    ax, figsize : axes to draw into, or the size of a new figure in inches.

    The settings on the front are numbered from left to right and named beside it. Raises ValueError for a column that is
    not there, and if a parameter varies that is not in `by`.
    """
    by = tidy.names_of(by) or tidy.pointers(frame)
    tidy.told_apart(frame, by)
    if any(way not in ("low", "high") for way in best) or len(best) != 2:
        raise ValueError(f'best is {best!r}: it must be two of "low" and "high", for x and for y')
    points, left_out = _points(frame, x, y, by, level)
    signs = [1 if way == "low" else -1 for way in best]
    front = on_front([signs[0] * point.x.mean for point in points], [signs[1] * point.y.mean for point in points])
    figure, (axes,) = tidy.axes_for(1, ax, figsize, (9.0, 5.0))
    _draw(
        axes, [point for point, good in zip(points, front, strict=True) if not good], "beaten by another", front=False
    )
    leaders = sorted(
        (point for point, good in zip(points, front, strict=True) if good), key=lambda p: (p.x.mean, p.y.mean)
    )
    _draw(axes, leaders, "on the front", "steps-post" if best[0] == "low" else "steps-pre", front=True)
    names = [f"{place}  {tidy.setting_text(by, point.setting)}" for place, point in enumerate(leaders, 1)]
    for place, point in enumerate(leaders, 1):
        axes.annotate(str(place), (point.x.mean, point.y.mean), (5, 5), textcoords="offset points", fontweight="bold")
    handles = axes.get_legend_handles_labels()[0]
    blank = [axes.plot([], [], linestyle="none", label=name)[0] for name in names[:_MOST_NAMED]]
    axes.legend(
        handles=[*handles, *blank],
        fontsize=8.5,
        **style.BESIDE,
    )
    axes.set_xlabel(f"{tidy.label(x)}, {_better(best[0])}")
    axes.set_ylabel(f"{tidy.label(y)}, {_better(best[1])}")
    axes.grid(color="#d8dee4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["right", "top"]].set_visible(False)
    without = f"; {left_out} more without a value" if left_out else ""
    axes.set_title(
        f"{y} against {x}: {len(leaders)} of {len(points)} settings on the front{without}", loc="left", fontsize=10
    )
    return figure  # type: ignore[no-any-return]


def _points(frame: Tidy, x: str, y: str, by: Sequence[str], level: float) -> tuple[list[_Point], int]:
    xs, ys = tidy.numbers(frame, x), tidy.numbers(frame, y)
    points = [
        _Point(setting, tidy.estimate(xs[rows], level), tidy.estimate(ys[rows], level))
        for setting, rows in tidy.groups(frame, by).items()
    ]
    there = [point for point in points if point.x.n and point.y.n]
    if not there:
        raise ValueError(f"there is no setting in which both {x} and {y} were measured")
    return there, len(points) - len(there)


def _better(way: Best) -> str:
    return "lower is better" if way == "low" else "higher is better"


def _draw(axes: Axes, points: Sequence[_Point], name: str, steps: str = "steps-post", *, front: bool) -> None:
    if not points:
        return
    x, y = [[getattr(point, axis).mean for point in points] for axis in "xy"]
    reach = [
        [np.nan_to_num(getattr(point, axis).high - getattr(point, axis).mean) for point in points] for axis in "xy"
    ]
    colour = "#a3231f" if front else "#8a8a8a"
    axes.errorbar(
        x,
        y,
        xerr=reach[0],
        yerr=reach[1],
        label=name,
        fmt="o" if front else "x",
        color=colour,
        ecolor=colour,
        elinewidth=0.7,
        capsize=0,
        markersize=7 if front else 5,
        linestyle="solid" if front else "none",
        drawstyle=steps if front else "default",
        linewidth=1.2,
        zorder=3 if front else 2,
    )
