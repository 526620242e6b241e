"""The machines that a gateway embeds, one operation at a time, as `halfopen step` drives them.

Times (`now`) are whole milliseconds of whatever clock the caller keeps; no machine reads one. Settings are keyword
arguments, named, defaulted and limited as in a scenario's `upstreams`; a wrong one raises `ScenarioError`, which names
it by JSON pointer. Every machine collects what happens to it until `take_events()`.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, Unpack

from halfopen import _core, build
from halfopen.check import flag, luck, ms, whole
from halfopen.scenario import as_json

HealthState = Literal["healthy", "ejected", "half_open"]
TransportError = Literal["connect_timeout", "refused", "reset", "framing", "attempt_timeout"]


class Event(NamedTuple):
    """One transition of a machine."""

    t_ms: int
    """The `now` that the machine was given."""
    type: str
    """endpoint_ejected, endpoint_half_open, endpoint_recovered, breaker_opened, breaker_half_open or breaker_closed."""
    upstream: str | None
    endpoint: str | None
    """address:port; None for a breaker's, and for a tracker that belongs to no upstream."""
    rule: str | None
    """What ejected or opened."""
    via: str | None
    """What recovered."""
    because: dict[str, int | float | None]
    """The counts that it was judged by."""


def _events(rows: list[Any]) -> list[Event]:
    return [Event(*row) for row in rows]


class EndpointHealth:
    """Passive health of one endpoint: healthy, ejected, half-open, healthy.

    Settings are the keys of `halfopen.build.Health`, wrong ones raise `ScenarioError`; `now` is in whole milliseconds of the
    caller's clock.

    >>> health = EndpointHealth(consecutive_failures=2, eject_ms=1000)
    >>> health.report(0, failure=True); health.report(1, failure=True)
    >>> health.state(1), health.state(1001)
    ('ejected', 'half_open')
    """

    def __init__(self, **settings: Unpack[build.Health]) -> None:
        self._core = _core.EndpointHealth(as_json(settings))

    @property
    def params(self) -> dict[str, Any]:
        """Every setting by name."""
        return self._core.params()

    def configure(self, **settings: Unpack[build.Health]) -> None:
        """Change these settings and leave the others; the state stays."""
        self._core.set_params(as_json({**self.params, **settings}))

    def report(self, now: int, *, failure: bool) -> None:
        """The outcome of one attempt, at `now`."""
        self._core.report(ms(now), flag("failure", failure))

    def report_probe(self, now: int, *, failure: bool) -> None:
        """The outcome of one synthetic probe: the same transitions, but nothing enters the window."""
        self._core.report_probe(ms(now), flag("failure", failure))

    def is_candidate(self, now: int) -> bool:
        """May a pick choose it? An ejection that is over becomes half-open here."""
        return self._core.is_candidate(ms(now))

    def consume_probe(self) -> bool:
        """Take one trial slot, if half-open and one is left."""
        return self._core.consume_probe()

    def acquire(self, now: int) -> bool:
        """`is_candidate` and the slot in one step, for callers without a balancer."""
        return self._core.acquire(ms(now))

    def is_available(self, now: int) -> bool:
        """Would a pick find it eligible? Changes nothing."""
        return self._core.is_available(ms(now))

    def state(self, now: int) -> HealthState:
        """As an operator reads it: an ejection that is over but met no pick yet reads half_open."""
        state: HealthState = self.snapshot(now)["state"]
        return state

    def snapshot(self, now: int) -> dict[str, Any]:
        """Everything at one instant: state, stored_state, until_ms (None unless ejected), probes_left, streak, ejections,
        generation, window_total, window_failures."""
        return self._core.snapshot(ms(now))

    def take_events(self) -> list[Event]:
        """What happened since the last call."""
        return _events(self._core.take_events())

    def __repr__(self) -> str:
        seen = self.snapshot(0)
        return f"<EndpointHealth {seen['stored_state']}, streak {seen['streak']}, ejections {seen['ejections']}>"


class ActiveProbe:
    """The probe loop of one endpoint without its sockets: when to probe, and what a verdict means for its tracker.

    Settings are the keys of `halfopen.build.ActiveHealth`, wrong ones raise `ScenarioError`; `now` is in whole milliseconds of the
    caller's clock.

    A new one replaces a loop as a respawn does. It keeps the tracker's settings of its start.
    """

    def __init__(self, health: EndpointHealth, **settings: Unpack[build.ActiveHealth]) -> None:
        self._core = _core.ActiveProbe(health._core, as_json(health.params), as_json(settings))

    def verdict(self, now: int, *, ok: bool) -> None:
        """The result of one probe, told to the tracker where the rule says so."""
        self._core.verdict(ms(now), flag("ok", ok))

    def sleep_ms(self, u: float) -> int:
        """The sleep before the next probe, ms; `u` in [0, 1) is its luck."""
        return self._core.sleep_ms(luck(u))

    def iteration_threw(self) -> bool:
        """An iteration failed in itself. False: give up, the third in a row."""
        return self._core.iteration_threw()

    @property
    def success_streak(self) -> int:
        """Successes in a row."""
        return self._core.success_streak


