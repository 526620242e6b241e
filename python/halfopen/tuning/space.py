"""Where a search looks: ranges for the settings that scenarios have, and what Optuna asks from."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from halfopen import _core
from halfopen.designs import Range, Space, space_of
from halfopen.optional import load
from halfopen.params import Settings, value_of
from halfopen.scenario import Scenario, pointer_of
from halfopen.tuning.places import Entrant, matched, names, upstream_of

BLOCKS = ("health", "active_health", "breaker", "retries")
"""Of an upstream, what is searched unless it is said otherwise."""

_BELOW, _ABOVE, _FROM_ZERO = 5, 4, 3
_TOLD = 5  # upstreams that a message names


def default_space(scenarios: Scenario | Sequence[Scenario]) -> dict[str, Range | list[Any]]:
    """Ranges for every number with a default in the blocks health, active_health, breaker and retries that are there.

    From a fifth of the setting's default to four times as much, evenly over the orders of magnitude, within the limits
    of the setting; from 0 to 3 where the default is 0. A range is widened to hold what the scenario has now. Defaults and
    limits come from the settings tables in C++. Settings that say what is right, and not how fast or how sure (a probe's
    path, which statuses may be retried), are left alone; so are blocks that some of the scenarios lack.
    """
    several = [scenarios] if isinstance(scenarios, Scenario) else list(scenarios)
    return space_within(matched([Entrant(one.name or f"scenario {n}", one) for n, one in enumerate(several, 1)]))


def space_within(entrants: Sequence[Entrant]) -> dict[str, Range | list[Any]]:
    """The same of scenarios whose upstreams are matched; pointers are those of the first one."""
    out: dict[str, Range | list[Any]] = {}
    for pointer, about in _numbers(entrants):
        value = present(entrants[0].scenario, pointer)
        out[pointer] = _around(about, float(value[0]) if value else float(about["default"]))
    if out:
        return out
    of_all = " in all scenarios" if len(entrants) > 1 else ""
    there = "; ".join(_has(one) for one in entrants)
    raise ValueError(
        f"no upstream, by its name, has any of the blocks {', '.join(BLOCKS)}{of_all}: there is nothing to tune. {there}. "
        "Add a block, `\"health\": {}` will do, or name settings with params="
    )


def _has(one: Entrant) -> str:
    """Which blocks the upstreams of a scenario have."""
    upstreams = one.scenario.to_dict()["upstreams"]
    blocks = [" and ".join(block for block in BLOCKS if isinstance(up.get(block), dict)) or "none of them" for up in upstreams]
    said = [f"{name} with {has}" for name, has in zip(names(one.scenario), blocks, strict=True)]
    said = said if len(said) <= _TOLD else [*said[:_TOLD], f"{len(said) - _TOLD} more"]
    return f"{one.name} has {', '.join(said)}"


def _numbers(entrants: Sequence[Entrant]) -> list[tuple[str, dict[str, Any]]]:
    """Pointer and description of each setting that is a number, in blocks that all of them have."""
    definitions = _definitions()
    upstreams = [one.scenario.to_dict()["upstreams"] for one in entrants]
    return [
        (f"/upstreams/{n}/{block}/{key}", about)
        for n in range(len(upstreams[0]))
        for block in BLOCKS
        if all(_block(one, ups, n, block) for one, ups in zip(entrants, upstreams, strict=True))
        for key, about in definitions[block]["properties"].items()
        if about.get("type") in ("integer", "number") and "default" in about
    ]


def _block(one: Entrant, upstreams: Sequence[Mapping[str, Any]], n: int, block: str) -> bool:
    """Whether a scenario has the block in what is upstream n of the first one."""
    place = one.places[n] if one.places else n
    return place is not None and isinstance(upstreams[place].get(block), dict)


@cache
def _definitions() -> dict[str, Any]:
    """What C++ says of each object of a scenario, by name."""
    definitions: dict[str, Any] = json.loads(_core.scenario_schema())["definitions"]
    return definitions


def _around(about: Mapping[str, Any], now: float) -> Range:
    default, least, most = float(about["default"]), float(about.get("minimum", 0)), float(about.get("maximum", math.inf))
    whole = about["type"] == "integer"
    low, high = (default / _BELOW, default * _ABOVE) if default else (least, float(_FROM_ZERO))
    low = max(low, least, 1.0 if whole and default else 0.0)
    low, high = min(low, now), max(min(high, most), now)
    if whole:
        return Range(int(low), int(high), log=int(low) > 0)
    return Range(low, high, log=low > 0)


def present(scenario: Scenario, pointer: str) -> list[Any]:
    """What a scenario has at a pointer: [value], the setting's default among them, or [] if it has nothing there."""
    at: Any = scenario.to_dict()
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps[:-1]:
        at = _below(at, step)
    found = _below(at, steps[-1]) if steps else at
    if found is None and isinstance(at, dict) and len(steps) in (3, 4) and steps[0] == "upstreams":
        block = "upstream" if len(steps) == 3 else steps[2]
        found = _definitions().get(block, {}).get("properties", {}).get(steps[-1], {}).get("default")
    return [] if found is None else [found]


