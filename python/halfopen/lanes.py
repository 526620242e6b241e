"""A run as lanes, for notebooks: one strip an endpoint, breaker and fault over the time of the run, as inline SVG.

Readable without colour: healthy is a thin line, ejected and open a tall block with a dark edge, half-open a hatched one
of half the height, injected faults a line of their own.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from halfopen.result import Result

_LABEL, _WIDTH, _HEIGHT, _GAP = 190, 560, 16, 4  # px
_MOST_LANES = 24
_MOST_MARKS = 1500  # of a picture: 50 kB

# (y, height, class) within a lane of 16 px
_SHAPES = {
    "healthy": (7, 2, "in"),
    "closed": (7, 2, "in"),
    "ejected": (1, 14, "out"),
    "open": (1, 14, "out"),
    "half_open": (4, 8, "half"),
    "active": (6, 4, "fault"),
}
_STYLE = (
    ".ho text{font:11px sans-serif;fill:currentColor}"
    ".ho .in{fill:#2a7d4f}.ho .out{fill:#c0392b;stroke:#5a1710}"
    ".ho .half{fill:url(#ho-hatch);stroke:#7a5a00}.ho .fault{fill:#555}"
    ".ho .axis{stroke:currentColor;stroke-opacity:.4}"
)
_HATCH = (
    '<defs><pattern id="ho-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="5" height="5" fill="#ffe08a"/><rect width="2" height="5" fill="#a67c00"/></pattern></defs>'
)


class _Mark(NamedTuple):
    from_ms: float
    to_ms: float
    state: str


def _lanes(result: Result) -> dict[str, list[_Mark]]:
    """Marks by label, in the order of the table: endpoints, breakers, faults."""
    table = result.intervals
    several = len(result.upstreams) > 1
    lanes: dict[str, list[_Mark]] = {}
    columns = (table[name] for name in ("kind", "upstream", "endpoint", "fault_kind", "from_ms", "to_ms", "state"))
    for kind, upstream, endpoint, fault, start, end, state in zip(*columns, strict=True):
        if kind == "endpoint":
            label = f"{upstream} {endpoint}" if several else endpoint
        else:
            label = f"breaker of {upstream}" if kind == "breaker" else f"{endpoint} {fault}"
        lanes.setdefault(label, []).append(_Mark(start, end, state))
    return lanes


def _chosen(lanes: dict[str, list[_Mark]]) -> list[str]:
    """At most a page of lanes: those where something happened first, in their own order."""
    if len(lanes) <= _MOST_LANES:
        return list(lanes)
    eventful = [label for label, marks in lanes.items() if len(marks) > 1 or marks[0].state not in ("healthy", "closed")]
    quiet = [label for label in lanes if label not in set(eventful)]
    chosen = set((eventful + quiet)[:_MOST_LANES])
    return [label for label in lanes if label in chosen]


def _rect(mark: _Mark, top: int, duration_ms: float) -> str:
    y, height, name = _SHAPES[mark.state]
    left = _LABEL + mark.from_ms / duration_ms * _WIDTH
    width = max((mark.to_ms - mark.from_ms) / duration_ms * _WIDTH, 0.6)
    said = f"{mark.state.replace('_', '-')} from {mark.from_ms / 1000:.10g} s to {mark.to_ms / 1000:.10g} s"
    return (
        f'<rect class="{name}" x="{left:.1f}" y="{top + y}" width="{width:.1f}" height="{height}">'
        f"<title>{said}</title></rect>"
    )


def _axis(duration_ms: float, top: int) -> str:
    out = [f'<line class="axis" x1="{_LABEL}" x2="{_LABEL + _WIDTH}" y1="{top}" y2="{top}"/>']
    for n in range(5):
        x = _LABEL + _WIDTH * n / 4
        anchor = "start" if n == 0 else "end" if n == 4 else "middle"
        out.append(f'<text x="{x:.0f}" y="{top + 13}" text-anchor="{anchor}">{duration_ms * n / 4000:.4g} s</text>')
    return "".join(out)


def lanes_svg(result: Result) -> str:
    """Inline SVG without scripts, under 400 kB; empty where there are no lanes (what was read from JSON lines)."""
    lanes = _lanes(result)
    if not lanes:
        return ""
    shown = _chosen(lanes)
    room = _MOST_MARKS // len(shown)
    body, top, left_out = [], 0, 0
    for label in shown:
        marks = sorted(sorted(lanes[label], key=lambda mark: mark.from_ms - mark.to_ms)[:room])
        left_out += len(lanes[label]) - len(marks)
        body.append(f'<text x="{_LABEL - 8}" y="{top + 12}" text-anchor="end">{escape(label)}</text>')
        body += [_rect(mark, top, result.duration_ms) for mark in marks]
        top += _HEIGHT + _GAP
    note = f"{len(lanes) - len(shown)} lanes" if len(lanes) > len(shown) else ""
    if left_out:
        note += f"{' and ' if note else ''}the {left_out} shortest stretches"
    note = f'<text x="{_LABEL}" y="{top + 32}">Not shown: {note}.</text>' if note else ""
    height = top + (40 if note else 20)
    return (
        f'<svg class="ho" xmlns="http://www.w3.org/2000/svg" width="{_LABEL + _WIDTH + 10}" height="{height}" role="img">'
        f"<style>{_STYLE}</style>{_HATCH}{''.join(body)}{_axis(result.duration_ms, top)}{note}</svg>"
    )


def _number(value: float | int | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def result_html(result: Result) -> str:
    """Title, verdict, lanes with a legend, and a line of numbers."""
    held = len(result.expectations) - len(result.failures)
    verdict = f"{held} of {len(result.expectations)} expectations held" if len(result.expectations) else "nothing expected"
    failures = "".join(f"<li>{escape(one.expected)} – {escape(one.got)}</li>" for one in result.failures[:10])
    keys = ("requests", "ok", "failed", "success_ratio", "ejections", "breaker_openings", "fail_open_picks", "latency_p99_ms")
    numbers = ", ".join(f"{key} {_number(result.summary[key])}" for key in keys if key in result.summary)
    legend = "thin line healthy or closed · tall block ejected or open · hatched half-open · grey an injected fault"
    svg = lanes_svg(result)
    return (
        f"<div><b>{escape(result.name or '(no name)')}</b>, {result.duration_ms / 1000:g} s, seed {result.seed}: {verdict}"
        f"{'<br>' + escape(result.question) if result.question else ''}"
        f"{'<ul>' + failures + '</ul>' if failures else ''}"
        f"<div>{svg}</div>{'<small>' + legend + '</small><br>' if svg else ''}<small>{numbers}</small></div>"
    )
