"""The search: Optuna asks, every setting runs a little, the better third three times as much, and so on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from halfopen.errors import ScenarioError
from halfopen.optional import load
from halfopen.params import Settings, key_of
from halfopen.tuning.bench import Bench, Candidate
from halfopen.tuning.judge import Judge
from halfopen.tuning.space import Asking

KEPT = 3  # of so many settings one goes on, with so many times the replicates
FEWEST = 3  # go on, however small the pool is
LEAST = 2  # replicates of the first rung
_TRIES = 50  # asked for each setting that is wanted, until one is usable and new


class Refused(NamedTuple):
    """Settings that make no scenario."""

    settings: Settings
    why: str


def rungs(replicates: int) -> tuple[int, ...]:
    """Replicates after which the better third goes on: 2, 6, 20 of 20."""
    out = [replicates]
    while out[0] // KEPT >= LEAST:
        out.insert(0, out[0] // KEPT)
    return tuple(out)


class Search:
    """Settings that were asked for and what became of them.

    After each batch, the best third (and no fewer than three) of all that reached a rung goes on to the next one, unless it
    did before: successive halving without waiting for the last setting. Optuna is told means over the replicates that a
    setting got until the end of its batch; they are the first of the same replicates for every setting. Where its sampler
    asks for what has been tried, or can't be run, the next one is drawn at random: a sampler that is sure of itself would
    ask for the same again.
    """

    def __init__(self, bench: Bench, judge: Judge, asking: Asking, now: Candidate, sampler: Any, seed: int) -> None:
        self._bench, self._judge, self._asking, self._now = bench, judge, asking, now
        self.candidates: list[Candidate] = []
        self.refused: list[Refused] = []
        self._rungs = rungs(bench.replicates)
        self._seen = {key_of(now.settings)}
        self._random = load("optuna.samplers", "optuna", "tune()").RandomSampler(seed=(seed + 1) % 2**32)
        with quiet():
            self._study = self._begin(sampler, seed)

    def _begin(self, sampler: Any, seed: int) -> Any:
        optuna = load("optuna", "optuna", "tune()")
        goals = self._judge.objectives
        directions = ["minimize" if goal.way == "min" else "maximize" for goal in goals]
        study = optuna.create_study(
            directions=directions, sampler=sampler or optuna.samplers.TPESampler(seed=seed % 2**32)
        )
        params = self._asking.params(self._now.settings)
        if params is not None:
            study.add_trial(
                optuna.trial.create_trial(
                    params=params,
                    distributions=self._asking.distributions,
                    values=self._judge.means(self._now, self._now.replicates),
                    constraints=self._broken(self._now),
                )
            )
        return study

    def run(self, trials: int, batch: int) -> None:
        """Try so many settings. Raises ValueError if none makes a scenario."""
        with quiet():
            while len(self.candidates) < trials:
                asked = self._ask(min(batch, trials - len(self.candidates)))
                if not asked:
                    break
                fresh = [one for _, one in asked]
                self.candidates += fresh
                self._bench.measure(fresh, self._rungs[0])
                self._promote()
                for trial, one in asked:
                    self._tell(trial, one)
        if not self.candidates and self.refused:
            raise ValueError(f"none of the settings that were tried makes a scenario:\n{self.refused[0].why}")
        if not self.candidates:
            raise ValueError("the space holds nothing but what is there now: there is nothing to try")

    def finished(self) -> list[Candidate]:
        """Those that got every replicate."""
        return [one for one in self.candidates if one.replicates == self._bench.replicates]

    def _ask(self, wanted: int) -> list[tuple[Any, Candidate]]:
        """Fewer, if all that comes has been tried: a space may be small."""
        out: list[tuple[Any, Candidate]] = []
        for _ in range(wanted):
            found = next((found for n in range(_TRIES) if (found := self._ask_one(len(out), at_random=n > 0))), None)
            if found is None:
                break
            out.append(found)
        return out

    def _ask_one(self, beside: int, *, at_random: bool) -> tuple[Any, Candidate] | None:
        sampler = self._study.sampler
        if at_random:
            self._study.sampler = self._random
        trial = self._study.ask(dict(self._asking.distributions))
        self._study.sampler = sampler
        settings = self._asking.settings(trial.params)
        if key_of(settings) in self._seen:
            self._fail(trial)
            return None
        self._seen.add(key_of(settings))
        try:
            for entrant in self._bench.entrants:
                entrant.set_to(settings)
        except ScenarioError as error:
            self.refused.append(Refused(settings, str(error)))
            self._fail(trial)
            return None
        return trial, Candidate(len(self.candidates) + beside + 1, settings)

    def _promote(self) -> None:
        for reached, following in zip(self._rungs, self._rungs[1:], strict=False):
            pool = [one for one in self.candidates if one.replicates >= reached]
            best = self._judge.ranked(pool, reached)[: max(FEWEST, len(pool) // KEPT)]
            self._bench.measure(best, following)

    def _tell(self, trial: Any, one: Candidate) -> None:
        means = self._judge.means(one, one.replicates)
        middling = self._judge.means(self._now, self._now.replicates)
        for k in range(len(means)):  # nothing is known yet, for or against it
            means[k] = means[k] if self._judge.there(k, one.replicates) else middling[k]
        if any(mean != mean for mean in means):
            self._fail(trial)
            return
        for name, value in self._broken(one).items():
            trial.set_constraint(name, value)
        self._study.tell(trial, means)

    def _broken(self, one: Candidate) -> dict[str, float]:
        excesses = self._judge.excesses(one, one.replicates)
        return {str(limit): min(excess, 1e300) for limit, excess in zip(self._judge.constraints, excesses, strict=True)}

    def _fail(self, trial: Any) -> None:
        self._study.tell(trial, state=load("optuna.trial", "optuna", "tune()").TrialState.FAIL)


def plainer(
    one: Candidate, now: Settings, first: int, bench: Bench, judge: Judge, tried: Sequence[Candidate]
) -> tuple[Candidate, list[Candidate]]:
    """A setting without the changes that buy nothing, and all forms that were run for it, numbered from `first`.

    A change buys nothing if without it the mean of no objective is worse by more than its margin, and every constraint is
    kept, over the same replicates. One change after another is taken back, in the order of the space.
    """
    known = {key_of(other.settings): other for other in tried}
    ran: list[Candidate] = []
    best = one
    for pointer in one.settings:
        settings = _without(best.settings, pointer, now)
        if key_of(settings) == key_of(best.settings) or not _makes_scenarios(bench, settings):
            continue
        form = known.get(key_of(settings))
        if form is None:
            form = Candidate(first + len(ran), settings, one.number)
            ran.append(form)
        bench.measure([form], bench.replicates)
        pairs = zip(judge.objectives, judge.signed(form, bench.replicates), judge.signed(one, bench.replicates), strict=True)
        if judge.feasible(form, bench.replicates) and all(mean <= before + goal.margin for goal, mean, before in pairs):
            best = form
    return best, ran


def _without(settings: Settings, pointer: str, now: Settings) -> Settings:
    """With one of them as it is now, or not there if it is not there now."""
    if pointer in now:
        return settings | {pointer: now[pointer]}
    return {name: value for name, value in settings.items() if name != pointer}


def _makes_scenarios(bench: Bench, settings: Settings) -> bool:
    try:
        for entrant in bench.entrants:
            entrant.set_to(settings)
    except ScenarioError:
        return False
    return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Optuna says nothing of every trial meanwhile."""
    logging = load("optuna.logging", "optuna", "tune()")
    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(before)
