"""Tidy frames of sweeps, a row a run: settings, and what a metric is over the replicates of each."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from halfopen import _core, stats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from halfopen.stats import Estimate


class Tidy(Protocol):
    """A `pandas.DataFrame`, or whatever has named columns of equal length."""

    @property
    def columns(self) -> Any:
        """The names."""

    def __getitem__(self, name: str) -> Any: ...


Values = npt.NDArray[Any]
Setting = tuple[Any, ...]
_LONGEST = 28  # letters of a value that is shown


def column(frame: Tidy, name: str) -> Values:
    """One column. Raises ValueError with the names that there are."""
    if name not in list(frame.columns):
        names = [str(one) for one in frame.columns]
        near = [one for one in names if one.startswith("/") and short(one) == name] or difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names)}"
        raise ValueError(f"the frame has no column {name!r}; {hint}")
    values = np.asarray(frame[name])
    if not len(values):
        raise ValueError("the frame has no rows")
    return values


def numbers(frame: Tidy, name: str) -> npt.NDArray[np.float64]:
    """A column of a metric. Raises ValueError if it has no numbers."""
    values = column(frame, name)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} holds no numbers: {values[0]!r}") from None


def names_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, some, or none."""
    return () if by is None else (by,) if isinstance(by, str) else tuple(by)


def pointers(frame: Tidy) -> tuple[str, ...]:
    """The parameters that more than one value was tried of."""
    names = [name for name in frame.columns if isinstance(name, str) and name.startswith("/")]
    return tuple(name for name in names if len(ordered(column(frame, name))) > 1)


def told_apart(frame: Tidy, by: Sequence[str]) -> None:
    """Raises ValueError if a mean over the rest would mix settings, or one of these columns is not there."""
    for name in by:
        column(frame, name)
    mixed = [name for name in pointers(frame) if name not in by]
    if mixed:
        raise ValueError(
            f"{' and '.join(mixed)} {'varies' if len(mixed) == 1 else 'vary'} as well, and a mean over all values would say "
            f"nothing: name {'it' if len(mixed) == 1 else 'them'} in by=, or choose the rows of one value first"
        )


def ordered(values: Values) -> list[Any]:
    """Each value once: numbers ascending, others by first appearance."""
    seen = list(dict.fromkeys(values.tolist()))
    try:
        return (
            sorted(seen)
            if all(isinstance(value, int | float) and not isinstance(value, bool) for value in seen)
            else seen
        )
    except TypeError:
        return seen


def groups(frame: Tidy, by: Sequence[str]) -> dict[Setting, npt.NDArray[np.int64]]:
    """{values of these columns: the places of their rows}, ascending where they are numbers."""
    columns = [column(frame, name) for name in by]
    if not columns:
        return {(): np.arange(len(column(frame, str(frame.columns[0]))))}
    rank = [{value: place for place, value in enumerate(ordered(values))} for values in columns]
    places: dict[Setting, list[int]] = {}
    for row, setting in enumerate(zip(*(values.tolist() for values in columns), strict=True)):
        places.setdefault(setting, []).append(row)
    order = sorted(places, key=lambda setting: [rank[n][value] for n, value in enumerate(setting)])
    return {setting: np.array(places[setting]) for setting in order}


def estimate(values: npt.NDArray[np.float64], level: float, method: stats.Method = "t") -> Estimate:
    """The mean over replicates with its interval, as `SweepResult.summary` has it."""
    return stats.estimate(values, level, method)


def label(name: str) -> str:
    """What is written at an axis: a parameter's key with its pointer, a metric with its unit."""
    if name.startswith("/"):
        return f"{short(name)}  ({name})"
    unit = {metric: unit for metric, unit, *_ in _core.metrics()}.get(name, "")
    return name if not unit or name.endswith(f"_{unit}") or name == unit else f"{name} ({unit})"


def short(pointer: str) -> str:
    """The key of a parameter; of a place in a list the list's key with it: "upstreams/0"."""
    steps = pointer.split("/")[1:]
    return "/".join(steps[-2:]) if steps[-1].isdecimal() else steps[-1]


def said(value: Any) -> str:
    """A value of a parameter, short: a block or a long text by its beginning."""
    text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def told(values: Sequence[Any]) -> list[str]:
    """Values of a parameter, short, and no two alike: what begins like another one is numbered, in order of appearance."""
    texts = [said(value) for value in values]
    return [f"{text} (no. {place})" if texts.count(text) > 1 else text for place, text in enumerate(texts, 1)]


def turned(texts: Sequence[str]) -> dict[str, Any]:
    """How labels under an axis stand: slanted, once they are long."""
    return {"rotation": 20, "ha": "right"} if max(map(len, texts)) > 12 and len(texts) > 1 else {}


def setting_text(by: Sequence[str], setting: Setting) -> str:
    """ "eject_ms 5,000, failure_ratio 0.5"."""
    return ", ".join(f"{short(name) if name.startswith('/') else name} {said(value)}" for name, value in zip(by, setting, strict=True))


def listed(ax: Axes | Sequence[Axes]) -> list[Axes]:
    """Axes as a list, whether they come alone, as a list or as the array that subplots() makes."""
    return list(np.ravel(np.asarray(ax, dtype=object)))


def axes_for(
    count: int, ax: Axes | Sequence[Axes] | None, figsize: tuple[float, float] | None, fits: tuple[float, float]
) -> tuple[Any, list[Axes]]:
    """The figure and as many axes, new ones if none are given."""
    if ax is None:
        from halfopen.plots.canvas import Picture

        picture = Picture(figsize=figsize or fits)
        return picture, list(picture.subplots(count, sharex=True, squeeze=False)[:, 0])
    if figsize is not None:
        raise ValueError("figsize is the size of a new figure: the axes that were given have theirs already")
    given = listed(ax)
    if len(given) != count:
        raise ValueError(
            f"{count} pane{'s' * (count > 1)} need{'s' * (count == 1)} as many axes: {len(given)} given as ax"
        )
    return given[0].figure, given
