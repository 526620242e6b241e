"""Settings of a search as tables, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halfopen.frame import Column, Frame, column_of, texts
from halfopen.params import value_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.result import Tuning


def tried(tuning: Tuning, rows: Sequence[Candidate]) -> Frame:
    """See `Tuning.table`."""
    columns = _settings(tuning, rows)
    columns["plainer_than"] = np.array([-1 if one.origin is None else one.origin for one in rows], dtype=np.int64)
    columns["replicates"] = np.array([one.replicates for one in rows], dtype=np.int64)
    columns["feasible"] = np.array([tuning.searched_keeps(one) for one in rows], dtype=np.bool_)
    for goal in tuning.objectives:
        columns[goal.label] = np.array([tuning.searched_means(one)[goal.label] for one in rows])
    return Frame(columns)


def compared(tuning: Tuning) -> Frame:
    """See `Tuning.pareto_table`."""
    rows, base = tuning.compared, tuning.recommended
    columns = _settings(tuning, rows)
    columns["front"] = np.array([tuning.on_front(one) for one in rows], dtype=np.bool_)
    columns["recommended"] = np.array([one is base for one in rows], dtype=np.bool_)
    for k, goal in enumerate(tuning.objectives):
        found = [tuning.estimate(one, k) for one in rows]
        columns[goal.label] = np.array([each.mean for each in found])
        columns[f"{goal.label} low"] = np.array([each.low for each in found])
        columns[f"{goal.label} high"] = np.array([each.high for each in found])
        columns[f"{goal.label} verdict"] = texts([tuning.difference(one, base, k).verdict if base else "" for one in rows])
    return Frame(columns)


def replicates(tuning: Tuning) -> Frame:
    """See `Tuning.replicate_table`."""
    columns = _settings(tuning, [one for one in tuning.confirmed for _ in range(one.replicates)])
    seeds = [(tuning.fresh_seed + r) % 2**64 for one in tuning.confirmed for r in range(one.replicates)]
    columns["seed"] = np.array(seeds, dtype=np.uint64)
    for k, goal in enumerate(tuning.objectives):
        columns[goal.label] = np.concatenate([one.goals[k] for one in tuning.confirmed])
    return Frame(columns)


def drawn(tuning: Tuning, x: str | None, y: str | None, options: dict[str, Any]) -> Figure:
    """See `Tuning.plot`."""
    from halfopen import plots

    ways = {goal.label: goal.way for goal in tuning.objectives}
    if len(ways) < 2:
        raise ValueError("a front needs two objectives; this search had one")
    across, up = x or list(ways)[1], y or list(ways)[0]
    for name in (across, up):
        if name not in ways:
            raise ValueError(f"{name!r} is no objective of this search; it has {', '.join(ways)}")
    best: tuple[Any, Any] = ("low" if ways[across] == "min" else "high", "low" if ways[up] == "min" else "high")
    table = tuning.replicate_table
    columns = Frame({column: table[column] for column in ("setting", across, up)})
    return plots.pareto(columns.to_pandas(), across, up, "setting", **({"best": best} | options))


def _settings(tuning: Tuning, rows: Sequence[Candidate]) -> dict[str, Column]:
    columns: dict[str, Column] = {"setting": np.array([one.number for one in rows], dtype=np.int64)}
    for pointer in tuning.params:
        values = [value_of(one.settings.get(pointer)) for one in rows]
        columns[pointer] = column_of([one.value for one in values], [one.text for one in values])
    return columns
