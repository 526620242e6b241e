"""Which rows a picture of a run has: endpoints and breakers by upstream, then the injected faults.

Knows no library that draws: the figure of `Result.plot` and the page of `Result.report` are made of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from halfopen.result import Result

CALM = ("healthy", "closed")
CHANGING, SCRIPTED = "changing", "scripted"
_FINEST = 1500  # parts of the run that a lane is drawn in when it has more stretches than that
_LONGEST_NAME = 30


class Span(NamedTuple):
    """A stretch of a state, seconds of virtual time; `note` says what else there is to know of it."""

    from_s: float
    to_s: float
    state: str
    note: str = ""


@dataclass(frozen=True)
class Heading:
    """A row of words: the upstream whose rows follow, or "injected faults"."""

    label: str


@dataclass(frozen=True)
class Lane:
    """A row: one endpoint, one breaker, or faults that are active at the same times. Gaps: not configured."""

    kind: str
    upstream: str
    name: str
    spans: tuple[Span, ...]
    fault: str = ""

    @property
    def label(self) -> str:
        """What is written beside it."""
        return f"{self.name} {self.fault}" if self.fault else self.name

    @property
    def eventful(self) -> bool:
        """Whether it ever was in another state than the one that it starts in when all is well."""
        return any(span.state not in CALM for span in self.spans)


@dataclass(frozen=True)
class Rest:
    """A row for the lanes that are not drawn one by one."""

    kind: str
    upstream: str
    lanes: tuple[Lane, ...]

    @property
    def label(self) -> str:
        """How many they are, and whether anything happened to them."""
        if self.kind == "fault":
            return f"… {len(self.lanes):,} more"
        touched = sum(lane.eventful for lane in self.lanes)
        if touched == 0:
            return f"… {len(self.lanes):,} more, healthy"
        return f"… {len(self.lanes):,} more, {touched:,} were out"

    def shares(self) -> tuple[list[float], list[float]]:
        """Edges (s), and between each two the share of these lanes, 0 to 1, that are not healthy or are active."""
        steps: dict[float, int] = {}
        for lane in self.lanes:
            for span in lane.spans:
                if span.state not in CALM:
                    steps[span.from_s] = steps.get(span.from_s, 0) + 1
                    steps[span.to_s] = steps.get(span.to_s, 0) - 1
        edges = sorted(steps)
        shares, count = [], 0
        for edge in edges[:-1]:
            count += steps[edge]
            shares.append(count / len(self.lanes))
        return edges, shares


Row = Heading | Lane | Rest


def shown(name: str, most: int = _LONGEST_NAME) -> str:
    """A name as a picture can have it: on one line, without characters that can't be seen, not too long."""
    seen = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name) or "(no name)"
    half = (most - 1) // 2
    return seen if len(seen) <= most else f"{seen[:half]}…{seen[-half:]}"


def lanes_of(result: Result) -> list[Lane]:
    """Every lane of the run, in the order of `result.intervals`; faults one by one."""
    table = result.intervals
    columns = [table[name].tolist() for name in ("kind", "upstream", "endpoint", "fault", "fault_kind", "scope")]
    stretches = [table[name].tolist() for name in ("from_ms", "to_ms", "state", "eligible_ms")]
    rows: Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]] = zip(
        zip(*columns, strict=True), zip(*stretches, strict=True), strict=True
    )
    out = []
    for (kind, upstream, endpoint, _, fault_kind, scope), group in groupby(rows, key=lambda row: _key(row[0])):
        spans = tuple(_span(*stretch) for _, stretch in group)
        if fault_kind == "outcomes":  # a script says what the answers are, good or bad
            spans = tuple(span._replace(state=SCRIPTED) for span in spans)
        name = "breaker" if kind == "breaker" else shown(endpoint)
        fault = fault_kind if kind == "fault" else ""
        if fault and scope != "both" and fault_kind != "outcomes":
            fault += f" ({scope})"
        out.append(Lane(kind, upstream or "", name, spans, fault))
    return out


