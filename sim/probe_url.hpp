// What `halfopen probe` is told to probe, read into plain parts: http://HOST[:PORT][/PATH][?QUERY], https://…
// or tcp://HOST:PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halfopen::sim {

enum class ProbeScheme : std::uint8_t { http, https, tcp };

struct ProbeUrl {
  ProbeScheme scheme = ProbeScheme::http;
  std::string host;         // a name, an IPv4 address, or an IPv6 address without brackets
  std::uint16_t port = 80;  // 443 of https unless it was written; tcp has none by itself
  std::string path = "/";   // with the query; of tcp empty
};

// The parts; or none, and `problem` is a sentence without a full stop that says what is wrong and what would
// be right. The sentence is printable ASCII, whatever the text holds.
std::optional<ProbeUrl> read_probe_url(std::string_view text, std::string& problem);

// Four decimal numbers up to 255, without leading zeros.
bool is_ipv4(std::string_view text);

// RFC 4291's forms, with an IPv4 address in the last two groups if need be; no zone.
bool is_ipv6(std::string_view text);

}  // namespace halfopen::sim
