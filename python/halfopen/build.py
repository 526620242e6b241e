"""Every object of a scenario as a typed dict: what an editor completes and a type checker checks.

Made by python/generate_build.py from the description that the C++ reader is held to; do not edit.

A call makes a plain dict, so the two spellings are one: `build.Health(eject_ms=5000)` is `{"eject_ms": 5000}`.

>>> from halfopen import Scenario, build
>>> scenario = Scenario.of(
...     duration_ms=60_000,
...     upstreams=[build.Upstream(name="api", endpoints=[build.Endpoint(address="10.0.0.1", port=8080)],
...                               health=build.Health(consecutive_failures=3))],
...     endpoints={"10.0.0.1:8080": build.Behaviour(faults=[build.Fault(from_ms=10_000, down=build.Down())])},
...     traffic=[build.Traffic(upstream="api", arrivals="poisson", rate_rps=50)])
"""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict

__all__ = [
    "Abandon",
    "ActiveHealth",
    "Behaviour",
    "Breaker",
    "Brownout",
    "Burst",
    "Bursts",
    "Capacity",
    "Client",
    "Clock",
    "ClockStep",
    "ColdStart",
    "Down",
    "Empirical",
    "Endpoint",
    "Error",
    "Expectation",
    "Exponential",
    "Fault",
    "Fixed",
    "Flap",
    "Health",
    "Keys",
    "Latency",
    "Lognormal",
    "Pareto",
    "Patch",
    "Reload",
    "Retries",
    "ScenarioKeys",
    "SequenceStep",
    "Share",
    "Slow",
    "Stage",
    "Step",
    "Timeouts",
    "Traffic",
    "Uniform",
    "Upstream",
    "Users",
    "Wave",
]


_ScenarioKeysSigns = TypedDict(
    "_ScenarioKeysSigns",
    {
        "$schema": "str",
    },
    total=False,
)


class ScenarioKeys(_ScenarioKeysSigns, total=False):
    """One file, one question. JSON with // and /* */ comments, or YAML.

    Keys (and defaults): $schema, name, question, seed (1), duration_ms (required), sample_ms (1000), clock,
    upstreams (required), endpoints, traffic, reloads, expect.
    """

    name: str
    """What reports call it; by habit the file's name without its ending."""

    question: str
    """The one question that the scenario asks, as a sentence."""

    seed: int
    """Where all luck comes from. The same seed gives the same bytes; `--seed` wins over it. In [0,
    18446744073709551615]. Default: 1."""

    duration_ms: Required[float]
    """The run covers [0, duration_ms) of virtual time; what is in flight then is `unfinished`. In (0,
    10000000000]."""

    sample_ms: float
    """Width of a bin of the series. In (0, 10000000000]. Default: 1000."""

    clock: Clock
    """What the machines read as `now`."""

    upstreams: Required[list[Upstream]]
    """The gateway's own configuration; `--gateway` takes it from the gateway's file instead."""

    endpoints: dict[str, Behaviour]
    """How the simulated servers behave, by address:port; "*" is the base of all. An endpoint's key
    replaces the base's, but its faults come after the base's."""

    traffic: list[Traffic]
    """Who asks, when, and with what patience. Entries add up."""

    reloads: list[Reload]
    """Changes of the configuration while the gateway runs, carried out by the gateway's own code."""

    expect: list[Expectation]
    """What must come out; `halfopen check` judges it."""


class Clock(TypedDict, total=False):
    """Of `clock`.

    Keys (and defaults): start_unix_ms (1700000000000), source ("wall"), steps.
    """

    start_unix_ms: int
    """What the clock shows at the start, in ms since 1970. In [0, 1000000000000000]. Default:
    1700000000000."""

    source: Literal["wall", "monotonic"]
    """`wall` obeys the steps below, `monotonic` does not. Default: "wall"."""

    steps: list[ClockStep]
    """When somebody sets the clock. Sleeps, backoffs and timeouts do not obey them."""


