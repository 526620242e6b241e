"""Optuna over sweeps, by ask and tell: several settings of a scenario, one objective or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from halfopen.designs import Range, Space, space_of
from halfopen.errors import ScenarioError
from halfopen.optional import load
from halfopen.params import Settings, value_of
from halfopen.scenario import Scenario
from halfopen.sweep import Sweep, known_metrics

if TYPE_CHECKING:
    import optuna  # type: ignore[import-untyped, import-not-found, unused-ignore]

Objective = str | Callable[[dict[str, float]], float]


def tune(
    study: optuna.Study,
    scenario: Scenario,
    space: Space,
    objectives: Sequence[Objective],
    *,
    trials: int,
    batch: int = 8,
    replicates: int = 20,
    seed: int | None = None,
    **run: Any,
) -> optuna.Study:
    """Let a study of Optuna look for good settings.

    Asks for `batch` trials at a time, runs them all as one sweep over every core, and tells their means. Every trial has
    the same seeds, so that they differ by their settings and not by luck. Deterministic if the study's sampler has a seed.

    Parameters
    ----------
    study : `optuna.create_study(directions=["minimize", "minimize"], sampler=optuna.samplers.TPESampler(seed=7))`.
    space : what each setting may be, as of `halfopen.design`.
    objectives : one for each direction of the study: the name of a metric, whose mean over replicates is told, or a
        function of {metric: mean}, say `lambda mean: mean["failed"] + 10 * mean["missed"]`.
    trials : how many more.
    **run : of `Sweep.run`: executor, store, progress, …

    Returns the study. A trial whose settings make no usable scenario, or whose objective was not measured, has failed, and
    its user attribute "why" says so in a sentence.
    """
    parts = space_of(space)
    if len(objectives) != len(study.directions):
        raise ValueError(f"the study has {len(study.directions)} directions, and there are {len(objectives)} objectives")
    known_metrics([name for name in objectives if isinstance(name, str)])
    if batch < 1:
        raise ValueError(f"batch is a number of trials from 1, not {batch}")
    distributions, choices = _distributions(parts)
    while trials > 0:
        asked = [study.ask(dict(distributions)) for _ in range(min(batch, trials))]
        trials -= len(asked)
        settings = [{name: choices.get((name, value), value) for name, value in trial.params.items()} for trial in asked]
        usable = [n for n, trial in enumerate(asked) if _is_usable(study, trial, scenario, settings[n])]
        if usable:
            sweep = Sweep(scenario, points=[settings[n] for n in usable], replicates=replicates, seed=seed)
            table = sweep.run(**run).summary_table()
            means: list[dict[str, float]] = [{} for _ in usable]
            for point, metric, mean in zip(table["point"], table["metric"], table["mean"], strict=True):
                means[point][metric] = float(mean)
            for n, mean_of in zip(usable, means, strict=True):
                _tell(study, asked[n], objectives, mean_of)
    return study


def _distributions(parts: Mapping[str, Range | list[Any]]) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """What Optuna asks from, and what its texts mean: it knows no choice that is a list or an object."""
    of = load("optuna.distributions", "optuna", "tune()")
    out: dict[str, Any] = {}
    choices: dict[tuple[str, str], Any] = {}
    for name, part in parts.items():
        if isinstance(part, Range):
            kind = of.IntDistribution if part.whole else of.FloatDistribution
            number = int if part.whole else float
            out[name] = kind(number(part.low), number(part.high), log=part.log)
            continue
        values = [value_of(one) for one in part]
        plain = [one.value if one.value is None or isinstance(one.value, bool | int | float | str) else one.text for one in values]
        choices |= {(name, one.text): one.value for one in values if isinstance(one.value, list | dict)}
        out[name] = of.CategoricalDistribution(plain)
    return out, choices


def _is_usable(study: optuna.Study, trial: optuna.Trial, scenario: Scenario, settings: Settings) -> bool:
    try:
        scenario.with_(settings)
    except ScenarioError as error:
        _fail(study, trial, str(error))
        return False
    return True


def _tell(study: optuna.Study, trial: optuna.Trial, objectives: Sequence[Objective], means: dict[str, float]) -> None:
    values = [float(means[one] if isinstance(one, str) else one(means)) for one in objectives]
    if any(value != value for value in values):
        return _fail(study, trial, "an objective was not measured in any replicate")
    for metric, mean in means.items():
        if mean == mean:
            trial.set_user_attr(metric, mean)
    study.tell(trial, values)


def _fail(study: optuna.Study, trial: optuna.Trial, why: str) -> None:
    trial.set_user_attr("why", why)
    study.tell(trial, state=load("optuna.trial", "optuna", "tune()").TrialState.FAIL)
