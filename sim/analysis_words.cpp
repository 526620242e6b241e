#include "sim/analysis_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

using exact::Bounds;

struct Unit {
  double seconds;  // of one
  double up_to;    // used below this many seconds
  const char* one;
  const char* several;
};
constexpr double MINUTE = 60, HOUR = 3600, DAY = 86'400, YEAR = 365.25 * DAY;
constexpr double MOST_YEARS = 1e6;
constexpr std::array<Unit, 6> UNITS{{{1e-3, 0.0995, "ms", "ms"},
                                     {1, 2 * MINUTE, "s", "s"},
                                     {MINUTE, 2 * HOUR, "minute", "minutes"},
                                     {HOUR, 2 * DAY, "hour", "hours"},
                                     {DAY, 2 * YEAR, "day", "days"},
                                     {YEAR, MOST_YEARS* YEAR, "year", "years"}}};

// Three digits, as a decimal fraction.
std::string three_digits(double value) {
  int decimals = 2;
  double bound = 10;
  while (decimals > 0 && value >= bound * 0.9995) --decimals, bound *= 10;
  bound = 1;
  while (decimals >= 2 && decimals < 12 && value > 0 && value < bound * 0.9995) ++decimals, bound /= 10;
  return decimal(value, decimals);
}

template <class Words>
std::string between(const Bounds& bounds, Words words) {
  const std::string low = words(bounds.low), high = words(bounds.high);
  return low == high ? low : low + " to " + high;
}

std::string errors_words(const Input& input) { return chance_words(input.value) + " errors"; }

std::string once_in(const Bounds& seconds) {
  if (seconds.low == exact::FOREVER) return "never";
  return "once in " + time_words(seconds);
}

std::string within(const Bounds& seconds) {
  if (seconds.high == exact::FOREVER) return "never for certain";
  return fmt::format("within {}, 95 % of the time", time_words(seconds.high));
}

std::string endpoint_sentence(const UpstreamAnalysis& upstream) {
  const auto& healthy = upstream.healthy_endpoint->ejection;
  const auto& sick = upstream.sick_endpoint->ejection;
  if (!healthy) return "A healthy endpoint: no exact answer, because " + healthy.refusal + '.';
  if (!sick) return "A sick endpoint: no exact answer, because " + sick.refusal + '.';
  const bool rarely = healthy->mean_s.low == exact::FOREVER;
  return fmt::format("At {} and {} req/s these rules {} a healthy endpoint{}; at {} they eject it {}.",
                     errors_words(upstream.healthy), number_words(upstream.at_endpoint.per_s),
                     rarely ? "never eject" : "eject", rarely ? "" : ' ' + once_in(healthy->mean_s),
                     errors_words(upstream.sick), within(sick->within_95_s));
}

std::string opens(const RuleAnalysis& rule) {
  if (!rule.ejection) return "has no exact answer (" + rule.ejection.refusal + ')';
  if (rule.ejection->mean_s.low == exact::FOREVER) return "never opens";
  const bool soon = rule.ejection->within_95_s.high < HOUR;
  return "opens " + (soon ? within(rule.ejection->within_95_s) : once_in(rule.ejection->mean_s));
}

std::string breaker_sentence(const UpstreamAnalysis& upstream) {
  const BreakerAnalysis& breaker = *upstream.breaker;
  std::string out =
      fmt::format("At {} req/s and {} everywhere the breaker {}", number_words(upstream.at_upstream.per_s),
                  errors_words(upstream.healthy), opens(breaker.all_healthy));
  if (upstream.config.endpoints.size() > 1) {
    out +=
        fmt::format("; with one endpoint of {} at {} and none ejected it {}",
                    upstream.config.endpoints.size(), errors_words(upstream.sick), opens(breaker.one_sick));
  }
  return out + fmt::format("; at {} everywhere it {}.", errors_words(upstream.sick), opens(breaker.all_sick));
}

std::string probe_sentence(const ProbeAnalysis& probes) {
  if (!probes.detect) return "Probes: no exact answer, because " + probes.detect.refusal + '.';
  if (!probes.readmit) return "Probes: no exact answer, because " + probes.readmit.refusal + '.';
  return fmt::format(
      "Probes eject an endpoint that answers nobody {} to {} after it dies, {} of the time within {}; one "
      "that "
      "answers again is back within {}, as often.",
      time_words(probes.detect->least_s), time_words(probes.detect->most_s), "95 %",
      time_words(probes.detect->within_95_s.high), time_words(probes.readmit->within_95_s.high));
}

std::string pool_sentence(const UpstreamAnalysis& upstream) {
  const auto& healthy = *upstream.healthy_pool;
  const auto& sick = *upstream.sick_pool;
  if (!healthy) return "The pool: no exact answer, because " + healthy.refusal + '.';
  if (!sick) return "The pool: no exact answer, because " + sick.refusal + '.';
  const double per_hour = healthy->emptied_per_hour.high;
  std::string out = "False ejections alone never empty the pool";
  if (per_hour > 0) {
    const double once_s = HOUR / per_hour;
    out = once_s < MOST_YEARS * YEAR
              ? "False ejections alone empty the pool about once in " + time_words(once_s)
              : "False ejections alone empty the pool less than once in 1,000,000 years";
  }
  const std::size_t n = upstream.config.endpoints.size();
  const std::string whole =
      n == 1 ? "when its one endpoint turns sick" : fmt::format("when all {} turn sick at once", n);
  return fmt::format("{}; {}, it takes {} on average until the pool fails open.", out, whole,
                     time_words(sick->mean_s));
}

}  // namespace

std::string number_words(double value) {
  if (value == exact::FOREVER) return "no end";
  if (value > 0 && value < 1e-4) return fmt::format("{:.2e}", value);
  return value >= 1e9 ? fmt::format("{:.2e}", value) : three_digits(value);
}

std::string number_words(const Bounds& value) {
  return between(value, [](double x) { return number_words(x); });
}

std::string time_words(double seconds) {
  if (seconds == exact::FOREVER) return "never";
  for (const Unit& unit : UNITS) {
    if (seconds >= unit.up_to) continue;
    const std::string number = three_digits(seconds / unit.seconds);
    return number + ' ' + (number == "1" ? unit.one : unit.several);
  }
  return "over " + grouped(static_cast<std::uint64_t>(MOST_YEARS)) + " years";
}

std::string time_words(const Bounds& seconds) {
  return between(seconds, [](double x) { return time_words(x); });
}

std::string chance_words(double chance) {
  if (chance <= 0) return "0 %";
  if (chance >= 1) return "100 %";
  if (chance < 1e-15) return "under 1e-15";
  if (chance < 1e-4) return fmt::format("{:.1e}", chance);
  if (chance > 0.9999) return "over 99.99 %";
  return decimal(chance * 100, chance < 0.1 ? 3 : 2) + " %";
}

std::string chance_words(const Bounds& chance) {
  return between(chance, [](double x) { return chance_words(x); });
}

std::vector<std::string> sentences(const UpstreamAnalysis& upstream) {
  std::vector<std::string> out;
  if (upstream.healthy_endpoint && upstream.sick_endpoint) out.push_back(endpoint_sentence(upstream));
  if (upstream.healthy_pool && upstream.sick_pool) out.push_back(pool_sentence(upstream));
  if (upstream.breaker) out.push_back(breaker_sentence(upstream));
  if (upstream.probes) out.push_back(probe_sentence(*upstream.probes));
  return out;
}

}  // namespace halfopen::sim