class ClockStep(TypedDict, total=False):
    """Of `clock_step`.

    Keys (and defaults): at_ms (required), by_ms (required).
    """

    at_ms: Required[float]
    """When. In [0, 10000000000]."""

    by_ms: Required[int]
    """How far: below 0 is back. In [-1000000000000, 1000000000000]."""


class Reload(TypedDict, total=False):
    """Applied whole, in order of time. Exactly one of patch and upstreams.

    Keys (and defaults): at_ms (required), patch, upstreams.
    """

    at_ms: Required[float]
    """When. In [0, 10000000000]."""

    patch: list[Patch]
    """A JSON Patch (RFC 6902) within /upstreams, of the configuration in force then."""

    upstreams: list[Upstream]
    """The whole new configuration instead of a patch."""


_PatchSigns = TypedDict(
    "_PatchSigns",
    {
        "from": "str",
    },
    total=False,
)


class Patch(_PatchSigns, total=False):
    """Of `patch`.

    Keys (and defaults): op (required), path (required), value, from.
    """

    op: Required[Literal["add", "remove", "replace", "move", "copy", "test"]]
    """What to do, as RFC 6902 has it."""

    path: Required[str]
    """JSON Pointer of what is meant; `-` is the end of a list."""

    value: Any
    """Of add, replace and test."""


class Behaviour(TypedDict, total=False):
    """One server is one address:port, shared by the upstreams that name it. Servers know nothing of
    ejection; after a timeout or an abandon they work on.

    Keys (and defaults): latency ({"fixed": {"ms": 1}}), capacity, faults.
    """

    latency: Latency
    """How long an answer takes, drawn for every attempt. Default: {"fixed": {"ms": 1}}."""

    capacity: Capacity
    """How many at once, first in, first out. None: unlimited."""

    faults: list[Fault]
    """What goes wrong, in file order."""


class Latency(TypedDict, total=False):
    """Exactly one kind.

    Keys (and defaults): fixed, uniform, exponential, lognormal, pareto, empirical.
    """

    fixed: Fixed
    """Always the same."""

    uniform: Uniform
    """Anything between, equally likely."""

    exponential: Exponential
    """Memoryless."""

    lognormal: Lognormal
    """What most services look like: by median and 99th percentile, or by mean and standard deviation."""

    pareto: Pareto
    """A heavy tail, cut at max_ms."""

    empirical: Empirical
    """One of these, equally likely."""


class Fixed(TypedDict, total=False):
    """Of `fixed`.

    Keys (and defaults): ms (required).
    """

    ms: Required[float]
    """In ms. In [0, 10000000000]."""


class Uniform(TypedDict, total=False):
    """Of `uniform`.

    Keys (and defaults): min_ms (required), max_ms (required).
    """

    min_ms: Required[float]
    """Included. In [0, 10000000000]."""

    max_ms: Required[float]
    """Not less than min_ms. In [0, 10000000000]."""


class Exponential(TypedDict, total=False):
    """Of `exponential`.

    Keys (and defaults): mean_ms (required).
    """

    mean_ms: Required[float]
    """The mean. In (0, 10000000000]."""


class Lognormal(TypedDict, total=False):
    """p50_ms with p99_ms, or mean_ms with sd_ms.

    Keys (and defaults): p50_ms, p99_ms, mean_ms, sd_ms.
    """

    p50_ms: float
    """The median; needs p99_ms. In (0, 10000000000]."""

    p99_ms: float
    """Above p50_ms. In (0, 10000000000]."""

    mean_ms: float
    """The mean; needs sd_ms. In (0, 10000000000]."""

    sd_ms: float
    """The standard deviation. In [0, 10000000000]."""


class Pareto(TypedDict, total=False):
    """Of `pareto`.

    Keys (and defaults): min_ms (required), alpha (required), max_ms (required).
    """

    min_ms: Required[float]
    """The least. In (0, 10000000000]."""

    alpha: Required[float]
    """The smaller, the heavier the tail; the mean is finite above 1. In (0, 1000000]."""

    max_ms: Required[float]
    """What is longer is this. In [0, 10000000000]."""


