"""What came out of a sweep: a tidy table, a row a run, and what it says of the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from halfopen import stats
from halfopen.check import whole
from halfopen.frame import Frame
from halfopen.params import key_of, value_of

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.figure import Figure

    from halfopen.sweep import Sweep


class SweepResult:
    """The runs of a sweep.

    Attributes
    ----------
    sweep : where they came from.
    table : `Frame`, a row a run by number: run (from 1), point (from 0), replicate (from 1), seed; a column a parameter,
        named by its pointer; a column a metric, its unit in its name; expectations and how many of them held; fingerprint of
        the events and digest of the scenario, 16 hexadecimal digits each. The same bytes whatever ran the sweep.
    """

    def __init__(self, sweep: Sweep, table: Frame) -> None:
        self.sweep, self.table = sweep, table

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """The table as a `pandas.DataFrame`; `table.to_polars()` and `table.to_arrow()` are for others."""
        return self.table.to_pandas()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics, as the sweep was asked for them."""
        return self.sweep.metrics

    @property
    def params(self) -> tuple[str, ...]:
        """Pointers of the parameters."""
        return self.sweep.params

    @property
    def ok(self) -> bool:
        """Whether every expectation held in every run."""
        return bool((self.table["held"] == self.table["expectations"]).all())

    def summary(
        self, metrics: Sequence[str] | None = None, *, level: float = 0.95, method: stats.Method = "t"
    ) -> pandas.DataFrame:
        """Means over replicates, a row a point and metric.

        Columns: point, the parameters, metric; n, the replicates in which it was measured; mean, std (n - 1), and
        [low, high], the interval of the mean at `level`. `method`: "t" for Student's t, "bootstrap" for percentiles of
        2,000 resampled means with draws of a fixed seed. Where n falls short of the replicates, the mean is of those in
        which there was something to measure: a detection time says nothing of faults that were missed.
        """
        return self.summary_table(metrics, level=level, method=method).to_pandas()

    def summary_table(
        self, metrics: Sequence[str] | None = None, *, level: float = 0.95, method: stats.Method = "t"
    ) -> Frame:
        """`summary` as a `Frame` of NumPy columns."""
        stats.check(level, method)
        return stats.summary_frame(self.table, self.params, self._asked(metrics), level, method)

    def compare(
        self,
        baseline: int | Mapping[str, Any],
        metrics: Sequence[str] | None = None,
        *,
        level: float = 0.95,
        method: stats.Method = "t",
    ) -> pandas.DataFrame:
        """Differences to a baseline, replicate by replicate: both had the same seed, and so most of the luck cancels.

        Parameters
        ----------
        baseline : a point's number; or settings, `{"/upstreams/0/health/eject_ms": 30000}`: each point is then compared
            with the one that differs from it in these alone.
        metrics, level, method : as in `summary`.

        Columns: point, the parameters, metric; baseline, the other point; n, the pairs in which both were measured;
        baseline_mean over these; difference, the mean of point minus baseline, its std and interval [low, high].
        Points that are their own baseline are left out, and those whose baseline is not among the points.
        """
        return self.compare_table(baseline, metrics, level=level, method=method).to_pandas()

    def compare_table(
        self,
        baseline: int | Mapping[str, Any],
        metrics: Sequence[str] | None = None,
        *,
        level: float = 0.95,
        method: stats.Method = "t",
    ) -> Frame:
        """`compare` as a `Frame` of NumPy columns."""
        stats.check(level, method)
        if isinstance(baseline, Mapping):
            bases = self._bases(baseline)
        else:
            base = whole("baseline, a point's number,", baseline, 0, len(self.sweep.points) - 1)
            bases = dict.fromkeys(range(len(self.sweep.points)), base)
        return stats.compare_frame(self.table, self.params, self._asked(metrics), level, method, bases)

    def plot(self, kind: str = "response", **options: Any) -> Figure:
        """A picture of the sweep, by `halfopen.plots`: "response", a curve with a confidence band; "heatmap", a metric over
        two parameters; "pareto", the front of two metrics. `options` are those of the function of that name.

        Unless given, `x` is the first parameter and `y` the first metric, with a curve (`by`) for each value of the others; in
        a heat map `y` is the second parameter and `z` the first metric; a front is that of errors against false ejections.

        Raises ValueError for another kind, ImportError without matplotlib (the extra `plot`).
        """
        from halfopen import plots
        from halfopen.plots import tidy

        if kind == "pareto":
            return plots.pareto(self.table, **options)
        if kind not in ("response", "heatmap"):
            raise ValueError(f"kind is {kind!r}: it must be response, heatmap or pareto")
        axes = ("x",) if kind == "response" else ("x", "y")
        taken = (*(options.get(axis) for axis in axes), *tidy.names_of(options.get("by")))
        free = [name for name in self.params if name not in taken]
        for axis in axes:
            if axis not in options and not free:
                raise ValueError(f"a {kind} is drawn over {len(axes)} parameter{'s' * (len(axes) > 1)}, and the sweep has {len(self.params)}")
            options[axis] = options[axis] if axis in options else free.pop(0)
        if kind == "heatmap":
            return plots.heatmap(self.table, **{"z": self.metrics[0], **options})
        return plots.response(self.table, **{"y": self.metrics[0], "by": free, **options})

    def _bases(self, baseline: Mapping[str, Any]) -> dict[int, int]:
        for pointer in baseline:
            if pointer not in self.params:
                raise ValueError(f"the baseline sets {pointer}, which is no parameter: {', '.join(self.params)}")
        fixed = {pointer: value_of(value).value for pointer, value in baseline.items()}
        points = {key_of(settings): point for point, settings in reversed(list(enumerate(self.sweep.points)))}
        out = {}
        for point, settings in enumerate(self.sweep.points):
            wanted = settings | fixed
            if key_of(wanted) in points:
                out[point] = points[key_of(wanted)]
        if not out:
            raise ValueError(f"no point has {fixed}, whatever else it sets: there is no such baseline")
        return out

    def _asked(self, metrics: Sequence[str] | None) -> list[str]:
        if isinstance(metrics, str):
            raise ValueError(f"metrics is a list of names: [{metrics!r}]")
        for name in metrics or ():
            if name not in self.metrics:
                raise ValueError(f"{name!r} is no metric of this sweep; it has {', '.join(self.metrics)}")
        return list(self.metrics if metrics is None else metrics)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self.sweep)[1:-1])}</p>{self.table._repr_html_()}"

    def __repr__(self) -> str:
        return f"<SweepResult of {self.table.rows} runs: {', '.join(self.metrics[:4])}{', …' if len(self.metrics) > 4 else ''}>"
