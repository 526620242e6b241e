"""What settings must do, worked out instead of simulated."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from halfopen import _core
from halfopen.check import real
from halfopen.scenario import Scenario

SMALLEST_RPS, LARGEST_RPS = 1e-9, 1e7


class Analysis:
    """Exact answers for the settings of a scenario, upstream by upstream; str() is the text of `halfopen analyze`.

    Attributes
    ----------
    text : for people, in 80 columns.
    json : `halfopen.analysis/1`, as `halfopen analyze --format json` writes it.
    """

    __slots__ = ("json", "text")

    def __init__(self, text: str, json_text: str) -> None:
        self.text, self.json = text, json_text

    def to_dict(self) -> dict[str, Any]:
        """What `json` says. Times in seconds, chances and shares from 0 to 1; {"low", "high"} are bounds, equal where the
        answer is exact; None is a time that never comes; {"refused": why} is a question without an exact answer."""
        answers: dict[str, Any] = json.loads(self.json)
        return answers

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Analysis of {self.to_dict().get('name') or '(no name)'}: print() shows it>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def analyze(
    scenario: Scenario,
    *,
    rate_rps: float | None = None,
    healthy_error_ratio: float | None = None,
    sick_error_ratio: float | None = None,
) -> Analysis:
    """Work out, without running anything, how often the rules of each upstream eject a healthy endpoint and how soon a sick
    one, what share of the time it is in rotation, when the breaker opens, what probes need, when the pool fails open.

    Parameters
    ----------
    rate_rps : requests a second at each upstream, above 0 and at most 10^7; those of its traffic unless given.
    healthy_error_ratio, sick_error_ratio : the share of attempts that fail, from 0 to 1; from the scenario's faults unless
        given, and 0.005 and 0.6 where these say nothing.

    Models, assumptions and where each answer is exact: `sim/exact.hpp`. Runs without the GIL.

    >>> answers = halfopen.analyze(scenario, sick_error_ratio=0.6)
    >>> [upstream["name"] for upstream in answers.to_dict()["upstreams"]]
    ['api']
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"analyze() takes a halfopen.Scenario, not {type(scenario).__name__}: make one by Scenario.load(path)")
    rate = None if rate_rps is None else real("rate_rps", rate_rps, SMALLEST_RPS, LARGEST_RPS)
    healthy = None if healthy_error_ratio is None else real("healthy_error_ratio", healthy_error_ratio, 0, 1)
    sick = None if sick_error_ratio is None else real("sick_error_ratio", sick_error_ratio, 0, 1)
    return Analysis(*_core.analyze(scenario._core, rate, healthy, sick))
