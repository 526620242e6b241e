"""What a report says beside its numbers: what runs can't show, and what halfopen lint and analyze say of the recommendation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from halfopen.linting import Finding, lint
from halfopen.tuning.goals import NO_FALSE_ONES, OF_FAULTS, WORKED_OUT, Constraint, Objective, is_about
from halfopen.tuning.words import share, times

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.judge import Difference
    from halfopen.tuning.result import Tuning

ASSUMED = 0.005  # written into the advice: what `halfopen analyze` assumes of a healthy endpoint
_FAULT = f'"endpoints":{{"*":{{"faults":[{{"error":{{"ratio":{ASSUMED:g}}}}}]}}}}'  # no spaces: it is not broken over lines


def warnings(tuning: Tuning) -> list[str]:
    """What a reader should know before a setting is pasted, each a few sentences; the most important first."""
    out = [
        f"{name} has no traffic, so that its runs show nothing of requests, nor of endpoints that these eject."
        for name, scenario in tuning.scenarios.items()
        if not scenario.to_dict().get("traffic")
    ]
    out += _without_background(tuning)
    goals: list[Objective | Constraint] = [*tuning.objectives, *tuning.constraints]
    for goal in goals:
        out += _with_background(tuning, goal)
    return out + _few_replicates(tuning)


def _without_background(tuning: Tuning) -> list[str]:
    ejects = any(
        isinstance(upstream.get("health"), dict)
        for scenario in tuning.scenarios.values()
        for upstream in scenario.to_dict()["upstreams"]
    )
    if not ejects or tuning.healths.background or _false_ones(tuning):
        return []
    one = len(tuning.scenarios) == 1
    asked = any(goal.metric == "false_ejections" for goal in tuning.objectives)
    blind = "; false_ejections is 0 whatever is set" if asked else ""
    given = tuning.healths.error_ratio
    limits = any(limit.metric == WORKED_OUT for limit in tuning.constraints)
    ratio = f"at {share(ASSUMED)} errors, which is assumed" if given is None else f"at {share(given)} errors, as was said"
    instead = (
        f"That is left to {WORKED_OUT}, worked out {ratio}. "
        if limits
        else "No constraint asks for it either, so that a setting which ejects on a single error may win. "
    )
    return [
        f"{'The scenario has' if one else 'The scenarios have'} no background failures, a small share of errors on every "
        f"endpoint for the whole run: no run shows what settings do to a healthy endpoint{blind}. {instead}To see it in runs, "
        f"tune a quiet scenario too, one without other faults and with {_FAULT}, and ask for ejections@NAME<=0 of it."
    ]


def _false_ones(tuning: Tuning) -> bool:
    """Whether some run had a false ejection all the same: by a time limit, say."""
    rows = [k for k, goal in enumerate(tuning.objectives) if goal.metric == "false_ejections"]
    return any(bool((one.goals[k] > 0).any()) for k in rows for one in (*tuning.searched, *tuning.confirmed))


def _with_background(tuning: Tuning, goal: Objective | Constraint) -> list[str]:
    about = [name for name in tuning.scenarios if is_about(goal, name, tuning.healths.apart)]
    names = [name for name in about if name in tuning.healths.background]
    if not names:
        return []
    where = ", ".join(names)
    if goal.metric in NO_FALSE_ONES:
        return [
            f"{goal}: the background errors of {where} are a fault by this metric, and no ejection by them is a false one. "
            f"What counts them: {WORKED_OUT}, which is worked out, or ejections@NAME of a quiet scenario that has these errors and "
            "nothing else."
        ]
    if goal.metric in OF_FAULTS:
        return [
            f"{goal}: the background errors of {where} are a fault by this metric, to be detected on every endpoint. Ask for "
            f"{goal.metric}@NAME of a scenario without them."
        ]
    return []


def _few_replicates(tuning: Tuning) -> list[str]:
    if not tuning.confirmed[1:]:
        return []
    comparisons = max(1, (len(tuning.confirmed) - 1) * len(tuning.objectives))
    least = math.ceil(1 - math.log2((1 - tuning.level) / comparisons))
    if tuning.replicates >= least:
        return []
    return [
        f"Too few replicates to tell much: with {tuning.replicates} of them and {times(comparisons, 'comparison')} that shall "
        f"hold together at {tuning.level:.6g}, a difference shows if it is large against its spread; one that is the same in every "
        f"run is taken for luck with fewer than {least}."
    ]


def findings(tuning: Tuning, one: Candidate) -> list[tuple[str, Finding]]:
    """What `halfopen.lint` says of a setting and does not say of what is there now, each once, with the scenario's name."""
    out: dict[tuple[str, str, str], tuple[str, Finding]] = {}
    for entrant in tuning.entrants:
        before = {_key(found) for found in lint(entrant.scenario)}
        for found in lint(entrant.set_to(tuning.changes(one))):
            if _key(found) not in before:
                out.setdefault((found.id, found.upstream, found.sentence), (entrant.name, found))
    return list(out.values())


def _key(found: Finding) -> tuple[str, str, tuple[str, ...]]:
    return (found.id, found.upstream, tuple(found.pointers))


def undecided(tuning: Tuning, base: Candidate) -> tuple[list[Candidate], list[Candidate]]:
    """The settings that were dropped, and those of them that are not shown to be worse than another in anything, by the
    runs that they got; those that break a constraint by their means are not among either."""
    dropped = [one for one in tuning.candidates if one.replicates < tuning.replicates and tuning.searched_keeps(one)]
    mine = next((one for one in tuning.searched if one.number == base.number), None)
    if mine is None:
        return dropped, dropped
    comparisons = len(dropped) * len(tuning.objectives)
    return dropped, [one for one in dropped if not _worse(tuning.searched_differences(one, mine, comparisons))]


def _worse(found: Sequence[Difference]) -> bool:
    return any(each.verdict == "worse" for each in found)
