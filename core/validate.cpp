#include "core/validate.hpp"

#include <algorithm>
#include <map>

#include "core/param_table.hpp"

namespace halfopen {
namespace {

class Checker {
 public:
  explicit Checker(std::vector<Problem>& out) : out_(out) {}

  void add(std::string pointer, std::string message, std::string other = {}) {
    out_.push_back({std::move(pointer), std::move(message), std::move(other)});
  }

  // Everything the table alone can judge.
  template <class Block>
  void ranges(const std::string& at, const Block& block) {
    for (const Setting<Block>& setting : settings<Block>()) {
      std::visit([&](auto member) { range(at, setting, block.*member); }, setting.member);
    }
  }

 private:
  template <class Block>
  void out_of_range(const std::string& at, const Setting<Block>& setting, const std::string& value) {
    const std::string name(setting.name);
    add(at + "/" + name, name + " is " + value + ": it " + rule_of(setting));
  }

  template <class Block, class Value>
  void range(const std::string& at, const Setting<Block>& setting, const Value& value) {
    if constexpr (std::is_same_v<Value, double>) {
      // Written so that NaN, which compares with nothing, is refused.
      if (!(value > 0 && value <= 1)) out_of_range(at, setting, shortest(value));
    } else if constexpr (std::is_same_v<Value, std::optional<std::uint64_t>>) {
      if (value) range(at, setting, *value);
    } else if constexpr (std::is_same_v<Value, StatusSet>) {
      for (std::size_t status = 0; status < setting.min; ++status) {
        if (value.test(status)) out_of_range(at, setting, "a list with " + std::to_string(status));
      }
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      if (value < setting.min || value > setting.max) out_of_range(at, setting, std::to_string(value));
    }
  }

