"""`halfopen.tune`: from scenarios, objectives and constraints to a recommended block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from halfopen import stats
from halfopen.check import real, whole
from halfopen.designs import Space
from halfopen.optional import load
from halfopen.progress import Bar, Progress
from halfopen.scenario import Scenario
from halfopen.sweep import MAX_THREADS
from halfopen.tuning.bench import Bench, Candidate
from halfopen.tuning.goals import DEFAULTS, WORKED_OUT, Constraint, Objective, is_about
from halfopen.tuning.healthy import Healths
from halfopen.tuning.judge import Judge, on_front
from halfopen.tuning.places import Entrant, matched
from halfopen.tuning.result import Tuning, changes
from halfopen.tuning.search import FEWEST, KEPT, Search, plainer, rungs
from halfopen.tuning.space import Asking, check_same, check_values, present, space_within

Scenarios = Scenario | Sequence[Scenario] | Mapping[str, Scenario]
SEEDS = 2**64
OPTUNA = 5
"""The oldest one whose samplers know constraints without a function of their own."""


def tune(
    scenario: Scenarios,
    objectives: str | Objective | Sequence[str | Objective] | None = None,
    constraints: str | Constraint | Sequence[str | Constraint] | None = (),
    *,
    params: Space | None = None,
    healthy_ejections_per_day: float | None = 1.0,
    healthy_error_ratio: float | None = None,
    trials: int = 36,
    replicates: int = 20,
    seed: int | None = None,
    level: float = 0.95,
    batch: int = 9,
    sampler: Any | None = None,
    executor: Executor | None = None,
    threads: int = 0,
    store: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Tuning:
    """Look for good settings by Optuna, and say how sure that is. Needs Optuna (the extra `optuna`).

    1. What the scenarios have now runs in all replicates: the setting that others are compared with.
    2. Optuna asks for `batch` settings at a time. Each runs 2 replicates (of 20), the best third of all that did 6, the best
       third of those all 20: bad settings cost little. Every replicate has the same seed for every setting.
    3. Changes of the best setting that buy nothing are taken back, one after another.
    4. The front of those that got every replicate runs as many again, with seeds that had no part in the choice. All means,
       intervals, differences and the recommendation are of these runs alone, so that the luck of the best of many is not
       among them. Objective by objective in their order, those settings stay that are not shown to be worse than the best; of
       these, the one that keeps the constraints for sure and changes the least is recommended.
    5. The recommendation is put to `halfopen.analyze` and `halfopen.lint`, beside what is there now: `Tuning.healthy`,
       `findings`. What the runs of these scenarios can't show is said: `warnings`.

    Parameters
    ----------
    scenario : one, several, or {name: scenario}; a report calls them by their names. Their settings must be the same, upstream
        by upstream: these are matched by name.
    objectives : names of metrics with a direction, the most important first: "min:failed", "max:success_ratio@NAME" of one
        scenario, "min:failed~10" where differences of up to 10 do not matter; or `halfopen.tuning.Objective`. How several
        scenarios are put together, and what counts where nothing was measured: see `halfopen.tuning.goals`. Without any:
        failed, false_ejections, time_to_detect_ms and survivor_load_max, as far as they can be measured.
    constraints : "false_ejections<=0", "success_ratio@NAME>=0.99", of the mean over replicates, in each scenario (or
        that one).
    params : what is searched, as of `halfopen.design`: `{"/upstreams/0/health/consecutive_failures": (2, 10)}`. Without it
        `halfopen.tuning.default_space(scenario)`. Numbers of ranges are rounded to two digits.
    healthy_ejections_per_day : a constraint unless it is None: how often a healthy endpoint may be ejected in a day in rotation,
        at most, by `halfopen.analyze`. A brownout alone would let a single error eject, for it has no errors of healthy
        endpoints. Left out where no upstream has a health block or traffic with a rate. "healthy_ejections_per_day<=N"
        among `constraints` takes its place.
    healthy_error_ratio : of a healthy endpoint, from 0 to 1, for that and for what is said of it. That of the scenario's errors
        on every endpoint for the whole run unless given, 0.005 without any.
    trials : how many settings are tried.
    replicates : runs of a setting in each scenario, from 2, if it gets them all; and as many again for the front.
    seed : of replicate 1 and of Optuna; that of the (first) scenario unless given.
    level : of confidence, of each interval; those of differences hold together, see `halfopen.tuning.judge`.
    batch : settings asked for at a time.
    sampler : of Optuna, in place of `TPESampler`; the result is reproducible if it is.
    executor, threads, store, progress : as in `Sweep.run`. With a store, a search that was killed runs only what is missing:
        the same call asks for the same settings.

    The same arguments give the same result to the byte. Raises ValueError, with a sentence, for what can't be tuned.
    """
    _check_optuna()
    trials, replicates, batch = whole("trials", trials, 1), whole("replicates", replicates, 2), whole("batch", batch, 1)
    level, threads = real("level", level, 0, 1), whole("threads", threads, 0, MAX_THREADS)
    stats.check(level, "t")
    if sampler is not None and not hasattr(sampler, "before_trial"):
        raise TypeError(f"sampler is {sampler!r}: it must be one of Optuna's, such as optuna.samplers.TPESampler(seed=1)")
    entrants = matched(_entrants(scenario))
    space = space_within(entrants) if params is None else params
    check_values(entrants, space)
    asking = Asking(space)
    check_same(entrants, list(asking.parts))
    goals = [_objective(one) for one in _listed("objectives", objectives) or DEFAULTS]
    limits = [_constraint(one) for one in _listed("constraints", constraints)]
    _check_names(entrants, [*goals, *limits])
    most = _most(healthy_ejections_per_day, limits, entrants, asking)
    ratio = None if healthy_error_ratio is None else real("healthy_error_ratio", healthy_error_ratio, 0, 1)
    first = entrants[0].scenario.seed if seed is None else whole("seed", seed)
    bar = Bar(progress, _expected(trials, replicates) * len(entrants), 0)
    try:
        run: dict[str, Any] = {"executor": executor, "threads": threads, "store": store}
        healths = Healths(entrants, ratio, threads, list(asking.parts))
        bench = Bench(entrants, goals, _each([*limits, *most], entrants, healths), replicates, first, bar, healths, run)
        now = Candidate(0, {name: there[0] for name in asking.parts if (there := present(entrants[0].scenario, name))})
        bench.measure([now], replicates)
        left_out = _leave_out(bench, now, most, optional=not objectives)
        judge = Judge(bench.objectives, bench.constraints, now, level)
        search = Search(bench, judge, asking, now, sampler, first)
        search.run(trials, batch)
        plainest, forms = _plainest(search, bench, judge, now)
        tried = [*search.candidates, *forms]
        fresh = Bench(
            entrants, bench.objectives, bench.constraints, replicates, (first + replicates) % SEEDS, bar, healths, run
        )
        confirmed = [Candidate(one.number, one.settings, one.origin) for one in _to_confirm(tried, plainest, bench, judge, now)]
        fresh.measure(confirmed, replicates)
    finally:
        bar.close()
    return Tuning(bench, fresh, asking, tuple(tried), now, tuple(confirmed), search, left_out, level, trials, batch)


def _plainest(search: Search, bench: Bench, judge: Judge, now: Candidate) -> tuple[Candidate, list[Candidate]]:
    """The best setting that was tried without the changes that buy nothing, and what ran for it; what is there now, if that
    beats it in everything or nothing that was tried keeps the constraints."""
    good = [one for one in search.finished() if judge.feasible(one, bench.replicates)]
    if not good:
        return now, []
    best = judge.recommended(good, lambda one: len(changes(one.settings, now.settings)))
    points = [judge.signed(one, bench.replicates) for one in (best, now)]
    if judge.feasible(now, bench.replicates) and not on_front(points)[0]:
        return now, []
    return plainer(best, now.settings, len(search.candidates) + 1, bench, judge, [now, *search.candidates])


def _to_confirm(
    tried: Sequence[Candidate], plainest: Candidate, bench: Bench, judge: Judge, now: Candidate
) -> list[Candidate]:
    """What the scenarios have now, the front of the settings that got every replicate and keep the constraints, and the
    plainest form of the best; of those with the same results in every run the one with the fewest changes. If none keeps the
    constraints, the one that breaks them least."""
    finished = [one for one in [now, *tried] if one.replicates == bench.replicates]
    plain: dict[bytes, Candidate] = {}
    for one in sorted(finished, key=lambda one: (len(changes(one.settings, now.settings)), one.number)):
        plain.setdefault(one.outcome, one)
    good = [one for one in plain.values() if judge.feasible(one, bench.replicates)]
    if not good:
        nearest = judge.ranked(finished, bench.replicates)[0]
        return [now] if nearest is now else [now, nearest]
    front = on_front([judge.signed(one, bench.replicates) for one in good])
    chosen = {one.number: one for one, leads in zip(good, front, strict=True) if leads or one is plainest}
    return [now, *(chosen[number] for number in sorted(chosen) if number != 0)]


def _leave_out(bench: Bench, now: Candidate, most: Sequence[Constraint], *, optional: bool) -> list[str]:
    """Goals that can't be measured go, if nobody asked for them; what was left out."""
    goals = [bool(np.any(~np.isnan(row))) for row in now.goals]
    for goal, there in zip(bench.objectives, goals, strict=True):
        if not there and not optional:
            raise ValueError(
                f"{goal} was not measured in any replicate with the settings that the scenarios have now, so there is "
                "nothing to compare with: ask for another metric, or give a scenario in which it is"
            )
    limits = [bool(np.any(~np.isnan(row))) for row in now.limits]
    for limit in bench.constraints:
        of_metric = [there for one, there in zip(bench.constraints, limits, strict=True) if one.metric == limit.metric]
        if not any(of_metric) and not (most and limit.metric == WORKED_OUT):
            raise ValueError(f"{limit} was not measured in any replicate with the settings that the scenarios have now")
    out = [str(goal) for goal, there in zip([*bench.objectives, *bench.constraints], goals + limits, strict=True) if not there]
    bench.keep(now, np.flatnonzero(goals).tolist(), np.flatnonzero(limits).tolist())
    return out