_Core = TypeVar("_Core", bound=_core.BreakerAdmission | _core.Admission)


class Admitted(Generic[_Core]):
    """What a breaker answered an attempt; false if it was refused. As a context manager it is given back at the end."""

    def __init__(self, core: _Core) -> None:
        self._core = core

    @property
    def allowed(self) -> bool:
        """Whether the attempt may go ahead. False: answer 503 with Retry-After `retry_after_s`."""
        return self._core.allowed

    @property
    def retry_after_ms(self) -> int:
        """Refused: how long until the breaker lets a trial through; 0 if allowed."""
        return self._core.retry_after_ms

    @property
    def retry_after_s(self) -> int:
        """The same as a Retry-After header has it: whole seconds, rounded up, at least 1."""
        return self._core.retry_after_s

    def give_back(self) -> None:
        """The attempt ended without an outcome: its trial slot returns. Once is enough, twice does no harm."""
        self._core.give_back()

    def __bool__(self) -> bool:
        return self.allowed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._core.give_back()

    def __repr__(self) -> str:
        return "<allowed>" if self.allowed else f"<refused, retry after {self.retry_after_ms} ms>"


class BreakerAdmission(Admitted[_core.BreakerAdmission]):
    """The answer of `Breaker.check`; an outcome that names it leaves nothing to give back."""


class Breaker:
    """The circuit breaker of one upstream: closed, open, half-open, closed.

    Settings are the keys of `halfopen.build.Breaker`, wrong ones raise `ScenarioError`; `now` is in whole milliseconds of the
    caller's clock.
    """

    def __init__(self, **settings: Unpack[build.Breaker]) -> None:
        self._core = _core.Breaker(as_json(settings))

    @property
    def params(self) -> dict[str, Any]:
        """Every setting by name."""
        return self._core.params()

    def configure(self, **settings: Unpack[build.Breaker]) -> None:
        """Change these settings and leave the others; the state stays."""
        self._core.set_params(as_json({**self.params, **settings}))

    def check(self, now: int) -> BreakerAdmission:
        """May an attempt go ahead? An open period that is over becomes half-open here, with this attempt as a trial."""
        return BreakerAdmission(self._core.check(ms(now)))

    def report(self, now: int, *, failure: bool, admission: BreakerAdmission | None = None) -> None:
        """The outcome of an attempt. `admission`: its own, which then has nothing left to give back."""
        if admission is not None and not isinstance(admission, BreakerAdmission):
            raise TypeError(f"admission is {admission!r}: it must be what Breaker.check answered")
        self._core.report(ms(now), flag("failure", failure))
        if admission is not None:
            admission._core.settle()

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """As stored: an open period that is over stays open until somebody checks."""
        state: Literal["closed", "open", "half_open"] = self.snapshot(0)["state"]
        return state

    def snapshot(self, now: int) -> dict[str, Any]:
        """Everything at one instant: state, until_ms (None unless open), probes_left, streak, openings, window_total,
        window_failures (without what has aged by `now`)."""
        return self._core.snapshot(ms(now))

    def take_events(self) -> list[Event]:
        """What happened since the last call."""
        return _events(self._core.take_events())

    def __repr__(self) -> str:
        return f"<Breaker {self.state}>"


class RetryBudget:
    """How many retries an upstream may make: a rolling window of 10 s over requests and granted retries.

    It has no settings: `reserve` is told the percentage. `now` is in whole milliseconds of the caller's clock.
    """

    def __init__(self) -> None:
        self._core = _core.RetryBudget()

    @classmethod
    def _of(cls, core: _core.RetryBudget) -> Self:
        self = object.__new__(cls)
        self._core = core
        return self

    def request(self, now: int) -> None:
        """Enter one request, when its first attempt is admitted."""
        self._core.request(ms(now))

    def reserve(self, now: int, percent: int) -> bool:
        """Grant and charge one retry, if (retries + 1) * 100 <= percent * requests."""
        return self._core.reserve(ms(now), whole("percent", percent))

    @property
    def requests(self) -> int:
        """In the window as stored: what has aged leaves at the next operation."""
        return self._core.requests

    @property
    def retries(self) -> int:
        """Granted, in the window as stored."""
        return self._core.retries

    def __repr__(self) -> str:
        return f"<RetryBudget of {self.requests} requests and {self.retries} retries>"


def nominal_backoff_ms(base_ms: int, cap_ms: int, retry: int) -> int:
    """The backoff before the `retry`-th retry (from 1) without jitter: min(base * 2^(retry-1), max(cap, base))."""
    return _core.nominal_backoff_ms(whole("base_ms", base_ms), whole("cap_ms", cap_ms), whole("retry", retry, 1))


def jittered_backoff_ms(nominal_ms: int, u: float) -> int:
    """The backoff with full jitter; `u` in [0, 1) is its luck."""
    return _core.jittered_backoff_ms(whole("nominal_ms", nominal_ms), luck(u))
