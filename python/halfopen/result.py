"""Running a scenario, and what came out of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from halfopen import _core
from halfopen.check import whole
from halfopen.lanes import result_html
from halfopen.scenario import Scenario
from halfopen.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = dict[str, int | float | None]


class Failure(NamedTuple):
    """An expectation that did not hold."""

    number: int
    """Its place under `expect`, from 0."""
    expect: str
    """The expectation as written, JSON text."""
    expected: str
    """What was expected, as a sentence."""
    got: str
    """What happened instead, with the nearest event and its reason."""


def run(scenario: Scenario, *, seed: int | None = None) -> Result:
    """Run a scenario: a pure function of it, and of the seed if one is given in place of its own.

    Runs without the GIL, so that several threads run several scenarios at once, and answers Ctrl-C with
    KeyboardInterrupt within some 50 ms when called in the main thread.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"run() takes a halfopen.Scenario, not {type(scenario).__name__}: make one by Scenario.load(path)")
    core = scenario._core if seed is None else scenario._core.with_seed(whole("seed", seed))
    return Result(_core.simulate(core))


class Result:
    """A run: its numbers, its tables, and what became of the scenario's expectations.

    Tables
    ------
    events : a row a transition, with its reason. `t_ms`, `type`, `upstream`, `endpoint` (None for a breaker's),
        `rule` and `via`, the counts it was judged by, and the `reason` as a sentence.
    intervals : a row a stretch of a state. `kind` is endpoint, breaker or fault; `from_ms`, `to_ms`, `state`.
    series : a row a bin of `sample_ms`, which begins at `t_ms`; latencies are NaN where no request ended well.
    endpoints : a row a bin and endpoint: `attempts`, `failures` and the `state` at the bin's end.
    expectations : a row an expectation: `held`, `expect` as written, what was `expected` and what we `got`.
    """

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a timeline that somebody wrote: `halfopen run --format json` or jsonl, or `save`.

        JSON lines leave intervals and series out: their tables are empty then. Raises `ScenarioError` for anything
        that is no timeline, OSError if it can't be read.
        """
        return cls(_core.Run.read(Path(path).read_bytes(), os.fspath(path)))

    @property
    def name(self) -> str:
        """Of the scenario."""
        return self._core.name

    @property
    def question(self) -> str:
        """Of the scenario."""
        return self._core.question

    @property
    def seed(self) -> int:
        """That it ran with."""
        return self._core.seed

    @property
    def digest(self) -> str:
        """Of the scenario as it ran: 16 hexadecimal digits."""
        return self._core.digest

    @cached_property
    def fingerprint(self) -> str:
        """Of its events, 16 hexadecimal digits: the same wherever and with whatever the scenario is run."""
        return self._core.fingerprint

    @property
    def version(self) -> str:
        """Of the halfopen that ran it."""
        return self._core.version

    @property
    def duration_ms(self) -> float:
        """Length of the run, virtual milliseconds."""
        return self._core.duration_ms

    @property
    def sample_ms(self) -> float:
        """Length of a bin of `series` and `endpoints`, virtual milliseconds."""
        return self._core.sample_ms

    @property
    def upstreams(self) -> tuple[str, ...]:
        """Names of all upstreams, by first appearance."""
        return tuple(self._core.upstreams)

    @cached_property
    def summary(self) -> Summary:
        """Every metric by name, in documented order: whole numbers are `int`; None: nothing was measured."""
        return self._core.summary()

    @cached_property
    def events(self) -> Table:
        """A row a transition."""
        return Table(self._core.events())

    @cached_property
    def intervals(self) -> Table:
        """A row a stretch of time in a state: endpoints, then breakers, then injected faults."""
        return Table(self._core.intervals())

    @cached_property
    def series(self) -> Table:
        """A row a bin."""
        return Table(self._core.series())

    @cached_property
    def endpoints(self) -> Table:
        """A row a bin and endpoint."""
        return Table(self._core.endpoints())

    @cached_property
    def expectations(self) -> Table:
        """A row an expectation."""
        return Table(self._core.expectations())

    @property
    def ok(self) -> bool:
        """Whether every expectation held; True if there is none."""
        return not self.failures

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The expectations that did not hold."""
        return tuple(
            Failure(number, expect, expected, got)
            for number, (held, expect, expected, got) in enumerate(self._core.judgements())
            if not held
        )

    def to_json(self) -> bytes:
        """The timeline, halfopen.timeline/1: byte for byte what `halfopen run --format json` writes."""
        return self._core.json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file."""
        Path(path).write_bytes(self.to_json())

    def __eq__(self, other: object) -> bool:
        """Whether both tell the same run: the same timeline, byte for byte."""
        if not isinstance(other, Result):
            return NotImplemented
        return self._core.source() == other._core.source()

    def __hash__(self) -> int:
        return hash((self.digest, self.fingerprint))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Result, (self._core,))

    def plot(
        self,
        panes: Sequence[str] | None = None,
        *,
        between_ms: tuple[float, float] | None = None,
        max_lanes: int = 64,
        ax: Axes | Sequence[Axes] | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Figure:
        """Draw the run with matplotlib: a figure of panes over one time axis, in seconds.

        Parameters
        ----------
        panes : which, top to bottom; without it all: "lanes" of endpoints, breakers and injected faults, "requests"
            by outcome, "latency" quantiles, "retries" with the picks of fail-open.
        between_ms : (from, to), to look at a part of the run.
        max_lanes : endpoints, and as many faults, that have a lane of their own; the rest share one.
        ax : axes to draw into, one a pane; a single one without `panes` gets the lanes. Without it a new figure is
            made, which needs no display, shows itself in a notebook, and is saved by its `savefig(path)`.
        figsize : (width, height) of a new figure in inches, in place of one that fits what is drawn.

        Raises ImportError without matplotlib, ValueError for a pane, time or number that makes no sense.
        """
        from halfopen.plots import run

        return run.figure(self, panes, between_ms=between_ms, max_lanes=max_lanes, ax=ax, figsize=figsize)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the run as one page of HTML that needs nothing else, no network either.

        Verdict, lanes, series, events with their reasons, expectations; looking closer by pointing and zooming.
        Raises ImportError without plotly.
        """
        from halfopen.report import page

        Path(path).write_text(page(self), encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        verdict = "held" if self.ok else f"{len(self.failures)} of {len(self.expectations)} expectations failed"
        return f"<Result of {self.name or '(no name)'}: {self.duration_ms / 1000:g} s, seed {self.seed}, {verdict}>"

    def _repr_html_(self) -> str:
        return result_html(self)
