// The configuration that a gateway runs with, as its operators keep it: our upstreams, and more that only the
// gateway knows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/json_patch.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

constexpr const char* UPSTREAMS = "/upstreams";

void tell(std::vector<Finding>& findings, std::string pointer, std::string what) {
  Finding finding;
  finding.pointer = std::move(pointer);
  finding.what = std::move(what);
  findings.push_back(std::move(finding));
}

// Gateways have more to say than we understand: such a key is no mistake, and no part of the scenario.
void leave_out(Finding& finding, Json& root) {
  finding.warning = true;
  finding.what += finding.what.ends_with('?') ? " It is left out" : ": it is left out";
  std::vector<std::string> steps;
  split_pointer(finding.pointer, steps);
  const std::string key = steps.back();
  steps.pop_back();
  if (Json* const parent = resolve(root, steps)) parent->erase(key);
}

std::optional<Gateway> read_root(Json& root, std::vector<Finding>& findings) {
  if (!root.is_object()) {
    tell(findings, "", fmt::format("a gateway's file must hold an object, not {}", shown(root)));
    return std::nullopt;
  }
  const auto upstreams = root.find("upstreams");
  if (upstreams == root.end()) {
    tell(findings, "", "a gateway's file needs the key \"upstreams\", which is missing");
    return std::nullopt;
  }
  if (!upstreams->is_array()) {
    tell(findings, UPSTREAMS, fmt::format("upstreams is {}: it must be a list", shown(*upstreams)));
    return std::nullopt;
  }
  make_canonical(*upstreams);
  Gateway gateway;
  std::vector<Finding> found;
  read_upstreams(*upstreams, UPSTREAMS, found);
  for (Finding& finding : found) {
    if (finding.unknown_key) {
      leave_out(finding, root);
    } else {
      gateway.told.emplace(finding.pointer, finding.what);
    }
  }
  gateway.upstreams = std::move(root["upstreams"]);
  findings.insert(findings.end(), found.begin(), found.end());
  return gateway;
}

}  // namespace

void Gateway::forget_told(std::vector<Finding>& findings) const {
  const auto was_told = [this](const Finding& finding) {
    return told.count({finding.pointer, finding.what}) != 0;
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), was_told), findings.end());
}

std::optional<Gateway> read_gateway(const std::string& path, std::vector<Mistake>& out) {
  std::string text, wrong;
  if (!read_file(path, text, wrong)) {
    Mistake mistake;
    mistake.file = path;
    mistake.what = std::move(wrong);
    out.push_back(std::move(mistake));
    return std::nullopt;
  }
  Source source(text, path);
  std::vector<Finding> findings = std::move(source.document.findings);
  std::optional<Gateway> gateway;
  if (source.document.readable) gateway = read_root(source.document.root, findings);
  place_findings(source, findings, out);
  return gateway;
}

void take_upstreams(const Gateway& gateway, Document& scenario) {
  if (!scenario.root.is_object()) return;
  scenario.root["upstreams"] = gateway.upstreams;
  scenario.positions.forget(UPSTREAMS);
}

}  // namespace halfopen::sim
