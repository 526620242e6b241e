"""The result of a search as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from halfopen.scenario import as_json
from halfopen.tuning import advised
from halfopen.tuning.text import headline, limit_said, listed, short
from halfopen.tuning.words import interval, pretty, times, verdict

_MOST = 10  # lines of a list

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.result import Tuning


def report(tuning: Tuning) -> str:
    """What is recommended and how it compares, the front as a table, and the blocks to paste."""
    head = "".join(f"<th>{escape(goal.label)}</th>" for goal in tuning.objectives)
    limits = "".join(f"<th>{escape(str(limit))}</th>" for limit in tuning.constraints)
    body = "".join(_row(tuning, one) for one in tuning.compared)
    warned = "".join(f"<p><b>Warning:</b> {escape(said)}</p>" for said in tuning.warnings)
    return (
        f"<p><b>{escape(headline(tuning))}</b></p>{warned}"
        f"<table><thead><tr><th>setting</th>{head}{limits}<th>changes</th></tr></thead><tbody>{body}</tbody></table>"
        f"{_advised(tuning)}{_paste(tuning)}<p>{escape(listed(tuning))}</p>"
    )


def _advised(tuning: Tuning) -> str:
    """What analyze says of a healthy endpoint, and what lint says that it did not say before."""
    healthy = [f"{escape(head)}<br>{'<br>'.join(map(escape, lines))}" for head, lines in advised.healthy_lines(tuning)]
    out = f"<p>A healthy endpoint, as halfopen analyze works it out:</p>{_points(healthy)}" if healthy else ""
    said = [escape(line) for line in advised.lint_lines(tuning)]
    return out + (f"<p>halfopen lint says of the recommended setting alone:</p>{_points(said)}" if said else "")


def _points(lines: Sequence[str]) -> str:
    shown = "".join(f"<li>{line}</li>" for line in lines[:_MOST])
    more = f"<li>and {len(lines) - _MOST} more</li>" if len(lines) > _MOST else ""
    return f"<ul>{shown}{more}</ul>"


def _paste(tuning: Tuning) -> str:
    if tuning.recommended is None:
        return ""
    if not tuning.changes(tuning.recommended):
        return "<p>Nothing to paste: nothing changes.</p>"
    return "".join(
        f"<p>{escape(advised.paste_head(tuning, pointer, blocks))}:</p><pre>{escape(pretty(blocks))}</pre>"
        for pointer, blocks in tuning.blocks().items()
    )


def _row(tuning: Tuning, one: Candidate) -> str:
    base = tuning.recommended
    cells = ["now" if one.number == 0 else str(one.number)]
    for k in range(len(tuning.objectives)):
        said = "" if base is None or one is base else f" ({verdict(tuning.difference(one, base, k), short=True)})"
        cells.append(interval(tuning.estimate(one, k)) + said)
    cells += [limit_said(tuning, one, c) for c in range(len(tuning.constraints))]
    mark = ("<b>", "</b>") if one is base else ("", "")
    row = "".join(f"<td>{mark[0]}{escape(cell)}{mark[1]}</td>" for cell in cells)
    return f"<tr>{row}<td>{_changes(tuning, one)}</td></tr>"


def _changes(tuning: Tuning, one: Candidate) -> str:
    """How many, and which on a click."""
    lines = [escape(f"{short(tuning, pointer)} {as_json(value)}") for pointer, value in tuning.changes(one).items()]
    if not lines:
        return "none"
    return f"<details><summary>{times(len(lines), 'change')}</summary>{'<br>'.join(lines)}</details>"
