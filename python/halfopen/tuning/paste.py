"""What goes into a file or a shell: blocks of settings, and commands that run them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfopen.scenario import as_json

if TYPE_CHECKING:
    from halfopen.tuning.bench import Candidate
    from halfopen.tuning.result import Tuning


def blocks(tuning: Tuning, one: Candidate) -> dict[str, dict[str, Any]]:
    """See `Tuning.blocks`."""
    scenario = next(iter(tuning.scenarios.values()))
    data = scenario.with_(tuning.changes(one)).to_dict()
    out: dict[str, dict[str, Any]] = {}
    for pointer in tuning.params:
        steps = pointer.split("/")
        if steps[1] == "upstreams" and len(steps) > 3 and steps[2].isdecimal():
            upstream = data["upstreams"][int(steps[2])]
            if steps[3] in upstream:
                out.setdefault("/".join(steps[:3]), {})[steps[3]] = upstream[steps[3]]
        elif pointer in one.settings:
            out.setdefault("", {})[pointer] = one.settings[pointer]
    return out


def in_code(tuning: Tuning, name: str) -> bool:
    """Whether the scenario of that name was made in code, and not read from a file."""
    file = tuning.scenarios[name]._core.file_name
    return not file or file.startswith("<")


def command(tuning: Tuning, name: str, one: Candidate) -> list[str]:
    """See `Tuning.command`."""
    core = tuning.scenarios[name]._core
    made_here = in_code(tuning, name)
    words = ["halfopen", "sweep", f"{name}.json" if made_here else core.file_name]
    words += ["--gateway", tuning.gateway] if tuning.gateway else []
    for pointer, text in () if made_here else core.sets:
        words += ["--set", f"{pointer}={text}"]
    entrant = next(each for each in tuning.entrants if each.name == name)
    for pointer, value in entrant.settings(tuning.changes(one)).items():
        words += ["--set", f"{pointer}={as_json(value)}"]
    return [*words, "--seed", str(tuning.fresh_seed), "--replicates", str(tuning.replicates)]
