"""Points of a sweep: grids, zips, lists of points, and what constraints leave of them."""

from __future__ import annotations

import ast
import itertools
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from halfopen import _core
from halfopen.scenario import as_json, pointer_of

Settings = dict[str, Any]
Where = str | Callable[[Settings], object]


class Value(NamedTuple):
    """One value of a setting: as Python has it, and as JSON text."""

    value: Any
    text: str


class Points(NamedTuple):
    """What is set, and to what at each point."""

    pointers: tuple[str, ...]
    rows: list[tuple[Value, ...]]

    def settings(self, point: int) -> Settings:
        return {pointer: value.value for pointer, value in zip(self.pointers, self.rows[point], strict=True)}

    def texts(self, point: int) -> list[str]:
        return [value.text for value in self.rows[point]]


def points_of(
    params: Mapping[Any, Iterable[Any]] | None,
    points: Any | None,
    where: Where | Iterable[Where] | None,
) -> Points:
    """The points of a sweep in order: the last parameter of a grid varies fastest."""
    if params is not None and points is not None:
        raise ValueError("give params= (a grid) or points= (a list of points), not both")
    out = _listed(points) if points is not None else _grid(params or {})
    tests = [where] if isinstance(where, str) or callable(where) else list(where or ())
    for test in tests:
        holds = _expression(test, out.pointers) if isinstance(test, str) else test
        kept = [row for n, row in enumerate(out.rows) if holds(out.settings(n))]
        if not kept:
            raise ValueError(f"where= leaves none of {len(out.rows)} points: {test}")
        out = Points(out.pointers, kept)
    return out


def value_of(value: Any) -> Value:
    text = as_json(value)
    return Value(json.loads(text), text)


def key_of(settings: Mapping[str, Any]) -> str:
    """Equal for equal settings: 5 and 5.0 are one number."""
    plain = {name: float(value) if type(value) is int and abs(value) <= 2**53 else value for name, value in settings.items()}
    return json.dumps(plain, sort_keys=True)


def _values(name: object, values: Any) -> list[Any]:
    if hasattr(values, "low") and hasattr(values, "high"):
        raise ValueError(f"{name} is a range: halfopen.design({{...}}, n) makes points of ranges, for Sweep(points=...)")
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ValueError(f"{name} needs a list of values, not {values!r}: [{values!r}] is a list of one")
    out = list(values)
    if not out:
        raise ValueError(f"{name} has no values")
    return out


def _grid(params: Mapping[Any, Iterable[Any]]) -> Points:
    pointers: list[str] = []
    axes: list[list[tuple[Value, ...]]] = []
    for name, given in params.items():
        names = tuple(pointer_of(one) for one in name) if isinstance(name, tuple) else (pointer_of(name),)
        axis = []
        for value in _values(name, given):
            row = (value,) if not isinstance(name, tuple) else value
            if not isinstance(row, tuple | list) or len(row) != len(names):
                raise ValueError(f"{name} are set together: each value must be a tuple of {len(names)}, not {value!r}")
            axis.append(tuple(value_of(one) for one in row))
        pointers += names
        axes.append(axis)
    if math.prod(len(axis) for axis in axes) > _core.MAX_SWEEP_RUNS:
        raise ValueError(f"the grid has more than {_core.MAX_SWEEP_RUNS} points: sweep parts of it")
    return Points(tuple(pointers), [tuple(itertools.chain(*row)) for row in itertools.product(*axes)])


def _listed(points: Any) -> Points:
    if hasattr(points, "to_dict") and hasattr(points, "iloc"):  # a frame of pandas
        points = points.to_dict("records")
    elif hasattr(points, "to_dicts"):  # one of Polars
        points = points.to_dicts()
    rows = list(points)
    if not rows:
        raise ValueError("points= is empty: there is nothing to run")
    for n, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"points= lists dicts from pointer to value, not {row!r} (point {n})")
        if set(row) != set(rows[0]):
            odd = sorted(map(str, set(row) ^ set(rows[0])))
            raise ValueError(f"every point must set the same pointers; point {n} and point 0 differ in {', '.join(odd)}")
    pointers = tuple(pointer_of(name) for name in rows[0])
    return Points(pointers, [tuple(value_of(row[name]) for name in pointers) for row in rows])


# ---- expressions -------------------------------------------------------------------------------------

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.Add: operator.add,
    ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


def _expression(text: str, pointers: tuple[str, ...]) -> Callable[[Settings], bool]:
    """A test like `{/a} < 2 * {/b} and {/c} != "off"`: comparisons, arithmetic, and, or, not, in; nothing else."""
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        if match[1] not in pointers:
            raise ValueError(f"where= {text!r} asks for {match[1]}, which is no parameter: {', '.join(pointers)}")
        return names.setdefault(match[1], f"_{len(names)}")

    try:
        tree = ast.parse(re.sub(r"\{([^{}]*)\}", name, text).strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"where= {text!r} is no expression ({error.msg}); write {{/pointer}} for a setting") from None
    _check(tree, text, set(names.values()))

    def holds(settings: Settings) -> bool:
        try:
            return bool(_evaluate(tree, {short: settings[pointer] for pointer, short in names.items()}))
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"where= {text!r} has no value at {settings}: {error}") from None

    return holds


_SHAPES = (ast.Constant, ast.Name, ast.Load, ast.BoolOp, ast.And, ast.Or, ast.Compare, ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple)


def _check(tree: ast.expr, text: str, names: set[str]) -> None:
    for node in ast.walk(tree):
        known = isinstance(node, _SHAPES) or type(node) in _OPERATORS
        if not known or (isinstance(node, ast.Name) and node.id not in names):
            what = node.id if isinstance(node, ast.Name) else type(node).__name__
            raise ValueError(
                f"where= {text!r}: {what} can't be used there; write {{/pointer}} for a setting, and comparisons, "
                "arithmetic, and, or, not, in; a function of a dict can do anything"
            )


def _evaluate(node: ast.expr, names: Settings) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_evaluate(one, names) for one in node.elts]
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_evaluate(node.operand, names))
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluate(node.left, names), _evaluate(node.right, names))
    if isinstance(node, ast.BoolOp):
        parts = (_evaluate(one, names) for one in node.values)
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.Compare):
        sides = [_evaluate(one, names) for one in (node.left, *node.comparators)]
        return all(_OPERATORS[type(op)](*pair) for op, pair in zip(node.ops, itertools.pairwise(sides), strict=True))
    raise TypeError(f"{type(node).__name__} is no part of an expression")
