"""The verdict rule of a probe loop (semantics, "Active probes")."""

from dataclasses import replace

from .health import HEALTHY
from .values import U32, U64


def probe_params(passive, failure_threshold):
    """Report parameters: passive ones, the active threshold, the ratio rule disabled."""
    return replace(passive, consecutive_failures=failure_threshold,
                   failure_ratio=1.0, failure_min_volume=U32)


class ProbeLoop:
    """What one loop remembers between its verdicts; its parameters are those at its start."""

    def __init__(self, tracker, passive, success_threshold, failure_threshold):
        self.tracker = tracker
        self.params = probe_params(passive, failure_threshold)
        self.success_threshold = success_threshold
        self.successes = 0
        self.ejections_seen = tracker.ejections

    def verdict(self, now, ok):
        """Success streak 0 after an ejection; below the threshold only a healthy one hears."""
        if self.tracker.ejections > self.ejections_seen:
            self.successes = 0
        self.ejections_seen = self.tracker.ejections
        if not ok:
            self.successes = 0
            self.tracker.report_probe(self.params, now, True)
        else:
            self.successes = min(self.successes + 1, U64)
            if self.successes >= self.success_threshold or self.tracker.state == HEALTHY:
                self.tracker.report_probe(self.params, now, False)
        self.ejections_seen = self.tracker.ejections
