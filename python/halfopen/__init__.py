"""What will my outlier ejection, health checks and circuit breaker really do in the next brownout?

>>> import halfopen
>>> scenario = halfopen.Scenario.load("scenarios/brownout-one-of-four.json")
>>> result = halfopen.run(scenario.with_({"/upstreams/0/health/late_reports": "ignore"}))
>>> result.summary["ejections"]
1
"""

from halfopen._core import Mistake, __version__
from halfopen.errors import ScenarioError
from halfopen.result import Result, run
from halfopen.scenario import Scenario
from halfopen.table import Table

__all__ = ["Mistake", "Result", "Scenario", "ScenarioError", "Table", "__version__", "run"]
