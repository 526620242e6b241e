// The configuration that a gateway runs with, as its operators keep it: our upstreams, and more that only the
// gateway knows.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "sim/json_patch.hpp"
#include "sim/scenario_json_parts.hpp"
#include "sim/upstreams_json.hpp"

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

std::optional<Gateway> read_root(Json& root, std::string_view noun, std::vector<Finding>& findings) {
  if (!root.is_object()) {
    tell(findings, "", fmt::format("{} must hold an object, not {}", noun, shown(root)));
    return std::nullopt;
  }
  const auto upstreams = root.find("upstreams");
  if (upstreams == root.end()) {
    tell(findings, "", fmt::format("{} needs the key \"upstreams\", which is missing", noun));
    return std::nullopt;
  }
  if (!upstreams->is_array()) {
    tell(findings, UPSTREAMS, fmt::format("upstreams is {}: it must be a list", shown(*upstreams)));
    return std::nullopt;
  }
  make_canonical(*upstreams);
  Gateway gateway;
  std::vector<Finding> found;
  gateway.configs = read_upstreams(*upstreams, UPSTREAMS, found);
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

std::optional<Gateway> read_gateway(const std::string& path, NamedFiles& files, std::vector<Mistake>& out,
                                    std::string_view noun) {
  std::string wrong;
  const auto text = named_file(files, path, wrong);
  if (!text) {
    Mistake mistake;
    mistake.file = path;
    mistake.what = std::move(wrong);
    out.push_back(std::move(mistake));
    return std::nullopt;
  }
  Source source(*text, path);
  std::vector<Finding> findings = std::move(source.document.findings);
  std::optional<Gateway> gateway;
  if (source.document.readable) gateway = read_root(source.document.root, noun, findings);
  place_findings(source, findings, out);
  return gateway;
}

void take_upstreams(const Gateway& gateway, Document& scenario) {
  if (!scenario.root.is_object()) return;
  scenario.root["upstreams"] = gateway.upstreams;
  scenario.positions.forget(UPSTREAMS);
}

LoadedUpstreams load_upstreams_file(const std::string& path) {
  LoadedUpstreams loaded;
  try {
    NamedFiles files;
    std::optional<Gateway> gateway = read_gateway(path, files, loaded.mistakes, "the file");
    const bool good = gateway && std::all_of(loaded.mistakes.begin(), loaded.mistakes.end(),
                                             [](const Mistake& mistake) { return mistake.warning; });
    if (good) loaded.upstreams = std::move(gateway->configs);
  } catch (const std::exception& error) {
    loaded.mistakes.push_back({path, 0, 0, "", fmt::format("it could not be read: {}", error.what()), false});
  }
  return loaded;
}

}  // namespace halfopen::sim
