// The shapes of "arrivals": how a rate goes over time.
#include <fmt/format.h>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange RATE_RPS{0, 1e12, false};

const std::vector<std::string_view> ARRIVALS{"uniform", "poisson"};

RateStage read_stage(const Json& value, const std::string& pointer, std::vector<Finding>& findings,
                     double from_rps) {
  Fields fields(value, pointer, findings, "a stage");
  RateStage stage;
  stage.from_rps = from_rps;
  stage.to_rps = fields.number("target_rps", RATE_RPS, Need::required).value_or(0);
  stage.length = fields.time("duration_ms", ANY_TIME, Need::required).value_or(0);
  fields.finish();
  return stage;
}

// A piece of one rate is a stage that ends as it begins.
RateStage read_step(const Json& value, const std::string& pointer, std::vector<Finding>& findings) {
  Fields fields(value, pointer, findings, "a step");
  RateStage stage;
  stage.from_rps = stage.to_rps = fields.number("rps", RATE_RPS, Need::required).value_or(0);
  stage.length = fields.time("for_ms", ANY_TIME, Need::required).value_or(0);
  fields.finish();
  return stage;
}

void read_stages(Fields& entry, ArrivalProcess& process) {
  const Json* const stages = entry.list("stages");
  if (stages == nullptr) return;
  if (stages->empty()) entry.wrong("stages", "at least one stage");
  double rate = process.rate_rps;
  for (std::size_t n = 0; n < stages->size(); ++n) {
    process.stages.push_back(read_stage((*stages)[n], join(entry.at("stages"), n), entry.findings(), rate));
    rate = process.stages.back().to_rps;
  }
}

void read_steps(Fields& entry, ArrivalProcess& process) {
  const Json* const steps = entry.list("step");
  if (steps == nullptr) return;
  if (steps->empty()) entry.wrong("step", "at least one step");
  for (std::size_t n = 0; n < steps->size(); ++n) {
    process.stages.push_back(read_step((*steps)[n], join(entry.at("step"), n), entry.findings()));
  }
}

void read_burst(Fields& entry, ArrivalProcess& process) {
  const Json* const value = entry.get("burst");
  if (value == nullptr) return;
  Fields fields(*value, entry.at("burst"), entry.findings(), "burst");
  BurstShape& burst = process.burst.emplace();
  burst.rps = fields.number("rps", RATE_RPS, Need::required).value_or(0);
  const auto length = fields.time("for_ms", POSITIVE_TIME, Need::required);
  const auto every = fields.time("every_ms", POSITIVE_TIME, Need::required);
  burst.length = length.value_or(POSITIVE_TIME.min);
  burst.every = every.value_or(POSITIVE_TIME.max);
  if (length && every && *length > *every)
    fields.wrong("for_ms", "at most every_ms, which is " + shown(*fields.get("every_ms")));
  fields.finish();
}

void read_wave(Fields& entry, ArrivalProcess& process) {
  const Json* const value = entry.get("wave");
  if (value == nullptr) return;
  Fields fields(*value, entry.at("wave"), entry.findings(), "wave");
  WaveShape& wave = process.wave.emplace();
  const auto mean = fields.number("mean_rps", RATE_RPS, Need::required);
  const auto amplitude = fields.number("amplitude_rps", RATE_RPS, Need::required);
  wave.mean_rps = mean.value_or(0);
  wave.amplitude_rps = amplitude.value_or(0);
  wave.period = fields.time("period_ms", POSITIVE_TIME, Need::required).value_or(POSITIVE_TIME.max);
  if (mean && amplitude && *amplitude > *mean) {
    fields.wrong("amplitude_rps", fmt::format("at most mean_rps, which is {}: no rate is below 0",
                                              shown(*fields.get("mean_rps"))));
  }
  fields.finish();
}

// rate_rps is where stages begin, and a shape of its own without them.
void check_one_shape(Fields& entry) {
  std::string_view first, second;
  std::vector<std::string_view> rest{"step", "burst", "wave"};
  if (entry.count_of({"stages", "rate_rps"}, first) == 0) {
    if (entry.count_of(rest, first) < 2) return;
    while (rest.front() != first) rest.erase(rest.begin());
    rest.erase(rest.begin());
  }
  if (entry.count_of(rest, second) == 0) return;
  entry.tell(second,
             fmt::format("{} beside {}: traffic has one shape, so write an entry for each", second, first));
}

}  // namespace

ArrivalProcess read_process(Fields& entry) {
  ArrivalProcess process;
  process.poisson = entry.word("arrivals", ARRIVALS).value_or(0) == 1;
  process.rate_rps = entry.number("rate_rps", RATE_RPS).value_or(0);
  read_stages(entry, process);
  read_steps(entry, process);
  read_burst(entry, process);
  read_wave(entry, process);
  check_one_shape(entry);
  return process;
}

}  // namespace halfopen::sim
