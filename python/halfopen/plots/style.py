"""What states and curves look like: each differs in lightness and hatch as well as in colour."""

from __future__ import annotations

from typing import Any, NamedTuple

# Of a legend: beside the axes, where it covers nothing.
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.005, 1.02), "frameon": False, "borderaxespad": 0}


class Look(NamedTuple):
    """Of an area: what it is called, its colour, its hatch for matplotlib and its pattern for Plotly."""

    label: str
    colour: str
    hatch: str = ""
    pattern: str = ""


class Line(NamedTuple):
    """Of a curve: its colour, its dashes for matplotlib and for Plotly, its width in points."""

    colour: str
    dashes: str
    dash: str
    width: float


_WELL, _OUT, _TRIAL, _FAULT = "#cfe3d6", "#a3231f", "#f0b13c", "#75629f"

# In the order in which they are drawn: a trial is short, nothing may cover it.
STATES = {
    "healthy": Look("healthy", _WELL),
    "closed": Look("closed", _WELL),
    "ejected": Look("ejected", _OUT, "////", "/"),
    "open": Look("open", _OUT, "////", "/"),
    "half_open": Look("half-open", _TRIAL, "....", "."),
    "active": Look("fault active", _FAULT, "----", "-"),
    "scripted": Look("scripted answers", "#d5cbe8"),
    "changing": Look("changing, too fast to draw", "#8a8a8a", "xxxx", "x"),
}
OUTCOMES = {
    "fast-failed": Look("fast-failed", "#5c1a4f", "\\\\\\\\", "\\"),
    "failed": Look("failed", "#d1572f", "////", "/"),
    "ok": Look("ok", "#a9cce3"),
}
ARRIVED = "arrived"
QUANTILES = {
    "latency_p50_ms": Line("#1b4f72", "solid", "solid", 2.0),
    "latency_p95_ms": Line("#2e86c1", "dashed", "dash", 1.5),
    "latency_p99_ms": Line("#b9770e", "dotted", "dot", 1.5),
}
EXTRA = {
    "retried": Look("retries", "#f0b13c", "....", "."),
    "fail_open_picks": Look("fail-open picks", "#7d3c98", "xx", "x"),
}
INK, MUTED, BAD, GOOD = "#1f2328", "#59636e", "#a3231f", "#1a6b3c"


def quantile(name: str) -> str:
    """Of the column latency_p95_ms: "p95"."""
    return name.removeprefix("latency_").removesuffix("_ms")


def state_label(states: set[str], look: Look) -> str:
    """What is said of a look in a legend, for the states that have it and are there: "ejected, open"."""
    return ", ".join(STATES[name].label for name in STATES if name in states and STATES[name][1:] == look[1:])


def hatch_colour(look: Look) -> str:
    """White on what is dark, ink on what is light."""
    red, green, blue = (int(look.colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#ffffff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK
