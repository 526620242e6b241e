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
  if (low == high) return low;
  return bounds.high == exact::FOREVER ? low + " or more" : low + " to " + high;
}

std::string errors_words(const Input& input) { return chance_words(input.value) + " errors"; }

std::string once_in(const Bounds& seconds) {
  if (seconds.low == exact::FOREVER) return "never";
  return (seconds.high == exact::FOREVER ? "at most once in " + time_words(seconds.low)
                                         : "once in " + time_words(seconds));
}

std::string refused(const char* of_what, const std::string& why) {
  return fmt::format("{}: no exact answer, because {}.", of_what, why);
}

// Out before its first window is full, and that by more than what comes in any other: the mean says nothing
// of it.
std::string early_words(const exact::Ejection& e) {
  constexpr double TOLD = 1e-3;
  if (e.by_window < TOLD || e.by_window * e.mean_s.low < 10 * e.window_s) return "";
  return fmt::format(", and with a chance of {} soon after a start or a return", chance_words(e.by_window));
}

// How soon, after the turn; nothing where it can't be said.
std::string within(const exact::Onset& onset) {
  if (onset.within_95_s.high < exact::FOREVER)
    return fmt::format("within {}, 95 % of the time", time_words(onset.within_95_s.high));
  return "at some time that no bound tells";
}

std::string endpoint_sentence(const UpstreamAnalysis& upstream) {
  const auto& healthy = upstream.healthy_endpoint->ejection;
  const auto& sick = upstream.sick_endpoint->onset;
  if (!healthy) return refused("A healthy endpoint", healthy.refusal);
  const bool never = healthy->mean_s.low == exact::FOREVER;
  std::string out =
      fmt::format("At {} and {} req/s these rules {} a healthy endpoint{}", errors_words(upstream.healthy),
                  number_words(upstream.at_endpoint.per_s), never ? "never eject" : "eject",
                  never ? "" : ' ' + once_in(healthy->mean_s) + early_words(*healthy));
  if (upstream.sick.value < upstream.healthy.value) return out + ". The sick error ratio is below that.";
  if (!upstream.sick_endpoint->ejection)
    return out + ". " + refused("A sick one", upstream.sick_endpoint->ejection.refusal);
  if (!sick) return out + ". " + refused("One that turns sick", sick.refusal);
  if (sick->within_95_s.low == exact::FOREVER)
    return fmt::format("{}; one that turns to {} they never eject.", out, errors_words(upstream.sick));
  return fmt::format("{}; one that turns to {} they eject {}.", out, errors_words(upstream.sick),
                     within(*sick));
}

std::string opens(const RuleAnalysis& rule) {
  if (!rule.ejection) return "has no exact answer (" + rule.ejection.refusal + ')';
  if (rule.ejection->mean_s.low == exact::FOREVER) return "never opens";
  const bool soon = rule.onset && rule.onset->within_95_s.high < HOUR;
  if (soon) return "opens " + within(*rule.onset);
  return "opens " + once_in(rule.ejection->mean_s) + (rule.cycle ? early_words(*rule.ejection) : "");
}

std::string breaker_sentence(const UpstreamAnalysis& upstream) {
  const BreakerAnalysis& breaker = *upstream.breaker;
  std::string out =
      fmt::format("At {} req/s and {} everywhere the breaker {}", number_words(upstream.at_upstream.per_s),
                  errors_words(upstream.healthy), opens(breaker.all_healthy));
  if (upstream.config.endpoints.size() > 1) {
    out +=
        fmt::format("; when one endpoint of {} turns to {} and none is ejected it {}",
                    upstream.config.endpoints.size(), errors_words(upstream.sick), opens(breaker.one_sick));
  }
  return out + fmt::format("; when all do, it {}.", opens(breaker.all_sick));
}

std::string probe_sentence(const ProbeAnalysis& probes) {
  if (!probes.detect) return refused("Probes", probes.detect.refusal);
  if (!probes.readmit) return refused("Probes", probes.readmit.refusal);
  return fmt::format(
      "Probes eject an endpoint that answers nobody {} to {} after it dies, {} of the time within {}; one "
      "that "
      "answers again is back within {}, as often.",
      time_words(probes.detect->least_s), time_words(probes.detect->most_s), "95 %",
      time_words(probes.detect->within_95_s.high), time_words(probes.readmit->within_95_s.high));
}

std::string pool_false_sentence(const UpstreamAnalysis& upstream) {
  const auto& healthy = *upstream.healthy_pool;
  if (!healthy) return refused("False ejections that empty the pool", healthy.refusal);
  const double per_hour = healthy->emptied_per_hour.high;
  if (upstream.healthy.value <= 0 || upstream.healthy_endpoint->ejection->mean_s.low == exact::FOREVER)
    return "False ejections alone never empty the pool.";
  const double once_s = HOUR / std::max(per_hour, 1e-300);
  return once_s < MOST_YEARS * YEAR
             ? "False ejections alone empty the pool about once in " + time_words(once_s) + '.'
             : "False ejections alone empty the pool less than once in 1,000,000 years.";
}

std::string pool_sick_sentence(const UpstreamAnalysis& upstream) {
  const auto& sick = *upstream.sick_pool;
  if (!sick) return refused("A pool that turns sick", sick.refusal);
  const std::size_t n = upstream.config.endpoints.size();
  std::string out =
      n == 1 ? "When its one endpoint turns sick" : fmt::format("When all {} turn sick at once", n);
  out += sick->no_quantile.empty() && sick->within_95_s.high < exact::FOREVER
             ? fmt::format(" the pool is empty and fails open within {}, 95 % of the time",
                           time_words(sick->within_95_s.high))
             : fmt::format(", no exact answer says when the pool is empty, because {}",
                           sick->no_quantile.empty() ? "no bound tells" : sick->no_quantile);
  const exact::Bounds& share = sick->fail_open_share;
  const std::string of =
      share.low > 0 || share.exact() ? chance_words(share) : "at most " + chance_words(share.high);
  return fmt::format("{}; while {} sick, {} of the requests meet an empty pool.", out,
                     n == 1 ? "it stays" : "they stay", of);
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
  if (upstream.healthy_pool && upstream.sick_pool) {
    out.push_back(pool_false_sentence(upstream));
    out.push_back(pool_sick_sentence(upstream));
  }
  if (upstream.breaker) out.push_back(breaker_sentence(upstream));
  if (upstream.probes) out.push_back(probe_sentence(*upstream.probes));
  return out;
}

}  // namespace halfopen::sim
