"""What to set: a search over settings, with common random numbers, successive halving, and what it can't tell."""

from halfopen.tuning.goals import Constraint, Objective
from halfopen.tuning.result import Tuning
from halfopen.tuning.space import default_space
from halfopen.tuning.tune import tune

__all__ = ["Constraint", "Objective", "Tuning", "default_space", "tune"]
