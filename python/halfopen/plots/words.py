"""The words of a picture of a run: its verdict, its numbers, its bins as rates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from halfopen.result import Result

Numbers = npt.NDArray[np.float64]


class Window(NamedTuple):
    """Where an expectation that failed had looked, seconds; equal for an instant."""

    number: int
    from_s: float
    to_s: float


def verdict(result: Result) -> str:
    """Whether the expectations held, as a sentence."""
    count, failed = len(result.expectations), len(result.failures)
    if count == 0:
        return "No expectations"
    if failed:
        return f"{failed:,} of {count:,} expectation{'s' * (count > 1)} FAILED"
    return f"All {count:,} expectations held" if count > 1 else "The expectation held"


def headline(result: Result) -> str:
    """The numbers that a reader asks for first, on one line."""
    numbers = result.summary
    parts = [f"{result.duration_ms / 1000:,.10g} s", f"{numbers.get('requests') or 0:,} requests"]
    ratio = numbers.get("success_ratio")
    if ratio is not None:
        parts.append(f"{percent(ratio)} ok")
    for metric, one, many in (
        ("failed", "failed", "failed"),
        ("ejections", "ejection", "ejections"),
        ("breaker_openings", "breaker opening", "breaker openings"),
        ("fail_open_picks", "fail-open pick", "fail-open picks"),
        ("retries", "retry", "retries"),
    ):
        count = numbers.get(metric)  # of an older version's timeline: none
        if count:
            parts.append(f"{count:,} {one if count == 1 else many}")
    return " · ".join([*parts, f"seed {result.seed}"])


def percent(share: float) -> str:
    """0.99812 is "99.81 %"; what isn't all never reads as if it were."""
    text = f"{share * 100:.2f}"
    if text == "100.00":
        text = "100" if share == 1 else "> 99.99"
    return f"{text} %"


def edges(result: Result) -> Numbers:
    """Of the bins, seconds: one more than there are bins; the last bin may be shorter."""
    starts = result.series["t_ms"] / 1000
    return np.append(starts, result.duration_ms / 1000) if len(starts) else np.empty(0)


def outcomes(result: Result) -> dict[str, npt.NDArray[np.int64]]:
    """Requests of each bin by how they ended, bottom to top; together they are all that ended."""
    series = result.series
    return {
        "fast-failed": series["fast_failed"],
        "failed": series["failed"] - series["fast_failed"],
        "ok": series["ok"],
    }


def failed_windows(result: Result) -> list[Window]:
    """Where the expectations that failed had looked, as far as they name a time."""
    out = []
    for failure in result.failures:
        expect = json.loads(failure.expect)
        at = expect.get("at_ms")
        between = expect.get("between_ms") or ([at, at] if isinstance(at, int | float) else None)
        if between:
            out.append(Window(failure.number, between[0] / 1000, between[1] / 1000))
    return out
