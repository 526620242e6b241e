"""The report of a search as text, some 80 columns wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from halfopen import __version__
from halfopen.optional import load
from halfopen.scenario import as_json
from halfopen.tuning import advised
from halfopen.tuning.advised import called
from halfopen.tuning.goals import IMPUTED, OF_FAULTS, Constraint
from halfopen.tuning.paste import in_code
from halfopen.tuning.words import FEW, WIDTH, continued, interval, number, pretty, side_by_side, times, verdict, wrapped

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.judge import Difference
    from halfopen.tuning.result import Tuning

_MEANS = "A number without an interval was the same in every run; the others are means over"


def limit_said(tuning: Tuning, one: Candidate, c: int) -> str:
    """Whether a constraint is kept, and how sure that is."""
    limit, found = tuning.constraints[c], tuning.limit(one, c)
    excess = tuning.excess(one, c)
    if found.n == 0 or excess == math.inf:
        return "not measured in every run, and so BROKEN" if excess else "nothing to measure"
    if excess:
        return f"BROKEN: {interval(found)}"
    if found.std == 0 and found.mean == 0 and limit.relation == "<=":
        return f"kept: 0 in all {found.n} runs{_rare(limit, found.n, tuning.level)}"
    beyond = " on average, but its interval reaches beyond" if tuning.reaches_beyond(one, c) else ""
    return f"kept{beyond}: {interval(found)}"


_COUNTS = ("ejections", "false_ejections", "overload", "missed", "breaker_openings")


def _rare(limit: Constraint, runs: int, level: float) -> str:
    """What none in n runs leaves open of a rare event: a Poisson count of mean m is 0 with exp(-m)."""
    if limit.metric not in _COUNTS:
        return ""
    return f"; at {level:.6g}, fewer than {number(-math.log(1 - level) / runs)} a run"


def report(tuning: Tuning) -> str:
    """The whole text."""
    parts = [
        _head(tuning),
        _asked(tuning),
        advised.warnings(tuning),
        _recommended(tuning),
        advised.by_scenario(tuning),
        advised.healthy(tuning),
        advised.lint(tuning),
        advised.paste(tuning),
        _pareto(tuning),
        _apart(tuning),
        advised.dropped(tuning),
        _again(tuning),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def headline(tuning: Tuning) -> str:
    """What is recommended, in a sentence without an end."""
    chosen = tuning.recommended
    if chosen is None:
        return "No setting that was tried keeps the constraints"
    if chosen.number == 0:
        return "Recommended: what is there now"
    plain = f", which is setting {chosen.origin} without changes that bought nothing" if chosen.origin is not None else ""
    return f"Recommended: setting {chosen.number}{plain}"


def listed(tuning: Tuning) -> str:
    """How much was run."""
    full = sum(one.replicates == tuning.replicates for one in tuning.candidates)
    early = sorted({one.replicates for one in tuning.candidates} - {tuning.replicates})
    dropped = f", the others dropped after {' or '.join(map(str, early))}" if early else ""
    return (
        f"{times(len(tuning.candidates), 'setting')} tried, {full} of them with all {tuning.replicates} replicates{dropped}; "
        f"{len(tuning.confirmed)} ran again with fresh seeds. {times(tuning.runs, 'run')}; without halving "
        f"{tuning.runs_in_full:,}."
    )


def _head(tuning: Tuning) -> list[str]:
    out = [*wrapped(f"Tuned {', '.join(tuning.scenarios)}"), *wrapped(listed(tuning))]
    if tuning.refused:
        out += wrapped(f"{times(len(tuning.refused), 'setting')} more made no usable scenario, such as:")
        out += wrapped(tuning.refused[0].why.splitlines()[0], "  ")
    return out


def _asked(tuning: Tuning) -> list[str]:
    several = len(tuning.scenarios) > 1
    out = ["Objectives, the most important first"]
    for goal in tuning.objectives:
        apart = tuning.healths.apart if goal.metric in OF_FAULTS else ()
        which = "the scenarios without background errors" if apart else "the scenarios"
        of = f", mean of {which}" if several and goal.scenario is None else ""
        margin = f", differences up to {goal.margin:g} don't matter" if goal.margin else ""
        out.append(f"  {goal.way} {goal.label}{of}{margin}")
        if goal.metric in IMPUTED:
            out += wrapped(IMPUTED[goal.metric], "    ")
    if tuning.constraints:
        out.append("Constraints, on the mean over replicates")
        out += [f"  {limit}" for limit in tuning.constraints]
    if tuning.left_out:
        out += wrapped(f"Not measured in these scenarios, and left out: {', '.join(tuning.left_out)}")
    return out


def _recommended(tuning: Tuning) -> list[str]:
    chosen, out = tuning.recommended, wrapped(headline(tuning))
    if chosen is None:
        nearest = tuning.confirmed[-1]
        out += wrapped(f"The nearest is {called(nearest)}:", "  ")
        return out + advised.settings(tuning, nearest) + _limits(tuning, nearest) + advised.hint(tuning, nearest)
    if chosen.number == 0:
        out += wrapped("No setting that was tried is shown to be better in the order of the objectives.", "  ")
    out += advised.settings(tuning, chosen)
    for k, goal in enumerate(tuning.objectives):
        found = tuning.estimate(chosen, k)
        out.append(f"  {goal.label}: {interval(found)}")
        if chosen.number != 0:
            change = tuning.difference(chosen, tuning.now, k)
            out += wrapped(f"now {interval(tuning.estimate(tuning.now, k))}", "    ")
            out += wrapped(f"change {interval(change.estimate)}: {verdict(change)}", "    ")
    out += _limits(tuning, chosen)
    return [*out, *wrapped(f"{_MEANS} {tuning.replicates} fresh seeds, with intervals at {tuning.level:.6g}.", "  ")]


def _limits(tuning: Tuning, one: Candidate) -> list[str]:
    said = [f"{limit}: {limit_said(tuning, one, c)}" for c, limit in enumerate(tuning.constraints)]
    return [line for text in said for line in wrapped(text, "  ")]


def _pareto(tuning: Tuning) -> list[str]:
    rows = tuning.compared
    if tuning.recommended is None:
        return []
    names = ["setting", *(_named(tuning, one) for one in rows)]
    cells = [
        [goal.label, *(interval(tuning.estimate(one, k)) for one in rows)] for k, goal in enumerate(tuning.objectives)
    ]
    out = ["Pareto table: no other setting beats these in everything; * is recommended"]
    if not all(tuning.on_front(one) for one in rows):
        out += wrapped("(in brackets: one does, by its means, or a constraint is broken)", "  ")
    out += ["  " + line for line in side_by_side(names, cells, WIDTH - 2)]
    for one in rows:
        out += wrapped(f"{one.number or 'now'}: {_changes(tuning, one)}", "  ", "     ")
        if tuning.twins(one):
            out += wrapped(f"the same in every run of the search: {', '.join(map(str, tuning.twins(one)))}", "     ")
    return out


def _changes(tuning: Tuning, one: Candidate) -> str:
    said = [f"{short(tuning, pointer)} {as_json(value)}" for pointer, value in tuning.changes(one).items()]
    return ", ".join(said) or "no change"


def _named(tuning: Tuning, one: Candidate) -> str:
    name = str(one.number or "now")
    return f"{'*' if one is tuning.recommended else ' '}{name if tuning.on_front(one) else f'({name})'}"


def short(tuning: Tuning, pointer: str) -> str:
    """A pointer without its upstream, if there is only one."""
    ups = {name.split("/")[2] if name.startswith("/upstreams/") else "" for name in tuning.params}
    return pointer.split("/", 3)[3] if len(ups) == 1 and "" not in ups else pointer


def _apart(tuning: Tuning) -> list[str]:
    base = tuning.recommended
    others = [one for one in tuning.confirmed if one is not base]
    if base is None or not others:
        return []
    out = wrapped(
        f"Against {called(base)}, replicate by replicate; these intervals hold together at {tuning.level:.6g}"
    )
    for one in others:
        found = [tuning.difference(one, base, k) for k in range(len(tuning.objectives))]
        name = ("now" if one.number == 0 else str(one.number)) + ("" if tuning.keeps(one) else " (breaks a constraint)")
        out += wrapped(f"{name}: {_against(tuning, found)}", "  ", "     ")
        if one not in tuning.compared:  # the table above does not say what it is
            out += wrapped(f"({_changes(tuning, one)})", "     ")
    return out


def _against(tuning: Tuning, found: Sequence[Difference]) -> str:
    """How a setting compares with another, objective by objective."""
    if all(each.verdict == "same" for each in found):
        return "the same in every run"
    pairs = list(zip(tuning.objectives, found, strict=True))
    said = [
        f"{goal.label} {each.verdict}, {'+' if each.estimate.mean > 0 else ''}{interval(each.estimate)}"
        for goal, each in pairs
        if each.verdict in ("better", "worse")
    ]
    near = [goal.label for goal, each in pairs if each.verdict == "margin"]
    same = [goal.label for goal, each in pairs if each.verdict == "same"]
    said += [f"{', '.join(near)} within the margin"] if near else []
    said += [f"{', '.join(same)} the same in every run"] if same else []
    opened = [(each.replicates_needed or math.inf, goal.label) for goal, each in pairs if each.verdict == "open"]
    if not opened:
        return "; ".join(said)
    alike = len(opened) + len(near) + len(same) == len(pairs)
    soonest, label = min(opened)
    more = f"; a difference in {label}, if it is there, would show with some {number(soonest)} replicates"
    few = ", too few replicates" if found[0].estimate.n <= FEW else ""
    text = f"can't be told apart{few}" if alike else f"{', '.join(label for _, label in opened)} can't be told apart{few}"
    return "; ".join([text, *said] if alike else [*said, text]) + (more if soonest < math.inf else "")


def _again(tuning: Tuning) -> list[str]:
    out = ["To run it again"]
    out += wrapped(
        f"Seeds {_seeds(tuning.seed, tuning.replicates)} for the search, {_seeds(tuning.fresh_seed, tuning.replicates)} for "
        f"what is said above; halfopen {__version__}, Optuna {load('optuna', 'optuna', 'tune()').__version__}.",
        "  ",
    )
    if tuning.search_command:
        out += wrapped("The search:", "  ") + continued(tuning.search_command, "    ")
    out += wrapped(f"The runs behind {called(tuning.recommended or tuning.confirmed[-1])}:", "  ")
    here = [f"{name}.json" for name in tuning.scenarios if in_code(tuning, name)]
    if here:
        out += wrapped(f"(made in code; what to_json() of each says, in {', '.join(here)})", "  ")
    for name in tuning.scenarios:
        out += continued(tuning.command(name), "    ")
    return out


def _seeds(first: int, count: int) -> str:
    last = (first + count - 1) % 2**64
    return f"{first} to {last}"