def _below(at: Any, step: str) -> Any:
    if isinstance(at, dict):
        return at.get(step)
    return at[int(step)] if isinstance(at, list) and step.isdecimal() and int(step) < len(at) else None


def check_same(entrants: Sequence[Entrant], searched: Sequence[str]) -> None:
    """One set of settings is tuned: raises ValueError if the scenarios have different ones now."""
    pointers = dict.fromkeys([*searched, *(pointer for pointer, _ in _numbers(entrants))])
    first = entrants[0]
    for entrant in entrants[1:]:
        for pointer in pointers:
            here = entrant.pointer(pointer)
            one, other = present(first.scenario, pointer), present(entrant.scenario, here)
            if one != other:
                texts = [json.dumps(value[0]) if value else "nothing" for value in (one, other)]
                there = "" if here == pointer else f" ({here} there)"
                raise ValueError(
                    f"{first.name} and {entrant.name} differ at {pointer}{there}, {texts[0]} and {texts[1]}: one set of "
                    "settings is tuned, so all scenarios must begin with the same; let them share a gateway's file, or set "
                    "one of them"
                )


def check_values(entrants: Sequence[Entrant], space: Space) -> None:
    """Raises ValueError for an end of a range, or a choice, that its setting can't have: it would be tried in vain."""
    if not isinstance(space, Mapping):
        such_as = {"/upstreams/0/health/eject_ms": (1000, 60_000)}
        raise TypeError(f"params is {space!r}: it must be {{pointer: what it may be}}, such as {such_as}")
    for pointer, part in space_of(space).items():
        pointer_of(pointer)
        steps = pointer.split("/")
        known = _definitions().get(steps[3], {}).get("properties") if len(steps) == 5 and steps[1] == "upstreams" else None
        if known is None or steps[3] not in BLOCKS:
            continue
        if steps[4] not in known:
            near = difflib.get_close_matches(steps[4], known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"{pointer}: {steps[3]} has no setting {steps[4]}: {hint}")
        number, upstreams = upstream_of(pointer), names(entrants[0].scenario)
        if number is None or number >= len(upstreams) or steps[2] != str(number):
            raise ValueError(f"{pointer}: {entrants[0].name} has no upstream {steps[2]}; /upstreams/0 is {upstreams[0]}")
        _check_part(pointer, part, known[steps[4]])


