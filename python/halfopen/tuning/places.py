"""Scenarios that are tuned together: their upstreams are matched by name, so that one setting is set in all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from halfopen.params import Settings
from halfopen.scenario import Scenario


class Entrant(NamedTuple):
    """A scenario by the name that a report calls it."""

    name: str
    scenario: Scenario
    places: tuple[int | None, ...] = ()
    """Where it has each upstream of the first scenario, None where it lacks it; empty: all where the first one has them."""

    def pointer(self, pointer: str) -> str:
        """What a pointer of the first scenario is here. Raises ValueError if its upstream is not here."""
        number = upstream_of(pointer)
        if number is None or number >= len(self.places):
            return pointer
        place = self.places[number]
        if place is None:
            there = ", ".join(names(self.scenario))
            raise ValueError(f"{self.name} has no upstream that {pointer} could be of: it has {there}")
        steps = pointer.split("/")
        return "/".join([*steps[:2], str(place), *steps[3:]])

    def at(self, numbers: Collection[int | None]) -> list[int]:
        """Where some upstreams of the first scenario are here, those that are, in order."""
        count = len(names(self.scenario))
        places = self.places or range(count)
        return [place for n, place in enumerate(places) if n in numbers and place is not None and place < count]

    def settings(self, settings: Settings) -> Settings:
        """Settings of the first scenario with the pointers that they have here."""
        return {self.pointer(name): value for name, value in settings.items()}

    def set_to(self, settings: Settings) -> Scenario:
        """The scenario with settings of the first one. Raises ScenarioError if that is none."""
        return self.scenario.with_(self.settings(settings))


def upstream_of(pointer: str) -> int | None:
    """The number of the upstream that a pointer is into, from 0; None if it is not into any."""
    steps = pointer.split("/")
    inside = len(steps) > 3 and steps[1] == "upstreams" and steps[2].isascii() and steps[2].isdecimal()
    return int(steps[2]) if inside else None


def names(scenario: Scenario) -> list[str]:
    """Of the upstreams, in order."""
    return [str(upstream["name"]) for upstream in scenario.to_dict()["upstreams"]]


def matched(entrants: Sequence[Entrant]) -> list[Entrant]:
    """The same, with the places of upstreams by name; where every scenario has a single one, these are matched as they are."""
    first = names(entrants[0].scenario)
    if all(len(names(one.scenario)) == 1 for one in entrants):
        return [Entrant(one.name, one.scenario) for one in entrants]
    out = []
    for one in entrants:
        mine = names(one.scenario)
        out.append(Entrant(one.name, one.scenario, tuple(mine.index(name) if name in mine else None for name in first)))
    return out
