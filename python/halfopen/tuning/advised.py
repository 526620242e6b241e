"""Parts of a report's text that are about what to do: warnings, scenario by scenario, a healthy endpoint, lint, the block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfopen.scenario import as_json
from halfopen.tuning.advice import undecided
from halfopen.tuning.goals import WORKED_OUT
from halfopen.tuning.places import names, upstream_of
from halfopen.tuning.words import interval, listing, number, pretty, share, times, verdict, wrapped

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.result import Tuning

MOST_UPSTREAMS = 6  # or kinds of them are told of in text; JSON has all


def called(one: Candidate) -> str:
    """ "setting 7", or what it is if it is that of now."""
    return f"setting {one.number}" if one.number else "what is there now"


def warnings(tuning: Tuning) -> list[str]:
    """What the runs can't show."""
    return [line for said in tuning.warnings for line in wrapped(f"Warning: {said}", "", "  ")]


def by_scenario(tuning: Tuning) -> list[str]:
    """How the recommended setting fares in each of several scenarios."""
    chosen = tuning.recommended
    if chosen is None or len(tuning.scenarios) == 1:
        return []
    now = tuning.now
    out = ["Scenario by scenario" + ("" if chosen is now else f", now -> {called(chosen)}")]
    for name in tuning.scenarios:
        out += wrapped(name, "  ", "    ")
        for k, goal in enumerate(tuning.objectives):
            if tuning.part(now, k, name).n == 0:
                continue
            said = f"{goal.metric}: {interval(tuning.part(now, k, name))}"
            if chosen is not now:
                change = tuning.part_difference(chosen, now, k, name)
                moved = "" if change.verdict == "same" else f", change {interval(change.estimate)}"
                said += f" -> {interval(tuning.part(chosen, k, name))}{moved}: {verdict(change)}"
            out += wrapped(said, "    ", "      ")
    if chosen is not now:
        out += wrapped(f"Changes are replicate by replicate and hold together at {tuning.level:.6g}.", "  ")
    return out


def healthy_lines(tuning: Tuning) -> list[tuple[str, list[str]]]:
    """Of upstreams, those alike together: what they are at, and what becomes of a healthy endpoint at the recommended setting (or
    the nearest) and now. Those first whose healthy endpoints are ejected most often."""
    chosen, now = tuning.recommended or tuning.confirmed[-1], tuning.now
    mine, theirs = tuning.healthy(chosen), tuning.healthy(now)
    alike: dict[tuple[float, str, tuple[str, ...]], list[str]] = {}
    for scenario, found in mine.items():
        before = {one.upstream: one for one in theirs[scenario]}
        for one in found:
            lines = [f"{called(chosen)}: {one.said}"]
            if chosen is not now:
                lines.append(f"now: {before[one.upstream].said if one.upstream in before else 'no health block'}")
            at = f"{share(one.error_ratio)} errors ({one.source}), {number(one.rate_rps)} requests a second each"
            often = math.inf if one.refused else one.per_day
            name = one.upstream if len(mine) == 1 else f"{one.upstream} in {scenario}"
            alike.setdefault((-often, at, tuple(lines)), []).append(name)
    told = sorted(alike.items(), key=lambda item: item[0][0])
    return [(f"{_some(upstreams)}: {at}", list(lines)) for (_, at, lines), upstreams in told]


def _some(upstreams: list[str]) -> str:
    more = len(upstreams) - MOST_UPSTREAMS
    return listing(upstreams if more <= 0 else [*upstreams[:MOST_UPSTREAMS], f"{more} more"])


def healthy(tuning: Tuning) -> list[str]:
    """The same as text."""
    found = healthy_lines(tuning)
    if not found:
        return []
    out = wrapped("A healthy endpoint, as halfopen analyze works it out: the mean time until its traffic ejects it")
    for head, lines in found[:MOST_UPSTREAMS]:
        out += wrapped(head, "  ", "    ")
        for line in lines:
            out += wrapped(line, "    ", "      ")
    more = len(found) - MOST_UPSTREAMS
    return [*out, f"  and {more} more, whose endpoints are ejected no more often"] if more > 0 else out


def lint_lines(tuning: Tuning) -> list[str]:
    """What halfopen lint adds, a text each."""
    return [f"{found.level}, {found.id}, upstream {found.upstream}: {found.sentence}" for _, found in tuning.findings]


def lint(tuning: Tuning) -> list[str]:
    """The same as text."""
    if tuning.recommended is None or tuning.recommended is tuning.now:
        return []
    said = lint_lines(tuning)
    if not said:
        return wrapped(f"halfopen lint says nothing of {called(tuning.recommended)} that it does not say of what is there now.")
    out = wrapped(f"halfopen lint says of {called(tuning.recommended)}, and not of what is there now")
    for line, (_, found) in zip(said, tuning.findings, strict=True):
        out += wrapped(line, "  ", "    ")
        if found.instead:
            out += wrapped(f"instead: {found.instead}", "    ", "      ")
    return out


def paste_head(tuning: Tuning, pointer: str, blocks: dict[str, object]) -> str:
    """What to do with the blocks of an upstream, or with what is set by pointer."""
    if not pointer:
        return "To set in the scenario, by pointer"
    first = next(iter(tuning.scenarios.values()))
    name = names(first)[upstream_of(f"{pointer}/health") or 0]
    whole = "the whole block" if len(blocks) == 1 else "the whole blocks"
    return f"To paste into {pointer} (upstream {name}): replaces {whole} {listing(list(blocks))}"


def paste(tuning: Tuning) -> list[str]:
    """The blocks to paste, if anything changes."""
    chosen = tuning.recommended
    if chosen is None:
        return []
    if not tuning.changes(chosen):
        return ["Nothing to paste: nothing changes."]
    out: list[str] = []
    for pointer, blocks in tuning.blocks().items():
        out += wrapped(paste_head(tuning, pointer, blocks))
        out += ["  " + line for line in pretty(blocks).splitlines()]
    return out


def dropped(tuning: Tuning) -> list[str]:
    """What is not known of the settings that were dropped early."""
    base = tuning.recommended
    if base is None:
        return []
    all_of_them, open_ones = undecided(tuning, base)
    if not all_of_them:
        return []
    runs = " or ".join(map(str, sorted({one.replicates for one in all_of_them})))
    worse = len(all_of_them) - len(open_ones)
    shown = f"{worse or 'none'} {'are' if worse > 1 else 'is'}"
    return wrapped(
        f"Dropped after {runs} replicates by their means alone: {times(len(all_of_them), 'setting')} that kept the constraints, "
        f"of which {shown} shown to be worse than {called(base)} in something, by so few."
    )


def hint(tuning: Tuning, nearest: Candidate) -> list[str]:
    """Where the constraint that nobody asks for may be what is in the way."""
    broken = [limit for c, limit in enumerate(tuning.constraints) if limit.metric == WORKED_OUT and tuning.excess(nearest, c)]
    if not broken:
        return []
    return wrapped(
        f"{WORKED_OUT} is a constraint unless it is said otherwise: --healthy-ejections-per-day takes another limit, or any; "
        "--healthy-error-ratio says what a healthy endpoint fails.",
        "  ",
    )


def settings(tuning: Tuning, one: Candidate) -> list[str]:
    """What a setting changes, a line each."""
    now = tuning.now.settings
    return [
        f"  {pointer}: {as_json(now[pointer]) + ' -> ' if pointer in now else ''}{as_json(value)}"
        for pointer, value in tuning.changes(one).items()
    ]
