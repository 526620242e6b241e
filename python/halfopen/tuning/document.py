"""The result of a search as what JSON has: halfopen.tuning/1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfopen import __version__
from halfopen.designs import Range
from halfopen.optional import load
from halfopen.stats import Estimate

if TYPE_CHECKING:
    from halfopen.linting import Finding
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.healthy import Healthy
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
        "warnings": list(tuning.warnings),
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
        "healthy_endpoint": [
            {"setting": one.number, "scenario": name, **_healthy(each)}
            for one in _told(tuning)
            for name, found in tuning.healthy(one).items()
            for each in found
        ],
        "lint": [_finding(name, found) for name, found in tuning.findings],
        "paste": tuning.blocks(),
        "confirmed": [_confirmed(tuning, one) for one in tuning.confirmed],
        "tried": [_tried(tuning, one) for one in tuning.candidates],
        "refused": [{"settings": one.settings, "why": one.why} for one in tuning.refused],
        "commands": tuning.commands(),
    }


def _told(tuning: Tuning) -> list[Candidate]:
    """What is there now, and the recommended setting or the nearest."""
    chosen = tuning.recommended or tuning.confirmed[-1]
    return [tuning.now] if chosen is tuning.now else [tuning.now, chosen]


def _healthy(one: Healthy) -> dict[str, Any]:
    if one.refused:
        mean: dict[str, Any] = {"refused": one.refused}
    else:
        mean = {"low": _number(one.low_s), "high": _number(one.high_s)}
    return {
        "upstream": one.upstream,
        "error_ratio": {"value": one.error_ratio, "from": one.source},
        "rate_rps": one.rate_rps,
        "mean_s": mean,
    }


def _finding(scenario: str, found: Finding) -> dict[str, Any]:
    return {
        "id": found.id,
        "level": found.level,
        "scenario": scenario,
        "upstream": found.upstream,
        "pointers": list(found.pointers),
        "sentence": found.sentence,
        "why": found.why,
        "instead": found.instead,
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
        "by_scenario": _by_scenario(tuning, one),
        "constraints": {str(limit): _estimate(tuning.limit(one, c)) for c, limit in enumerate(tuning.constraints)},
    }


def _by_scenario(tuning: Tuning, one: Candidate) -> dict[str, Any]:
    """Each objective in each scenario that it is measured in, and what is another than now."""
    out: dict[str, Any] = {}
    for name in tuning.scenarios:
        out[name] = {}
        for k, goal in enumerate(tuning.objectives):
            found = tuning.part(one, k, name)
            if tuning.part(tuning.now, k, name).n == 0:
                continue
            out[name][goal.label] = _estimate(found)
            if one is not tuning.now:
                change = tuning.part_difference(one, tuning.now, k, name)
                out[name][goal.label]["against_now"] = {**_estimate(change.estimate), "verdict": change.verdict}
    return out


def _tried(tuning: Tuning, one: Candidate) -> dict[str, Any]:
    return {
        "setting": one.number,
        "plainer_than": one.origin,
        "settings": one.settings,
        "replicates": one.replicates,
        "means": {name: _number(mean) for name, mean in tuning.searched_means(one).items()},
        "keeps_constraints": tuning.searched_keeps(one),
    }
