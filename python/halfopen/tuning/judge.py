"""Which settings are better, and which can't be told apart.

All settings ran with the same seeds, so two of them are compared replicate by replicate: the luck that they share cancels.
Differences of the recommended setting to m others in k objectives have intervals at level 1 - (1 - level) / (m k)
(Bonferroni): all of them hold together at least as often as `level` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from halfopen.stats import Estimate, Floats, estimate, t_quantile
from halfopen.tuning.bench import Candidate
from halfopen.tuning.goals import Constraint, Objective


class Difference(NamedTuple):
    """Of a setting to a baseline, in one objective."""

    estimate: Estimate
    """Setting minus baseline, replicate by replicate, with an interval that holds together with all others."""
    verdict: str
    """"better", "worse", "same" (in every run), "margin" (the interval is within it) or "open": can't be told."""
    replicates_needed: int | None
    """With how many its interval would leave 0 out, if mean and spread stayed; None if it does, or never would."""


class Judge:
    """Compares settings by what the settings that the scenarios have now could measure."""

    def __init__(
        self, objectives: Sequence[Objective], constraints: Sequence[Constraint], now: Candidate, level: float
    ) -> None:
        self.objectives, self.constraints, self.level = objectives, constraints, level
        self._goal_there, self._limit_there = ~np.isnan(now.goals), ~np.isnan(now.limits)

    def values(self, one: Candidate, k: int, replicates: int) -> Floats:
        """An objective in the first so many replicates, those left out in which there was nothing to measure."""
        return one.goals[k, :replicates][self._goal_there[k, :replicates]]

    def limit_values(self, one: Candidate, c: int, replicates: int) -> Floats:
        """The same of a constraint's metric."""
        return one.limits[c, :replicates][self._limit_there[c, :replicates]]

    def means(self, one: Candidate, replicates: int) -> list[float]:
        """Of each objective; NaN if it was not measured where it should be."""
        return [_mean(self.values(one, k, replicates)) for k in range(len(self.objectives))]

    def excesses(self, one: Candidate, replicates: int) -> list[float]:
        """By how much each constraint is broken, 0 if it is kept or there was nothing to measure; infinite if it was not
        measured where it should be."""
        out = []
        for c, limit in enumerate(self.constraints):
            values = self.limit_values(one, c, replicates)
            mean = _mean(values)
            out.append(0.0 if not len(values) else math.inf if mean != mean else limit.excess(mean))
        return out

    def there(self, k: int, replicates: int) -> bool:
        """Whether an objective can be measured at all in the first so many replicates."""
        return bool(self._goal_there[k, :replicates].any())

    def feasible(self, one: Candidate, replicates: int) -> bool:
        """Whether it keeps every constraint, and every objective was measured that can be."""
        lacking = [mean != mean and self.there(k, replicates) for k, mean in enumerate(self.means(one, replicates))]
        return not any(self.excesses(one, replicates)) and not any(lacking)

    def signed(self, one: Candidate, replicates: int) -> tuple[float, ...]:
        """Means with the smaller the better; infinite where nothing was measured."""
        means = zip(self.objectives, self.means(one, replicates), strict=True)
        return tuple(math.inf if mean != mean else goal.sign * mean for goal, mean in means)

    def ranked(self, candidates: Sequence[Candidate], replicates: int) -> list[Candidate]:
        """Best first: those that keep the constraints, front by front, the ends of a front and its lonely members before
        the crowded ones; then the others, the least broken constraints first. Equal ones in order of their numbers."""
        keeps = [one for one in candidates if self.feasible(one, replicates)]
        breaks = [one for one in candidates if not self.feasible(one, replicates)]
        out: list[Candidate] = []
        while keeps:
            points = [self.signed(one, replicates) for one in keeps]
            front = on_front(points)
            lonely = _crowding([point for point, good in zip(points, front, strict=True) if good])
            leaders = [one for one, good in zip(keeps, front, strict=True) if good]
            out += [one for _, one in sorted(zip(lonely, leaders, strict=True), key=lambda pair: (-pair[0], pair[1].number))]
            keeps = [one for one, good in zip(keeps, front, strict=True) if not good]
        broken = {one.number: (sum(self.excesses(one, replicates)), self.signed(one, replicates), one.number) for one in breaks}
        return out + sorted(breaks, key=lambda one: broken[one.number])

    def difference(self, one: Candidate, base: Candidate, k: int, comparisons: int) -> Difference:
        """Of two settings in one objective, among so many comparisons that shall hold together."""
        replicates = min(one.replicates, base.replicates)
        values = self.values(one, k, replicates) - self.values(base, k, replicates)
        return self.judged(values, k, comparisons)

    def judged(self, values: Floats, k: int, comparisons: int) -> Difference:
        """Of differences in one objective, a replicate each, among so many comparisons that shall hold together."""
        level = 1 - (1 - self.level) / max(1, comparisons)
        found = told(values, level)
        goal = self.objectives[k]
        if found.n != len(values) or not found.n:
            return Difference(found, "open", None)
        if not np.any(values):
            return Difference(found, "same", None)
        if found.n > 1 and max(abs(found.low), abs(found.high)) <= goal.margin:
            return Difference(found, "margin", None)
        apart = (found.low > 0 or found.high < 0) if found.std > 0 else _always(found, level)
        if apart:
            return Difference(found, "better" if goal.sign * found.mean < 0 else "worse", None)
        return Difference(found, "open", _needed(found, level))

    def recommended(self, candidates: Sequence[Candidate], changes: Callable[[Candidate], int]) -> Candidate:
        """Objective by objective in their order, those stay that are not shown to be worse than the best by more than the
        margin; of the last of them those with the fewest constraints that are kept on average alone, then the one with the
        fewest changes, then the best means, then the lowest number."""
        pool = list(candidates)
        comparisons = (len(pool) - 1) * len(self.objectives)
        for k, goal in enumerate(self.objectives):
            best = min(pool, key=lambda one: (self.signed(one, one.replicates)[k], changes(one), one.number))
            pool = [one for one in pool if one is best or not self._shown_worse(one, best, k, goal, comparisons)]
        return min(pool, key=lambda one: (self._unsure(one), changes(one), self.signed(one, one.replicates), one.number))

    def reaches_beyond(self, one: Candidate, c: int) -> bool:
        """Whether the interval of a constraint's mean, at `level`, reaches beyond the limit."""
        found, limit = told(self.limit_values(one, c, one.replicates), self.level), self.constraints[c]
        return limit.excess(found.high if limit.relation == "<=" else found.low) > 0

    def _unsure(self, one: Candidate) -> int:
        return sum(self.reaches_beyond(one, c) for c in range(len(self.constraints)))

    def _shown_worse(self, one: Candidate, best: Candidate, k: int, goal: Objective, comparisons: int) -> bool:
        found = self.difference(one, best, k, comparisons)
        near = found.estimate.low if goal.way == "min" else -found.estimate.high
        return found.verdict == "worse" and near > goal.margin


