"""Settings that are allowed and don't do what they look like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

from halfopen import _core
from halfopen.check import whole
from halfopen.scenario import Scenario


class FindingNumber(NamedTuple):
    """A number behind a finding."""

    what: str
    value: float
    unit: str
    """"s": a time in seconds; "share": 0 to 1; else what is counted: "requests", "times"."""


@dataclass(frozen=True)
class Finding:
    """What `halfopen lint` says of one upstream; str() is its text, without a place in a file."""

    id: str
    """Of the rule; never renamed. `halfopen lint --list` tells them all."""
    level: Literal["warning", "notice"]
    """A notice is about a usual choice that people are surprised by."""
    upstream: str
    pointers: tuple[str, ...]
    """JSON pointers of the values that it is about."""
    sentence: str
    why: str
    numbers: tuple[FindingNumber, ...]
    """At least one."""
    instead: str
    instead_values: tuple[Mapping[str, Any], ...] = field(hash=False)
    """`instead` for `Scenario.with_`: alternatives, each of which makes this rule silent about this upstream. None where what
    helps is no setting (another endpoint)."""
    shown_by: str
    """A scenario of halfopen's repository that shows it at work."""
    text: str = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.level}: {self.id}, upstream {self.upstream}\n{self.text}".rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _finding(row: tuple[Any, ...]) -> Finding:
    name, level, upstream, pointers, sentence, why, numbers, instead, values, shown_by, text = row
    alternatives = tuple({pointer: json.loads(value) for pointer, value in one.items()} for one in values)
    return Finding(
        name,
        level,
        upstream,
        tuple(pointers),
        sentence,
        why,
        tuple(FindingNumber(*number) for number in numbers),
        instead,
        alternatives,
        shown_by,
        text,
    )


def lint(scenario: Scenario, *, balancers: int = 1) -> tuple[Finding, ...]:
    """Read the settings as somebody who has run gateways for years: rules that can't act, that act for nothing, or that
    work against each other. Nothing is run; comments that keep the command quiet are not read.

    Parameters
    ----------
    balancers : how many gateways run these settings side by side, 1 to 100,000.

    Returns
    -------
    Findings by upstream in the file's order, then by rule. Runs without the GIL.

    >>> halfopen.lint(scenario)
    ()
    >>> deaf = scenario.with_({"/upstreams/0/health/failure_ratio": 0.9})
    >>> [(finding.id, finding.instead_values[0]) for finding in halfopen.lint(deaf)]
    [('ratio-never-first', {'/upstreams/0/health/failure_ratio': 0.833})]
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"lint() takes a halfopen.Scenario, not {type(scenario).__name__}: make one by Scenario.load(path)")
    count = whole("balancers", balancers, 1, _core.MOST_BALANCERS)
    return tuple(_finding(row) for row in _core.lint(scenario._core, count))
