#include "core/param_table.hpp"

#include <array>

namespace halfopen {
namespace {

constexpr std::uint64_t COUNT_MAX = 4'294'967'295;   // what 32 bits hold
constexpr std::uint64_t MS_MAX = 1'000'000'000'000;  // 10^12 ms, 31 years: sums of two never wrap
constexpr std::uint64_t SLOTS_MAX = 65'535;          // slots share one atomic word with the state
constexpr std::uint64_t DEADLINE_MAX = 600'000;      // ten minutes: no caller waits longer
constexpr std::uint64_t RETRIES_MAX = 10;

using H = HealthParams;
constexpr std::array HEALTH{
    Setting<H>{"window_ms", &H::window_ms, "ms", 1, MS_MAX, false,
               "How far back failure_ratio looks; every observation is counted exactly until it is this old. "
               "A minute "
               "holds enough of a slow trickle to judge it and forgets an incident soon after it ended."},
    Setting<H>{"consecutive_failures", &H::consecutive_failures, "failures", 1, COUNT_MAX, false,
               "Failures in a row that eject, whatever the volume; any success starts again from 0. 5 "
               "survives a stray "
               "burst and still catches a dead endpoint within its first requests."},
    Setting<H>{
        "failure_ratio", &H::failure_ratio, "ratio", 0, 0, false,
        "Share of failures in window_ms that ejects, once failure_min_volume observations are there; reached "
        "is enough. Half is far above any healthy error rate and below what a streak would catch."},
    Setting<H>{"failure_min_volume", &H::failure_min_volume, "observations", 1, COUNT_MAX, false,
               "Observations in window_ms below which failure_ratio is not asked. 20 keeps a 2-of-3 blip on "
               "a trickle "
               "of traffic from ejecting."},
    Setting<H>{"eject_ms", &H::eject_ms, "ms", 1, MS_MAX, false,
               "How long an ejected endpoint stays out before trial requests may reach it; each failed trial "
               "costs as "
               "long again. 30 s is longer than most restarts and shorter than a shift of load hurts."},
    Setting<H>{"half_open_probes", &H::half_open_probes, "requests", 1, SLOTS_MAX, false,
               "Trial requests let through at once after eject_ms. The first that succeeds recovers the "
               "endpoint, the "
               "first that fails ejects it again; 1 puts the fewest callers at risk."},
};

using A = ActiveParams;
constexpr std::array ACTIVE{
    Setting<A>{
        "kind", &A::kind, "", 0, 0, false,
        "http asks for `path` and counts 2xx as success; tcp only connects, for upstreams that speak no "
        "HTTP/1.1. http, because an open port says little about the service behind it."},
    Setting<A>{
        "path", &A::path, "", 0, 0, false,
        "What an http probe asks for; tcp ignores it. /healthz is the name most services already use."},
    Setting<A>{
        "interval_ms", &A::interval_ms, "ms", 1, MS_MAX, false,
        "Sleep before each probe, to which jitter is added; at least timeout_ms and jitter_ms, and reloads "
        "closer together than this never probe. 5 s notices an idle endpoint's death within some 20 s."},
    Setting<A>{
        "timeout_ms", &A::timeout_ms, "ms", 1, MS_MAX, false,
        "One bound over name look-up, connect, TLS and the status line; at most interval_ms. 2 s is slower "
        "than any health endpoint that deserves traffic."},
    Setting<A>{"success_threshold", &A::success_threshold, "probes", 1, COUNT_MAX, false,
               "Probe successes in a row that re-admit an ejected endpoint, also before eject_ms is over. 2, "
               "because "
               "one lucky answer from a flapping server is no recovery."},
    Setting<A>{
        "failure_threshold", &A::failure_threshold, "probes", 1, COUNT_MAX, false,
        "Failures in a row at which a failed probe ejects; the streak is shared with traffic. 3 rides out a "
        "lost packet and a restart of the checker."},
    Setting<A>{"jitter_ms", &A::jitter_ms, "ms", 0, MS_MAX, false,
               "Upper bound of the random time added to every sleep; at most interval_ms. It keeps the "
               "probes of many "
               "endpoints from marching in step; a tenth of the interval is enough."},
};

using B = BreakerParams;
constexpr std::array BREAKER{
    Setting<B>{"consecutive_failures", &B::consecutive_failures, "failures", 1, COUNT_MAX, false,
               "Failures in a row, over all endpoints of the upstream, that open the breaker. 5, as for an "
               "endpoint: "
               "with several endpoints the endpoint's own ejection comes first."},
    Setting<B>{
        "error_ratio", &B::error_ratio, "ratio", 0, 0, false,
        "Share of failures in the last 60 s that opens, once error_volume observations are there; reached is "
        "enough. At a half, refusing everything costs no more than it saves."},
    Setting<B>{
        "error_volume", &B::error_volume, "observations", 1, COUNT_MAX, false,
        "Observations in the last 60 s below which error_ratio is not asked. 20 keeps a quiet upstream from "
        "being shut by a handful of errors."},
    Setting<B>{"open_ms", &B::open_ms, "ms", 1, MS_MAX, false,
               "How long an open breaker refuses everything before it admits trials; callers are told so in "
               "Retry-After. 30 s gives a stormed upstream time to drain."},
    Setting<B>{
        "half_open_probes", &B::half_open_probes, "requests", 1, SLOTS_MAX, false,
        "Trial requests admitted at once after open_ms; retries take one each. The first success closes, the "
        "first failure opens again; 1 is the gentlest knock."},
};

using R = RetryParams;
constexpr std::array RETRIES{
    Setting<R>{"attempts", &R::attempts, "retries", 0, RETRIES_MAX, false,
               "Retries beyond the first attempt. 0, because only the operator knows which requests may be "
               "repeated; "
               "more than 10 multiplies an outage instead of hiding it."},
    Setting<R>{
        "backoff_base_ms", &R::backoff_base_ms, "ms", 0, MS_MAX, false,
        "Upper bound of the random wait before the first retry; it doubles with each further one up to "
        "backoff_cap_ms. 25 ms outlives a dropped connection; 0 retries at once."},
    Setting<R>{
        "backoff_cap_ms", &R::backoff_cap_ms, "ms", 0, MS_MAX, false,
        "What the doubling stops at; not less than backoff_base_ms. 250 ms keeps a retry within a caller's "
        "patience."},
    Setting<R>{"retry_statuses", &R::retry_statuses, "", 100, 599, false,
               "HTTP statuses worth another attempt, whether they count as failures or not. 502, 503 and 504 "
               "come from "
               "gateways and overload: the request was most likely not carried out."},
    Setting<R>{
        "retry_transport", &R::retry_transport, "", 0, 0, false,
        "Whether transport errors (refused, reset, timed out) are worth another attempt. They are, since "
        "another endpoint may well answer."},
    Setting<R>{"budget_percent", &R::budget_percent, "percent", 1, COUNT_MAX, false,
               "Retries granted for each 100 requests of the last 10 s. 10 % bounds the extra load in an "
               "outage; below "
               "10 requests in 10 s it grants none."},
    Setting<R>{
        "total_deadline_ms", &R::total_deadline_ms, "ms", 1, DEADLINE_MAX, false,
        "No retry starts this long after the request arrived. None by default: attempts and the budget bound "
        "the work, the timeouts bound the time."},
};

using T = TimeoutParams;
constexpr std::array TIMEOUTS{
    Setting<T>{"connect_ms", &T::connect_ms, "ms", 1, MS_MAX, false,
               "How long an attempt waits for an endpoint that does not accept; then it is a failure. 5 s "
               "outlives one "
               "lost SYN and its first retransmissions."},
    Setting<T>{"read_ms", &T::read_ms, "ms", 1, MS_MAX, false,
               "How long an attempt waits from dispatch to response headers, queueing included; then it is a "
               "failure. "
               "None by default: an endpoint that hangs then holds its requests for ever and is never "
               "ejected for it."},
    Setting<T>{"happy_eyeballs_ms", &T::happy_eyeballs_ms, "ms", 0, MS_MAX, false,
               "Head start of each address of a dual-stack name over the next (RFC 8305); 0 tries them in "
               "order. 250 "
               "ms is that document's own recommendation."},
};

using U = UpstreamConfig;
constexpr std::array UPSTREAM{
    Setting<U>{
        "name", &U::name, "", 0, 0, true,
        "What routes, events and reloads call this upstream; one name once. State is kept by it: a new name "
        "starts fresh."},
    Setting<U>{
        "load_balancer", &U::load_balancer, "", 0, 0, false,
        "How a pick chooses among the endpoints that are not ejected. round_robin honours weights and slow "
        "start; least_requests and random look at requests in flight; ip_hash keeps a client on one "
        "endpoint."},
    Setting<U>{
        "slow_start_ms", &U::slow_start_ms, "ms", 0, MS_MAX, false,
        "How long an endpoint that a reload adds takes to reach its whole weight; round_robin only. 0: at "
        "once. Returns from ejection do not ramp."},
    Setting<U>{"protocol", &U::protocol, "", 0, 0, false,
               "What the gateway speaks to the endpoints. http2 and https use TLS; active probes speak "
               "HTTP/1.1 over "
               "either."},
    Setting<U>{
        "trusted_ca_file", &U::trusted_ca_file, "", 0, 0, false,
        "PEM file that replaces the system's trust roots toward this upstream, for traffic and probes. A "
        "simulation has no TLS and does not read it."},
    Setting<U>{
        "late_reports", &U::late_reports, "", 0, 0, false,
        "What a report does that was picked before the endpoint's last ejection or recovery: count lets it "
        "settle the present state, ignore drops it. count is what gateways in the field do."},
};

using E = EndpointConfig;
constexpr std::array ENDPOINT{
    Setting<E>{
        "address", &E::address, "", 0, 0, true,
        "Host name, IPv4 address or IPv6 address. State follows address and port through reloads, not the "
        "place in the list."},
    Setting<E>{"port", &E::port, "", 1, 65'535, true, "TCP port of traffic and probes alike."},
    Setting<E>{
        "weight", &E::weight, "", 1, 65'536, false,
        "Share of the picks of round_robin and of the ring of ip_hash, relative to the other endpoints; the "
        "weights of one upstream add up to at most 65536. To take an endpoint out, remove it."},
};

}  // namespace

template <>
std::span<const Setting<HealthParams>> settings<HealthParams>() {
  return HEALTH;
}
template <>
std::span<const Setting<ActiveParams>> settings<ActiveParams>() {
  return ACTIVE;
}
template <>
std::span<const Setting<BreakerParams>> settings<BreakerParams>() {
  return BREAKER;
}
template <>
std::span<const Setting<RetryParams>> settings<RetryParams>() {
  return RETRIES;
}
template <>
std::span<const Setting<TimeoutParams>> settings<TimeoutParams>() {
  return TIMEOUTS;
}
template <>
std::span<const Setting<UpstreamConfig>> settings<UpstreamConfig>() {
  return UPSTREAM;
}
template <>
std::span<const Setting<EndpointConfig>> settings<EndpointConfig>() {
  return ENDPOINT;
}

}  // namespace halfopen