def _most(most: float | None, limits: Sequence[Constraint], entrants: Sequence[Entrant], asking: Asking) -> list[Constraint]:
    """The constraint that nobody has to ask for, unless something of its kind was asked for, or no endpoint is ever ejected."""
    if most is None or any(limit.metric == WORKED_OUT for limit in limits):
        return []
    limit = Constraint(WORKED_OUT, real("healthy_ejections_per_day", most, 0, 1e12))
    searched = any("/health" in pointer for pointer in asking.parts)
    upstreams = [upstream for one in entrants for upstream in one.scenario.to_dict()["upstreams"]]
    ejects = any(isinstance(upstream.get("health"), dict) for upstream in upstreams)
    return [limit] if searched or ejects else []


def _each(limits: Sequence[Constraint], entrants: Sequence[Entrant], healths: Healths) -> list[Constraint]:
    """Each constraint of one scenario; those about detection not of one in which only background errors are there to detect."""
    if len(entrants) == 1:
        return list(limits)
    return [
        limit.at(one.name)
        for limit in limits
        for one in entrants
        if is_about(limit, one.name, healths.apart)
    ]


def _listed(name: str, given: Any) -> list[Any]:
    """One, several or none; each a text or what it is read as."""
    kind = Objective if name == "objectives" else Constraint
    several = [given] if isinstance(given, str | Objective | Constraint) else given or ()
    out = list(several) if isinstance(several, Iterable) else [several]
    wrong = next((one for one in out if not isinstance(one, str | kind)), None)
    if wrong is not None or None in out:
        such_as = f"{_SUCH_AS[name]!r}, or halfopen.tuning.{kind.__name__}"
        raise TypeError(f"{name} has {wrong!r}: it must be a text, such as {such_as}, or a list of them")
    return out


