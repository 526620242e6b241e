#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/param_table.hpp"
#include "core/validate.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

const std::vector<std::string_view>& words(Algorithm) {
  static const std::vector<std::string_view> all{"round_robin", "least_requests", "random", "ip_hash"};
  return all;
}
const std::vector<std::string_view>& words(Protocol) {
  static const std::vector<std::string_view> all{"http1", "http2", "https"};
  return all;
}
const std::vector<std::string_view>& words(ProbeKind) {
  static const std::vector<std::string_view> all{"http", "tcp"};
  return all;
}
const std::vector<std::string_view>& words(LateReports) {
  static const std::vector<std::string_view> all{"count", "ignore"};
  return all;
}

// One setting of the table, by the type of what it fills. What fits the type is taken as it is: whether it is
// in range is for validate() to say, so that the rule is judged in one place. What does not fit is told here.
template <class Block>
class SettingReader {
 public:
  SettingReader(Fields& fields, const Setting<Block>& setting)
      : fields_(fields),
        setting_(setting),
        value_(fields.get(setting.name, setting.required ? Need::required : Need::optional)) {}

  void read(double& out) {
    if (value_ == nullptr) return;
    if (value_->is_number()) {
      out = value_->get<double>();
    } else {
      refuse();
    }
  }

  void read(bool& out) {
    if (const std::optional<bool> found = fields_.flag(setting_.name)) out = *found;
  }

  void read(std::string& out) {
    if (std::optional<std::string> found = fields_.text(setting_.name)) out = std::move(*found);
  }

  void read(std::optional<std::uint64_t>& out) {
    std::uint64_t found = 0;
    if (value_ == nullptr) return;
    read(found);
    out = found;
  }

  void read(StatusSet& out) {
    const Json* const list = fields_.list(setting_.name);
    if (list == nullptr) return;
    out.reset();
    for (std::size_t n = 0; n < list->size(); ++n) {
      std::uint64_t status = 0;
      if (whole_number((*list)[n], setting_.min, setting_.max, status)) {
        out.set(status);
        continue;
      }
      Finding finding;
      finding.pointer = join(fields_.at(setting_.name), n);
      finding.what = fmt::format("{} holds {}: each must be an HTTP status, {} to {}", setting_.name,
                                 shown((*list)[n]), setting_.min, setting_.max);
      fields_.findings().push_back(std::move(finding));
    }
  }

  template <class Value>
  void read(Value& out) {
    if (value_ == nullptr) return;
    if constexpr (std::is_enum_v<Value>) {
      if (const auto place = fields_.word(setting_.name, words(Value{}))) parse(words(Value{})[*place], out);
    } else {
      std::uint64_t found = 0;
      if (whole_number(*value_, 0, std::numeric_limits<Value>::max(), found)) {
        out = static_cast<Value>(found);
      } else {
        refuse();
      }
    }
  }

 private:
  void refuse() {
    fields_.tell(setting_.name,
                 fmt::format("{} is {}: it {}", setting_.name, shown(*value_), halfopen::rule_of(setting_)));
  }

  Fields& fields_;
  const Setting<Block>& setting_;
  const Json* value_;
};

template <class Block>
void read_settings(Fields& fields, Block& out) {
  for (const Setting<Block>& setting : settings<Block>()) {
    SettingReader<Block> reader(fields, setting);
    std::visit([&](auto member) { reader.read(out.*member); }, setting.member);
  }
}

template <class Block>
void read_block(const Json& value, const std::string& pointer, std::vector<Finding>& findings,
                std::string_view noun, Block& out) {
  Fields fields(value, pointer, findings, noun);
  read_settings(fields, out);
  fields.finish();
}

template <class Block>
void read_optional_block(Fields& upstream, std::string_view name, std::optional<Block>& out) {
  if (const Json* const value = upstream.get(name))
    read_block(*value, upstream.at(name), upstream.findings(), name, out.emplace());
}

void read_endpoint_list(Fields& upstream, std::vector<EndpointConfig>& out) {
  const Json* const list = upstream.list("endpoints", Need::required);
  if (list == nullptr) return;
  out.reserve(list->size());
  for (std::size_t n = 0; n < list->size(); ++n) {
    EndpointConfig endpoint;
    read_block((*list)[n], join(upstream.at("endpoints"), n), upstream.findings(), "an endpoint", endpoint);
    endpoint.address = without_brackets(endpoint.address);
    out.push_back(std::move(endpoint));
  }
}

UpstreamConfig read_upstream(const Json& value, const std::string& pointer, std::vector<Finding>& findings) {
  UpstreamConfig config;
  Fields fields(value, pointer, findings, "an upstream");
  read_settings(fields, config);
  read_endpoint_list(fields, config.endpoints);
  read_optional_block(fields, "health", config.health);
  read_optional_block(fields, "active_health", config.active_health);
  read_optional_block(fields, "breaker", config.breaker);
  if (const Json* const retries = fields.get("retries"))
    read_block(*retries, fields.at("retries"), findings, "retries", config.retries);
  if (const Json* const timeouts = fields.get("timeouts")) {
    read_block(*timeouts, fields.at("timeouts"), findings, "timeouts", config.timeouts);
  }
  fields.finish();
  return config;
}

bool stated(const Json& list, const std::string& pointer) {
  std::vector<std::string> steps;
  split_pointer(pointer, steps);
  const Json* at = &list;
  for (const std::string& step : steps) {
    const bool is_index = step.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_array() && is_index && std::stoul(step) < at->size()) {  // validate() wrote it: a short number
      at = &(*at)[std::stoul(step)];
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else {
      return false;
    }
  }
  return true;
}

// A field that is missing, or that could not be read, holds a default that nobody wrote: what validate() says
// of that default is no mistake of the file's.
bool spoilt(const std::set<std::string>& told, const std::string& list_pointer, const std::string& at,
            bool is_stated) {
  if (is_stated) return told.count(list_pointer + at) != 0;
  for (std::string up = at; !up.empty(); up.erase(up.rfind('/'))) {
    if (told.count(list_pointer + up) != 0) return true;
  }
  return false;
}

}  // namespace

std::vector<UpstreamConfig> read_upstreams(const Json& list, const std::string& pointer,
                                           std::vector<Finding>& findings) {
  std::vector<UpstreamConfig> configs;
  const std::size_t first = findings.size();
  configs.reserve(list.size());
  for (std::size_t n = 0; n < list.size(); ++n)
    configs.push_back(read_upstream(list[n], join(pointer, n), findings));

  std::set<std::string> told;
  for (std::size_t n = first; n < findings.size(); ++n) told.insert(findings[n].pointer);
  for (Problem& problem : validate(configs)) {
    const bool about_other =
        !problem.other.empty() && !stated(list, problem.pointer) && stated(list, problem.other);
    const std::string& at = about_other ? problem.other : problem.pointer;
    if (spoilt(told, pointer, at, stated(list, at))) continue;
    if (!problem.other.empty() && told.count(pointer + problem.other) != 0) continue;
    Finding finding;
    finding.pointer = pointer + at;
    finding.what = std::move(problem.message);
    findings.push_back(std::move(finding));
  }
  return configs;
}

}  // namespace halfopen::sim
