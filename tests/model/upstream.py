"""Upstream: balancer, breaker and trackers together (semantics, "Upstream")."""

from dataclasses import dataclass

from . import balancer
from .breaker import Breaker, BreakerParams
from .health import HALF_OPEN, EndpointHealth, HealthParams


@dataclass(frozen=True)
class Config:
    """One generation of an upstream's configuration; None: the block is absent."""

    endpoints: tuple  # of (address, port, weight)
    load_balancer: str
    health: HealthParams | None
    breaker: BreakerParams | None
    late_reports: str
    slow_start_ms: int


class Endpoint:
    """What is kept by address:port over reloads."""

    def __init__(self, address, port, added_at):
        self.address = address
        self.port = port
        self.weight = 1
        self.added_at = added_at
        self.tracker = None
        self.inflight = 0
        self.running = 0

    def name(self):
        """Validation: an IPv6 endpoint is written `[::1]:8080`."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}"


class Dispatch:
    """One attempt: keeps its tracker, its breaker and the parameters it was picked by."""

    def __init__(self, endpoint, config, admitted_by, took_trial):
        self.endpoint = endpoint
        self.config = config
        self.tracker = endpoint.tracker
        self.breaker = admitted_by
        self.openings = admitted_by.openings if admitted_by else 0
        self.took_trial = took_trial
        self.took_slot = False
        self.generation = self.ejections = 0
        if self.tracker:
            self.generation = self.tracker.generation
            self.ejections = self.tracker.ejections
        self.stage = "waiting"  # then "body", then "over"
        self.late = False


class Upstream:
    """One upstream from its build on; `seen` counts what happened, for the tests only."""

    def __init__(self, config, now, emit, seen):
        self.emit = emit
        self.endpoints = []
        self.breaker = None
        self.config = None
        self.picks = 0
        self.dispatches = []
        self.fail_open_picks = 0
        self.late_reports_ignored = 0
        self.seen = seen
        self.load(config, now)

    # -- reload --------------------------------------------------------------

    def load(self, config, now):
        """Rule Reload: by address:port, not by position."""
        first = self.config is None
        known = {(e.address, e.port): e for e in self.endpoints}
        fresh_weights = first or self.weights_start_again(config)
        self.endpoints = []
        for address, port, weight in config.endpoints:
            endpoint = known.pop((address, port), None)
            if endpoint is None:
                endpoint = Endpoint(address, port, None if first else now)
            endpoint.weight = weight
            if fresh_weights:
                endpoint.running = 0
            self.endpoints.append(endpoint)
        for removed in known.values():
            self.drop_tracker(removed)
        self.config = config
        self.load_trackers(config)
        self.load_breaker(config)
        self.seen["weights_reset" if fresh_weights else "weights_kept"] += not first

    def weights_start_again(self, config):
        """Kept while the set of (address, port, weight) and the algorithm are the same."""
        return (set(config.endpoints) != set(self.config.endpoints)
                or config.load_balancer != self.config.load_balancer)

    def load_trackers(self, config):
        """A reload without health drops the trackers; one that brings it back starts fresh."""
        for endpoint in self.endpoints:
            if config.health is None:
                self.drop_tracker(endpoint)
            elif endpoint.tracker is None:
                endpoint.tracker = EndpointHealth(self.emit)

    def drop_tracker(self, endpoint):
        if endpoint.tracker:
            endpoint.tracker.dropped = True
            endpoint.tracker = None

    def load_breaker(self, config):
        """The same for the breaker's state."""
        if config.breaker is None:
            if self.breaker:
                self.breaker.dropped = True
            self.breaker = None
        elif self.breaker is None:
            self.breaker = Breaker(self.emit)

    # -- one attempt ---------------------------------------------------------

    def pick(self, now, key):
        """Check, then pick: (dispatch number and endpoint, or None; ms to wait or None)."""
        number = self.picks
        self.picks += 1
        trial = False
        if self.breaker:
            wait, trial = self.breaker.check(self.config.breaker, now)
            if wait is not None:
                self.seen["breaker_refused"] += 1
                return None, wait
        endpoint, slot_due = self.select(now, key, number)
        dispatch = Dispatch(endpoint, self.config, self.breaker, trial)
        if slot_due:
            dispatch.took_slot = endpoint.tracker.consume_probe()
        endpoint.inflight += 1
        self.dispatches.append(dispatch)
        return (len(self.dispatches), endpoint), None

    def select(self, now, key, number):
        """Rule Picking: the endpoint, and whether a half-open one must pay a slot."""
        candidates = [e for e in self.endpoints
                      if e.tracker is None or e.tracker.is_candidate(self.config.health, now)]
        fail_open = not candidates
        if fail_open:
            self.fail_open_picks += 1
            candidates = self.endpoints
            if any(e.tracker.state == HALF_OPEN for e in candidates):
                self.seen["fail_open_beside_half_open"] += 1
        endpoint = candidates[0]
        if len(candidates) > 1:
            endpoint = self.run_algorithm(candidates, now, key, number)
        return endpoint, endpoint.tracker is not None and not fail_open

    def run_algorithm(self, candidates, now, key, number):
        """Rule Algorithms; ip_hash without a key is round_robin."""
        name = self.config.load_balancer
        self.seen[name] += 1
        if name == "least_requests":
            return balancer.least_requests(candidates)
        if name == "random":
            return balancer.random_two(candidates, number)
        if name == "ip_hash" and key is not None:
            winner, walked = balancer.ip_hash(self.endpoints, candidates, key)
            self.seen["ring_walked"] += walked
            return winner
        slow = self.config.slow_start_ms
        for e in candidates:
            ramping = slow and balancer.effective_weight(e, now, slow) < 1000 * e.weight
            self.seen["slow_start_ramp"] += bool(ramping)
        return balancer.round_robin(candidates, now, slow)

    def find(self, number, stage):
        """The dispatch of that number, if it is at that stage."""
        if 1 <= number <= len(self.dispatches):
            dispatch = self.dispatches[number - 1]
            if dispatch.stage == stage:
                return dispatch
        return None

    def done(self, dispatch, now, failure):
        """Outcome at response headers: to tracker and breaker, in-flight - 1."""
        dispatch.stage = "body"
        dispatch.endpoint.inflight -= 1
        tracker = dispatch.tracker
        if tracker and not tracker.dropped:
            dispatch.late = tracker.generation != dispatch.generation
            self.report(dispatch, now, failure)
            dispatch.generation = tracker.generation
        elif tracker:
            self.seen["report_to_dropped_tracker"] += 1
        if dispatch.breaker and not dispatch.breaker.dropped:
            dispatch.breaker.report(dispatch.config.breaker, now, failure)
        elif dispatch.breaker:
            self.seen["report_to_dropped_breaker"] += 1

    def body_broken(self, dispatch, now):
        """Rule Bodies: one more failure for the tracker, none for the breaker."""
        dispatch.stage = "over"
        tracker = dispatch.tracker
        if tracker and not tracker.dropped:
            if tracker.generation != dispatch.generation:
                dispatch.late = True
            self.seen["late_body"] += dispatch.late
            self.report(dispatch, now, True)

    def report(self, dispatch, now, failure):
        """Rule Late reports: counted or ignored, as the dispatch's parameters say."""
        if dispatch.late and dispatch.config.late_reports == "ignore":
            self.late_reports_ignored += 1
            return
        dispatch.tracker.report(dispatch.config.health, now, failure, dispatch.late)

    def abandon(self, dispatch):
        """Rule "Nothing may wedge": in-flight down, slots back, nothing observed."""
        dispatch.stage = "over"
        dispatch.endpoint.inflight -= 1
        if dispatch.took_slot and dispatch.tracker.give_back(dispatch.ejections):
            self.seen["slot_returned"] += 1
        if dispatch.took_trial and dispatch.breaker.give_back(dispatch.openings):
            self.seen["trial_returned"] += 1
