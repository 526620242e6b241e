#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr NumberRange FACTOR{0, 1e6, false};
constexpr NumberRange ADDED_MS{0, 1e10, false};
constexpr NumberRange MEAN_MS{1e-6, 1e10, false};  // from a ns on: shorter stays would mostly be none at all

const std::vector<std::string_view> DOWN_KINDS{"refused", "reset", "timeout"};
const std::vector<std::string_view> SCOPES{"both", "traffic", "probes"};

DownKind read_down_kind(Fields& fields) {
  const std::optional<std::size_t> place = fields.word("kind", DOWN_KINDS);
  return place ? static_cast<DownKind>(*place) : DownKind::refused;
}

double ratio_of(Fields& fields, std::string_view name) {
  return fields.number(name, RATIO, Need::required).value_or(0);
}

FaultKind read_error(Fields& fields) {
  ErrorFault fault;
  fault.ratio = ratio_of(fields, "ratio");
  fault.status = read_status(fields, fault.status);
  return fault;
}

FaultKind read_down(Fields& fields) { return DownFault{read_down_kind(fields)}; }

FaultKind read_slow(Fields& fields) {
  LatencyFault fault;
  if (fields.is_object() && !fields.has("add_ms") && !fields.has("factor")) {
    fields.tell_here("a latency fault needs \"add_ms\" or \"factor\", or both");
  }
  fault.add_ms = fields.number("add_ms", ADDED_MS).value_or(fault.add_ms);
  fault.factor = fields.number("factor", FACTOR).value_or(fault.factor);
  fault.ramp = fields.time("ramp_ms", ANY_TIME).value_or(fault.ramp);
  return fault;
}

FaultKind read_brownout(Fields& fields) {
  BrownoutFault fault;
  fault.error_ratio = ratio_of(fields, "error_ratio");
  fault.status = read_status(fields, fault.status);
  fault.latency_factor = fields.number("latency_factor", FACTOR, Need::required).value_or(1);
  fault.capacity_factor = fields.number("capacity_factor", FACTOR, Need::required).value_or(1);
  return fault;
}

FaultKind read_flap(Fields& fields) {
  FlapFault fault;
  fault.up = fields.time("up_ms", POSITIVE_TIME, Need::required).value_or(POSITIVE_TIME.max);
  fault.down = fields.time("down_ms", POSITIVE_TIME, Need::required).value_or(POSITIVE_TIME.max);
  fault.jitter_ms = fields.number("jitter_ms", ADDED_MS).value_or(0);
  fault.kind = read_down_kind(fields);
  return fault;
}

double read_mean(Fields& fields, std::string_view name) {
  const Json* const value = fields.get(name, Need::required);
  double mean = 0;
  if (value != nullptr && number_in(*value, MEAN_MS, mean)) return mean;
  if (value != nullptr) fields.wrong(name, rule_of(POSITIVE_TIME));
  return MEAN_MS.max;
}

FaultKind read_bursts(Fields& fields) {
  BurstsFault fault;
  fault.mean_good_ms = read_mean(fields, "mean_good_ms");
  fault.mean_bad_ms = read_mean(fields, "mean_bad_ms");
  fault.error_ratio = ratio_of(fields, "error_ratio");
  fault.status = read_status(fields, fault.status);
  return fault;
}

FaultKind read_cold_start(Fields& fields) {
  ColdStartFault fault;
  fault.length = fields.time("for_ms", POSITIVE_TIME, Need::required).value_or(0);
  fault.latency_factor = fields.number("latency_factor", FACTOR, Need::required).value_or(1);
  return fault;
}

FaultKind read_hang(Fields& fields) { return HangFault{ratio_of(fields, "ratio")}; }
FaultKind read_truncate(Fields& fields) { return TruncateFault{ratio_of(fields, "ratio")}; }

// "F", "S", "reset" or a status; false for anything else.
bool outcome_of(std::string_view word, ScriptedOutcome& out) {
  if (word == "F" || word == "S") {
    out.status = word == "F" ? 503 : 200;
    return true;
  }
  if (word == "reset") {
    out.status = 0;
    return true;
  }
  unsigned status = 0;
  for (const char c : word) {
    if (c < '0' || c > '9' || status > 599) return false;
    status = status * 10 + static_cast<unsigned>(c - '0');
  }
  out.status = static_cast<std::uint16_t>(status);
  return status >= 100 && status <= 599;
}

