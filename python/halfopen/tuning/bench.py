"""Measuring settings: every scenario, the same seeds for every setting, and what of it is measured already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfopen.frame import Frame
from halfopen.params import Settings
from halfopen.progress import Bar
from halfopen.stats import Floats
from halfopen.sweep import Sweep
from halfopen.tuning.goals import WORKED_OUT, Constraint, Objective, counted, is_about, needed
from halfopen.tuning.healthy import Healths
from halfopen.tuning.places import Entrant

UNMEASURED = np.nan


@dataclass(eq=False)
class Candidate:
    """One setting of everything that is searched, and what it achieved on the search's seeds.

    Attributes
    ----------
    number : from 1 in the order in which they were first tried; 0 is what the scenarios have now.
    settings : value by pointer.
    origin : the number of the one that it is a plainer form of; None if Optuna asked for it.
    goals, limits : an objective or constraint a row, a replicate a column; NaN where nothing was measured.
    parts : what the goals are means of: objective, scenario, replicate.
    """

    number: int
    settings: Settings
    origin: int | None = None
    goals: Floats = field(default_factory=lambda: np.empty((0, 0)))
    limits: Floats = field(default_factory=lambda: np.empty((0, 0)))
    parts: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))

    @property
    def replicates(self) -> int:
        """How many have been run."""
        return int(self.goals.shape[1])

    @property
    def outcome(self) -> bytes:
        """Equal for equal results in every run."""
        return self.goals.tobytes() + self.limits.tobytes()


class Bench:
    """Runs settings on every scenario.

    Parameters
    ----------
    entrants : the scenarios.
    objectives : what is aggregated into `Candidate.goals`.
    constraints : each of one scenario, which need not be named if there is only one: what goes into `Candidate.limits`.
    seed : of replicate 1.
    healths : works out what is no run's.
    run : of `Sweep.run`: executor, threads, store.

    What is measured first must be the settings that the scenarios have now, in all replicates: see `goals`.
    """

    def __init__(
        self,
        entrants: Sequence[Entrant],
        objectives: Sequence[Objective],
        constraints: Sequence[Constraint],
        replicates: int,
        seed: int,
        bar: Bar,
        healths: Healths,
        run: dict[str, Any],
    ) -> None:
        self.entrants = entrants
        self.objectives, self.constraints = list(objectives), list(constraints)
        self.replicates, self.seed, self.healths = replicates, seed, healths
        self.runs = 0
        self._bar, self._run = bar, run
        self._metrics = needed([*objectives, *constraints])
        self._measured: Floats | None = None  # where the present settings measure an objective: objective, scenario, replicate

    def measure(self, candidates: Sequence[Candidate], replicates: int) -> None:
        """Run what is missing of the first so many replicates."""
        groups: dict[tuple[int, tuple[str, ...]], list[Candidate]] = {}
        for one in candidates:
            if one.replicates < replicates:
                groups.setdefault((one.replicates, tuple(one.settings)), []).append(one)
        for (done, _), group in groups.items():
            tables = [self._table(entrant, group, done, replicates) for entrant in self.entrants]
            for n, one in enumerate(group):
                goals, limits, parts = self._rows([table[:, n] for table in tables], done, replicates)
                one.parts = parts if done == 0 else np.concatenate([one.parts, parts], axis=2)
                one.goals = goals if done == 0 else np.concatenate([one.goals, goals], axis=1)
                one.limits = limits if done == 0 else np.concatenate([one.limits, limits], axis=1)

    def keep(self, now: Candidate, goals: Sequence[int], limits: Sequence[int]) -> None:
        """Go on with these objectives and constraints alone, by their places; `now` is what was measured so far."""
        assert self._measured is not None
        self.objectives = [self.objectives[k] for k in goals]
        self.constraints = [self.constraints[c] for c in limits]
        self._measured = self._measured[list(goals)]
        now.goals, now.limits, now.parts = now.goals[list(goals)], now.limits[list(limits)], now.parts[list(goals)]

    def _table(self, entrant: Entrant, group: Sequence[Candidate], done: int, replicates: int) -> Floats:
        """What each goal's metric is in one scenario: goal, candidate, replicate. NaN for goals of other scenarios."""
        sweep = Sweep(
            entrant.scenario,
            points=[entrant.settings(one.settings) for one in group],
            replicates=self.replicates,
            seed=self.seed,
            metrics=self._metrics,
        )
        numbers = [n * self.replicates + r for n in range(len(group)) for r in range(done + 1, replicates + 1)]
        table = sweep.run(numbers, progress=False, **self._run).table
        self.runs += len(numbers)
        self._bar.add(len(numbers))
        asked: list[Objective | Constraint] = [*self.objectives, *self.constraints]
        rows = [self._row(goal, entrant, group, table, replicates - done) for goal in asked]
        return np.array(rows).reshape(len(asked), len(group), replicates - done)

    def _row(
        self, goal: Objective | Constraint, entrant: Entrant, group: Sequence[Candidate], table: Frame, replicates: int
    ) -> Floats:
        if not is_about(goal, entrant.name, self.healths.apart):
            return np.full(table.rows, UNMEASURED)
        if goal.metric == WORKED_OUT:
            return np.repeat(self.healths.per_day(entrant, [one.settings for one in group]), replicates)
        return counted(table, goal.metric, entrant.scenario.duration_ms)

    def _rows(self, tables: Sequence[Floats], done: int, replicates: int) -> tuple[Floats, Floats, Floats]:
        """The goals over all scenarios, the limits each of its own, and the goals scenario by scenario."""
        everything = np.stack(tables, axis=1)  # goal, scenario, replicate
        goals, limits = everything[: len(self.objectives)], everything[len(self.objectives) :]
        if self._measured is None:
            self._measured = ~np.isnan(goals)
        wanted = self._measured[:, :, done:replicates]
        count = np.sum(wanted, axis=1)
        total = np.sum(np.where(wanted, goals, 0.0), axis=1)  # NaN stays where it was not to be
        names = [entrant.name for entrant in self.entrants]
        places = [names.index(limit.scenario) if limit.scenario else 0 for limit in self.constraints]
        mine = np.array([limits[n, place] for n, place in enumerate(places)]).reshape(len(places), replicates - done)
        return np.where(count > 0, total / np.maximum(count, 1), UNMEASURED), mine, goals
