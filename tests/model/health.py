"""EndpointHealth: one tracker per endpoint (semantics, "EndpointHealth")."""

from dataclasses import dataclass

from .values import DURATION, RATIO, U16, U32, U64, add, elapsed

HEALTHY, EJECTED, HALF_OPEN = "healthy", "ejected", "half_open"

LIMITS = {
    "window_ms": (1, DURATION),
    "consecutive_failures": (1, U32),
    "failure_ratio": RATIO,
    "failure_min_volume": (1, U32),
    "eject_ms": (1, DURATION),
    "half_open_probes": (1, U16),
}


@dataclass(frozen=True)
class HealthParams:
    """Validation, Defaults: health 60000 / 5 / 0.5 / 20 / 30000 / 1."""

    window_ms: int = 60000
    consecutive_failures: int = 5
    failure_ratio: float = 0.5
    failure_min_volume: int = 20
    eject_ms: int = 30000
    half_open_probes: int = 1


class EndpointHealth:
    """Stored state, streak, window (one entry an observation) and the two counts."""

    def __init__(self, emit):
        self.emit = emit
        self.state = HEALTHY
        self.until = 0
        self.slots = 0
        self.slots_at_start = 0
        self.streak = 0
        self.window = []
        self.ejections = 0
        self.generation = 0
        self.dropped = False

    def volume(self):
        """The window as stored: nothing is dropped by looking."""
        return len(self.window)

    def failures(self):
        return sum(failed for _, failed in self.window)

    # -- questions of a pick -------------------------------------------------

    def is_candidate(self, params, now):
        """Rule `is_candidate`: an expired ejection becomes half-open here, and only here."""
        if self.state == EJECTED and now >= self.until:
            self.state = HALF_OPEN
            self.slots = self.slots_at_start = params.half_open_probes
            self.emit("endpoint_half_open")
        if self.state == EJECTED:
            return False
        return self.state == HEALTHY or self.slots > 0

    def consume_probe(self):
        """Rule `consume_probe`: a slot, if half-open and one is left."""
        if self.state != HALF_OPEN or self.slots == 0:
            return False
        self.slots -= 1
        return True

    def acquire(self, params, now):
        """Rule `acquire`: `is_candidate`, and on yes the slot in the same step."""
        allowed = self.is_candidate(params, now)
        if allowed:
            self.consume_probe()
        return allowed

    def is_available(self, now):
        """Rule `is_available`: changes nothing."""
        if self.state == EJECTED:
            return now >= self.until
        return self.state == HEALTHY or self.slots > 0

    def label(self, now):
        """Rule `label`: an ejection expired but not yet met by a pick reads half_open."""
        if self.state == EJECTED and now >= self.until:
            return HALF_OPEN
        return self.state

    def give_back(self, ejections):
        """"Nothing may wedge": an abandoned trial's slot, if it is still of this half-open."""
        if self.state != HALF_OPEN or self.ejections != ejections:
            return False
        if self.slots >= self.slots_at_start:
            return False
        self.slots += 1
        return True

    # -- reports -------------------------------------------------------------

    def report(self, params, now, failure, late=False):
        """Rule `report`: append, drop from the old end up to the first not aged, apply."""
        self.window.append((now, failure))
        while elapsed(now, self.window[0][0]) >= params.window_ms:
            self.window.pop(0)
        via = "half_open_probe" if self.state == HALF_OPEN else "fail_open"
        self.apply(params, now, failure, "late_report" if late else via)

    def report_probe(self, params, now, failure):
        """Rule `report_probe`: apply only; the window is neither fed nor pruned."""
        self.apply(params, now, failure, "active_probe")

    def apply(self, params, now, failure, via):
        """Rule *Apply*: the streak in every state, then by the stored state."""
        self.streak = min(self.streak + 1, U64) if failure else 0
        if self.state == HEALTHY:
            rule = self.judge(params) if failure else None
            if rule:
                self.eject(params, now, rule)
        elif not failure:
            self.recover(via)
        elif self.state == HALF_OPEN:
            self.eject(params, now, "half_open_probe_failed")

    def judge(self, params):
        """*Apply*, first point: thresholds are reached; divided in double."""
        if self.streak >= params.consecutive_failures:
            return "consecutive_failures"
        volume = self.volume()
        if volume >= params.failure_min_volume:
            if self.failures() / volume >= params.failure_ratio:
                return "failure_ratio"
        return None

    def eject(self, params, now, rule):
        """Rule *eject*."""
        self.state = EJECTED
        self.until = add(now, params.eject_ms)
        self.streak = 0
        self.window = []
        self.ejections += 1
        self.generation += 1
        self.emit("endpoint_ejected", rule=rule)

    def recover(self, via):
        """Rule *recover*."""
        self.state = HEALTHY
        self.streak = 0
        self.window = []
        self.generation += 1
        self.emit("endpoint_recovered", via=via)
