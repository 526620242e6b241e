"""Where a search looks: ranges for the settings that scenarios have, and what Optuna asks from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from halfopen import _core
from halfopen.designs import Range, Space, space_of
from halfopen.optional import load
from halfopen.params import Settings, value_of
from halfopen.scenario import Scenario

BLOCKS = ("health", "active_health", "breaker", "retries")
"""Of an upstream, what is searched unless it is said otherwise."""

_BELOW, _ABOVE, _FROM_ZERO = 5, 4, 3


def default_space(scenarios: Scenario | Sequence[Scenario]) -> dict[str, Range | list[Any]]:
    """Ranges for every number with a default in the blocks health, active_health, breaker and retries that are there.

    From a fifth of the setting's default to four times as much, evenly over the orders of magnitude, within the limits
    of the setting; from 0 to 3 where the default is 0. A range is widened to hold what the scenario has now. Defaults and
    limits come from the settings tables in C++. Settings that say what is right, and not how fast or how sure (a probe's
    path, which statuses may be retried), are left alone; so are blocks that some of the scenarios lack.
    """
    several = [scenarios] if isinstance(scenarios, Scenario) else list(scenarios)
    out: dict[str, Range | list[Any]] = {}
    for pointer, about in _numbers(several):
        value = present(several[0], pointer)
        out[pointer] = _around(about, float(value[0]) if value else float(about["default"]))
    if not out:
        raise ValueError(
            f"no upstream has any of the blocks {', '.join(BLOCKS)}: there is nothing to tune; add one, `\"health\": {{}}` "
            "will do, or name settings in params="
        )
    return out


def _numbers(scenarios: Sequence[Scenario]) -> list[tuple[str, dict[str, Any]]]:
    """Pointer and description of each setting that is a number, in blocks that all of them have."""
    definitions = _definitions()
    upstreams = [scenario.to_dict()["upstreams"] for scenario in scenarios]
    return [
        (f"/upstreams/{n}/{block}/{key}", about)
        for n in range(min(map(len, upstreams)))
        for block in BLOCKS
        if all(isinstance(one[n].get(block), dict) for one in upstreams)
        for key, about in definitions[block]["properties"].items()
        if about.get("type") in ("integer", "number") and "default" in about
    ]


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


def check_same(names: Sequence[str], scenarios: Sequence[Scenario], searched: Sequence[str]) -> None:
    """One set of settings is tuned: raises ValueError if the scenarios have different ones now."""
    pointers = dict.fromkeys([pointer for pointer, _ in _numbers(scenarios)] + list(searched))
    for name, scenario in zip(names[1:], scenarios[1:], strict=True):
        for pointer in pointers:
            one, other = present(scenarios[0], pointer), present(scenario, pointer)
            if one != other:
                texts = [json.dumps(value[0]) if value else "nothing" for value in (one, other)]
                raise ValueError(
                    f"{names[0]} and {name} differ at {pointer}, {texts[0]} and {texts[1]}: one set of settings is tuned, so "
                    "all scenarios must begin with the same; let them share a gateway's file, or set one of them"
                )


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