class Empirical(TypedDict, total=False):
    """Either ms or file.

    Keys (and defaults): ms, file.
    """

    ms: list[float]
    """The measurements."""

    file: str
    """A file of them beside the scenario, one number a line."""


class Capacity(TypedDict, total=False):
    """Of `capacity`.

    Keys (and defaults): concurrency (required), queue (0), overflow ({"status": 503}).
    """

    concurrency: Required[int]
    """How many attempts it serves at once. In [1, 4294967295]."""

    queue: int
    """How many more wait for a place. In [0, 4294967295]. Default: 0."""

    overflow: Literal["reset"] | dict[str, Any]
    """What everybody else gets: a status, or "reset". Default: {"status": 503}."""


class Fault(TypedDict, total=False):
    """Exactly one kind. How several compose: first down, then outcomes, then the latency of all, then
    errors in file order, then hang, then truncate.

    Keys (and defaults): from_ms (0), to_ms, scope ("both"), selection, error, down, latency, brownout, flap,
    bursts, outcomes, hang, truncate, cold_start.
    """

    from_ms: float
    """Begins; included. In [0, 10000000000]. Default: 0."""

    to_ms: float
    """Ends; excluded. Default: the end of the run. In [0, 10000000000]."""

    scope: Literal["both", "traffic", "probes"]
    """Whom it meets: a server that passes its check and fails its users is `traffic`. Default: "both"."""

    selection: list[str] | dict[str, Any]
    """Of a fault of "*": which endpoints it hits, by name, or {percent} or {count} of them drawn from the
    seed. Default: all."""

    error: Error
    """A share of attempts is answered with a status."""

    down: Down
    """Nobody is served; who is in service is reset."""

    latency: Slow
    """Slower."""

    brownout: Brownout
    """Errors, latency and lost capacity together, as real ones come."""

    flap: Flap
    """Up and down in turn, begins up."""

    bursts: Bursts
    """A good and a bad state in turn (Gilbert-Elliott), begins good, stays drawn exponentially."""

    outcomes: str
    """A script: the n-th traffic attempt since from_ms that no `down` decided gets the n-th word, F (503),
    S (200), reset or a status; after the last one it no longer decides."""

    hang: Share
    """Accepted, never answered."""

    truncate: Share
    """Headers arrive, the body breaks off: a failure that is never retried."""

    cold_start: ColdStart
    """Slower for a while after every return from `down` or from a flap's down."""


class Error(TypedDict, total=False):
    """Of `error`.

    Keys (and defaults): ratio (required), status (503).
    """

    ratio: Required[float]
    """The share. In [0, 1]."""

    status: int
    """The HTTP status of the error; below 500 is no failure for the gateway. In [100, 599]. Default: 503."""


class Down(TypedDict, total=False):
    """Of `down`.

    Keys (and defaults): kind ("refused").
    """

    kind: Literal["refused", "reset", "timeout"]
    """refused: at once; reset: after the latency; timeout: never accepts. Default: "refused"."""


class Slow(TypedDict, total=False):
    """At least one of add_ms and factor.

    Keys (and defaults): add_ms (0), factor (1), ramp_ms (0).
    """

    add_ms: float
    """Added after all factors. In [0, 10000000000]. Default: 0."""

    factor: float
    """Multiplies the draw. In [0, 1000000]. Default: 1."""

    ramp_ms: float
    """How long both take to grow to their whole; there is no ramp back. In [0, 10000000000]. Default: 0."""


class Brownout(TypedDict, total=False):
    """Of `brownout`.

    Keys (and defaults): error_ratio (required), status (503), latency_factor (required), capacity_factor
    (required).
    """

    error_ratio: Required[float]
    """The share of attempts answered with an error. In [0, 1]."""

    status: int
    """The HTTP status of the error; below 500 is no failure for the gateway. In [100, 599]. Default: 503."""

    latency_factor: Required[float]
    """Multiplies the latency. In [0, 1000000]."""

    capacity_factor: Required[float]
    """Multiplies the concurrency, rounded down, never below 1. In [0, 1000000]."""


