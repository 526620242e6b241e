#include "core/params.hpp"

#include <array>
#include <cstddef>

namespace halfopen {
namespace {

// One table a word list: the place in the array is the enumerator's value.
constexpr std::array<const char*, 4> ALGORITHMS{"round_robin", "least_requests", "random", "ip_hash"};
constexpr std::array<const char*, 3> PROTOCOLS{"http1", "http2", "https"};
constexpr std::array<const char*, 2> PROBE_KINDS{"http", "tcp"};
constexpr std::array<const char*, 2> LATE_REPORTS{"count", "ignore"};

template <class Enum, std::size_t N>
const char* word_of(const std::array<const char*, N>& words, Enum value) noexcept {
  const auto place = static_cast<std::size_t>(value);
  return place < N ? words[place] : "";
}

template <class Enum, std::size_t N>
bool find_word(const std::array<const char*, N>& words, std::string_view word, Enum& out) noexcept {
  for (std::size_t place = 0; place < N; ++place) {
    if (word == words[place]) {
      out = static_cast<Enum>(place);
      return true;
    }
  }
  return false;
}

}  // namespace

const char* to_string(Algorithm algorithm) noexcept { return word_of(ALGORITHMS, algorithm); }
const char* to_string(Protocol protocol) noexcept { return word_of(PROTOCOLS, protocol); }
const char* to_string(ProbeKind kind) noexcept { return word_of(PROBE_KINDS, kind); }
const char* to_string(LateReports late) noexcept { return word_of(LATE_REPORTS, late); }

bool parse(std::string_view word, Algorithm& out) noexcept { return find_word(ALGORITHMS, word, out); }
bool parse(std::string_view word, Protocol& out) noexcept { return find_word(PROTOCOLS, word, out); }
bool parse(std::string_view word, ProbeKind& out) noexcept { return find_word(PROBE_KINDS, word, out); }
bool parse(std::string_view word, LateReports& out) noexcept { return find_word(LATE_REPORTS, word, out); }

std::string without_brackets(std::string_view address) {
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  return std::string(address);
}

// Only an IPv6 literal holds a colon, and only it needs brackets to keep its end apart from the port.
std::string EndpointConfig::name() const {
  const bool bracketed = address.find(':') != std::string::npos;
  std::string text = bracketed ? "[" + address + "]" : address;
  return text.append(":").append(std::to_string(port));
}

}  // namespace halfopen
