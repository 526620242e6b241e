"""The tables of the page, as HTML. Every name in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from halfopen import _core
from halfopen.plots.lanes import CALM, SCRIPTED, lanes_of
from halfopen.report.figures import number

if TYPE_CHECKING:
    from halfopen.result import Result

_MOST_ROWS = 2000


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str, note: str = "") -> str:
    """Rows are of HTML; the first cell is the row's header."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    more = f"<p>{escape(note)}</p>" if note else ""
    return (
        f'<div class="wide"><table class="{kind}"><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{more}"
    )


def expectations(result: Result) -> str:
    """Each with its number, whether it held, what was expected and what happened."""
    rows = result.expectations
    if not len(rows):
        return "<p>The scenario expects nothing.</p>"
    columns = (rows["held"].tolist(), rows["expected"], rows["got"], rows["expect"])
    cells = [
        (
            str(place),
            '<span class="held">held</span>' if held else '<strong class="failed">FAILED</strong>',
            escape(expected),
            escape(got),
            f"<code>{escape(expect)}</code>",
        )
        for place, (held, expected, got, expect) in enumerate(zip(*columns, strict=True))
    ]
    return table(
        "Expectations, as numbered under expect", ["#", "verdict", "expected", "got", "as written"], cells, "judged"
    )


def events(result: Result, *, figures: bool) -> str:
    """A row a transition; where there are figures, its time is a button that shows them around it."""
    rows = result.events
    if not len(rows):
        return "<p>Nothing changed its state.</p>"
    columns = [rows[name][:_MOST_ROWS].tolist() for name in ("t_ms", "upstream", "endpoint", "type", "reason")]
    cells = [
        (
            _time(t_ms / 1000, button=figures),
            escape(upstream),
            escape("the breaker" if endpoint is None else endpoint),
            escape(kind.replace("_", " ")),
            escape(reason),
        )
        for t_ms, upstream, endpoint, kind, reason in zip(*columns, strict=True)
    ]
    left = len(rows) - len(cells)
    note = f"{left:,} events more are in the timeline, not on this page." if left > 0 else ""
    caption = "Events: choose a time to see the figures around it" if figures else "Events"
    return table(caption, ["time (s)", "upstream", "who", "event", "reason"], cells, "events", note)


def _time(seconds: float, *, button: bool) -> str:
    said = number(seconds)
    return f'<button type="button" data-t="{seconds!r}">{said}</button>' if button else said


def stretches(result: Result) -> str:
    """What the lanes show, but for all that was well, in words."""
    cells = []
    for lane in lanes_of(result):
        for span in lane.spans:
            if span.state not in (*CALM, SCRIPTED):
                who = f"{lane.upstream}: {lane.label}" if lane.upstream else lane.label
                length = number(round(span.to_s - span.from_s, 9))
                cells.append(
                    (escape(who), span.state.replace("_", "-"), number(span.from_s), number(span.to_s), length)
                )
    if not cells:
        return ""
    left = len(cells) - _MOST_ROWS
    note = f"{left:,} stretches more are in the timeline, not on this page." if left > 0 else ""
    inside = table(
        "Stretches in which something was not healthy, not closed, or a fault was active",
        ["who", "state", "from (s)", "to (s)", "for (s)"],
        cells[:_MOST_ROWS],
        "stretches",
        note,
    )
    return f"<details><summary>The states as a table</summary>{inside}</details>"


def metrics(result: Result) -> str:
    """Every metric with its unit and meaning, as C++ documents them."""
    cells = []
    for name, unit, _, _, about in _core.metrics():
        value = result.summary.get(name)
        said = "not measured" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
        cells.append((f"<code>{escape(name)}</code>", said, escape(unit), escape(about)))
    return table("Metrics of the whole run", ["metric", "value", "unit", "meaning"], cells, "metrics")