class Flap(TypedDict, total=False):
    """Of `flap`.

    Keys (and defaults): up_ms (required), down_ms (required), jitter_ms (0), kind ("refused").
    """

    up_ms: Required[float]
    """Up for. In (0, 10000000000]."""

    down_ms: Required[float]
    """Down for. In (0, 10000000000]."""

    jitter_ms: float
    """Each phase lasts up to this much longer. In [0, 10000000000]. Default: 0."""

    kind: Literal["refused", "reset", "timeout"]
    """refused: at once; reset: after the latency; timeout: never accepts. Default: "refused"."""


class Bursts(TypedDict, total=False):
    """Of `bursts`.

    Keys (and defaults): mean_good_ms (required), mean_bad_ms (required), error_ratio (required), status
    (503).
    """

    mean_good_ms: Required[float]
    """Mean stay in the good state. In (0, 10000000000]."""

    mean_bad_ms: Required[float]
    """Mean stay in the bad one. In (0, 10000000000]."""

    error_ratio: Required[float]
    """The share of errors in the bad state; the good one has none. In [0, 1]."""

    status: int
    """The HTTP status of the error; below 500 is no failure for the gateway. In [100, 599]. Default: 503."""


class Share(TypedDict, total=False):
    """Of `share`.

    Keys (and defaults): ratio (required).
    """

    ratio: Required[float]
    """The share. In [0, 1]."""


class ColdStart(TypedDict, total=False):
    """Of `cold_start`.

    Keys (and defaults): for_ms (required), latency_factor (required).
    """

    for_ms: Required[float]
    """How long. In (0, 10000000000]."""

    latency_factor: Required[float]
    """Multiplies the latency. In [0, 1000000]."""


class Traffic(TypedDict, total=False):
    """Exactly one source: arrivals (with one shape), at_ms, every_ms, trace or users.

    Keys (and defaults): upstream (required), from_ms (0), to_ms, arrivals, rate_rps (0), stages, step, burst,
    wave, at_ms, every_ms, trace, users, keys, client, abandon.
    """

    upstream: Required[str]
    """Whom it asks; an upstream of some generation. While it does not exist, requests fail fast."""

    from_ms: float
    """Begins; included. In [0, 10000000000]. Default: 0."""

    to_ms: float
    """Ends; excluded. Default: the end of the run. In [0, 10000000000]."""

    arrivals: Literal["uniform", "poisson"]
    """Evenly spaced, or by chance; with one of the shapes below."""

    rate_rps: float
    """Shape: requests per second; before `stages`, where they begin. In [0, 1000000000000]. Default: 0."""

    stages: list[Stage]
    """Shape: straight lines from one rate to the next; ends after the last."""

    step: list[Step]
    """Shape: one rate after the other; ends after the last."""

    burst: Burst
    """Shape: a rate for a while, then nothing, again and again."""

    wave: Wave
    """Shape: a sine, as a day has."""

    at_ms: list[float]
    """Source: these times."""

    every_ms: float
    """Source: one request every so often, the first at from_ms. In (0, 10000000000]."""

    trace: str
    """Source: a file beside the scenario, one time in ms a line."""

    users: Users
    """Source: a closed loop; each user asks, waits for the end, thinks, asks again."""

    keys: Keys
    """Whose request it is; feeds ip_hash."""

    client: Client
    """Callers that give up and come again: what turns a brownout into a storm."""

    abandon: Abandon
    """Callers that go away."""


class Stage(TypedDict, total=False):
    """Of `stage`.

    Keys (and defaults): target_rps (required), duration_ms (required).
    """

    target_rps: Required[float]
    """The rate at its end. In [0, 1000000000000]."""

    duration_ms: Required[float]
    """Its length. In [0, 10000000000]."""


class Step(TypedDict, total=False):
    """Of `step`.

    Keys (and defaults): rps (required), for_ms (required).
    """

    rps: Required[float]
    """The rate. In [0, 1000000000000]."""

    for_ms: Required[float]
    """How long. In [0, 10000000000]."""


