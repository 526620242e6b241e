"""Designs: points that fill a space of settings, for `Sweep(points=…)`. Needs SciPy.

Any other library's sample is a list of points too. Sobol indices by SALib (`pip install SALib`), in a few lines:

>>> import halfopen
>>> from SALib.analyze import sobol as analyze
>>> from SALib.sample import sobol as sample
>>> names = ["/upstreams/0/health/consecutive_failures", "/upstreams/0/health/eject_ms"]
>>> problem = {"num_vars": 2, "names": names, "bounds": [[1, 10], [1000, 30000]]}
>>> rows = sample.sample(problem, 8, seed=7)
>>> points = [dict(zip(names, (int(value) for value in row))) for row in rows]
>>> sweep = halfopen.Sweep(scenario, points=points, replicates=3, seed=7, metrics=["success_ratio"])
>>> means = sweep.run(progress=False).summary_table()["mean"]  # of one metric: a value a point, in order
>>> indices = analyze.analyze(problem, means, seed=7)
>>> len(means), sorted(indices)[:2]
(48, ['S1', 'S1_conf'])
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from halfopen.optional import load
from halfopen.params import Settings

Method = Literal["sobol", "latin", "halton"]
_ENGINES = {"sobol": "Sobol", "latin": "LatinHypercube", "halton": "Halton"}


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included.

    Attributes
    ----------
    log : spread evenly over orders of magnitude; `low` is then above 0.
    integer : whole numbers alone; if None, whether `low` and `high` are `int`.
    """

    low: float
    high: float
    log: bool = False
    integer: bool | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            if isinstance(end, bool) or not isinstance(end, numbers.Real):
                raise TypeError(f"{name}, an end of a range, is {end!r}: it must be a number")
            if isinstance(end, numbers.Integral):  # NumPy's too
                object.__setattr__(self, name, int(end))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"a range goes from a number to a larger one, not from {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a range with log=True begins above 0, not at {self.low}")
        if self.integer and (self.low != int(self.low) or self.high != int(self.high)):
            raise ValueError(f"a range with integer=True has whole ends, not {self.low} and {self.high}")

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int) if self.integer is None else self.integer

    def at(self, share: float) -> float | int:
        """The value so far along, from 0 to 1: of whole numbers, each has an equal part (of the logarithm, if `log`)."""
        low, high = float(self.low), float(self.high) + (1.0 if self.whole else 0.0)
        value = low * (high / low) ** share if self.log else low + share * (high - low)
        return min(math.floor(value), int(self.high)) if self.whole else min(max(value, low), float(self.high))


Space = Mapping[str, Range | tuple[float, float] | Sequence[Any]]
"""What each setting may be, by pointer: a `Range`, a tuple (low, high) for a plain one, or a list of choices."""


def space_of(space: Space) -> dict[str, Range | list[Any]]:
    """A space with its tuples read as ranges. Raises ValueError."""
    out: dict[str, Range | list[Any]] = {}
    for pointer, given in space.items():
        if isinstance(given, Range):
            out[pointer] = given
        elif isinstance(given, tuple):
            if len(given) != 2:
                raise ValueError(f"{pointer}: a tuple is a range (low, high); {given} is none, a list of choices has brackets")
            out[pointer] = Range(*given)
        elif isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) > 0:
            out[pointer] = list(given)
        else:
            raise ValueError(f"{pointer}: {given!r} is neither a Range, nor a tuple (low, high), nor a list of choices")
    if not out:
        raise ValueError("the space is empty: it needs at least one pointer")
    return out


def design(space: Space, n: int, *, method: Method = "sobol", seed: int = 7) -> list[Settings]:
    """Points that fill a space evenly, by `scipy.stats.qmc`.

    Parameters
    ----------
    space : what each setting may be: `{"/upstreams/0/health/eject_ms": Range(1_000, 60_000, log=True),
        "/upstreams/0/health/consecutive_failures": (1, 10), "/upstreams/0/load_balancer": ["round_robin", "random"]}`.
    n : how many points; for "sobol" a power of two.
    method : "sobol" (scrambled), "latin" for a Latin hypercube, "halton".
    seed : of the design, which has nothing to do with that of the runs.

    Returns what `Sweep(points=…)` takes. Whole numbers and choices may come up twice.
    """
    parts = space_of(space)
    if method not in _ENGINES:
        raise ValueError(f"method is one of {', '.join(_ENGINES)}, not {method!r}")
    if n < 1 or (method == "sobol" and n & (n - 1)):
        raise ValueError(f"n is a number of points from 1, for sobol a power of two as 64 is; not {n}")
    engine = getattr(load("scipy.stats.qmc", "design", "design()"), _ENGINES[method])
    luck = "rng" if "rng" in inspect.signature(engine).parameters else "seed"  # SciPy renamed it in 1.15
    shares = engine(d=len(parts), **{luck: seed}).random(n)
    return [{name: _at(part, float(share)) for (name, part), share in zip(parts.items(), row, strict=True)} for row in shares]


def _at(part: Range | list[Any], share: float) -> Any:
    return part.at(share) if isinstance(part, Range) else part[min(int(share * len(part)), len(part) - 1)]