_SUCH_AS = {"objectives": "min:failed", "constraints": "failed<=10"}


def _objective(one: str | Objective) -> Objective:
    return one if isinstance(one, Objective) else Objective.of(one)


def _constraint(one: str | Constraint) -> Constraint:
    return one if isinstance(one, Constraint) else Constraint.of(one)


def _entrants(given: Scenarios) -> list[Entrant]:
    if isinstance(given, Scenario):
        given = [given]
    if isinstance(given, Mapping):
        out = [Entrant(str(name), scenario) for name, scenario in given.items()]
    else:
        out = [Entrant(scenario.name or f"scenario-{n}", scenario) for n, scenario in enumerate(given, 1) if _is(scenario)]
    names = [one.name for one in out]
    for one in out:
        _is(one.scenario)
        if names.count(one.name) > 1:
            raise ValueError(f"two scenarios are called {one.name!r}: give them as {{name: scenario}} with other names")
    if not out:
        raise ValueError("there is no scenario: tune() needs at least one")
    return out


def _is(scenario: object) -> bool:
    if not isinstance(scenario, Scenario):
        raise TypeError(f"tune() takes halfopen.Scenario, not {type(scenario).__name__}: make one by Scenario.load(path)")
    return True


def _check_names(entrants: Sequence[Entrant], goals: Sequence[Objective | Constraint]) -> None:
    names = [one.name for one in entrants]
    for goal in goals:
        if goal.scenario is not None and goal.scenario not in names:
            raise ValueError(f"{goal}: there is no scenario {goal.scenario!r}; there are {', '.join(names)}")
    labels = [goal.label for goal in goals if isinstance(goal, Objective)]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is an objective twice")


def _check_optuna() -> None:
    version = str(getattr(load("optuna", "optuna", "tune()"), "__version__", "0"))
    major = version.split(".")[0]
    if not major.isdecimal() or int(major) < OPTUNA:
        raise ImportError(
            f"tune() needs optuna {OPTUNA} or newer, and {version} is installed: pip install --upgrade 'halfopen[optuna]'"
        )


def _expected(trials: int, replicates: int) -> int:
    """Runs in one scenario, about: for the bar of progress."""
    out, before, going = 2 * replicates, 0, trials
    for rung in rungs(replicates):
        out += going * (rung - before)
        going, before = max(min(FEWEST, going), going // KEPT), rung
    return out + going * replicates
