"""What a search is after: objectives, constraints, and what a metric counts as where nothing was measured.

A metric is one of `Result.summary`. Of several scenarios, an objective is the mean over all in which it is measured,
replicate by replicate, so that each scenario counts the same; `METRIC@NAME` asks one scenario alone. A constraint must hold
in each scenario, of the mean over its replicates.

What can be measured is decided by the settings that the scenarios have now: a pair of scenario and replicate in which these
measure nothing (a detection time where nothing fails) is left out for every setting. Three metrics would flatter a
setting that does nothing at all, and so count as follows:

- `time_to_detect_ms`: a run that misses a fault counts with the whole length of the run, and not with the faults that it
  found, so that a miss is never better than a detection.
- `time_to_return_ms`: a run in which an endpoint never returns counts with the whole length of the run.
- `survivor_load_max` and `survivor_load_mean`: 1 in a run without an ejection, where everybody carries their own share. A
  run with ejections in which no bin had both somebody out and somebody left measures nothing.

A setting that measures nothing where the present settings do is out, as one that breaks a constraint is.

What counts as a fault is what the metrics say, everywhere in halfopen: `false_ejections` are ejections whose attempt or
probe met no failing fault. Errors of a healthy endpoint are written as a fault too, one that lasts for the whole run on every
endpoint (background errors). An ejection by these is therefore no false one for `false_ejections`, and they are something to
detect for `time_to_detect_ms`, `time_to_return_ms`, `missed`, `lost_before_ejection` and `in_rotation_while_failing_ms`. So:

- One metric more is known here, `healthy_ejections_per_day`: how often a healthy endpoint is ejected in a day in rotation,
  by the exact models of `halfopen.analyze`, at the ratio of its background errors (0.5 % where there are none) and the
  scenario's traffic; the most that their bounds allow, of the worst upstream among those whose health block is searched (of
  all, if none is). It is worked out and not run, and the same in every replicate.
- In a run, `ejections` of a quiet scenario, one with background errors and nothing else, count healthy endpoints alone.
- Where some scenarios have background errors and others none, objectives and constraints about detection are of the others,
  unless they name a scenario with @.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from halfopen.frame import Frame
from halfopen.stats import Floats
from halfopen.sweep import known_metrics

DEFAULTS = ("min:failed", "min:false_ejections", "min:time_to_detect_ms", "min:survivor_load_max")
"""Errors that users see, false ejections, time to detect, load on survivors."""

WORKED_OUT = "healthy_ejections_per_day"
"""The metric that is no run's: see the module."""

OF_FAULTS = ("time_to_detect_ms", "time_to_return_ms", "missed", "lost_before_ejection", "in_rotation_while_failing_ms")
"""Metrics for which background errors are a fault to be detected."""

NO_FALSE_ONES = ("false_ejections", "false_ejection_ms")
"""Metrics for which no ejection by background errors counts."""

IMPUTED = {
    "time_to_detect_ms": "a run that misses a fault counts with its whole length",
    "time_to_return_ms": "a run in which an endpoint never returns counts with its whole length",
    "survivor_load_max": "1 in a run without an ejection",
    "survivor_load_mean": "1 in a run without an ejection",
    WORKED_OUT: "worked out as halfopen analyze does, and not run",
}
"""What a run counts as in which a metric was not measured, or only in part."""

_OBJECTIVE = re.compile(r"(?P<way>min|max):(?P<metric>\w+)(?:@(?P<scenario>[^~]+))?(?:~(?P<margin>[^~]+))?")
_CONSTRAINT = re.compile(r"(?P<metric>\w+)(?:@(?P<scenario>[^<>=]+?))?\s*(?P<relation><=|>=)\s*(?P<limit>\S+)")
_LOADS = ("survivor_load_max", "survivor_load_mean")


@dataclass(frozen=True)
class Objective:
    """A metric that should be small, or large.

    Attributes
    ----------
    metric : its name.
    way : "min" or "max".
    scenario : the name of the one that is asked, or None for the mean of all.
    margin : the largest difference that does not matter, in units of the metric, from 0.
    """

    metric: str
    way: Literal["min", "max"] = "min"
    scenario: str | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if self.way not in ("min", "max"):
            raise ValueError(f"the way of an objective is min or max, not {self.way!r}")
        if not 0 <= self.margin < np.inf:
            raise ValueError(f"the margin is the largest difference that does not matter, from 0; not {self.margin}")

    @classmethod
    def of(cls, text: str) -> Objective:
        """Read `min:failed`, `max:success_ratio@brownout`, `min:failed~10`. Raises ValueError."""
        match = _OBJECTIVE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no objective; one looks like min:failed, max:success_ratio@NAME or min:failed~10")
        _known([match["metric"]])
        margin = 0.0 if match["margin"] is None else _number(match["margin"], text)
        return cls(match["metric"], "max" if match["way"] == "max" else "min", match["scenario"], margin)

    @property
    def label(self) -> str:
        """The metric, and its scenario if it is that of one."""
        return self.metric if self.scenario is None else f"{self.metric}@{self.scenario}"

    @property
    def sign(self) -> float:
        """What makes a smaller value the better one."""
        return 1.0 if self.way == "min" else -1.0

    def __str__(self) -> str:
        return f"{self.way}:{self.label}" + (f"~{self.margin:g}" if self.margin else "")


