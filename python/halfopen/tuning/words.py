"""How numbers, verdicts, columns and commands are written."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halfopen.stats import Estimate

if TYPE_CHECKING:
    from halfopen.tuning.judge import Difference

WIDTH = 79


def number(value: float) -> str:
    """Four digits, whole numbers from 1,000."""
    if value != value:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"


def interval(found: Estimate) -> str:
    """ "12.3 ± 2.2": Student's interval is symmetric; the mean alone if it is that of every run."""
    return number(found.mean) + (f" ± {number(found.high - found.mean)}" if found.n > 1 and found.std else "")


def times(count: int, one: str, many: str | None = None) -> str:
    """ "1 run", "2 runs"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verdict(found: Difference, *, short: bool = False) -> str:
    """What a difference says, in words."""
    words = {"same": "the same in every run", "margin": "within the margin", "open": "can't be told apart"}
    said = words.get(found.verdict, found.verdict)
    if found.replicates_needed is None or short:
        return said
    return f"{said}; if it is there, about {number(found.replicates_needed)} replicates would show it"


def pretty(value: Any) -> str:
    """JSON text, indented by two; keys in the order in which they came."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def wrapped(text: str, indent: str = "", following: str | None = None) -> list[str]:
    """Lines that fit."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=following or indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def side_by_side(first: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns of text beside the first one, as many as fit, the others below with the first one again."""
    out: list[str] = []
    left = list(columns)
    while left:
        lines = [cell.ljust(max(map(len, first))) for cell in first]
        while left:
            wide = max(map(len, left[0]))
            if len(lines[0]) + 2 + wide > width and lines[0].strip() != first[0]:
                break
            lines = [f"{line}  {cell.ljust(wide)}" for line, cell in zip(lines, left.pop(0), strict=True)]
        out += [line.rstrip() for line in lines]
    return out


def _options(words: Sequence[str]) -> list[str]:
    """Quoted for a shell; an option and its value are one."""
    out: list[str] = []
    for word in words:
        if out and out[-1].startswith("--") and " " not in out[-1]:
            out[-1] += " " + shlex.quote(word)
        else:
            out.append(shlex.quote(word))
    return out


def continued(words: Sequence[str], indent: str) -> list[str]:
    """A command of a shell over as many lines as it takes."""
    lines = [indent]
    for word in _options(words):
        if len(lines[-1]) + len(word) + 3 > WIDTH and lines[-1].strip():
            lines.append(indent + "  ")
        lines[-1] += word if not lines[-1].strip() else " " + word
    return [line + " \\" for line in lines[:-1]] + [lines[-1]]
