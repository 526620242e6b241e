#include "sim/schema_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/check.hpp"
#include "core/param_table.hpp"
#include "sim/metrics.hpp"
#include "sim/scenario_keys.hpp"

namespace halfopen::sim {
namespace {

using Schema = nlohmann::ordered_json;

// Whole numbers are written as such: 10000000000, not 1e10.
Schema number(double value) {
  if (value >= 18446744073709551615.0) return UINT64_MAX;
  if (std::floor(value) == value && std::fabs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

Schema parsed(std::string_view text) { return Schema::parse(text.begin(), text.end()); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

Schema reference(std::string_view object) { return {{"$ref", "#/definitions/" + std::string(object)}}; }

Schema required_one_by_one(std::span<const std::string_view> names) {
  Schema out = Schema::array();
  for (const std::string_view name : names) out.push_back({{"required", {name}}});
  return out;
}

Schema range(const char* type, const Key& key) {
  Schema out{{"type", type}};
  out[key.above_min ? "exclusiveMinimum" : "minimum"] = number(key.min);
  out["maximum"] = number(key.max);
  return out;
}

Schema metric_name() {
  Schema names = Schema::array();
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  return {{"enum", names}};
}

Schema shape_of(const Key& key) {
  switch (key.type) {
    case KeyType::text: return {{"type", "string"}};
    case KeyType::flag: return {{"type", "boolean"}};
    case KeyType::whole: return range("integer", key);
    case KeyType::number: return range("number", key);
    case KeyType::word: return {{"enum", split(key.refers, '|')}};
    case KeyType::object:
      return {{"allOf", {reference(key.refers)}}};  // beside $ref nothing else would count
    case KeyType::list: {
      Schema list{{"type", "array"}, {"items", reference(key.refers)}};
      if (key.min > 0) list["minItems"] = number(key.min);
      return list;
    }
    case KeyType::pair: {
      const Schema moment{{"type", "number"}, {"minimum", 0}, {"maximum", 10'000'000'000}};
      return {{"type", "array"}, {"items", {moment, moment}}, {"minItems", 2}, {"maxItems", 2}};
    }
    case KeyType::own_shape: return key.refers == "METRICS" ? metric_name() : parsed(key.refers);
  }
  return Schema::object();
}

Schema property(const Key& key) {
  Schema out{{"description", key.about}};
  out.update(shape_of(key));
  if (!key.fallback.empty()) out["default"] = parsed(key.fallback);
  return out;
}

// "a|b&c": one of a and b, and c.
Schema dependency(std::string_view needs) {
  Schema all = Schema::array();
  for (const std::string_view group : split(needs, '&')) {
    all.push_back({{"anyOf", required_one_by_one(split(group, '|'))}});
  }
  return all.size() == 1 ? all[0] : Schema{{"allOf", all}};
}

void add_choice(Schema& rules, const KeyChoice& choice) {
  if (choice.least == 1) {
    rules.push_back({{choice.most == 1 ? "oneOf" : "anyOf", required_one_by_one(choice.of)}});
    return;
  }
  for (std::size_t a = 0; a < choice.of.size(); ++a) {
    for (std::size_t b = a + 1; b < choice.of.size(); ++b)
      rules.push_back({{"not", {{"required", {choice.of[a], choice.of[b]}}}}});
  }
}

Schema definition(const KeyObject& object) {
  Schema out{{"type", "object"}};
  if (!object.about.empty()) out["description"] = object.about;
  Schema properties = Schema::object(), required = Schema::array(), dependencies = Schema::object();
  for (const Key& key : object.keys) {
    properties[std::string(key.name)] = property(key);
    if (key.required) required.push_back(key.name);
    if (!key.needs.empty()) dependencies[std::string(key.name)] = dependency(key.needs);
  }
  out["additionalProperties"] = false;
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  if (!dependencies.empty()) out["dependencies"] = std::move(dependencies);
  Schema rules = Schema::array();
  for (const KeyChoice& choice : object.choices) add_choice(rules, choice);
  if (!object.extra.empty()) rules.push_back(parsed(object.extra));
  if (!rules.empty()) out["allOf"] = std::move(rules);
  return out;
}

// ---- settings: core's own table -----------------------------------------------------------------------

template <class Block>
struct SettingShape {
  const Setting<Block>& setting;

  Schema operator()(double Block::*) const {
    return {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}};
  }
  Schema operator()(bool Block::*) const { return {{"type", "boolean"}}; }
  Schema operator()(std::string Block::*) const { return {{"type", "string"}}; }
  Schema operator()(StatusSet Block::*) const { return {{"type", "array"}, {"items", whole()}}; }
  template <class Value>
  Schema operator()(Value Block::*) const {
    if constexpr (std::is_enum_v<Value>)
      return Schema::object();  // its words stand in the text of its range
    else
      return whole();
  }

 private:
  Schema whole() const { return {{"type", "integer"}, {"minimum", setting.min}, {"maximum", setting.max}}; }
};

const SettingText& text_of(std::string_view block, std::string_view name) {
  for (const SettingText& text : all_settings()) {
    if (text.block == block && text.name == name) return text;
  }
  HALFOPEN_CHECK(false);
  return all_settings()[0];
}

template <class Block>
Schema block_definition(std::string_view block) {
  Schema properties = Schema::object(), required = Schema::array();
  for (const Setting<Block>& setting : settings<Block>()) {
    const SettingText& text = text_of(block, setting.name);
    Schema shape{{"description", setting.about}};
    shape.update(std::visit(SettingShape<Block>{setting}, setting.member));
    if (text.type == "words") {
      Schema words = Schema::array();
      for (std::string_view word : split(text.range, '|')) {
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        words.push_back(word);
      }
      shape["enum"] = std::move(words);
    }
    if (!text.default_value.empty()) shape["default"] = parsed(text.default_value);
    properties[std::string(setting.name)] = std::move(shape);
    if (setting.required) required.push_back(setting.name);
  }
  Schema out{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

void add_settings(Schema& definitions) {
  Schema upstream = block_definition<UpstreamConfig>("upstream");
  Schema& properties = upstream["properties"];
  properties["endpoints"] = {
      {"description", "Where the requests go. State follows address and port through reloads."},
      {"type", "array"},
      {"minItems", 1},
      {"items", reference("endpoint")}};
  for (const char* block : {"health", "active_health", "breaker", "retries", "timeouts"})
    properties[block] = {{"allOf", {reference(block)}}};
  upstream["required"].push_back("endpoints");
  // Active probes share the passive tracker, so they need it.
  upstream["dependencies"] = {{"active_health", {"health"}}};
  definitions["upstream"] = std::move(upstream);
  definitions["endpoint"] = block_definition<EndpointConfig>("endpoint");
  definitions["health"] = block_definition<HealthParams>("health");
  definitions["active_health"] = block_definition<ActiveParams>("active_health");
  definitions["breaker"] = block_definition<BreakerParams>("breaker");
  definitions["retries"] = block_definition<RetryParams>("retries");
  definitions["timeouts"] = block_definition<TimeoutParams>("timeouts");
}

}  // namespace

std::string scenario_schema() {
  Schema root{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "halfopen scenario"}};
  Schema definitions = Schema::object();
  for (const KeyObject& object : scenario_objects()) {
    if (object.name == "scenario")
      root.update(definition(object));
    else
      definitions[std::string(object.name)] = definition(object);
  }
  add_settings(definitions);
  root["definitions"] = std::move(definitions);
  return root.dump(2) + '\n';
}

}  // namespace halfopen::sim
