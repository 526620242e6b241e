"""What will my outlier ejection, health checks and circuit breaker really do in the next brownout?

>>> import halfopen
>>> scenario = halfopen.Scenario.load("scenarios/brownout-one-of-four.json")
>>> result = halfopen.run(scenario.with_({"/upstreams/0/late_reports": "ignore"}))
>>> result.summary["ejections"]
1
"""

from halfopen import build
from halfopen._core import Mistake, __version__
from halfopen.analysis import Analysis, analyze
from halfopen.designs import Range, design
from halfopen.errors import ScenarioError
from halfopen.executors import ray_executor
from halfopen.frame import Frame
from halfopen.linting import Finding, FindingNumber, lint
from halfopen.machines import ActiveProbe, Breaker, EndpointHealth, RetryBudget
from halfopen.result import Failure, Result, run
from halfopen.scenario import Scenario
from halfopen.sweep import Sweep, SweepRun
from halfopen.sweep_result import SweepResult
from halfopen.table import Table
from halfopen.tuning import Tuning, tune
from halfopen.upstream import Upstream

__all__ = [
    "ActiveProbe",
    "Analysis",
    "Breaker",
    "EndpointHealth",
    "Failure",
    "Finding",
    "FindingNumber",
    "Frame",
    "Mistake",
    "Range",
    "Result",
    "RetryBudget",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "SweepResult",
    "SweepRun",
    "Table",
    "Tuning",
    "Upstream",
    "__version__",
    "analyze",
    "build",
    "design",
    "lint",
    "ray_executor",
    "run",
    "tune",
]
