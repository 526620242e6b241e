// Whether a configuration may be used: every rule of the specification's section Validation that speaks of
// upstreams. Ranges come from core/param_table.hpp; what a field means stands there too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/params.hpp"

namespace halfopen {

inline constexpr std::uint64_t MAX_ENDPOINTS = 65536;   // of one configuration, all upstreams together
inline constexpr std::uint64_t MAX_WEIGHT_SUM = 65536;  // of one upstream

struct Problem {
  std::string pointer;  // JSON pointer from the list of upstreams: "/0/health/eject_ms"
  std::string message;  // the field, its value, the rule and what would be right
  // The second field of a rule about two: the one to point at when a file leaves `pointer` to its default,
  // and the reason to be silent when that field could not be read. Empty: a rule about one field.
  std::string other;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// What is wrong with the address of an endpoint, or with the path that an http probe asks for, as a sentence;
// empty where nothing is. A prober asks them too: its caller may have validated nothing.
std::string wrong_with_address(const std::string& address);
std::string wrong_with_path(const std::string& path);

// Every problem at once, in the order of upstreams and their fields. Empty: good.
std::vector<Problem> validate(const std::vector<UpstreamConfig>& upstreams);

}  // namespace halfopen