  std::vector<Problem>& out_;
};

std::string named(std::string_view name, std::uint64_t value) {
  return std::string(name) + " is " + std::to_string(value);
}

bool has_blank_or_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

// Not a parser of addresses: it tells an IPv6 literal from a host that swallowed its port.
bool looks_like_ipv6(std::string_view address) {
  const std::string_view plain = address.substr(0, address.find('%'));  // a zone may follow
  if (std::count(plain.begin(), plain.end(), ':') < 2) return false;
  return plain.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

void check_endpoints(const UpstreamConfig& upstream, const std::string& at, Checker& to) {
  if (upstream.endpoints.empty())
    to.add(at + "/endpoints", "endpoints is an empty list: an upstream must have at least one endpoint");
  std::map<std::string, std::size_t> seen;
  std::uint64_t weights = 0;
  for (std::size_t n = 0; n < upstream.endpoints.size(); ++n) {
    const EndpointConfig& endpoint = upstream.endpoints[n];
    const std::string here = at + "/endpoints/" + std::to_string(n);
    to.ranges(here, endpoint);
    if (std::string wrong = wrong_with_address(endpoint.address); !wrong.empty())
      to.add(here + "/address", std::move(wrong));
    const auto [first, fresh] = seen.emplace(endpoint.name(), n);
    if (!fresh) {
      to.add(here,
             "endpoint " + endpoint.name() + " is listed twice (first as number " +
                 std::to_string(first->second) +
                 " of this upstream): list each address:port once and use weight to give it more",
             here + "/port");
    }
    weights += endpoint.weight;
  }
  const bool each_fits = std::all_of(upstream.endpoints.begin(), upstream.endpoints.end(),
                                     [](const EndpointConfig& e) { return e.weight <= MAX_WEIGHT_SUM; });
  if (each_fits && weights > MAX_WEIGHT_SUM) {
    to.add(at + "/endpoints", "the weights add up to " + std::to_string(weights) +
                                  ": the sum of an upstream must be at most " +
                                  std::to_string(MAX_WEIGHT_SUM) + "; divide them by a common factor");
  }
}

void check_active(const UpstreamConfig& upstream, const std::string& at, Checker& to) {
  const ActiveParams& active = *upstream.active_health;
  const std::string here = at + "/active_health";
  if (!upstream.health) {
    to.add(here, "active_health needs health, whose ejections its probes report into: add \"health\": {}",
           at + "/health");
  }
  to.ranges(here, active);
  const std::string interval = named("interval_ms", active.interval_ms);
  if (active.interval_ms < active.timeout_ms) {
    to.add(here + "/interval_ms",
           interval + ": it must be at least timeout_ms, which is " + std::to_string(active.timeout_ms),
           here + "/timeout_ms");
  }
  if (active.interval_ms < active.jitter_ms) {
    to.add(here + "/interval_ms",
           interval + ": it must be at least jitter_ms, which is " + std::to_string(active.jitter_ms),
           here + "/jitter_ms");
  }
  if (active.kind == ProbeKind::http) {
    if (std::string wrong = wrong_with_path(active.path); !wrong.empty())
      to.add(here + "/path", std::move(wrong));
  }
}

void check_retries(const RetryParams& retries, const std::string& here, Checker& to) {
  to.ranges(here, retries);
  if (retries.backoff_cap_ms < retries.backoff_base_ms) {
    to.add(here + "/backoff_cap_ms",
           named("backoff_cap_ms", retries.backoff_cap_ms) +
               ": it must be at least backoff_base_ms, which is " + std::to_string(retries.backoff_base_ms),
           here + "/backoff_base_ms");
  }
}

void check_upstream(const UpstreamConfig& upstream, const std::string& at, Checker& to) {
  if (upstream.name.empty())
    to.add(at + "/name", "name is \"\": an upstream must have a name that is not empty");
  to.ranges(at, upstream);
  check_endpoints(upstream, at, to);
  if (upstream.health) to.ranges(at + "/health", *upstream.health);
  if (upstream.active_health) check_active(upstream, at, to);
  if (upstream.breaker) to.ranges(at + "/breaker", *upstream.breaker);
  check_retries(upstream.retries, at + "/retries", to);
  to.ranges(at + "/timeouts", upstream.timeouts);
}

}  // namespace

std::string wrong_with_address(const std::string& address) {
  const std::string is = "address is \"" + address + "\": ";
  if (address.empty()) return is + "it must not be empty: write a host name or an IP address";
  if (has_blank_or_control(address)) return is + "it must not hold blanks or control characters";
  if (address.front() == '.')
    return is + "it must not begin with a dot, which to a certificate's check means any name below";
  if (address.find('/') != std::string::npos) return is + "it must be a host alone, without scheme or path";
  if (address.find_first_of("[]") != std::string::npos)
    return is + "brackets belong into names of endpoints only: write it without";
  if (address.find(':') != std::string::npos && !looks_like_ipv6(address)) {
    return is + "only an IPv6 address may hold colons: write the port as `port`";
  }
  return {};
}

std::string wrong_with_path(const std::string& path) {
  if (!path.empty() && path[0] == '/' && !has_blank_or_control(path)) return {};
  return "path is \"" + path + "\": it must begin with / and hold no blanks, as in /healthz";
}

std::vector<Problem> validate(const std::vector<UpstreamConfig>& upstreams) {
  std::vector<Problem> problems;
  Checker to(problems);
  std::map<std::string, std::size_t> seen;
  std::uint64_t endpoints = 0;
  for (std::size_t n = 0; n < upstreams.size(); ++n) {
    const std::string at = "/" + std::to_string(n);
    check_upstream(upstreams[n], at, to);
    const auto [first, fresh] = seen.emplace(upstreams[n].name, n);
    if (!fresh && !upstreams[n].name.empty()) {
      to.add(at + "/name", "name is \"" + upstreams[n].name + "\", as is that of upstream " +
                               std::to_string(first->second) +
                               ": every upstream must have a name of its own");
    }
    endpoints += upstreams[n].endpoints.size();
  }
  if (endpoints > MAX_ENDPOINTS) {
    to.add("", "there are " + std::to_string(endpoints) + " endpoints: a configuration must have at most " +
                   std::to_string(MAX_ENDPOINTS));
  }
  return problems;
}

}  // namespace halfopen