class Burst(TypedDict, total=False):
    """Of `burst`.

    Keys (and defaults): rps (required), for_ms (required), every_ms (required).
    """

    rps: Required[float]
    """The rate within a burst. In [0, 1000000000000]."""

    for_ms: Required[float]
    """How long a burst lasts; not longer than every_ms. In (0, 10000000000]."""

    every_ms: Required[float]
    """From the start of one to the start of the next; the first starts at from_ms. In (0, 10000000000]."""


class Wave(TypedDict, total=False):
    """Of `wave`.

    Keys (and defaults): mean_rps (required), amplitude_rps (required), period_ms (required).
    """

    mean_rps: Required[float]
    """The rate at from_ms, and on average. In [0, 1000000000000]."""

    amplitude_rps: Required[float]
    """How far above and below; not more than mean_rps. It rises first. In [0, 1000000000000]."""

    period_ms: Required[float]
    """From one rise to the next. In (0, 10000000000]."""


class Users(TypedDict, total=False):
    """Of `users`.

    Keys (and defaults): count (required), think_ms (required).
    """

    count: Required[int]
    """How many. In [1, 1000000]."""

    think_ms: Required[float]
    """How long each thinks; they start spread evenly over one such time. In (0, 10000000000]."""


class Keys(TypedDict, total=False):
    """Of `keys`.

    Keys (and defaults): clients (required), zipf (0).
    """

    clients: Required[int]
    """How many different ones. In [1, 10000000]."""

    zipf: float
    """How unequal: client i of n, from 1, has a share of i^-zipf. In [0, 100]. Default: 0."""


class Client(TypedDict, total=False):
    """At least one of these.

    Keys (and defaults): timeout_ms, retries (0), backoff_base_ms (25), backoff_cap_ms (250),
    honours_retry_after (false).
    """

    timeout_ms: float
    """How long a try waits; then it is abandoned. Default: for ever. In (0, 10000000000]."""

    retries: int
    """Tries after the first, each a new request for the gateway. In [0, 1000]. Default: 0."""

    backoff_base_ms: int
    """Upper bound of the random wait before the first retry; it doubles. In [0, 10000000000]. Default: 25."""

    backoff_cap_ms: int
    """What the doubling stops at. In [0, 10000000000]. Default: 250."""

    honours_retry_after: bool
    """Whether a refusal's Retry-After is waited for. Default: false."""


class Abandon(TypedDict, total=False):
    """One draw a request.

    Keys (and defaults): ratio (required), after_ms (required).
    """

    ratio: Required[float]
    """The share of callers. In [0, 1]."""

    after_ms: Required[float]
    """How long they wait. In [0, 10000000000]."""


_ExpectationSigns = TypedDict(
    "_ExpectationSigns",
    {
        "<": "float",
        "<=": "float",
        "==": "float",
        "!=": "float",
        ">=": "float",
        ">": "float",
    },
    total=False,
)


