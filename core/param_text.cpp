// The tables of param_table.cpp as text: defaults, ranges and types for schemas, help and messages.
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/param_table.hpp"

namespace halfopen {
namespace {

template <class Enum>
std::string words_of() {
  std::string all;
  for (std::uint8_t place = 0;; ++place) {
    const std::string word = to_string(static_cast<Enum>(place));
    if (word.empty()) return all;
    all += (all.empty() ? "" : " | ") + word;
  }
}

std::string whole_range(std::uint64_t min, std::uint64_t max) {
  return max == 0 ? "" : std::to_string(min) + " … " + std::to_string(max);
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string statuses_text(const StatusSet& set) {
  std::string list = "[";
  for (std::size_t status = 0; status < set.size(); ++status) {
    if (!set.test(status)) continue;
    if (list.size() > 1) list += ", ";
    list += std::to_string(status);
  }
  return list += "]";
}

// Type, range and default by what the member pointer points at: the one place that tells the types apart.
struct Form {
  std::string type, range, value;
};

struct FormOf {
  std::uint64_t min, max;
  Form operator()(std::uint64_t v) const { return {"integer", whole_range(min, max), std::to_string(v)}; }
  Form operator()(double v) const { return {"number", "(0, 1]", shortest(v)}; }
  Form operator()(bool v) const { return {"boolean", "", v ? "true" : "false"}; }
  Form operator()(const std::string& v) const { return {"string", "", v.empty() ? "" : quoted(v)}; }
  Form operator()(const std::optional<std::uint64_t>& v) const {
    return {"integer", whole_range(min, max), v ? std::to_string(*v) : ""};
  }
  Form operator()(const StatusSet& v) const { return {"statuses", whole_range(min, max), statuses_text(v)}; }
  template <class Enum>
  requires std::is_enum_v<Enum> Form operator()(Enum v) const {
    return {"words", words_of<Enum>(), quoted(to_string(v))};
  }
};

template <class Block>
Form form_of(const Setting<Block>& setting) {
  const Block defaults{};
  const FormOf form{setting.min, setting.max};
  Form found = std::visit(
      [&](auto member) {
        using Value = std::remove_cvref_t<decltype(defaults.*member)>;
        if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
          return form(static_cast<std::uint64_t>(defaults.*member));
        } else {
          return form(defaults.*member);
        }
      },
      setting.member);
  if (setting.required) found.value.clear();
  return found;
}

template <class Block>
void append_texts(std::string_view block, std::vector<SettingText>& out) {
  for (const Setting<Block>& setting : settings<Block>()) {
    Form form = form_of(setting);
    out.push_back({std::string(block), std::string(setting.name), std::move(form.type),
                   std::string(setting.unit), std::move(form.value), std::move(form.range), setting.required,
                   std::string(setting.about)});
  }
}

std::vector<SettingText> build_texts() {
  std::vector<SettingText> all;
  append_texts<UpstreamConfig>("upstream", all);
  append_texts<EndpointConfig>("endpoint", all);
  append_texts<HealthParams>("health", all);
  append_texts<ActiveParams>("active_health", all);
  append_texts<BreakerParams>("breaker", all);
  append_texts<RetryParams>("retries", all);
  append_texts<TimeoutParams>("timeouts", all);
  return all;
}

}  // namespace

std::span<const SettingText> all_settings() {
  static const std::vector<SettingText> texts = build_texts();
  return texts;
}

template <class Block>
std::string rule_of(const Setting<Block>& setting) {
  const Form form = form_of(setting);
  std::string rule = "must be ";
  if (form.type == "words") {
    rule += "one of " + form.range;
  } else if (form.type == "number") {
    rule += "in " + form.range;
  } else {
    rule += form.range;
  }
  if (!setting.unit.empty() && setting.unit != "ratio") rule += ' ' + std::string(setting.unit);
  if (!form.value.empty()) return rule + " (default " + form.value + ")";
  return setting.required ? rule : rule + " (left out: none)";
}

template std::string rule_of(const Setting<HealthParams>&);
template std::string rule_of(const Setting<ActiveParams>&);
template std::string rule_of(const Setting<BreakerParams>&);
template std::string rule_of(const Setting<RetryParams>&);
template std::string rule_of(const Setting<TimeoutParams>&);
template std::string rule_of(const Setting<UpstreamConfig>&);
template std::string rule_of(const Setting<EndpointConfig>&);

std::string shortest(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char buffer[32];
  const auto done = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, done.ptr);
}

}  // namespace halfopen