def told(values: Floats, level: float) -> Estimate:
    """The mean with its interval; exactly the value, and no width, where it is the same in every run."""
    found = estimate(values, level)
    if found.n < 2 or found.n < len(values) or np.any(values != values[0]):
        return found
    value = float(values[0])
    return Estimate(found.n, value, 0.0, value, value)


def on_front(points: Sequence[tuple[float, ...]]) -> list[bool]:
    """Which of some points no other is at least as low as in everything and lower in something. Equal points are all on it."""
    values = np.array(points, dtype=np.float64)
    return [not bool(np.any(np.all(values <= one, axis=1) & np.any(values < one, axis=1))) for one in values]


def _crowding(points: Sequence[tuple[float, ...]]) -> list[float]:
    """How lonely each point of a front is, as in NSGA-II: the side of the box to its neighbours; infinite at the ends."""
    out = [0.0] * len(points)
    for k in range(len(points[0]) if points else 0):
        order = sorted(range(len(points)), key=lambda n: points[n][k])
        low, high = points[order[0]][k], points[order[-1]][k]
        if not low < high:
            continue
        out[order[0]] = out[order[-1]] = math.inf
        for before, place, after in zip(order, order[1:], order[2:], strict=False):
            out[place] += (points[after][k] - points[before][k]) / (high - low)
    return out


def _mean(values: Floats) -> float:
    if not len(values):
        return math.nan
    return float(values[0]) if np.all(values == values[0]) else float(np.mean(values))


def _always(found: Estimate, level: float) -> bool:
    """Whether a difference that is the same in every run is no luck: the sign test, for its interval has no width."""
    return found.n > 1 and 2.0 ** (1 - found.n) <= 1 - level


def _needed(found: Estimate, level: float) -> int | None:
    if found.n < 2 or found.mean == 0:
        return None
    if found.std == 0:  # the sign test of `_always`
        return max(found.n + 1, math.ceil(1 - math.log2(1 - level)))
    reach = t_quantile((1 + level) / 2, found.n - 1) * found.std / abs(found.mean)
    return max(found.n + 1, math.ceil(reach * reach))
