// A probe's report for a person: the verdict in a sentence, and the table that `probe` prints.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/prober/probe.hpp"

namespace halfopen::sim {

// "127.0.0.1:8080", "[::1]:8080", "api.example:443".
std::string host_and_port(const ProbeTarget& target);

// Why the verdict is what it is, without a full stop: "nobody listens on 127.0.0.1:9".
std::string probe_sentence(const ProbeTarget& target, const ProbeReport& report);

// What the engine adds, in brackets after a blank; nothing for a refusal, whose "Connection refused" is the
// same word again.
std::string detail_text(const ProbeReport& report);

// "ok 200", "status 503", "connect_timeout".
std::string verdict_text(const ProbeReport& report);

// At most 80 columns wide whatever the target is called; every piece is whole lines.
class ProbeTable {
 public:
  // `url` as it was given; `count` probes will follow at most.
  ProbeTable(const ProbeTarget& target, std::string url, std::uint64_t count);

  std::string head() const;
  // The n-th probe, from 1: its line, then its peer if that is another one than before, and why it failed.
  std::string line(std::uint64_t n, const ProbeReport& report);
  // Of all lines so far: the verdicts counted, and the span of the successful ones' times. A stopped probe is
  // no verdict and not counted.
  std::string summary() const;

 private:
  ProbeTarget target_;
  std::string url_, last_peer_;
  std::uint64_t count_;
  std::size_t number_width_;
  std::array<std::uint64_t, static_cast<std::size_t>(ProbeEnd::cancelled) + 1> ends_{};
  std::vector<std::uint64_t> ok_micros_;
};

}  // namespace halfopen::sim
