// Which endpoints a fault of "*" is for: a list of names, or a share or a number of them drawn from the seed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sim/draws.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange PERCENT{0, 100, true};
constexpr std::uint64_t MOST_ENDPOINTS = 4'294'967'295;

void read_name(const Json& value, const std::string& pointer, std::set<std::size_t>& places,
               Reading& reading) {
  Finding finding;
  finding.pointer = pointer;
  if (!value.is_string()) {
    finding.what =
        fmt::format("selection holds {}: each must be the name of an endpoint, address:port", shown(value));
    reading.findings.push_back(std::move(finding));
    return;
  }
  const auto& name = value.get_ref<const std::string&>();
  const auto found = reading.endpoint_index.find(name);
  if (found != reading.endpoint_index.end()) {
    if (places.insert(found->second).second) return;
    finding.what = fmt::format("selection names \"{}\" a second time: name each endpoint once", name);
  } else if (reading.endpoints_known) {
    finding.what = fmt::format(
        "\"{}\" is no endpoint of any generation of the configuration: write address:port as in "
        "10.0.0.1:8080 or [::1]:8080{}",
        name, suggest(reading, name, reading.endpoint_names));
  } else {
    return;
  }
  reading.findings.push_back(std::move(finding));
}

std::vector<std::size_t> read_names(Fields& fault, const Json& list, Reading& reading) {
  std::set<std::size_t> places;
  if (list.empty()) fault.wrong("selection", "at least one endpoint's name");
  for (std::size_t n = 0; n < list.size(); ++n) {
    read_name(list[n], join(fault.at("selection"), n), places, reading);
  }
  return {places.begin(), places.end()};
}

// How many of the endpoints; to the nearest whole number, halves up, but never none.
std::size_t share_of(double percent, std::size_t endpoints) {
  const double share = std::floor(percent * static_cast<double>(endpoints) / 100 + 0.5);
  return std::max<std::size_t>(1, static_cast<std::size_t>(share));
}

std::size_t read_drawn(Fields& selection, Reading& reading) {
  const std::size_t endpoints = reading.scenario.servers.size();
  const auto percent = selection.number("percent", PERCENT);
  const auto count = selection.whole("count", 1, MOST_ENDPOINTS);
  if (selection.is_object() && selection.has("percent") == selection.has("count")) {
    selection.tell_here(
        "selection needs exactly one of \"percent\" and \"count\", or is a list of endpoints");
  }
  if (count && *count > endpoints && reading.endpoints_known) {
    selection.wrong("count", fmt::format("at most {}, for there are no more endpoints", endpoints));
  }
  if (percent) return share_of(*percent, endpoints);
  return std::min<std::size_t>(count.value_or(1), std::max<std::size_t>(1, endpoints));
}

}  // namespace

std::optional<Selection> read_selection(Fields& fault, Reading& reading) {
  const Json* const value = fault.get("selection");
  if (value == nullptr) return std::nullopt;
  Selection selection;
  if (value->is_array()) {
    selection.named = read_names(fault, *value, reading);
  } else if (value->is_object()) {
    Fields fields(*value, fault.at("selection"), reading.findings, "selection");
    selection.drawn = read_drawn(fields, reading);
    reading.scenario.drawn_from_seed = true;
    fields.finish();
  } else {
    fault.wrong("selection", "a list of endpoints, {\"percent\": 20} or {\"count\": 1}");
  }
  return selection;
}

std::vector<std::size_t> selected(const Selection& selection, std::size_t number, const Scenario& scenario) {
  if (selection.drawn == 0) return selection.named;
  const Stream stream(scenario.seed, "selection:" + std::to_string(number));
  std::vector<std::pair<double, std::size_t>> draws;
  draws.reserve(scenario.servers.size());
  for (std::size_t place = 0; place < scenario.servers.size(); ++place) {
    draws.emplace_back(stream.unit(place), place);
  }
  const std::size_t taken = std::min(selection.drawn, draws.size());
  std::nth_element(draws.begin(), draws.begin() + static_cast<std::ptrdiff_t>(taken), draws.end());
  std::vector<std::size_t> places;
  places.reserve(taken);
  for (std::size_t n = 0; n < taken; ++n) places.push_back(draws[n].second);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace halfopen::sim