void read_outcomes(Fields& fields, Fault& fault) {
  OutcomesFault script;
  const std::optional<std::string> text = fields.text("outcomes");
  if (!text) return;
  for (std::size_t at = 0; (at = text->find_first_not_of(" \t\n\r", at)) != std::string::npos;) {
    const std::size_t end = std::min(text->find_first_of(" \t\n\r", at), text->size());
    const std::string word = text->substr(at, end - at);
    ScriptedOutcome outcome;
    if (!outcome_of(word, outcome)) {
      fields.tell("outcomes",
                  fmt::format("outcomes holds {}: each word must be S (200), F (503), reset or an HTTP "
                              "status, 100 to 599",
                              shown(Json(word))));
      return;
    }
    script.list.push_back(outcome);
    at = end;
  }
  if (script.list.empty()) fields.wrong("outcomes", "at least one of S, F, reset or an HTTP status");
  const Json* const scope = fields.get("scope");
  if (scope != nullptr && *scope != "traffic")
    fields.wrong("scope", "traffic where outcomes are scripted: probes take none");
  fault.scope = Scope::traffic;
  fault.kind = std::move(script);
}

struct KindReader {
  std::string_view name;
  std::string_view noun;
  FaultKind (*read)(Fields& fields);
};

constexpr std::array KIND_READERS{
    KindReader{"error", "error", read_error},
    KindReader{"down", "down", read_down},
    KindReader{"latency", "a latency fault", read_slow},
    KindReader{"brownout", "brownout", read_brownout},
    KindReader{"flap", "flap", read_flap},
    KindReader{"hang", "hang", read_hang},
    KindReader{"truncate", "truncate", read_truncate},
    KindReader{"bursts", "bursts", read_bursts},
    KindReader{"cold_start", "cold_start", read_cold_start},
};

// Every kind that is there, so that a second one, which is a mistake, has its own mistakes told as well.
std::vector<std::string_view> read_kinds(Fields& fields, Fault& fault) {
  std::vector<std::string_view> found;
  for (const KindReader& kind : KIND_READERS) {
    const Json* const value = fields.get(kind.name);
    if (value == nullptr) continue;
    Fields inner(*value, fields.at(kind.name), fields.findings(), kind.noun);
    fault.kind = kind.read(inner);
    inner.finish();
    found.push_back(kind.name);
  }
  if (fields.has("outcomes")) {
    read_outcomes(fields, fault);
    found.push_back("outcomes");
  }
  return found;
}

// Of "*" it chooses among the endpoints; a fault of one endpoint has nobody to choose from.
std::optional<Selection> read_whom(Fields& fields, bool of_all, Reading& reading) {
  if (of_all) return read_selection(fields, reading);
  if (fields.has("selection")) {
    Finding finding;
    finding.pointer = fields.at("selection");
    finding.what = "selection is for the faults of \"*\": this fault is one endpoint's own; leave it out";
    finding.at_key = true;
    reading.findings.push_back(std::move(finding));
  }
  return std::nullopt;
}

WrittenFault read_fault(const Json& value, const std::string& pointer, bool of_all, Reading& reading) {
  WrittenFault written;
  Fault& fault = written.fault;
  Fields fields(value, pointer, reading.findings, "a fault");
  read_span(fields, fault.from, fault.to);
  if (const auto scope = fields.word("scope", SCOPES)) fault.scope = static_cast<Scope>(*scope);
  const std::vector<std::string_view> kinds = read_kinds(fields, fault);
  written.selection = read_whom(fields, of_all, reading);
  if (fields.is_object() && kinds.empty()) {
    fields.tell_here(
        "a fault needs one of error, down, latency, brownout, flap, bursts, outcomes, hang, truncate, "
        "cold_start");
  }
  if (kinds.size() > 1) {
    fields.tell_here(
        fmt::format("a fault is of one kind, not {}: write one fault each", fmt::join(kinds, " and ")));
  }
  fields.finish();
  return written;
}

}  // namespace

std::vector<WrittenFault> read_faults(Fields& model, bool of_all, Reading& reading) {
  std::vector<WrittenFault> faults;
  const Json* const list = model.list("faults");
  if (list == nullptr) return faults;
  faults.reserve(list->size());
  for (std::size_t n = 0; n < list->size(); ++n) {
    faults.push_back(read_fault((*list)[n], join(model.at("faults"), n), of_all, reading));
  }
  return faults;
}

}  // namespace halfopen::sim
