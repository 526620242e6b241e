"""Scenarios: read from files, text or Python objects, changed by JSON pointer, immutable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Self, Unpack

from halfopen import build
from halfopen._core import Mistake
from halfopen._core import Scenario as _CoreScenario
from halfopen.check import whole

_JSON_VALUE = "a value that JSON has: a number, text, list, dict, True, False or None"


def as_json(value: Any) -> str:
    """JSON text of a value; NumPy's numbers and arrays, tuples and paths are taken for what they hold."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("the value is nested too deeply for JSON, or holds itself") from None


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy arrays and numbers
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}; it must be {_JSON_VALUE}")


def pointer_of(name: Any) -> str:
    """A JSON pointer as it is; ValueError for anything else."""
    if isinstance(name, str) and (name == "" or name.startswith("/")):
        return name
    raise ValueError(f"{name!r} is no JSON pointer; one looks like '/upstreams/0/health/consecutive_failures'")


def _sets(changes: Mapping[str, Any]) -> list[tuple[str, str]]:
    for name in changes:
        if not isinstance(name, str):
            pointer_of(name)
    return [(name, as_json(value)) for name, value in changes.items()]


class Scenario:
    """A scenario without a mistake in it: what `halfopen.run` runs.

    Made by `load`, `from_dict`, `from_json` and `from_yaml`; changed by `with_`, which answers a new one.
    Immutable, equal by content, hashable and picklable. Whatever is wrong raises `ScenarioError`, whose
    `mistakes` are all there are, each with its place and JSON pointer.
    """

    __slots__ = ("_core",)
    _core: _CoreScenario

    def __init__(self) -> None:
        raise TypeError("make a Scenario by Scenario.load(path), from_dict(dict), from_json(text) or from_yaml(text)")

    @classmethod
    def _of(cls, core: _CoreScenario) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "_core", core)
        return self

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        set: Mapping[str, Any] | None = None,
        seed: int | None = None,
        gateway: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Read a file, JSON with comments or (by its name, .yaml or .yml) YAML.

        Parameters
        ----------
        path : the file; files that it names are looked up beside it.
        set : changes made before anything is judged, as in `with_`: what the file lacks may come here.
        seed : in place of the file's, from 0 to 2^64 - 1.
        gateway : a gateway's own file, whose `upstreams` take the place of the scenario's.

        Raises
        ------
        ScenarioError : with every mistake in it, also if it can't be read.
        """
        name = os.fspath(path)
        where = os.path.abspath(name)
        luck = None if seed is None else whole("seed", seed)
        other = None if gateway is None else os.path.abspath(os.fspath(gateway))
        return cls._of(_CoreScenario.read_file(where, name, _sets(set or {}), luck, other))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: str | os.PathLike[str] = ".") -> Self:
        """Read what a JSON scenario would say as Python objects. `folder`: where the files are that it names."""
        return cls._from_text(as_json(data), folder, "scenario.json", "<dict>")

    @classmethod
    def of(cls, **keys: Unpack[build.ScenarioKeys]) -> Self:
        """Make one of keyword arguments; `halfopen.build` has a typed dict for every object in them."""
        return cls.from_dict(keys)

    @classmethod
    def from_json(cls, text: str, *, folder: str | os.PathLike[str] = ".") -> Self:
        """Read JSON text, comments allowed. `folder`: where the files are that it names."""
        return cls._from_text(text, folder, "scenario.json", "<json>")

    @classmethod
    def from_yaml(cls, text: str, *, folder: str | os.PathLike[str] = ".") -> Self:
        """Read YAML text. `folder`: where the files are that it names."""
        return cls._from_text(text, folder, "scenario.yaml", "<yaml>")

    @classmethod
    def _from_text(cls, text: str, folder: str | os.PathLike[str], file: str, name: str) -> Self:
        where = os.path.join(os.path.abspath(os.fspath(folder)), file)
        return cls._of(_CoreScenario.read_text(text, where, name, [], None, None))

    def with_(self, changes: Mapping[str, Any]) -> Self:
        """The same scenario with other values at some JSON pointers, in the order given.

        `scenario.with_({"/upstreams/0/health/consecutive_failures": 3})`. The last step of a pointer may be a
        new key, or "-" to append to a list; all else must exist. Raises `ScenarioError`.
        """
        return type(self)._of(self._core.with_sets(_sets(changes)))

    def with_seed(self, seed: int) -> Self:
        """The same scenario with another seed, from 0 to 2^64 - 1."""
        return type(self)._of(self._core.with_seed(whole("seed", seed)))

    def to_dict(self) -> dict[str, Any]:
        """What it says after all changes, with its seed, keys sorted; defaults are not filled in."""
        data: dict[str, Any] = json.loads(self._core.readable_json)
        return data

    def to_json(self) -> str:
        """`to_dict` as compact JSON text, which `from_json` reads."""
        return self._core.readable_json

    @property
    def name(self) -> str:
        """Its `name`; empty if it has none."""
        return self._core.name

    @property
    def question(self) -> str:
        """The one question that it asks; empty if it asks none."""
        return self._core.question

    @property
    def seed(self) -> int:
        """From 0 to 2^64 - 1; 1 unless given."""
        return self._core.seed

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over what it says, the numbers in the files that it names among it: the `digest` of its timelines."""
        return self._core.digest

    @property
    def duration_ms(self) -> float:
        """Length of the run in virtual milliseconds."""
        return self._core.duration_ms

    @property
    def warnings(self) -> tuple[Mistake, ...]:
        """What will surprise its author, though the scenario is usable."""
        return self._core.warnings

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Scenario can't be changed; with_({{pointer: value}}) answers a new one (you set {name})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Scenario can't be changed (you deleted {name})")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._core.effective_json == other._core.effective_json

    def __hash__(self) -> int:
        return hash(self._core.digest)

    def __repr__(self) -> str:
        name = self.name or "(no name)"
        return f"<Scenario {name}: {self.duration_ms / 1000:g} s, seed {self.seed}, digest {self.digest}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of, (self._core,))
