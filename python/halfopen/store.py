"""Where the runs of sweeps are kept: a folder of Parquet parts, so that only what is missing is run.

A part holds a batch of runs and is never changed. It is written beside its place, and moved there when it is whole; its
name is a digest of its bytes. So any number of processes may share a folder without a lock: two that happen to run the
same thing write the same, and what is there twice counts once. Parts are kept apart by the version of halfopen that made
them and by the scenario (but for its seed), and each run by its id: a digest over version, scenario, settings and seed.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halfopen.executors import WORDS, Chunk
from halfopen.frame import Frame, texts
from halfopen.optional import load

FORMAT = "halfopen.store/1"
STALE_S = 3600.0  # age of a half-written file that nobody can be writing any more


class StoreWarning(UserWarning):
    """A part of a store that can't be used; its runs are run again."""


def run_id(version: str, digest: str, seed: int, settings: str) -> str:
    """32 hexadecimal digits. `digest`: of the scenario as it ran; `settings`: what the sweep set in it, JSON."""
    return hashlib.sha256("\n".join((version, digest, str(seed), settings)).encode()).hexdigest()[:32]


class Store:
    """The parts of one version and scenario in a folder, which is made if there is none."""

    _count = itertools.count()

    def __init__(self, folder: str | os.PathLike[str], version: str, scenario: str) -> None:
        self._arrow = load("pyarrow", "store", "store=")
        self._parquet = load("pyarrow.parquet", "store", "store=")
        self._about = {"halfopen.format": FORMAT, "halfopen.version": version, "halfopen.scenario": scenario}
        self._folder = Path(folder) / f"{version}-{scenario}"
        if Path(folder).exists() and not Path(folder).is_dir():
            raise NotADirectoryError(f"store={os.fspath(folder)!r} is a file; a store is a folder")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._sweep_up()

    def load(self, runs: Mapping[str, Sequence[int]], columns: Sequence[str]) -> list[Chunk]:
        """What is there of some runs, given by {id: numbers}; each number once. `columns`: what a run consists of."""
        out: list[Chunk] = []
        seen: set[str] = set()
        for path in sorted(self._folder.glob("*.parquet")):
            table = self._read(path, columns)
            if table is None:
                continue
            places: list[int] = []
            numbers: list[int] = []
            for place, name in enumerate(table["id"].to_pylist()):
                if name in runs and name not in seen:
                    seen.add(name)
                    numbers += runs[name]
                    places += [place] * len(runs[name])
            if numbers:
                chunk = {name: _column(table[name], name).take(places) for name in columns}
                out.append({"run": np.array(numbers, dtype=np.int64), **chunk})
        return out

    def add(self, chunk: Chunk, ids: Sequence[str], settings: Sequence[str]) -> None:
        """Keep a batch of runs: afterwards it is all there, or nothing of it."""
        columns = {name: values for name, values in chunk.items() if name != "run"}
        frame = Frame({"id": texts(list(ids)), "settings": texts(list(settings)), **columns})
        table = frame.to_arrow().replace_schema_metadata(self._about)
        buffer = io.BytesIO()
        self._parquet.write_table(table, buffer)
        name = _digest(buffer.getbuffer())
        part = self._folder / f".{name}-{os.getpid()}-{next(self._count)}.tmp"
        try:
            with part.open("wb") as file:
                file.write(buffer.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self._folder / f"{name}.parquet")
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def _read(self, path: Path, columns: Sequence[str]) -> Any:
        try:
            content = path.read_bytes()
            # On this thread: one of Arrow's own that let go of a Python object while Python exits would end in abort().
            file = self._parquet.ParquetFile(io.BytesIO(content), pre_buffer=False) if _digest(content) == path.stem else None
            table = None if file is None else file.read(use_threads=False)
        except (OSError, self._arrow.ArrowException) as error:
            why = f"it can't be read: {error}"
        else:
            if table is None:
                warnings.warn(_left_out(path, "its name is no digest of its bytes, so that it was changed or renamed"), StoreWarning, stacklevel=2)
                return None
            about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
            other = next((key for key, value in self._about.items() if about.get(key) != value), None)
            lacking = next((name for name in ("id", *columns) if name not in table.column_names), None)
            if other is None and lacking is None:
                return table
            why = f"it is of another {other.split('.')[1]}" if other else f"it has no column {lacking}"
        warnings.warn(_left_out(path, why), StoreWarning, stacklevel=2)
        return None

    def _sweep_up(self) -> None:
        """What killed processes left half-written."""
        for path in self._folder.glob(".*.tmp"):
            try:
                if time.time() - path.stat().st_mtime > STALE_S:
                    path.unlink()
            except FileNotFoundError:
                pass  # another process was faster


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _left_out(path: Path, why: str) -> str:
    return f"{path} is left out, and its runs are run again: {why}"


def _column(column: Any, name: str) -> Any:
    return texts(column.to_pylist()) if name in WORDS else column.to_numpy()
