"""Batches of runs as tasks for any `concurrent.futures.Executor`, and Ray as one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfopen import _core
from halfopen.frame import Column, texts
from halfopen.optional import load

Chunk = dict[str, Column]
WORDS = ("fingerprint", "digest")


@dataclass(frozen=True)
class Plan:
    """What every task of a sweep must know, plain data: pickles, and is the same in every process."""

    version: str
    scenario: _core.Scenario  # with the files that it names
    seed: int | None
    pointers: tuple[str, ...]
    points: tuple[tuple[str, ...], ...]
    replicates: int

    def core(self) -> _core.Sweep:
        """Ready to run. Raises ValueError if it can't be swept at all."""
        return _core.Sweep(self.scenario, self.seed, self.pointers, self.points, self.replicates)


@dataclass(frozen=True)
class Task:
    """Some runs of a sweep, by number, with the points that they need and no others."""

    plan: Plan
    numbers: tuple[int, ...]

    def of(self, numbers: list[int]) -> Task:
        """Some of it, in the numbers of the whole."""
        replicates = self.plan.replicates
        points = sorted({(number - 1) // replicates for number in numbers})
        return Task(replace(self.plan, points=tuple(self.plan.points[point] for point in points)), tuple(numbers))


def run_task(task: Task) -> Chunk:
    """Run a task on the calling thread; what came out, by column. A function of its argument alone."""
    if task.plan.version != _core.__version__:
        raise RuntimeError(
            f"this worker has halfopen {_core.__version__}, the sweep {task.plan.version}: install the same everywhere"
        )
    replicates = task.plan.replicates
    points = sorted({(number - 1) // replicates for number in task.numbers})
    place = {point: n for n, point in enumerate(points)}
    theirs = {place[(n - 1) // replicates] * replicates + (n - 1) % replicates + 1: n for n in task.numbers}
    chunks: list[Chunk] = []
    task.plan.core().execute(list(theirs), 1, 3600.0, lambda chunk: chunks.append(tidy(chunk)))
    out = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    out["run"] = np.array([theirs[number] for number in out["run"].tolist()], dtype=np.int64)
    return out


def tidy(columns: dict[str, Any]) -> Chunk:
    """What C++ hands over, with its words as columns."""
    return {name: texts(values) if name in WORDS else values for name, values in columns.items()}


def nothing_done() -> Chunk:
    """The columns of no runs at all."""
    numbers = {name: np.empty(0) for name in (row[0] for row in _core.metrics())}
    counts = {name: np.empty(0, dtype=np.int64) for name in ("run", "expectations", "held")}
    return {**counts, "seed": np.empty(0, dtype=np.uint64), **numbers, **{name: texts([]) for name in WORDS}}


def usable(executor: Any) -> None:
    """TypeError, with what would be right, for what can't run tasks."""
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {executor!r}: it must be a concurrent.futures.Executor, as ProcessPoolExecutor() makes one, "
            "client.get_executor() of Dask or halfopen.ray_executor()"
        )
    if hasattr(executor, "get_executor"):
        raise TypeError("executor is a client of Dask: give what its get_executor() answers")


def batch_size(executor: Executor, runs: int) -> int:
    """Runs a task: some eight tasks for each worker, so that none waits long for the last, and at most 50."""
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return max(1, min(50, runs // (8 * int(workers))))


def submit_all(
    executor: Executor,
    plan: Plan,
    numbers: list[int],
    batch: int | None,
    take: Callable[[Chunk], None],
    keep: Callable[[Chunk], None],
) -> None:
    """Run them all; `take` gets each batch as it is done. If that ends early, `keep` gets what is done besides."""
    size = batch_size(executor, len(numbers)) if batch is None else batch
    whole = Task(plan, ())
    futures: set[Future[Chunk]] = set()
    try:
        for at in range(0, len(numbers), size):
            futures.add(executor.submit(run_task, whole.of(numbers[at : at + size])))
        for future in as_completed(tuple(futures)):
            chunk = future.result()
            futures.discard(future)  # its memory is free
            take(chunk)
    finally:
        for future in futures:
            future.cancel()
        for future in futures:
            if future.done() and not future.cancelled() and future.exception() is None:
                keep(future.result())


class RayExecutor(Executor):
    """Ray as a `concurrent.futures.Executor`: each call is a task of Ray's. See `ray_executor`."""

    def __init__(self, **options: Any) -> None:
        self._ray = ray = load("ray", "ray", "ray_executor()")
        self._call = ray.remote(**options)(_call) if options else ray.remote(_call)
        self._lock = threading.Lock()
        self._pending: dict[Future[Any], Any] = {}
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Starts `fn(*args, **kwargs)` somewhere in the cluster."""
        with self._lock:
            if self._closed:
                raise RuntimeError("this executor was shut down and takes nothing more")
            out: Future[Any] = Future()
            reference = self._call.remote(fn, args, kwargs)
            self._pending[out] = reference
        out.add_done_callback(self._forget)
        reference.future().add_done_callback(lambda done: _pass_on(done, out))
        return out

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            reference = self._pending.pop(future, None)
        if future.cancelled() and reference is not None:
            self._ray.cancel(reference)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more calls; Ray itself goes on, as whoever started it wants."""
        with self._lock:
            self._closed = True
            pending = list(self._pending)
        for future in pending if cancel_futures else ():
            future.cancel()
        for future in as_completed(pending) if wait else ():
            future.done()

    def __enter__(self) -> Self:
        return self


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


def _pass_on(done: Future[Any], out: Future[Any]) -> None:
    """What became of Ray's future becomes of ours, unless it was cancelled meanwhile."""
    if not out.set_running_or_notify_cancel():
        return
    error = done.exception()
    if error is None:
        out.set_result(done.result())
    else:
        out.set_exception(getattr(error, "cause", None) or error)


def ray_executor(**options: Any) -> RayExecutor:
    """Ray, wherever `ray.init()` leads, as an executor: `sweep.run(executor=halfopen.ray_executor())`.

    Parameters
    ----------
    **options : of `ray.remote`, for every task: `num_cpus=1`, `max_retries=3`, …

    Without a `ray.init()` before, Ray starts itself on this machine. halfopen must be installed on every node, in the
    same version.
    """
    return RayExecutor(**options)
