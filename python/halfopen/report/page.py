"""The page: Plotly, data, style and script in one file, which a browser opens without a network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from halfopen.optional import load
from halfopen.plots import words
from halfopen.plots.lanes import rows_of
from halfopen.report import figures, series, tables

if TYPE_CHECKING:
    from halfopen.result import Result

_MOST_LANES = 64
_NO_SERIES = (
    "This timeline is of JSON lines, which leave the states and the series out: "
    "`halfopen run --format json` writes them all."
)


def page(result: Result) -> str:
    """The run as HTML. Raises ImportError without plotly."""
    plots = _plots(result)
    name = result.name or "(no name)"
    scripts = (_plotly(), _ours("page.js")) if plots else ()
    policy = " ".join(["script-src", *map(_digest, scripts)]) if scripts else "script-src 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; {policy}; '
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(name)}: {escape(words.verdict(result))}</title>",
            f"<style>\n{_ours('page.css')}</style></head><body><main>",
            _header(result, name),
            _figures(plots, result),
            f"<section><h2>Expectations</h2>{tables.expectations(result)}</section>",
            f"<section><h2>Events</h2>{tables.events(result, figures=bool(plots))}</section>",
            f"<section><h2>States</h2>{tables.stretches(result)}</section>" if plots else "",
            f"<section><h2>Metrics</h2>{tables.metrics(result)}</section>",
            _footer(result),
            "</main>",
            f'<script type="application/json" id="figures">{_data(plots)}</script>' if plots else "",
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


def _plots(result: Result) -> list[figures.Plot]:
    rows = rows_of(result, _MOST_LANES)
    lanes = [figures.lanes(result, rows)] if rows else []
    return [*lanes, *series.series(result)]


def _header(result: Result, name: str) -> str:
    question = f'<p class="question">{escape(result.question)}</p>' if result.question else ""
    return (
        f"<header><h1>{escape(name)}</h1>{question}"
        f'<p class="verdict {"good" if result.ok else "bad"}">{escape(words.verdict(result))}</p>'
        f'<p class="headline">{escape(words.headline(result))}</p>{_failures(result)}</header>'
    )


def _failures(result: Result) -> str:
    items = "".join(
        f"<li>expected {escape(failure.expected)}; got {escape(failure.got)}</li>" for failure in result.failures
    )
    return f'<ul class="failures">{items}</ul>' if items else ""


def _figures(plots: Sequence[figures.Plot], result: Result) -> str:
    if not plots:
        return f"<p>{escape(_NO_SERIES)}</p>"
    drawn = "\n".join(
        f"<figure><figcaption>{escape(plot.title)}</figcaption>"
        f'<div class="drawing" id="plot-{plot.key}" role="img" aria-label="{escape(plot.about)}" '
        f'style="height:{plot.layout["height"]}px"></div></figure>'
        for plot in plots
    )
    looked = " Where an expectation that failed has looked is framed in red." if words.failed_windows(result) else ""
    return (
        "<noscript><p>The figures need JavaScript; all that they show of states is in the tables below.</p></noscript>"
        '<p class="how">Point at a figure for its values, those of the bin around the time shown; drag over it to look '
        "closer at all of them, click twice for the whole run; a click on an entry of a legend hides or shows it."
        f"{looked}</p>\n{drawn}"
    )


def _footer(result: Result) -> str:
    known = (
        ("seed", str(result.seed)),
        ("digest of the scenario", result.digest),
        ("fingerprint of the events", result.fingerprint),
        ("length", f"{figures.number(result.duration_ms / 1000)} s in bins of {figures.number(result.sample_ms)} ms"),
        ("halfopen", result.version),
    )
    return "<footer><dl>" + "".join(f"<dt>{a}</dt><dd>{escape(b)}</dd>" for a, b in known) + "</dl></footer>"


def _data(plots: Sequence[figures.Plot]) -> str:
    """JSON that can stand in a page: nothing in it can end the script or begin a comment."""
    listed = [{"key": plot.key, "data": plot.data, "layout": plot.layout} for plot in plots]
    text = json.dumps(listed, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _ours(name: str) -> str:
    return (files("halfopen.report") / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    script: str = load("plotly.offline", "report", "report()").get_plotlyjs()
    return script.replace("\r\n", "\n")  # as a browser reads it, which is what the digest is of
