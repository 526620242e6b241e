"""Figures of matplotlib without pyplot: no global state, no window, any thread. Imported only when one is drawn."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from halfopen.optional import missing

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError:
    raise missing("matplotlib", "plot", "plot()") from None


class Picture(Figure):
    """A `matplotlib.figure.Figure` that a notebook shows; `savefig("x.png")` and the like work as ever."""

    def __init__(self, **options: Any) -> None:
        super().__init__(layout="constrained", **options)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        out = BytesIO()
        self.savefig(out, format="png", dpi=100)
        return out.getvalue()


def plain(text: str) -> str:
    """A name as text: matplotlib would read what stands between two dollars as mathematics."""
    return text.replace("$", r"\$")
