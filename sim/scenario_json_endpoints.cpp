// How the simulated servers behave: latency, capacity and faults, with "*" merged into each of them.
#include <fmt/format.h>

#include <utility>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr std::size_t MAX_MERGED =
    20'000'000;  // faults and scripted outcomes of "*" times servers, and draws: bounds memory and time

std::optional<std::uint16_t> read_overflow(Fields& capacity) {
  const Json* const overflow = capacity.get("overflow");
  if (overflow == nullptr) return 503;
  if (*overflow == "reset") return std::nullopt;
  if (!overflow->is_object()) {
    capacity.wrong("overflow", "\"reset\" or {\"status\": 503}");
    return 503;
  }
  Fields fields(*overflow, capacity.at("overflow"), capacity.findings(), "overflow");
  const std::uint16_t status = read_status(fields, 503);
  fields.finish();
  return status;
}

struct Model {
  std::optional<Latency> latency;
  std::optional<Capacity> capacity;
  std::vector<WrittenFault> faults;
};

Model read_model(const Json& value, const std::string& pointer, bool of_all, Reading& reading) {
  constexpr std::uint64_t MAX_COUNT = 4'294'967'295;
  Model model;
  Fields fields(value, pointer, reading.findings, "an endpoint's behaviour");
  if (fields.has("latency")) read_latency(fields, reading, model.latency.emplace());
  if (const Json* const inner = fields.get("capacity")) {
    Fields capacity(*inner, fields.at("capacity"), reading.findings, "capacity");
    Capacity& out = model.capacity.emplace();
    out.concurrency =
        static_cast<std::uint32_t>(capacity.whole("concurrency", 1, MAX_COUNT, Need::required).value_or(1));
    out.queue = static_cast<std::uint32_t>(capacity.whole("queue", 0, MAX_COUNT).value_or(0));
    out.overflow_status = read_overflow(capacity);
    capacity.finish();
  }
  model.faults = read_faults(fields, of_all, reading);
  fields.finish();
  return model;
}

// What the faults of "*" come to on all servers.
std::size_t merged_size(const std::vector<WrittenFault>& faults, std::size_t servers) {
  std::size_t size = 0;
  for (const WrittenFault& written : faults) {
    const auto* script = std::get_if<OutcomesFault>(&written.fault.kind);
    const std::size_t each = 1 + (script == nullptr ? 0 : script->list.size());
    if (!written.selection)
      size += each * servers;
    else if (written.selection->drawn == 0)
      size += each * written.selection->named.size();
    else
      size += each * written.selection->drawn + servers;
  }
  return size;
}

void merge_behaviour(const Model& model, ServerModel& server) {
  if (model.latency) server.latency = *model.latency;
  if (model.capacity) server.capacity = model.capacity;
}

void add_fault(ServerModel& server, const Fault& fault, std::size_t number) {
  server.faults.push_back(fault);
  server.faults.back().number = static_cast<std::uint32_t>(number);
}

void merge_base(const Model& base, Scenario& scenario) {
  for (ServerModel& server : scenario.servers) merge_behaviour(base, server);
  for (std::size_t n = 0; n < base.faults.size(); ++n) {
    const WrittenFault& written = base.faults[n];
    if (!written.selection) {
      for (ServerModel& server : scenario.servers) add_fault(server, written.fault, n);
      continue;
    }
    for (const std::size_t place : selected(*written.selection, n, scenario)) {
      add_fault(scenario.servers[place], written.fault, n);
    }
  }
}

// The endpoint's key replaces the base's; its faults come after the base's, of which there are `before`.
void merge_own(const Model& own, std::size_t before, ServerModel& server) {
  merge_behaviour(own, server);
  for (const WrittenFault& written : own.faults) add_fault(server, written.fault, before++);
}

}  // namespace

std::uint16_t read_status(Fields& fields, std::uint16_t otherwise) {
  return static_cast<std::uint16_t>(fields.whole("status", 100, 599).value_or(otherwise));
}

void read_endpoints(Fields& root, Reading& reading) {
  std::vector<ServerModel>& servers = reading.scenario.servers;
  servers.resize(reading.endpoint_names.size());
  for (std::size_t n = 0; n < servers.size(); ++n) servers[n].name = reading.endpoint_names[n];
  const Json* const models = root.object("endpoints");
  if (models == nullptr) return;
  std::size_t of_all = 0;  // faults of "*"
  if (const auto base = models->find("*"); base != models->end()) {
    const Model model = read_model(*base, root.at("endpoints") + "/*", true, reading);
    if (merged_size(model.faults, servers.size()) > MAX_MERGED) {
      root.tell("endpoints",
                fmt::format("the faults of \"*\" and their outcomes, counted on each of the {} servers that "
                            "they are for, are more than {}: give them to fewer endpoints",
                            servers.size(), MAX_MERGED));
      return;
    }
    of_all = model.faults.size();
    merge_base(model, reading.scenario);
  }
  for (auto member = models->begin(); member != models->end(); ++member) {
    if (member.key() == "*") continue;
    const std::string pointer = join(root.at("endpoints"), member.key());
    const Model model = read_model(*member, pointer, false, reading);
    const auto server = reading.endpoint_index.find(member.key());
    if (server != reading.endpoint_index.end()) {
      merge_own(model, of_all, servers[server->second]);
      continue;
    }
    if (!reading.endpoints_known) continue;
    Finding finding;
    finding.pointer = pointer;
    finding.what = fmt::format(
        "\"{}\" is no endpoint of any generation of the configuration: write address:port as in "
        "10.0.0.1:8080 or [::1]:8080, or \"*\" for all{}",
        member.key(), suggest(reading, member.key(), reading.endpoint_names));
    finding.at_key = true;
    reading.findings.push_back(std::move(finding));
  }
}

}  // namespace halfopen::sim