class Expectation(_ExpectationSigns, total=False):
    """Exactly one form: event, never, sequence, state, metric or fingerprint. Without `nth`, times filter
    what is counted. An event, rule, endpoint, upstream or metric that does not exist has not held.

    Keys (and defaults): event, never, sequence, state, metric, fingerprint, endpoint, upstream, rule, via,
    count, at_least (1), at_most, nth, at_ms, between_ms, exact (false), <, <=, ==, !=, >=, >.
    """

    event: Literal["endpoint_ejected", "endpoint_half_open", "endpoint_recovered", "breaker_opened", "breaker_half_open", "breaker_closed"]
    """Form: such events are there, as often as count, at_least or at_most say (default: at least once)."""

    never: Literal["endpoint_ejected", "endpoint_half_open", "endpoint_recovered", "breaker_opened", "breaker_half_open", "breaker_closed"]
    """Form: there is no such event."""

    sequence: list[SequenceStep]
    """Form: these events occur in this order."""

    state: Literal["healthy", "ejected", "half_open", "closed", "open"]
    """Form: the lane of the endpoint, or of the upstream's breaker, shows this at at_ms, or throughout
    between_ms."""

    metric: Literal["requests", "ok", "failed", "fast_failed", "unfinished", "abandoned", "attempts", "failures", "success_ratio", "attempts_per_request", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "fail_open_picks", "late_reports_ignored", "ejections", "breaker_openings", "breaker_open_ms", "retries", "retries_denied", "time_to_detect_ms", "missed", "lost_before_ejection", "false_ejections", "overload", "false_ejection_ms", "in_rotation_while_failing_ms", "time_to_return_ms", "survivor_load_max", "survivor_load_mean"]
    """Form: the metric compares to a value. One without a sample has not held."""

    fingerprint: str
    """Form: the whole stream of events is the one with this meta.fingerprint."""

    endpoint: str
    """An endpoint of some generation, address:port. Default: any."""

    upstream: str
    """An upstream of some generation. Default: any."""

    rule: Literal["consecutive_failures", "failure_ratio", "error_ratio", "half_open_probe_failed"]
    """By which rule it went out. Default: any."""

    via: Literal["half_open_probe", "active_probe", "fail_open", "late_report"]
    """What let it back in. Default: any."""

    count: int
    """Exactly so many. In [0, 18446744073709551615]."""

    at_least: int
    """So many or more. In [0, 18446744073709551615]. Default: 1."""

    at_most: int
    """So many or fewer. In [0, 18446744073709551615]."""

    nth: int
    """The other fields choose events, this takes one of them (from 1), and its time is judged. In [1,
    18446744073709551615]."""

    at_ms: int
    """In this millisecond: [at_ms, at_ms + 1). In [0, 10000000000]."""

    between_ms: list[float]
    """From the first (included) to the second (excluded)."""

    exact: bool
    """Of a sequence: there is no other event of its endpoints (for a breaker's events: its upstreams).
    Default: false."""


class SequenceStep(TypedDict, total=False):
    """Of `sequence_step`.

    Keys (and defaults): event (required), endpoint, upstream, rule, via, at_ms, between_ms.
    """

    event: Required[Literal["endpoint_ejected", "endpoint_half_open", "endpoint_recovered", "breaker_opened", "breaker_half_open", "breaker_closed"]]
    """What happens next."""

    endpoint: str
    """An endpoint of some generation, address:port. Default: any."""

    upstream: str
    """An upstream of some generation. Default: any."""

    rule: Literal["consecutive_failures", "failure_ratio", "error_ratio", "half_open_probe_failed"]
    """By which rule it went out. Default: any."""

    via: Literal["half_open_probe", "active_probe", "fail_open", "late_report"]
    """What let it back in. Default: any."""

    at_ms: int
    """In this millisecond: [at_ms, at_ms + 1). In [0, 10000000000]."""

    between_ms: list[float]
    """From the first (included) to the second (excluded)."""


class Upstream(TypedDict, total=False):
    """Of `upstream`.

    Keys (and defaults): name (required), load_balancer ("round_robin"), slow_start_ms (0), protocol
    ("http1"), trusted_ca_file, late_reports ("count"), endpoints (required), health, active_health, breaker,
    retries, timeouts.
    """

    name: Required[str]
    """What routes, events and reloads call this upstream; one name once. State is kept by it: a new name
    starts fresh."""

    load_balancer: Literal["round_robin", "least_requests", "random", "ip_hash"]
    """How a pick chooses among the endpoints that are not ejected. round_robin honours weights and slow
    start; least_requests and random look at requests in flight; ip_hash keeps a client on one endpoint.
    Default: "round_robin"."""

    slow_start_ms: int
    """How long an endpoint that a reload adds takes to reach its whole weight; round_robin only. 0: at
    once. Returns from ejection do not ramp. In [0, 1000000000000]. Default: 0."""

    protocol: Literal["http1", "http2", "https"]
    """What the gateway speaks to the endpoints. http2 and https use TLS; active probes speak HTTP/1.1 over
    either. Default: "http1"."""

    trusted_ca_file: str
    """PEM file that replaces the system's trust roots toward this upstream, for traffic and probes. A
    simulation has no TLS and does not read it."""

    late_reports: Literal["count", "ignore"]
    """What a report does that was picked before the endpoint's last ejection or recovery: count lets it
    settle the present state, ignore drops it. count is what gateways in the field do. Default: "count"."""

    endpoints: Required[list[Endpoint]]
    """Where the requests go. State follows address and port through reloads."""

    health: Health

    active_health: ActiveHealth

    breaker: Breaker

    retries: Retries

    timeouts: Timeouts


