"""What settings do to a healthy endpoint, by the exact models of `halfopen.analyze` and without a run."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from halfopen.analysis import analyze
from halfopen.errors import ScenarioError
from halfopen.params import Settings
from halfopen.scenario import Scenario
from halfopen.stats import Floats
from halfopen.tuning.goals import background_apart
from halfopen.tuning.places import Entrant, names, upstream_of
from halfopen.tuning.words import lasting, number

DAY_S = 86_400.0
TOLD = 1e-3
"""The least chance of an ejection after a start that is told."""
CERTAIN = 1.0
"""The error ratio of a sick endpoint, of which nothing is asked here: the cheapest one to work out."""

_APART = ("breaker", "active_health", "retries")  # they have no part in what is asked, and cost most of the time


class Healthy(NamedTuple):
    """A healthy endpoint of one upstream in one scenario."""

    upstream: str
    error_ratio: float
    """Of its attempts, the share that fails."""
    source: str
    """Where the ratio is from, as `halfopen analyze` says it: "assumed" if the scenario has no background errors."""
    rate_rps: float
    """Requests a second at this endpoint."""
    low_s: float
    """Mean time until its traffic ejects it: bounds, equal where the answer is exact; infinite for never."""
    high_s: float
    refused: str
    """Why there is no exact answer, or ""."""
    early: float = 0.0
    """The chance that it goes before its first window is full, after each start and each return."""
    window_s: float = 0.0
    """The first window."""

    @property
    def per_day(self) -> float:
        """Ejections in a day in rotation that begins with a start, at most; NaN without an answer. What goes before the first
        window is full comes on top of the rate where the rate does not tell it: each return is another first window."""
        early = min(self.early, 0.99) if self.is_early else 0.0
        return math.nan if self.refused else DAY_S / max(self.low_s, 1e-9) + early / (1 - early)

    @property
    def is_early(self) -> bool:
        """Whether more goes before the first window is full than in any other ten."""
        return not self.refused and self.early >= TOLD and self.early * self.low_s >= 10 * self.window_s

    @property
    def early_said(self) -> str:
        """ ", and with a chance of 32 % soon after a start or return", or ""."""
        return f", and with a chance of {100 * self.early:.3g} % soon after a start or return" if self.is_early else ""

    @property
    def said(self) -> str:
        """ "ejected once in 3.2 days"."""
        if self.refused:
            return f"no exact answer, because {self.refused}"
        if self.low_s == math.inf:
            return "never ejected"
        low, high = lasting(self.low_s), lasting(self.high_s)
        if low != high:
            latest = f", {high} at the latest" if high != "never" else ""
            return f"ejected once in {low} at the earliest{latest}{self.early_said}"
        often = f", {number(DAY_S / self.low_s)} times a day in rotation" if self.low_s < DAY_S / 1.5 else ""
        return f"ejected once in {low}{often}{self.early_said}"


class Healths:
    """Works out healthy endpoints of scenarios, each setting once.

    Parameters
    ----------
    entrants : the scenarios.
    error_ratio : of a healthy endpoint, from 0 to 1; that of the scenario's background errors unless given, 0.005 without any.
    threads : at once; 0: one a processor.
    searched : pointers of the first scenario that a search changes.

    Attributes
    ----------
    background : the names of scenarios with errors on every endpoint of some upstream for the whole run.
    apart : these, if others have none: see `halfopen.tuning.goals`.
    """

    def __init__(
        self, entrants: Sequence[Entrant], error_ratio: float | None, threads: int, searched: Collection[str] = ()
    ) -> None:
        self.error_ratio = error_ratio
        self._threads = threads or os.cpu_count() or 1
        tuned = {upstream_of(pointer) for pointer in searched if pointer.split("/")[3:4] == ["health"]}
        self._counted = {one.name: [names(one.scenario)[at] for at in one.at(tuned)] for one in entrants}
        self._bare = {one.name: _bare(one.scenario) for one in entrants}
        self._now = {one.name: _upstreams(self._bare[one.name], error_ratio) for one in entrants}
        plain = self._now if error_ratio is None else {one.name: _upstreams(self._bare[one.name], None) for one in entrants}
        self.background = frozenset(name for name, ups in plain.items() if any(_source(up) != "assumed" for up in ups))
        self.apart = background_apart([one.name for one in entrants], self.background)
        self._known: dict[tuple[str, str], tuple[Healthy, ...]] = {}

    def of(self, entrant: Entrant, settings: Settings) -> tuple[Healthy, ...]:
        """Of each upstream with a health block whose traffic has a rate, at the ratio that it has with the present settings."""
        own = {p: v for p, v in entrant.settings(settings).items() if upstream_of(p) is None or p.split("/")[3] not in _APART}
        scenario = self._bare[entrant.name].with_(own)
        key = (entrant.name, scenario.digest)
        if key not in self._known:
            self._known[key] = self._work_out(entrant.name, scenario)
        return self._known[key]

    def per_day(self, entrant: Entrant, points: Sequence[Settings]) -> Floats:
        """Ejections of a healthy endpoint a day, at most, at each of some settings; NaN where there is no exact answer, or no
        rate. Of the worst upstream among those whose health block is searched; if none is, of the worst of all."""
        counted = self._counted[entrant.name]
        with ThreadPoolExecutor(min(self._threads, max(1, len(points)))) as pool:
            found = list(pool.map(lambda settings: self.of(entrant, settings), points))
        return np.array([_worst(each, counted) for each in found])

    def _work_out(self, name: str, scenario: Scenario) -> tuple[Healthy, ...]:
        ratios = [float(up["healthy_error_ratio"]["value"]) for up in self._now[name]]
        sources = [_source(up) for up in self._now[name]]
        found = {ratio: _upstreams(scenario, ratio) for ratio in dict.fromkeys(ratios)}
        out = [_read(found[ratio][n], ratio, source) for n, (ratio, source) in enumerate(zip(ratios, sources, strict=True))]
        return tuple(one for one in out if one is not None)


def _worst(found: Sequence[Healthy], counted: Sequence[str]) -> float:
    return max((one.per_day for one in found if not counted or one.upstream in counted), key=_nan_first, default=math.nan)


def _nan_first(value: float) -> float:
    return math.inf if value != value else value


def _upstreams(scenario: Scenario, ratio: float | None) -> list[dict[str, Any]]:
    found = analyze(scenario, healthy_error_ratio=ratio, sick_error_ratio=CERTAIN).to_dict()
    upstreams: list[dict[str, Any]] = found["upstreams"]
    return upstreams


def _source(upstream: Mapping[str, Any]) -> str:
    return str(upstream["healthy_error_ratio"]["from"])


def _read(upstream: Mapping[str, Any], ratio: float, source: str) -> Healthy | None:
    """None where nothing is ejected by traffic, or nothing is known of the traffic."""
    if "refused" in upstream["rate_rps"] or "ejection" not in upstream:
        return None
    rate = float(upstream["rate_rps"]["value"]) / max(1, int(upstream["endpoints"]))
    healthy = upstream["ejection"]["healthy"]
    if "refused" in healthy:
        return Healthy(upstream["name"], ratio, source, rate, math.nan, math.nan, str(healthy["refused"]))
    low, high = (math.inf if end is None else float(end) for end in (healthy["mean_s"]["low"], healthy["mean_s"]["high"]))
    early, window = float(healthy["within_first_window"]), float(healthy["exact_until_s"])
    return Healthy(upstream["name"], ratio, source, rate, low, high, "", early, window)


def _bare(scenario: Scenario) -> Scenario:
    """The scenario without blocks that have no part in the answer; as it is, if it is none without them."""
    data = scenario.to_dict()
    for upstream in data["upstreams"]:
        for block in _APART:
            upstream.pop(block, None)
    try:
        return Scenario.from_dict(data)
    except ScenarioError:
        return scenario
