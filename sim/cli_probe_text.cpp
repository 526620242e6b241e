#include "sim/cli_probe_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t VERDICT_WIDTH = 15;  // connect_timeout
constexpr std::size_t TIME_WIDTH = 10;

std::uint64_t micros_of(ProbeTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::round<std::chrono::microseconds>(std::max(time, ProbeTime{0})).count());
}

// Always three decimals, so that a column of them lines up: 0.412, 2000.118. Minutes would leave no blank
// between two columns, and nobody reads their microseconds.
std::string ms_text(std::uint64_t micros) {
  if (micros >= 100'000'000) return fmt::format("{}", (micros + 500) / 1000);
  return fmt::format("{}.{:03}", micros / 1000, micros % 1000);
}

std::string cell(std::optional<ProbeTime> time) {
  return pad_left(time ? ms_text(micros_of(*time)) : "-", TIME_WIDTH);
}

std::string status_sentence(const ProbeTarget& target, unsigned status) {
  const std::string answer = fmt::format("the answer is {:03}", status);
  if (status == 401 || status == 403) return answer + ", and a probe brings no credentials";
  if (status == 404) return answer + ": is " + target.path + " the right path?";
  if (status == 400 && !target.tls) return answer + ": does https listen there?";
  if (status >= 300 && status < 400) return answer + ", and redirects are not followed: probe where it leads";
  return answer + ", and only 2xx is a success";
}

std::string malformed_sentence(const ProbeTarget& target, const std::string& where) {
  return where + " answered something that is no status line of HTTP/1: " +
         (target.tls ? "does it speak HTTP/2 alone?" : "does it speak TLS or another protocol?");
}

// "4 probes: 2 ok, 1 refused, 1 status". A count and its verdict stay on one line.
std::string counts_text(std::uint64_t probes, const std::vector<std::string>& counts) {
  std::string out, line = plural(probes, "probe") + ':';
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::string piece = ' ' + counts[n] + (n + 1 < counts.size() ? "," : "");
    if (line.size() + piece.size() > PAGE_WIDTH) out += std::exchange(line, " ") + '\n';
    line += piece;
  }
  return out + line + '\n';
}

// Who and what, before the engine's own words.
std::string plain_sentence(const ProbeTarget& target, const ProbeReport& report) {
  const std::string there = host_and_port(target);
  const std::string where = report.peer.empty() ? there : report.peer;
  const std::string in_time = "within " + grouped(target.timeout_ms) + " ms";
  switch (report.end) {
    case ProbeEnd::ok:
      return target.kind == ProbeKind::tcp ? where + " takes connections"
                                           : fmt::format("{} answered {}", where, report.status);
    case ProbeEnd::status: return status_sentence(target, report.status);
    case ProbeEnd::name_lookup:
      return "no address was found for " + target.address + (report.detail.empty() ? ' ' + in_time : "");
    case ProbeEnd::refused: return "nobody listens on " + where;
    case ProbeEnd::unreachable: return "there is no way to " + where;
    case ProbeEnd::connect_timeout:
      return where + " took no connection " + in_time + ": it is down, overloaded or behind a firewall";
    case ProbeEnd::tls: return "the TLS handshake with " + where + " failed";
    case ProbeEnd::reset: return where + " broke the connection off before a whole status line";
    case ProbeEnd::truncated: return where + " closed the connection before a whole status line";
    case ProbeEnd::malformed: return malformed_sentence(target, where);
    case ProbeEnd::too_long: return where + " sent 4,096 bytes without the end of a status line";
    case ProbeEnd::timeout:
      return where + " took the connection, but " +
             (target.tls && !report.tls ? "the TLS handshake was not over " : "no whole status line came ") +
             in_time;
    case ProbeEnd::not_made: return "the probe could not be made here, which says nothing about " + there;
    case ProbeEnd::cancelled: return "stopped before the verdict, which says nothing about " + there;
  }
  return "";
}

}  // namespace

std::string host_and_port(const ProbeTarget& target) {
  return EndpointConfig{target.address, target.port}.name();
}

std::string probe_sentence(const ProbeTarget& target, const ProbeReport& report) {
  return plain_sentence(target, report) + detail_text(report);
}

std::string detail_text(const ProbeReport& report) {
  return report.detail.empty() || report.end == ProbeEnd::refused ? "" : " (" + report.detail + ")";
}

std::string verdict_text(const ProbeReport& report) {
  const bool answered = report.status != 0 || report.end == ProbeEnd::status;
  return answered ? fmt::format("{} {:03}", to_string(report.end), report.status) : to_string(report.end);
}

ProbeTable::ProbeTable(const ProbeTarget& target, std::string url, std::uint64_t count)
    : target_(target),
      url_(std::move(url)),
      count_(count),
      number_width_(std::max<std::size_t>(std::to_string(count).size(), 2)) {}

std::string ProbeTable::head() const {
  const std::string how =
      fmt::format("  timeout {}, times in ms\n", length_text(target_.timeout_ms * 1'000'000));
  const std::string what = (target_.kind == ProbeKind::tcp ? "connect to " : "GET ") +
                           shorten(url_, PAGE_WIDTH - how.size() - 12, true);
  std::string out = what + how + pad_left("#", number_width_) + "  " + pad_right("verdict", VERDICT_WIDTH);
  for (const char* phase : {"look-up", "connect", "tls", "response", "total"}) {
    out += pad_left(phase, TIME_WIDTH);
  }
  return out + '\n';
}

std::string ProbeTable::line(std::uint64_t n, const ProbeReport& report) {
  ++ends_[static_cast<std::size_t>(report.end)];
  if (report.ok()) ok_micros_.push_back(micros_of(report.total));
  std::string out = pad_left(std::to_string(n), number_width_) + "  " +
                    pad_right(verdict_text(report), VERDICT_WIDTH) + cell(report.look_up) +
                    cell(report.connect) + cell(report.tls) + cell(report.response) + cell(report.total) +
                    '\n';
  const std::string margin(number_width_ + 2, ' ');
  if (!report.peer.empty() && report.peer != last_peer_) {
    out += hanging(margin, "with " + report.peer);
    last_peer_ = report.peer;
  }
  if (!report.ok()) out += hanging(margin, probe_sentence(target_, report));
  return out;
}

std::string ProbeTable::summary() const {
  std::uint64_t probes = 0;
  std::vector<std::string> counts;
  for (std::size_t end = 0; end < static_cast<std::size_t>(ProbeEnd::cancelled); ++end) {
    if (ends_[end] == 0) continue;
    probes += ends_[end];
    counts.push_back(grouped(ends_[end]) + ' ' + to_string(static_cast<ProbeEnd>(end)));
  }
  if (probes == 0) return "\nno probe came to a verdict\n";
  const std::string out = '\n' + counts_text(probes, counts);
  if (ok_micros_.empty()) return out;
  std::vector<std::uint64_t> sorted = ok_micros_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  const std::uint64_t median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return out + fmt::format("total of the ok: min {} ms, median {} ms, max {} ms\n", ms_text(sorted.front()),
                           ms_text(median), ms_text(sorted.back()));
}

}  // namespace halfopen::sim
