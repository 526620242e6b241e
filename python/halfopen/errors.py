"""The one exception of this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halfopen._core import Mistake


class ScenarioError(ValueError):
    """A scenario, timeline or setting with mistakes in it; str() lists them, one a line.

    Attributes
    ----------
    mistakes : tuple of Mistake, all there are, in the order of the file, warnings among them. Each has `file`, `line`
        and `column` (from 1; 0 where there is no place), `pointer` (a JSON pointer), `message` and `warning`.
    """

    mistakes: tuple[Mistake, ...]

    def __init__(self, message: str, mistakes: Iterable[Mistake] = ()) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(message, self.mistakes)

    def __str__(self) -> str:
        return str(self.args[0])