@dataclass(frozen=True)
class Constraint:
    """A metric whose mean over replicates must not be above (or below) a limit.

    Attributes
    ----------
    metric : its name.
    limit : in units of the metric; the limit itself is allowed.
    relation : "<=" or ">=".
    scenario : the name of the one that must keep it, or None for each of them.
    """

    metric: str
    limit: float
    relation: Literal["<=", ">="] = "<="
    scenario: str | None = None

    def __post_init__(self) -> None:
        if self.relation not in ("<=", ">="):
            raise ValueError(f"the relation of a constraint is <= or >=, not {self.relation!r}")
        if not np.isfinite(self.limit):
            raise ValueError(f"the limit of a constraint is a number, not {self.limit}")

    @classmethod
    def of(cls, text: str) -> Constraint:
        """Read `false_ejections<=0`, `success_ratio@brownout>=0.99`. Raises ValueError."""
        match = _CONSTRAINT.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no constraint; one looks like false_ejections<=0 or success_ratio@NAME>=0.99")
        _known([match["metric"]])
        relation: Literal["<=", ">="] = ">=" if match["relation"] == ">=" else "<="
        return cls(match["metric"], _number(match["limit"], text), relation, match["scenario"])

    @property
    def label(self) -> str:
        """The metric, and its scenario if it is that of one."""
        return self.metric if self.scenario is None else f"{self.metric}@{self.scenario}"

    @property
    def sign(self) -> float:
        """What makes the limit one from above."""
        return 1.0 if self.relation == "<=" else -1.0

    def excess(self, mean: float) -> float:
        """By how much a mean breaks it, in limits (in units, of a limit within 1 of 0); 0 if it keeps it."""
        return max(0.0, self.sign * (mean - self.limit)) / max(1.0, abs(self.limit))

    def at(self, scenario: str) -> Constraint:
        """The same of one scenario."""
        return replace(self, scenario=scenario)

    def __str__(self) -> str:
        return f"{self.label}{self.relation}{self.limit:g}"


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(f"{whole!r}: {text!r} is no number")
    return value


def background_apart(names: Sequence[str], background: Collection[str]) -> frozenset[str]:
    """Of some scenarios those with background errors, if others have none: see the module."""
    return frozenset(background) if set(background) < set(names) else frozenset()


def is_about(goal: Objective | Constraint, name: str, apart: Collection[str]) -> bool:
    """Whether a goal is about the scenario of that name. `apart`: see `background_apart`."""
    if goal.scenario is not None:
        return goal.scenario == name
    return goal.metric not in OF_FAULTS or name not in apart


def needed(goals: Sequence[Objective | Constraint]) -> tuple[str, ...]:
    """The metrics that a sweep must have for them."""
    names = [goal.metric for goal in goals]
    if any(name in ("time_to_detect_ms", "time_to_return_ms") for name in names):
        names += ["time_to_detect_ms", "missed"]
    if any(name in _LOADS for name in names):
        names.append("ejections")
    return _known(names) or known_metrics(["requests"])


def _known(names: Sequence[str]) -> tuple[str, ...]:
    """Those that a run has, once each. Raises ValueError for one that nothing has."""
    near = next((name for name in names if name != WORKED_OUT and difflib.get_close_matches(name, [WORKED_OUT], 1, 0.8)), None)
    if near is not None:
        raise ValueError(f"there is no metric {near!r}: did you mean {WORKED_OUT!r}?")
    return known_metrics([name for name in dict.fromkeys(names) if name != WORKED_OUT])


def counted(table: Frame, metric: str, duration_ms: float) -> Floats:
    """A metric of each run, as this module counts it; NaN where nothing was measured."""
    values: Floats = table[metric].astype(np.float64)
    if metric == "time_to_detect_ms":
        values = np.where(table["missed"] > 0, duration_ms, values)
    elif metric == "time_to_return_ms":
        fails = (table["missed"] > 0) | ~np.isnan(table["time_to_detect_ms"].astype(np.float64))
        values = np.where(np.isnan(values) & fails, duration_ms, values)
    elif metric in _LOADS:
        values = np.where(np.isnan(values) & (table["ejections"] == 0), 1.0, values)
    return values
