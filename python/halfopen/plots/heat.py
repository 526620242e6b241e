"""Heat maps: one metric over two parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from halfopen.plots import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from halfopen.plots.tidy import Tidy

_MOST_TOLD = 160  # cells with their number in them


def heatmap(
    frame: Tidy,
    x: str,
    y: str,
    z: str,
    *,
    cmap: str = "cividis",
    ax: Axes | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Draw a metric over two parameters: a cell a setting, with the mean over its replicates.

    Parameters
    ----------
    frame : `pandas.DataFrame`, a row a run.
    x, y : parameters; numbers ascend to the right and up, others come in order of appearance.
    z : the metric. A setting without a run, or in which nothing was measured, is hatched.
    cmap : a colour map of matplotlib; the default grows lighter throughout, also in print and for the colour-blind.
    ax, figsize : axes to draw into, or the size of a new figure in inches.

    Raises ValueError for a column that is not there, and if a parameter varies that is neither `x` nor `y`.
    """
    tidy.told_apart(frame, (x, y))
    if x == y:
        raise ValueError(f"x and y are both {x!r}: a heat map is of two parameters")
    values = tidy.numbers(frame, z)
    across, up = tidy.ordered(tidy.column(frame, x)), tidy.ordered(tidy.column(frame, y))
    means = np.full((len(up), len(across)), np.nan)
    for (a, b), rows in tidy.groups(frame, (x, y)).items():
        means[up.index(b), across.index(a)] = tidy.estimate(values[rows], 0.95).mean
    size = min(14.0, 3.2 + 0.75 * len(across)), min(12.0, 1.8 + 0.5 * len(up))
    figure, (axes,) = tidy.axes_for(1, ax, figsize, (max(size[0], 5.5), max(size[1], 3.2)))
    axes.set_facecolor("#f0f0f0")
    axes.patch.set_hatch("///")
    axes.patch.set_edgecolor("#b8b8b8")
    mesh = axes.pcolormesh(np.ma.masked_invalid(means), cmap=cmap, edgecolors="white", linewidth=0.8)
    figure.colorbar(mesh, ax=axes, label=tidy.label(z))
    axes.set_xticks(np.arange(len(across)) + 0.5, tidy.told(across), **tidy.turned(tidy.told(across)))
    axes.set_yticks(np.arange(len(up)) + 0.5, tidy.told(up))
    axes.tick_params(length=0)
    axes.set_xlabel(tidy.label(x))
    axes.set_ylabel(tidy.label(y))
    axes.set_title(f"{z}: means over replicates", loc="left", fontsize=10)
    if means.size <= _MOST_TOLD:
        for (row, place), mean in np.ndenumerate(means):
            if not np.isnan(mean):
                red, green, blue, _ = mesh.cmap(mesh.norm(mean))
                ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
                axes.text(place + 0.5, row + 0.5, f"{mean:.4g}", ha="center", va="center", fontsize=8.5, color=ink)
    return figure  # type: ignore[no-any-return]