def _check_part(pointer: str, part: Range | list[Any], about: Mapping[str, Any]) -> None:
    key = pointer.rsplit("/", 1)[1]
    if isinstance(part, Range):
        if about.get("type") == "integer" and not part.whole:
            raise ValueError(f"{pointer}: {key} is a whole number, and so are the ends of its range; not {_span(part)}")
        if said := _outside((part.low, part.high), about):
            raise ValueError(f"{pointer}: {key} is {said}; a range from {_span(part)} would go beyond")
        return
    if about.get("type") not in ("integer", "number"):
        return
    for value in part:
        plain = value_of(value).value
        if isinstance(plain, bool) or not isinstance(plain, int | float) or not math.isfinite(plain):
            hint = "; a range is LO:HI or LO:HI:log, alone" if isinstance(plain, str) and ":" in plain else ""
            raise ValueError(f"{pointer}: {key} is a number, and {json.dumps(plain)} is none{hint}")
        fraction = about["type"] == "integer" and plain != math.floor(plain)
        if said := "a whole number" if fraction else _outside((plain, plain), about):
            raise ValueError(f"{pointer}: {key} is {said}, and not {plain:.12g}")


def _span(part: Range) -> str:
    return f"{part.low:.12g} to {part.high:.12g}"


def _outside(ends: tuple[float, float], about: Mapping[str, Any]) -> str:
    """What a setting is, if a range has an end that it can't be."""
    if about.get("type") not in ("integer", "number"):
        return "no number" if "type" in about or "enum" in about else ""
    above = about.get("exclusiveMinimum")
    least, most = float(about.get("minimum", -math.inf)), float(about.get("maximum", math.inf))
    if above is not None and ends[0] <= above:
        return f"a number above {above:g}"
    return f"a number from {least:g} to {most:.12g}" if ends[0] < least or ends[1] > most else ""


class Asking:
    """A space as Optuna asks from it, and what its answers mean."""

    def __init__(self, space: Space) -> None:
        self.parts = space_of(space)
        of = load("optuna.distributions", "optuna", "tune()")
        self.distributions: dict[str, Any] = {}
        self._choices: dict[tuple[str, str], Any] = {}  # Optuna knows no choice that is a list or an object
        for name, part in self.parts.items():
            if isinstance(part, Range):
                kind, number = (of.IntDistribution, int) if part.whole else (of.FloatDistribution, float)
                self.distributions[name] = kind(number(part.low), number(part.high), log=part.log)
                continue
            values = [value_of(one) for one in part]
            self._choices |= {(name, one.text): one.value for one in values if isinstance(one.value, list | dict)}
            self.distributions[name] = of.CategoricalDistribution([_plain(one.value, one.text) for one in values])

    def settings(self, params: Mapping[str, Any]) -> Settings:
        """What Optuna answered, as settings; numbers of ranges are rounded."""
        return {name: self._value(name, value) for name, value in params.items()}

    def params(self, settings: Settings) -> dict[str, Any] | None:
        """What Optuna would have answered; None if it is outside the space."""
        out = {}
        for name, part in self.parts.items():
            if name not in settings:
                return None
            value = settings[name]
            if isinstance(part, Range):
                number = isinstance(value, int | float) and not isinstance(value, bool)
                if not number or not part.low <= value <= part.high or (part.whole and value != int(value)):
                    return None
                out[name] = int(value) if part.whole else float(value)
            elif value in part:
                out[name] = _plain(value, value_of(value).text)
            else:
                return None
        return out

    def _value(self, name: str, value: Any) -> Any:
        part = self.parts[name]
        return rounded(part, value) if isinstance(part, Range) else self._choices.get((name, value), value)


def _plain(value: Any, text: str) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else text


def rounded(part: Range, value: float) -> float | int:
    """To two digits, or to a tenth of the range's width at the coarsest: nobody wants an eject_ms of 17843."""
    if value == 0:
        return value
    exponent = min(math.floor(math.log10(abs(value))) - 1, math.floor(math.log10(float(part.high) - float(part.low))) - 1)
    out = min(max(round(value, -exponent), part.low), part.high)
    return int(out) if part.whole else float(out)