class Endpoint(TypedDict, total=False):
    """Of `endpoint`.

    Keys (and defaults): address (required), port (required), weight (1).
    """

    address: Required[str]
    """Host name, IPv4 address or IPv6 address. State follows address and port through reloads, not the
    place in the list."""

    port: Required[int]
    """TCP port of traffic and probes alike. In [1, 65535]."""

    weight: int
    """Share of the picks of round_robin and of the ring of ip_hash, relative to the other endpoints; the
    weights of one upstream add up to at most 65536. To take an endpoint out, remove it. In [1, 65536].
    Default: 1."""


class Health(TypedDict, total=False):
    """Of `health`.

    Keys (and defaults): window_ms (60000), consecutive_failures (5), failure_ratio (0.5), failure_min_volume
    (20), eject_ms (30000), half_open_probes (1).
    """

    window_ms: int
    """How far back failure_ratio looks; every observation is counted exactly until it is this old. A
    minute holds enough of a slow trickle to judge it and forgets an incident soon after it ended. In
    [1, 1000000000000]. Default: 60000."""

    consecutive_failures: int
    """Failures in a row that eject, whatever the volume; any success starts again from 0. 5 survives a
    stray burst and still catches a dead endpoint within its first requests. In [1, 4294967295].
    Default: 5."""

    failure_ratio: float
    """Share of failures in window_ms that ejects, once failure_min_volume observations are there; reached
    is enough. Half is far above any healthy error rate and below what a streak would catch. In (0, 1].
    Default: 0.5."""

    failure_min_volume: int
    """Observations in window_ms below which failure_ratio is not asked. 20 keeps a 2-of-3 blip on a
    trickle of traffic from ejecting. In [1, 4294967295]. Default: 20."""

    eject_ms: int
    """How long an ejected endpoint stays out before trial requests may reach it; each failed trial costs
    as long again. 30 s is longer than most restarts and shorter than a shift of load hurts. In [1,
    1000000000000]. Default: 30000."""

    half_open_probes: int
    """Trial requests let through at once after eject_ms. The first that succeeds recovers the endpoint,
    the first that fails ejects it again; 1 puts the fewest callers at risk. In [1, 65535]. Default: 1."""


class ActiveHealth(TypedDict, total=False):
    """Of `active_health`.

    Keys (and defaults): kind ("http"), path ("/healthz"), interval_ms (5000), timeout_ms (2000),
    success_threshold (2), failure_threshold (3), jitter_ms (500).
    """

    kind: Literal["http", "tcp"]
    """http asks for `path` and counts 2xx as success; tcp only connects, for upstreams that speak no
    HTTP/1.1. http, because an open port says little about the service behind it. Default: "http"."""

    path: str
    """What an http probe asks for; tcp ignores it. /healthz is the name most services already use.
    Default: "/healthz"."""

    interval_ms: int
    """Sleep before each probe, to which jitter is added; at least timeout_ms and jitter_ms, and reloads
    closer together than this never probe. 5 s notices an idle endpoint's death within some 20 s. In [1,
    1000000000000]. Default: 5000."""

    timeout_ms: int
    """One bound over name look-up, connect, TLS and the status line; at most interval_ms. 2 s is slower
    than any health endpoint that deserves traffic. In [1, 1000000000000]. Default: 2000."""

    success_threshold: int
    """Probe successes in a row that re-admit an ejected endpoint, also before eject_ms is over. 2, because
    one lucky answer from a flapping server is no recovery. In [1, 4294967295]. Default: 2."""

    failure_threshold: int
    """Failures in a row at which a failed probe ejects; the streak is shared with traffic. 3 rides out a
    lost packet and a restart of the checker. In [1, 4294967295]. Default: 3."""

    jitter_ms: int
    """Upper bound of the random time added to every sleep; at most interval_ms. It keeps the probes of
    many endpoints from marching in step; a tenth of the interval is enough. In [0, 1000000000000].
    Default: 500."""


