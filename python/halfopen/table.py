"""Tables by column: NumPy arrays over the memory that C++ filled, and the ways to every other library's frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from halfopen import _core
from halfopen.optional import load

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]

_SHOWN_ROWS = 10


class Table:
    """Columns of equal length, read-only.

    `table["t_ms"]` is a NumPy array. Of numbers it is a view of the memory that C++ filled, without a copy; of
    words (a state, a rule, an endpoint) an array of `str`, with None where there is nothing, for which
    `codes(name)` and `categories(name)` are the two halves that are stored. A number that was not measured is NaN.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Table) -> None:
        self._core = core

    @property
    def columns(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._core.names)

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """One column: int64, float64, bool, or objects that are `str` or None. Raises KeyError."""
        kind = self._kind(name)
        if kind == "text":
            return _frozen(np.array(self._core.words(name), dtype=object))
        if kind == "code":
            words = np.array([*self._core.words(name), None], dtype=object)
            return _frozen(words[self._core.values(name)])  # -1, for nothing, takes the last
        return self._core.values(name)

    def codes(self, name: str) -> npt.NDArray[np.int32]:
        """Of a column of words: each row's place in `categories(name)`, -1 for nothing. No copy."""
        if self._kind(name) != "code":
            raise TypeError(f"{name} is no column of words: it has no codes")
        return self._core.values(name)

    def categories(self, name: str) -> tuple[str, ...]:
        """Of a column of words: the words, each once, in order of first appearance."""
        if self._kind(name) != "code":
            raise TypeError(f"{name} is no column of words: it has no categories")
        return tuple(self._core.words(name))

    def to_dict(self) -> dict[str, list[Any]]:
        """Lists of plain Python values by column; None where there is nothing."""
        out: dict[str, list[Any]] = {}
        for name in self.columns:
            values = self[name].tolist()
            if self._core.nullable(name) and self._kind(name) == "number":
                values = [None if value != value else value for value in values]
            out[name] = values
        return out

    def to_pandas(self) -> pandas.DataFrame:
        """A `pandas.DataFrame`, a copy; words are Categorical, numbers that were not measured NaN."""
        library = load("pandas", "pandas", "to_pandas()")
        columns: dict[str, Any] = {}
        for name in self.columns:
            if self._kind(name) == "code":
                columns[name] = library.Categorical.from_codes(self.codes(name), categories=list(self.categories(name)))
            else:
                columns[name] = self[name]
        frame: pandas.DataFrame = library.DataFrame(columns, copy=True)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A `polars.DataFrame`; words are Categorical, what was not measured null."""
        frame: polars.DataFrame = load("polars", "polars", "to_polars()").DataFrame(self)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """A `pyarrow.Table`; words are dictionaries, what was not measured null."""
        table: pyarrow.Table = load("pyarrow", "arrow", "to_arrow()").table(self)
        return table

    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule protocol: the columns' names and types."""
        return self._core.arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule protocol, without pyarrow: a stream of one batch, as often as it is asked for.

        `requested_schema` is only a wish, as the protocol has it; ours is what comes.
        """
        return self._core.arrow_stream()

    def _kind(self, name: str) -> str:
        if name not in self._core.names:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self._core.names)}")
        return self._core.kind(name)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return html_table(self.columns, self, len(self))

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a table of a run is not pickled by itself: pickle its Result, or to_arrow()")


class Columns(Protocol):
    """Arrays by name."""

    def __getitem__(self, name: str, /) -> npt.NDArray[Any]: ...


def html_table(names: Iterable[str], columns: Columns, length: int) -> str:
    """The first rows, and how many there are more."""
    names = list(names)
    rows = min(length, _SHOWN_ROWS)
    cells = {name: columns[name][:rows].tolist() for name in names}
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(cells[name][row])}</td>" for name in names) + "</tr>" for row in range(rows)
    )
    more = f"<p>{length - rows} rows more</p>" if rows < length else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def _cell(value: object) -> str:
    if value is None or value != value:
        return ""
    return escape(f"{value:.10g}" if isinstance(value, float) else str(value))
