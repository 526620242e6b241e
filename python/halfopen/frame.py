"""Tidy tables of sweeps: named NumPy columns, and the ways to every other library's frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfopen.optional import load
from halfopen.table import html_table

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]

Column = npt.NDArray[Any]
_INT64, _UINT64 = range(-(2**63), 2**63), range(2**64)


class Frame(Mapping[str, Column]):
    """Columns of equal length, read-only, in a fixed order.

    `frame["run"]` is a NumPy array: int64, uint64, float64 or bool, or objects that are `str`. A number that was not
    measured is NaN. The arrays that it is made of are read-only from then on. Needs no library but NumPy; `to_pandas`, `to_polars` and `to_arrow` need theirs.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"the columns of a frame have one length, not {sorted(lengths)}")
        for values in self._columns.values():
            values.flags.writeable = False

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """How many columns, as of every mapping; `rows` says how many rows."""
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._columns)

    def take(self, rows: Column) -> Frame:
        """Some of the rows, by a mask or by their places."""
        return Frame({name: values[rows] for name, values in self._columns.items()})

    def to_pandas(self) -> pandas.DataFrame:
        """A `pandas.DataFrame`."""
        frame: pandas.DataFrame = load("pandas", "pandas", "a pandas frame").DataFrame(dict(self._columns))
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A `polars.DataFrame`."""
        library = load("polars", "polars", "to_polars()")
        columns = {
            name: library.Series(name, values.tolist(), dtype=library.String) if values.dtype == object else values
            for name, values in self._columns.items()
        }
        frame: polars.DataFrame = library.DataFrame(columns)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """A `pyarrow.Table`."""
        pyarrow = load("pyarrow", "arrow", "to_arrow()")
        return pyarrow.table(
            {
                name: pyarrow.array(values, type=pyarrow.string() if values.dtype == object else None)
                for name, values in self._columns.items()
            }
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __eq__(self, other: object) -> bool:
        """Whether all is the same to the last bit, NaN included."""
        if not isinstance(other, Frame):
            return NotImplemented
        return self.columns == other.columns and all(_same(self[name], other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        return html_table(self.columns, self._columns, self.rows)

    def __repr__(self) -> str:
        return f"<Frame of {self.rows} rows: {', '.join(self._columns)}>"


def _same(one: Column, other: Column) -> bool:
    if one.dtype != other.dtype or len(one) != len(other):
        return False
    if one.dtype == object:
        return bool(one.tolist() == other.tolist())
    return one.tobytes() == other.tobytes()


def texts(values: list[str]) -> Column:
    """A column of words."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def column_of(values: list[Any], json_texts: list[str]) -> Column:
    """The narrowest column that holds JSON values: bool, int64, uint64, float64, words; JSON texts if they are mixed."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, dtype=np.bool_)
    if kinds == {int}:
        for dtype, holds in ((np.int64, _INT64), (np.uint64, _UINT64)):
            if all(value in holds for value in values):
                return np.array(values, dtype=dtype)
        return texts(json_texts)
    if kinds and kinds <= {int, float}:
        return np.array(values, dtype=np.float64)
    return texts(values if kinds == {str} else json_texts)
