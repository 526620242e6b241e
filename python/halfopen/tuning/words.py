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
FEW = 5  # replicates with which a difference may be the same in every run by luck, 2 in 2^5 times


def number(value: float) -> str:
    """Four digits, whole numbers from 1,000."""
    if value != value:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"


def interval(found: Estimate) -> str:
    """ "12.3 ± 2.2": Student's interval is symmetric; the mean alone if it is that of every run."""
    if found.n == 1:
        return f"{number(found.mean)} (one run)"
    return number(found.mean) + (f" ± {number(found.high - found.mean)}" if found.n > 1 and found.std else "")


_UNITS = (
    (1e-3, 0.0995, "ms", "ms"),
    (1.0, 120.0, "s", "s"),
    (60.0, 7200.0, "minute", "minutes"),
    (3600.0, 172_800.0, "hour", "hours"),
    (86_400.0, 2 * 365.25 * 86_400, "day", "days"),
    (365.25 * 86_400, 1e6 * 365.25 * 86_400, "year", "years"),
)  # seconds of one, used below so many seconds, one and several


def lasting(seconds: float) -> str:
    """A time in words, three digits: "3.2 days"."""
    if seconds == float("inf"):
        return "never"
    for one, below, name, several in _UNITS:
        if seconds < below:
            text = f"{float(f'{seconds / one:.3g}'):,.10g}"
            return f"{text} {name if text == '1' else several}"
    return "over 1,000,000 years"


def share(ratio: float) -> str:
    """ "0.5 %"."""
    return f"{ratio * 100:.3g} %"


def listing(words: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def times(count: int, one: str, many: str | None = None) -> str:
    """ "1 run", "2 runs"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verdict(found: Difference, *, short: bool = False) -> str:
    """What a difference says, in words."""
    words = {"same": "the same in every run", "margin": "within the margin", "open": "can't be told apart"}
    said = words.get(found.verdict, found.verdict)
    if found.verdict == "open" and found.estimate.n <= FEW:
        said += ", too few replicates"
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
