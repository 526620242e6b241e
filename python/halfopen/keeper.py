"""Where the finished runs of a sweep go, and where those come from that need not be run again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from halfopen import _core
from halfopen.executors import Chunk
from halfopen.store import Store, run_id

if TYPE_CHECKING:
    from halfopen.sweep import Sweep

RESULTS = ("expectations", "held", "fingerprint", "digest")
PART_RUNS, PART_S = 200, 2.0  # a batch of a store: so many runs or so many seconds, whichever comes first


def some_of(chunk: Chunk, wanted: Callable[[int], bool]) -> list[Chunk]:
    """The runs of a chunk whose number is wanted, as one chunk; none if there are none."""
    rows = np.array([wanted(number) for number in chunk["run"].tolist()], dtype=bool)
    return [{name: values[rows] for name, values in chunk.items()}] if rows.any() else []


class Keeper:
    """Where finished runs go: into the sweep at once, and batch by batch into its store if there is one."""

    def __init__(self, sweep: Sweep, store: str | os.PathLike[str] | None, batch: int) -> None:
        self._sweep, self._batch = sweep, batch
        plan = sweep._plan
        self._store = None if store is None else Store(store, plan.version, sweep.scenario.with_seed(0).digest)
        self._settings = [
            json.dumps(dict(zip(plan.pointers, map(json.loads, row), strict=True)), sort_keys=True) for row in plan.points
        ]
        self._metrics = [row[0] for row in _core.metrics()]  # all, whichever the sweep is asked for
        self._ids: dict[int, str] = {}
        self._waiting: list[Chunk] = []
        self._since = time.monotonic()

    def missing(self, numbers: list[int]) -> list[int]:
        """What neither the sweep nor the store has; what the store has, the sweep has now as well."""
        here = {number for chunk in self._sweep._done for number in chunk["run"].tolist()}
        if self._store is None:
            return [number for number in numbers if number not in here]
        seeds, digests = self._sweep._core.identities(numbers)
        runs: dict[str, list[int]] = {}
        for number, seed, digest in zip(numbers, seeds.tolist(), digests, strict=True):
            name = run_id(self._sweep._plan.version, digest, seed, self._settings[self._sweep._point(number)])
            self._ids[number] = name
            runs.setdefault(name, []).append(number)
        there: set[int] = set()
        for chunk in self._store.load(runs, ("seed", *self._metrics, *RESULTS)):
            self._sweep._done += some_of(chunk, lambda n: n not in here)
            there |= set(chunk["run"].tolist())
        for chunk in self._sweep._done:  # run before the store was given
            self._waiting += some_of(chunk, lambda n: n in self._ids and n not in there)
        self.flush()
        return [number for number in numbers if number not in here | there]

    def take(self, chunk: Chunk) -> None:
        """These runs are done."""
        self._sweep._done.append(chunk)
        if self._store is not None:
            self._waiting.append(chunk)
            full = sum(len(one["run"]) for one in self._waiting) >= self._batch
            if full or time.monotonic() - self._since > PART_S:
                self.flush()

    def flush(self) -> None:
        """What waits for its batch to be full goes into the store."""
        self._since = time.monotonic()
        if self._store is None or not self._waiting:
            return
        names = list(self._waiting[0])
        chunk = {name: np.concatenate([one[name] for one in self._waiting]) for name in names}
        self._waiting.clear()
        order = np.argsort(chunk["run"], kind="stable")
        chunk = {name: values[order] for name, values in chunk.items()}
        numbers = chunk["run"].tolist()
        settings = [self._settings[self._sweep._point(number)] for number in numbers]
        self._store.add(chunk, [self._ids[number] for number in numbers], settings)