class Breaker(TypedDict, total=False):
    """Of `breaker`.

    Keys (and defaults): consecutive_failures (5), error_ratio (0.5), error_volume (20), open_ms (30000),
    half_open_probes (1).
    """

    consecutive_failures: int
    """Failures in a row, over all endpoints of the upstream, that open the breaker. 5, as for an endpoint:
    with several endpoints the endpoint's own ejection comes first. In [1, 4294967295]. Default: 5."""

    error_ratio: float
    """Share of failures in the last 60 s that opens, once error_volume observations are there; reached is
    enough. At a half, refusing everything costs no more than it saves. In (0, 1]. Default: 0.5."""

    error_volume: int
    """Observations in the last 60 s below which error_ratio is not asked. 20 keeps a quiet upstream from
    being shut by a handful of errors. In [1, 4294967295]. Default: 20."""

    open_ms: int
    """How long an open breaker refuses everything before it admits trials; callers are told so in Retry-
    After. 30 s gives a stormed upstream time to drain. In [1, 1000000000000]. Default: 30000."""

    half_open_probes: int
    """Trial requests admitted at once after open_ms; retries take one each. The first success closes, the
    first failure opens again; 1 is the gentlest knock. In [1, 65535]. Default: 1."""


class Retries(TypedDict, total=False):
    """Of `retries`.

    Keys (and defaults): attempts (0), backoff_base_ms (25), backoff_cap_ms (250), retry_statuses ([502, 503,
    504]), retry_transport (true), budget_percent (10), total_deadline_ms.
    """

    attempts: int
    """Retries beyond the first attempt. 0, because only the operator knows which requests may be repeated;
    more than 10 multiplies an outage instead of hiding it. In [0, 10]. Default: 0."""

    backoff_base_ms: int
    """Upper bound of the random wait before the first retry; it doubles with each further one up to
    backoff_cap_ms. 25 ms outlives a dropped connection; 0 retries at once. In [0, 1000000000000].
    Default: 25."""

    backoff_cap_ms: int
    """What the doubling stops at; not less than backoff_base_ms. 250 ms keeps a retry within a caller's
    patience. In [0, 1000000000000]. Default: 250."""

    retry_statuses: list[int]
    """HTTP statuses worth another attempt, whether they count as failures or not. 502, 503 and 504 come
    from gateways and overload: the request was most likely not carried out. Default: [502, 503, 504]."""

    retry_transport: bool
    """Whether transport errors (refused, reset, timed out) are worth another attempt. They are, since
    another endpoint may well answer. Default: true."""

    budget_percent: int
    """Retries granted for each 100 requests of the last 10 s. 10 % bounds the extra load in an outage;
    below 10 requests in 10 s it grants none. In [1, 4294967295]. Default: 10."""

    total_deadline_ms: int
    """No retry starts this long after the request arrived. None by default: attempts and the budget bound
    the work, the timeouts bound the time. In [1, 600000]."""


class Timeouts(TypedDict, total=False):
    """Of `timeouts`.

    Keys (and defaults): connect_ms (5000), read_ms, happy_eyeballs_ms (250).
    """

    connect_ms: int
    """How long an attempt waits for an endpoint that does not accept; then it is a failure. 5 s outlives
    one lost SYN and its first retransmissions. In [1, 1000000000000]. Default: 5000."""

    read_ms: int
    """How long an attempt waits from dispatch to response headers, queueing included; then it is a
    failure. None by default: an endpoint that hangs then holds its requests for ever and is never
    ejected for it. In [1, 1000000000000]."""

    happy_eyeballs_ms: int
    """Head start of each address of a dual-stack name over the next (RFC 8305); 0 tries them in order. 250
    ms is that document's own recommendation. In [0, 1000000000000]. Default: 250."""
