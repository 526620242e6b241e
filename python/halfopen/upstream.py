"""One upstream as a gateway holds it: balancer, breaker, trackers and retry budget, and the handles of an attempt."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, Unpack

from halfopen import _core, build
from halfopen.check import flag, luck, ms, whole
from halfopen.machines import Admitted, Event, HealthState, RetryBudget, TransportError, _events
from halfopen.scenario import as_json


def _status(status: Any) -> int | None:
    return None if status is None else whole("status", status, 100, 599)


class EndpointView(NamedTuple):
    """One endpoint, for showing."""

    name: str
    """address:port"""
    in_flight: int
    state: HealthState | None
    """As an operator reads it; None without a health block."""


class RetryDecision(NamedTuple):
    """Whether a request shall be tried again."""

    answer: Literal["granted", "not_retryable", "attempts_used_up", "past_deadline", "budget_denied"]
    delay_ms: int
    """Granted: wait this long, then ask the breaker again."""


class Body:
    """What is left of an attempt once its headers are in: its body may still break off."""

    def __init__(self, core: _core.Body) -> None:
        self._core = core

    def broken(self, now: int) -> None:
        """The body broke off: one more failure for the endpoint, none for the breaker. Raises RuntimeError twice."""
        self._core.broken(ms(now))

    def close(self) -> None:
        """The body is whole, or its caller left: nothing more to say."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._core.close()


class Dispatch:
    """An attempt on its way to an endpoint. As a context manager it is abandoned at the end unless it was reported."""

    def __init__(self, core: _core.Dispatch) -> None:
        self._core = core

    @property
    def endpoint(self) -> str:
        """address:port"""
        return self._core.endpoint

    @property
    def index(self) -> int:
        """Its place among the endpoints it was picked from."""
        return self._core.index

    @property
    def fail_open(self) -> bool:
        """Picked from the full set, because nobody was in rotation."""
        return self._core.fail_open

    @property
    def trial(self) -> bool:
        """It holds a trial slot of a half-open endpoint."""
        return self._core.trial

    def report(self, now: int, status: int | None = None, *, error: TransportError | None = None) -> Body:
        """The outcome at response headers: a status from 100 to 599, or the error that came instead.

        Raises RuntimeError if it has been reported or abandoned before, ValueError for any other outcome.
        """
        return Body(self._core.report(ms(now), _status(status), error))

    def abandon(self) -> None:
        """No outcome: trial slots and the in-flight count go back, nothing is observed."""
        self._core.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._core.abandon()

    def __repr__(self) -> str:
        return f"<Dispatch to {self.endpoint}{', under way' if self._core.is_open else ''}>"


class Admission(Admitted[_core.Admission]):
    """What the breaker answered an attempt; false if it was refused. As a context manager it is given back at the end
    unless a pick was made."""

    def pick(self, now: int, *, key: str | None = None, words: tuple[int, int] | None = None) -> Dispatch | None:
        """Pick an endpoint; None if there is none to pick.

        `key` is what `ip_hash` hashes. `words`, two of 64 bits, are the luck of `random`; left out, they are drawn by
        the upstream's seed and the number of the admission. Raises RuntimeError if refused or used before.
        """
        core = self._core.pick(ms(now), key, words)
        return None if core is None else Dispatch(core)


class Upstream:
    """One upstream, configured as in a scenario's `upstreams`.

    Settings are the keys of `halfopen.build.Upstream`, wrong ones raise `ScenarioError`; `now` is in whole milliseconds of the
    caller's clock.

    >>> upstream = Upstream(name="api", endpoints=[{"address": "10.0.0.1", "port": 8080}], health={}, breaker={})
    >>> with upstream.admit(0) as admission, admission.pick(0) as dispatch:
    ...     dispatch.endpoint, dispatch.report(12, 200).close()
    ('10.0.0.1:8080', None)
    """

    def __init__(self, *, now: int = 0, seed: int = 1, **config: Unpack[build.Upstream]) -> None:
        self._core = _core.Upstream(as_json(config), ms(now), whole("seed", seed))

    def admit(self, now: int, *, retry: bool = False) -> Admission:
        """The first half of an attempt: the breaker's check. A request's first attempt enters the retry budget."""
        return Admission(self._core.admit(ms(now), flag("retry", retry)))

    def decide_retry(
        self,
        now: int,
        status: int | None = None,
        *,
        error: TransportError | None = None,
        retries_made: int = 0,
        elapsed_ms: float = 0.0,
        u: float = 0.0,
    ) -> RetryDecision:
        """After a report: shall there be another attempt? Charges the budget if granted.

        Parameters
        ----------
        retries_made : so far, of this request.
        elapsed_ms : since the request arrived.
        u : in [0, 1), the luck of the backoff.
        """
        asked = (ms(now), whole("retries_made", retries_made), _status(status), error, elapsed_ms, luck(u))
        return RetryDecision(*self._core.decide_retry(*asked))

    def reload(self, now: int, **config: Unpack[build.Upstream]) -> None:
        """Swap the configuration whole: endpoints that stay keep their state, the breaker stays."""
        self._core.reload(as_json(config), ms(now))

    @property
    def config(self) -> dict[str, Any]:
        """The settings in force, defaults filled in."""
        return self._core.config()

    def endpoints(self, now: int) -> list[EndpointView]:
        """Every endpoint, in the order of the configuration."""
        return [EndpointView(*row) for row in self._core.endpoints(ms(now))]

    @property
    def breaker_state(self) -> str | None:
        """closed, open or half_open as stored; None without a breaker."""
        return self._core.breaker_state

    @property
    def fail_open_picks(self) -> int:
        """Picks from the full set because nobody was in rotation."""
        return self._core.fail_open_picks

    @property
    def late_reports_ignored(self) -> int:
        """Reports on attempts from before an ejection that `late_reports: ignore` left out."""
        return self._core.late_reports_ignored

    @property
    def retry_budget(self) -> RetryBudget:
        """Its own, kept over reloads."""
        return RetryBudget._of(self._core.retry_budget)

    def take_events(self) -> list[Event]:
        """What happened since the last call."""
        return _events(self._core.take_events())

    def __repr__(self) -> str:
        config = self.config
        return f"<Upstream {config['name']} of {len(config['endpoints'])} endpoints, {config['load_balancer']}>"
