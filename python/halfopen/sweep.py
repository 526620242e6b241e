"""Sweeps: one scenario at many settings, several seeds each, over all cores or whatever executor is given."""

from __future__ import annotations

import difflib
import operator
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from halfopen import _core
from halfopen.check import whole
from halfopen.executors import Chunk, Plan, nothing_done, submit_all, tidy, usable
from halfopen.frame import Frame, column_of
from halfopen.keeper import PART_RUNS, RESULTS, Keeper
from halfopen.params import Settings, Where, points_of
from halfopen.progress import Bar, Progress
from halfopen.result import Result
from halfopen.result import run as run_scenario
from halfopen.scenario import Scenario
from halfopen.sweep_result import SweepResult

LOOK_S = 0.2  # between two looks at what is done
MAX_THREADS = 1024


class SweepRun(NamedTuple):
    """One run of a sweep."""

    number: int
    """From 1."""
    point: int
    """Which of the sweep's points, from 0."""
    replicate: int
    """From 1."""
    seed: int
    """The same for the same replicate at every point."""
    settings: Settings
    """Value by JSON pointer."""


class Sweep:
    """A scenario at many settings, each with several seeds: numbered runs, in a fixed order.

    Parameters
    ----------
    scenario : what is swept.
    params : a grid, `{pointer: values}`, of which the last parameter varies fastest. A tuple of pointers is set together:
        `{("/a", "/b"): zip([1, 2], [3, 4])}` are two values and not four.
    points : in place of a grid, a list of `{pointer: value}` or a frame of pandas, as `halfopen.design` makes one.
    where : what a point must fulfil to be run: an expression such as `"{/a} < 2 * {/b}"`, a function of
        `{pointer: value}`, or several of them.
    replicates : runs a point. Replicate 1 has the seed, the next one seed + 1 and so on (modulo 2^64), at every point:
        the same replicate has the same luck everywhere, so that what differs is due to the settings.
    seed : from 0 to 2^64 - 1; that of the scenario unless given. A second sweep that shall not share replicates with this
        one begins at seed + replicates.
    metrics : names of metrics, as `Result.summary` has them: the columns of the result. All of them unless given.

    Raises ValueError, with a sentence, for what can't be swept; what is wrong with the scenario at some point raises
    `ScenarioError` from `run()`, `runs()` and the like, before anything runs.

    >>> sweep = Sweep(scenario, {"/upstreams/0/health/consecutive_failures": [2, 5, 10]}, replicates=20, seed=7)
    >>> result = sweep.run()
    >>> runs, means = result.frame, result.summary()
    >>> saved = result.compare({"/upstreams/0/health/consecutive_failures": 5})
    """

    def __init__(
        self,
        scenario: Scenario,
        params: Mapping[Any, Iterable[Any]] | None = None,
        *,
        points: Any | None = None,
        where: Where | Iterable[Where] | None = None,
        replicates: int = 20,
        seed: int | None = None,
        metrics: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(scenario, Scenario):
            raise TypeError(f"a sweep needs a halfopen.Scenario, not {type(scenario).__name__}: make one by Scenario.load(path)")
        self.scenario = scenario
        self.metrics = known_metrics(metrics)
        self.replicates = whole("replicates", replicates, 1)
        self.seed = None if seed is None else whole("seed", seed)
        self._points = points_of(params, points, where)
        texts = tuple(tuple(self._points.texts(n)) for n in range(len(self._points.rows)))
        self._plan = Plan(_core.__version__, scenario._core, self.seed, self._points.pointers, texts, self.replicates)
        self._core = self._plan.core()
        self._lock = threading.RLock()
        self._prepared: set[int] = set()
        self._done: list[Chunk] = []

    @property
    def params(self) -> tuple[str, ...]:
        """The JSON pointers that are set, in order."""
        return self._points.pointers

    @cached_property
    def points(self) -> tuple[Settings, ...]:
        """The settings of each point."""
        return tuple(self._points.settings(n) for n in range(len(self._points.rows)))

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, number: int) -> SweepRun:
        """Run `number`, from 1."""
        return self.runs([number])[0]

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self.runs())

    def runs(self, numbers: Iterable[int] | None = None) -> list[SweepRun]:
        """The runs, all or some, in order."""
        chosen = self._chosen(numbers)
        with self._lock:
            self._prepare(chosen)
            seeds, _ = self._core.identities(chosen)
        rows = zip(chosen, seeds.tolist(), strict=True)
        return [SweepRun(n, self._point(n), (n - 1) % self.replicates + 1, seed, self.points[self._point(n)]) for n, seed in rows]

    def scenario_of(self, number: int) -> Scenario:
        """The scenario of one run, with its settings and its seed."""
        run = self[number]
        return self.scenario.with_(run.settings).with_seed(run.seed)

    def run_one(self, number: int) -> Result:
        """One run alone, with all its tables."""
        return run_scenario(self.scenario_of(number))

    def run(
        self,
        numbers: Iterable[int] | None = None,
        *,
        executor: Executor | None = None,
        threads: int = 0,
        store: str | os.PathLike[str] | None = None,
        progress: Progress = None,
        batch: int | None = None,
    ) -> SweepResult:
        """Run what has not been run yet, and answer all of it. The result is the same to the byte however it is run.

        Parameters
        ----------
        numbers : some of the runs; `range(3, len(sweep) + 1, 8)` is the third of eight shares. None of them: no rows.
        executor : any `concurrent.futures.Executor`: a pool of processes, `client.get_executor()` of Dask,
            `halfopen.ray_executor()`. Without one, C++ threads of this process run without the GIL. Files that the
            scenario names travel with it; those that only a parameter's value names must be where the workers are.
        threads : of those; 0 for as many as there are processors.
        store : a folder that keeps what is run (needs pyarrow). Only what it lacks is run, whoever put it there.
        progress : see `halfopen.progress.Bar`.
        batch : runs a task of the executor, and a part of the store: 200 of these unless given, and every 2 s at least.
            A killed sweep loses at most one part. C++ threads hand over every 0.2 s, so that no part is smaller than that.

        Ctrl-C raises KeyboardInterrupt within a fraction of a second; what is done is kept in the store, and in this
        object: `run()` again goes on from there.
        """
        size = PART_RUNS if batch is None else whole("batch", batch, 1)
        whole("threads", threads, 0, MAX_THREADS)
        if executor is not None:
            usable(executor)
        chosen = self._chosen(numbers)
        with self._lock:
            self._prepare(chosen)
            keeper = Keeper(self, store, size)
            missing = keeper.missing(chosen)
            bar = Bar(progress, len(chosen), len(chosen) - len(missing))

            def take(chunk: Chunk) -> None:
                keeper.take(chunk)
                bar.add(len(chunk["run"]))

            try:
                if missing and executor is not None:
                    submit_all(executor, self._plan, missing, batch, take, keeper.take)
                elif missing:
                    self._core.execute(missing, threads, LOOK_S, lambda columns: take(tidy(columns)))
            finally:
                bar.close()
                keeper.flush()
            return SweepResult(self, self._table(chosen))

    def _chosen(self, numbers: Iterable[int] | None) -> list[int]:
        if numbers is None:
            return list(range(1, len(self) + 1))
        chosen = sorted({operator.index(number) for number in numbers})
        wrong = next((number for number in chosen if not 1 <= number <= len(self)), None)
        if wrong is not None:
            raise IndexError(f"there is no run {wrong}: they are numbered from 1 to {len(self)}")
        return chosen

    def _point(self, number: int) -> int:
        return (number - 1) // self.replicates

    def _prepare(self, numbers: list[int]) -> None:
        """Every point is read before anything runs."""
        points = {self._point(number) for number in numbers}
        if not points <= self._prepared:
            wanted = sorted(points | self._prepared)
            self._core.prepare([point * self.replicates + 1 for point in wanted])
            self._prepared |= points

    def _table(self, numbers: list[int]) -> Frame:
        """A row a run, by number."""
        done = self._done or [nothing_done()]
        runs = np.concatenate([chunk["run"] for chunk in done])
        known, first = np.unique(runs, return_index=True)
        rows = first[np.searchsorted(known, np.array(numbers, dtype=np.int64))]
        points = np.array([self._point(number) for number in numbers], dtype=np.int64)
        columns = {"run": runs[rows], "point": points, "replicate": (runs[rows] - 1) % self.replicates + 1}

        def result(name: str) -> None:
            columns[name] = np.concatenate([chunk[name] for chunk in done])[rows]

        result("seed")
        for n, pointer in enumerate(self.params):
            values = [row[n] for row in self._points.rows]
            columns[pointer] = column_of([one.value for one in values], [one.text for one in values])[points]
        for name in (*self.metrics, *RESULTS):
            result(name)
        return Frame(columns)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_core", "_lock", "_prepared")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core, self._lock, self._prepared = self._plan.core(), threading.RLock(), set()

    def __repr__(self) -> str:
        name = self.scenario.name or "(no name)"
        counts = ((len(self), "run"), (len(self._points.rows), "point"), (len(self.params), "parameter"))
        runs, points, params = (f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        return f"<Sweep of {name}: {runs}, {points} of {params}>"


def known_metrics(names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of metrics as given, or all in documented order. Raises ValueError."""
    every = [row[0] for row in _core.metrics()]
    if isinstance(names, str):
        raise ValueError(f"metrics is a list of names: [{names!r}]")
    names = None if names is None else list(names)
    for name in names or ():
        if name not in every:
            near = difflib.get_close_matches(str(name), every, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(every)}"
            raise ValueError(f"there is no metric {name!r}: {hint}")
    return tuple(every if names is None else dict.fromkeys(names))
