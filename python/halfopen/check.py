"""Arguments that are numbers, refused with a sentence before C++ would refuse them with its signature."""

from __future__ import annotations

import operator
from typing import Any

LARGEST = 2**64 - 1


def whole(name: str, value: Any, low: int = 0, high: int = LARGEST) -> int:
    """A whole number in [low, high], as an int; NumPy's are as good. TypeError or ValueError, with what would be right."""
    rule = f"it must be a whole number from {low} to {'2^64 - 1' if high == LARGEST else high}"
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}: {rule}")
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}: {rule}")
    return number


def ms(now: Any) -> int:
    """A time of the caller's clock, in whole milliseconds."""
    return whole("now", now)


def real(name: str, value: Any, low: float, high: float) -> float:
    """A number in [low, high], NumPy's too. TypeError or ValueError, with what would be right."""
    rule = f"it must be a number from {low:g} to {high:g}"
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is {value!r}: {rule}")
    if not low <= float(value) <= high:
        raise ValueError(f"{name} is {float(value):g}: {rule}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False, also NumPy's; TypeError for anything else, since "no" would be true."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name} is {value!r}: it must be True or False")
    return bool(value)


def luck(u: Any) -> float:
    """A number in [0, 1)."""
    if isinstance(u, bool | str) or not hasattr(u, "__float__"):
        raise TypeError(f"u is {u!r}: it must be a number in [0, 1)")
    if not 0 <= float(u) < 1:
        raise ValueError(f"u is {float(u)}: it must be a number in [0, 1)")
    return float(u)