def _key(columns: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(None if value != value else value for value in columns)  # NaN is not equal to itself


def _span(from_ms: float, to_ms: float, state: str, eligible_ms: float) -> Span:
    note = f"may become half-open from {eligible_ms / 1000:,.10g} s" if eligible_ms == eligible_ms else ""
    return Span(from_ms / 1000, to_ms / 1000, state, note)


def rows_of(result: Result, max_lanes: int) -> list[Row]:
    """The rows, top to bottom: at most `max_lanes` of endpoints and as many of faults, the eventful ones first.

    From 17 endpoints on, those that were healthy all the time share a row as well.
    """
    if max_lanes < 1:
        raise ValueError(f"max_lanes is {max_lanes}: it must be 1 or more")
    lanes = lanes_of(result)
    endpoints = [lane for lane in lanes if lane.kind == "endpoint"]
    alone = _chosen(endpoints, max_lanes)
    out: list[Row] = []
    for upstream in result.upstreams:
        mine = [lane for lane in lanes if lane.upstream == upstream and lane.kind == "endpoint"]
        breakers = [lane for lane in lanes if lane.upstream == upstream and lane.kind == "breaker"]
        if not mine and not breakers:
            continue
        if len(result.upstreams) > 1:
            out.append(Heading(shown(upstream, 60)))
        out += _with_rest(mine, alone)
        out += breakers
    faults = _merged(lane for lane in lanes if lane.kind == "fault")
    if faults:
        out.append(Heading("injected faults"))
        out += _with_rest(faults, {id(lane) for lane in faults[:max_lanes]})
    return out


def _chosen(endpoints: list[Lane], max_lanes: int) -> set[int]:
    few = min(max_lanes, 16)
    if len(endpoints) <= few:
        return {id(lane) for lane in endpoints}
    eventful = [lane for lane in endpoints if lane.eventful][:max_lanes]
    calm = [lane for lane in endpoints if not lane.eventful][: max(0, few - len(eventful) - 1)]
    return {id(lane) for lane in eventful + calm}


def _with_rest(lanes: list[Lane], alone: set[int]) -> Iterator[Row]:
    yield from (lane for lane in lanes if id(lane) in alone)
    rest = tuple(lane for lane in lanes if id(lane) not in alone)
    if len(rest) == 1:
        yield rest[0]
    elif rest:
        yield Rest(rest[0].kind, rest[0].upstream, rest)


def _merged(faults: Iterable[Lane]) -> list[Lane]:
    """Faults of one kind that are active at the same times are one row."""
    alike: dict[tuple[str, tuple[Span, ...]], list[Lane]] = {}
    for lane in faults:
        alike.setdefault((lane.fault, lane.spans), []).append(lane)
    return [
        replace(group[0], name=f"{group[0].name} (+{len(group) - 1:,})") if len(group) > 1 else group[0]
        for group in alike.values()
    ]


def drawable(lane: Lane, duration_s: float) -> tuple[Span, ...]:
    """Its spans, or, where they follow each other faster than anybody could see, spans of the state "changing"."""
    if len(lane.spans) <= _FINEST:
        return lane.spans
    part = duration_s / _FINEST
    out: list[Span] = []
    for short, group in groupby(lane.spans, key=lambda span: span.to_s - span.from_s < part):
        spans = list(group)
        if not short:
            out += spans
            continue
        for _, near in groupby(spans, key=lambda span: int(span.from_s / part)):
            out.append(_blurred(list(near)))
    return tuple(out)


def _blurred(spans: list[Span]) -> Span:
    if len(spans) == 1:
        return spans[0]
    states = sorted({span.state for span in spans})
    return Span(spans[0].from_s, spans[-1].to_s, CHANGING, f"{len(spans):,} stretches: {', '.join(states)}")
