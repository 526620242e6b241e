"""Breaker: one per upstream, above the balancer (semantics, "Breaker")."""

from dataclasses import dataclass

from .values import DURATION, RATIO, U16, U32, U64, add, elapsed

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half_open"
WINDOW_MS = 60000
FULL_HALF_OPEN_MS = 1000

LIMITS = {
    "consecutive_failures": (1, U32),
    "error_ratio": RATIO,
    "error_volume": (1, U32),
    "open_ms": (1, DURATION),
    "half_open_probes": (1, U16),
}


@dataclass(frozen=True)
class BreakerParams:
    """Validation, Defaults: breaker 5 / 0.5 / 20 / 30000 / 1."""

    consecutive_failures: int = 5
    error_ratio: float = 0.5
    error_volume: int = 20
    open_ms: int = 30000
    half_open_probes: int = 1


def retry_after_s(ms):
    """`Retry-After: max(1, ceil(ms / 1000))`."""
    return max(1, (ms + 999) // 1000)


class Breaker:
    """State, streak (of closed only), window of 60,000 ms; `openings` tells half-opens apart."""

    def __init__(self, emit):
        self.emit = emit
        self.state = CLOSED
        self.streak = 0
        self.until = 0
        self.slots = 0
        self.slots_at_start = 0
        self.window = []
        self.openings = 0
        self.dropped = False

    def check(self, params, now):
        """Rule `check`: (milliseconds to wait or None, whether a trial slot was taken)."""
        if self.state == CLOSED:
            return None, False
        if self.state == OPEN:
            if now < self.until:
                return self.until - now, False
            self.state = HALF_OPEN
            self.slots_at_start = params.half_open_probes
            self.slots = params.half_open_probes - 1
            self.emit("breaker_half_open")
            return None, True
        if self.slots == 0:
            return FULL_HALF_OPEN_MS, False
        self.slots -= 1
        return None, True

    def report(self, params, now, failure):
        """Rule `report`: drop, append, then by state."""
        while self.window and elapsed(now, self.window[0][0]) >= WINDOW_MS:
            self.window.pop(0)
        self.window.append((now, failure))
        if self.state == CLOSED:
            self.report_closed(params, now, failure)
        elif self.state == HALF_OPEN:
            if failure:
                self.open(params, now, "half_open_probe_failed")
            else:
                self.close()

    def report_closed(self, params, now, failure):
        """Rule `report`, closed: only a failure is a reason to look."""
        if not failure:
            self.streak = 0
            return
        self.streak = min(self.streak + 1, U64)
        total = len(self.window)
        if self.streak >= params.consecutive_failures:
            self.open(params, now, "consecutive_failures")
        elif total >= params.error_volume:
            if sum(failed for _, failed in self.window) / total >= params.error_ratio:
                self.open(params, now, "error_ratio")

    def open(self, params, now, rule):
        """Opening empties nothing."""
        self.state = OPEN
        self.until = add(now, params.open_ms)
        self.openings += 1
        self.emit("breaker_opened", rule=rule)

    def close(self):
        """Only closing empties the window."""
        self.state = CLOSED
        self.streak = 0
        self.window = []
        self.emit("breaker_closed")

    def give_back(self, openings):
        """"Nothing may wedge": trial slots return as the tracker's do."""
        if self.state != HALF_OPEN or self.openings != openings:
            return False
        if self.slots >= self.slots_at_start:
            return False
        self.slots += 1
        return True

    def counts(self, now):
        """Counts that are shown leave out what has aged; looking drops nothing."""
        shown = list(self.window)
        while shown and elapsed(now, shown[0][0]) >= WINDOW_MS:
            shown.pop(0)
        return self.stored_counts(shown)

    def stored_counts(self, window=None):
        """(total, failures) of the window as stored, or of a part of it."""
        window = self.window if window is None else window
        return len(window), sum(failed for _, failed in window)
