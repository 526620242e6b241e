"""Tidy tables of sweeps: named NumPy columns, and the ways to every other library's frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfopen.table import missing

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Column = npt.NDArray[Any]
_INT64 = range(-(2**63), 2**63)


class Frame(Mapping[str, Column]):
    """Columns of equal length, read-only, in a fixed order.

    `frame["run"]` is a NumPy array: int64, uint64, float64 or bool, or objects that are `str`. A number that was not
    measured is NaN. Needs no library but NumPy; `to_pandas`, `to_polars` and `to_arrow` need theirs.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = {name: values.view() for name, values in columns.items()}
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
        try:
            import pandas
        except ImportError:
            raise missing("pandas", "pandas", "a pandas frame") from None
        return pandas.DataFrame(dict(self._columns))

    def to_polars(self) -> polars.DataFrame:
        """A `polars.DataFrame`."""
        try:
            import polars
        except ImportError:
            raise missing("polars", "polars", "to_polars()") from None
        columns = {
            name: polars.Series(name, values.tolist(), dtype=polars.String) if values.dtype == object else values
            for name, values in self._columns.items()
        }
        return polars.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """A `pyarrow.Table`."""
        try:
            import pyarrow
        except ImportError:
            raise missing("pyarrow", "arrow", "to_arrow()") from None
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
    """The narrowest column that holds JSON values: bool, int64, float64, words; JSON texts if they are mixed."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, dtype=np.bool_)
    if kinds == {int} and all(value in _INT64 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float}:
        return np.array(values, dtype=np.float64)
    return texts(values if kinds == {str} else json_texts)
