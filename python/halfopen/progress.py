"""Progress of a sweep: tqdm's bar where there is one, a callable, or nothing."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from halfopen.optional import load

Progress = bool | Callable[[int, int], object] | None


class Bar:
    """Counts runs, as `progress=` says. True: a bar of `tqdm.auto` with rate and time left. None: the same if tqdm is
    installed and somebody looks on (a notebook, a terminal). A callable gets (done, total). False: nothing."""

    def __init__(self, progress: Progress, total: int, done: int) -> None:
        if progress not in (True, False, None) and not callable(progress):
            raise TypeError(f"progress is {progress!r}: it must be True, False, None or a function of (done, total)")
        self._call = progress if callable(progress) else None
        self._bar: Any = None
        self._done, self._total = done, total
        if self._call is None and progress is not False:
            self._bar = _tqdm(progress is True, total, done)

    def add(self, runs: int) -> None:
        """So many runs more are done."""
        self._done += runs
        if self._call is not None:
            self._call(self._done, self._total)
        if self._bar is not None:
            self._bar.update(runs)

    def close(self) -> None:
        """It goes no further."""
        if self._bar is not None:
            self._bar.close()


def _tqdm(wanted: bool, total: int, done: int) -> Any:
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets the bar is one of letters, which is no reason for a warning.
            warnings.filterwarnings("ignore", message="IProgress not found")
            auto = load("tqdm.auto", "progress", "progress=True")
    except ImportError:
        if wanted:
            raise
        return None
    in_notebook = auto.notebook_tqdm is not auto.std_tqdm
    if not wanted and not in_notebook and not sys.stderr.isatty():
        return None
    return auto.tqdm(total=total, initial=done, unit=" runs", desc="sweep", dynamic_ncols=True)
