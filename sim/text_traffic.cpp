#include "sim/text_traffic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace halfopen::sim {

namespace {

constexpr double NAN_VALUE = std::numeric_limits<double>::quiet_NaN();

Span span_of(const Timeline& timeline, std::size_t bin) {
  return {bin * timeline.sample, std::min((bin + 1) * timeline.sample, timeline.duration)};
}

// ---- values of bins -------------------------------------------------------------------------------------

// A last bin that is shorter than the others counts as the time it has.
double per_second(const Timeline& timeline, const std::vector<std::uint64_t>& counts, std::size_t bin) {
  const Span span = span_of(timeline, bin);
  return static_cast<double>(counts[bin]) * 1e9 / static_cast<double>(span.to - span.from);
}

double request_rate(const Timeline& timeline, std::size_t bin) {
  return per_second(timeline, timeline.series.requests, bin);
}

double fail_open_rate(const Timeline& timeline, std::size_t bin) {
  return per_second(timeline, timeline.series.fail_open_picks, bin);
}

double failed_share(const Timeline& timeline, std::size_t bin) {
  const std::uint64_t failed = timeline.series.failed[bin], ended = timeline.series.ok[bin] + failed;
  return ended == 0 ? NAN_VALUE : static_cast<double>(failed) / static_cast<double>(ended);
}

double p95(const Timeline& timeline, std::size_t bin) { return timeline.series.latency_p95_ms[bin]; }

// ---- rows -----------------------------------------------------------------------------------------------

// Seven characters at most, which is what the label column leaves.
std::string short_number(double value) {
  if (value < 100) return decimal(value, 1);
  if (value < 999'999) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return value < 999e6 ? decimal(value / 1e6, 1) + "M" : fmt::format("{:.2g}", value);
}

// The largest value of the bins in each column. A bin wider than a column fills those whose middle it
// covers; one that covers no middle is in the column in which its own is. So every bin is seen, and none
// of them where it was not.
std::vector<double> by_column(const Chart& chart, Nanos sample, const std::vector<double>& bins) {
  std::vector<double> out(chart.columns(), NAN_VALUE);
  std::vector<bool> seen(bins.size(), false);
  for (std::size_t c = 0; c < out.size(); ++c) {
    const Nanos middle = chart.start(c) + (chart.start(c + 1) - chart.start(c)) / 2;
    const auto bin = std::min(static_cast<std::size_t>(middle / sample), bins.size() - 1);
    seen[bin] = true;
    out[c] = bins[bin];
  }
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (seen[bin]) continue;
    double& value = out[chart.column_of(bin * sample + sample / 2)];
    value = std::fmax(value, bins[bin]);
  }
  return out;
}

std::string spark_row(const Timeline& timeline, const Chart& chart, std::string_view label,
                      double (*value_of)(const Timeline&, std::size_t), std::string (*show)(double)) {
  std::vector<double> bins;
  double peak = NAN_VALUE;
  for (std::size_t i = 0; i < timeline.series.requests.size(); ++i) {
    bins.push_back(value_of(timeline, i));
    peak = std::fmax(peak, bins.back());
  }
  return chart.spark(label, std::isnan(peak) ? "-" : show(peak), by_column(chart, timeline.sample, bins));
}

}  // namespace

std::optional<WorstBin> worst_bin(const Timeline& timeline) {
  const Series& series = timeline.series;
  std::optional<WorstBin> worst;
  for (std::size_t i = 0; i < series.failed.size(); ++i) {
    if (series.failed[i] == 0) continue;
    const Span span = span_of(timeline, i);
    const WorstBin bin{series.failed[i], series.ok[i] + series.failed[i], span.from, span.to};
    const bool worse = !worst || bin.share() > worst->share() ||
                       (bin.failed * worst->ended == worst->failed * bin.ended && bin.ended > worst->ended);
    if (worse) worst = bin;
  }
  return worst;
}

std::optional<Span> fail_open_span(const Timeline& timeline) {
  const std::vector<std::uint64_t>& picks = timeline.series.fail_open_picks;
  std::optional<Span> out;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    if (picks[i] == 0) continue;
    const Span span = span_of(timeline, i);
    out = Span{out ? out->from : span.from, span.to};
  }
  return out;
}

std::string traffic_rows(const Timeline& timeline, const Chart& chart) {
  if (timeline.series.requests.empty() || timeline.sample == 0) return "";
  std::string out = "traffic (and its peak)\n" +
                    spark_row(timeline, chart, "requests/s", request_rate, short_number) +
                    spark_row(timeline, chart, "failed", failed_share, percent);
  if (fail_open_span(timeline))
    out += spark_row(timeline, chart, "fail-open/s", fail_open_rate, short_number);
  return out + spark_row(timeline, chart, "p95 ms", p95, short_number);
}

}  // namespace halfopen::sim
