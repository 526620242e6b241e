"""Pictures of runs and sweeps. Matplotlib is imported when the first one is drawn, not before.

`Result.plot` draws a run. Of sweeps: `response` curves with confidence bands, a `heatmap` of two parameters, the `pareto`
front of two metrics; each over a tidy frame with a row a run, as `SweepResult.frame` is one.
"""

from halfopen.plots.curves import response
from halfopen.plots.front import pareto
from halfopen.plots.heat import heatmap

__all__ = ["heatmap", "pareto", "response"]
