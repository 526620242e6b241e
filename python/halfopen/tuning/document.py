"""The result of a search as what JSON has: halfopen.tuning/1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfopen import __version__
from halfopen.designs import Range
from halfopen.optional import load
from halfopen.stats import Estimate

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.result import Tuning


def of(tuning: Tuning) -> dict[str, Any]:
    """All that the text says, and every setting that was tried."""
    chosen = tuning.recommended
    return {
        "format": "halfopen.tuning/1",
        "version": __version__,
        "optuna": str(load("optuna", "optuna", "tune()").__version__),
        "scenarios": [{"name": name, "digest": scenario.digest} for name, scenario in tuning.scenarios.items()],
        "objectives": [str(goal) for goal in tuning.objectives],
        "constraints": [str(limit) for limit in tuning.constraints],
        "left_out": list(tuning.left_out),
        "params": {pointer: _part(part) for pointer, part in tuning.params.items()},
        "trials": tuning.trials,
        "batch": tuning.batch,
        "replicates": tuning.replicates,
        "seed": tuning.seed,
        "fresh_seed": tuning.fresh_seed,
        "level": tuning.level,
        "runs": tuning.runs,
        "runs_in_full": tuning.runs_in_full,
        "recommended": None if chosen is None else chosen.number,
        "paste": tuning.blocks(),
        "confirmed": [_confirmed(tuning, one) for one in tuning.confirmed],
        "tried": [_tried(tuning, one) for one in tuning.candidates],
        "refused": [{"settings": one.settings, "why": one.why} for one in tuning.refused],
        "commands": tuning.commands(),
    }


def _part(part: Range | list[Any]) -> Any:
    if isinstance(part, Range):
        return {"low": part.low, "high": part.high, "log": part.log, "integer": part.whole}
    return part


def _number(value: float) -> float | None:
    return None if value != value or value in (float("inf"), float("-inf")) else float(value)


def _estimate(found: Estimate) -> dict[str, Any]:
    return {"n": found.n, "mean": _number(found.mean), "low": _number(found.low), "high": _number(found.high)}


def _confirmed(tuning: Tuning, one: Candidate) -> dict[str, Any]:
    base = tuning.recommended
    objectives: dict[str, Any] = {}
    for k, goal in enumerate(tuning.objectives):
        objectives[goal.label] = _estimate(tuning.estimate(one, k))
        if base is not None and one is not base:
            found = tuning.difference(one, base, k)
            objectives[goal.label]["against_recommended"] = {
                **_estimate(found.estimate),
                "verdict": found.verdict,
                "replicates_needed": found.replicates_needed,
            }
    return {
        "setting": one.number,
        "changes": tuning.changes(one),
        "same_in_every_run": list(tuning.twins(one)),
        "keeps_constraints": tuning.keeps(one),
        "front": tuning.on_front(one),
        "objectives": objectives,
        "constraints": {str(limit): _estimate(tuning.limit(one, c)) for c, limit in enumerate(tuning.constraints)},
    }


def _tried(tuning: Tuning, one: Candidate) -> dict[str, Any]:
    return {
        "setting": one.number,
        "plainer_than": one.origin,
        "settings": one.settings,
        "replicates": one.replicates,
        "means": {name: _number(mean) for name, mean in tuning.searched_means(one).items()},
        "keeps_constraints": tuning.searched_keeps(one),
    }
