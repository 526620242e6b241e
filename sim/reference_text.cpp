#include "sim/reference_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/param_table.hpp"
#include "sim/metrics.hpp"
#include "sim/scenario_keys.hpp"

namespace halfopen::sim {
namespace {

constexpr std::string_view HEAD = R"(# Reference: every key of a scenario

This is what `halfopen schema reference` prints; do not edit it. The same tables make the JSON Schema (`halfopen schema`), which editors
use to complete and check, and a test holds the reader to them.

Below each key stands a change that shows it at work. It is what `--set` takes, over the small scenario [`reference.json`](reference.json):

```
halfopen run scenarios/reference.json --set '/traffic/0/rate_rps=50'
```

A JSON Pointer (RFC 6901) names the place, `-` is the end of a list, and the value is JSON. Times and lengths are in ms of virtual time, from 0 to
10^10, and may have decimals down to the nanosecond.
)";

std::string bound(double value) {
  if (value >= 1.8e19) return "2^64-1";
  if (value == 1e300 || value == -1e300) return "";
  return value >= 1e6 && value == static_cast<double>(static_cast<std::int64_t>(value))
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : shortest(value);
}

std::string range_of(const Key& key) {
  const std::string low = bound(key.min), high = bound(key.max);
  if (low.empty()) return "";
  return fmt::format(" {} {} … {}", key.above_min ? "above" : "from", low, high);
}

std::string either(std::string_view words) {
  std::string out = "`";
  for (const char c : words) out += c == '|' ? std::string("`, `") : std::string(1, c);
  return out + "`";
}

std::string type_of(const Key& key) {
  switch (key.type) {
    case KeyType::text: return "text";
    case KeyType::flag: return "true or false";
    case KeyType::whole: return "whole number" + range_of(key);
    case KeyType::number: return "number" + range_of(key);
    case KeyType::word: return either(key.refers);
    case KeyType::object: return fmt::format("object, see [{0}](#{0})", key.refers);
    case KeyType::list: return fmt::format("list of [{0}](#{0})", key.refers);
    case KeyType::pair: return "two times";
    case KeyType::own_shape: return "";
  }
  return "";
}

std::string notes(std::string type, bool required, std::string_view fallback) {
  if (required) type += type.empty() ? "required" : ", required";
  if (!fallback.empty()) type += fmt::format("{}default `{}`", type.empty() ? "" : ", ", fallback);
  return type.empty() ? "" : fmt::format(" ({})", type);
}

std::string examples(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += fmt::format("{}--set '{}'", out.empty() ? "" : " ", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

void add_row(std::string& out, std::string_view name, const std::string& in_brackets, std::string_view about,
             std::string_view example) {
  out += fmt::format("- **`{}`**{}  \n  {}  \n  `{}`\n", name, in_brackets, about, examples(example));
}

// Where a block of settings stands in reference.json.
struct BlockPlace {
  std::string_view block, pointer, title;
};
constexpr std::array BLOCKS{
    BlockPlace{"upstream", "/upstreams/0", "One upstream of the gateway, in the gateway's own words."},
    BlockPlace{"endpoint", "/upstreams/0/endpoints/2", "Where requests go."},
    BlockPlace{"health", "/upstreams/0/health", "Passive ejection. Without this block nobody is ejected."},
    BlockPlace{"active_health", "/upstreams/0/active_health",
               "Active probes; they share `health`'s tracker and need it."},
    BlockPlace{"breaker", "/upstreams/0/breaker",
               "The breaker above the balancer. Without this block there is none."},
    BlockPlace{"retries", "/upstreams/0/retries", "Retries of the gateway and their budget."},
    BlockPlace{"timeouts", "/upstreams/0/timeouts", "How long an attempt may take."},
};

// Settings without a default that could be shown.
struct Shown {
  std::string_view block, name, value;
};
constexpr std::array SHOWN{
    Shown{"upstream", "name", R"("api")"},         Shown{"upstream", "trusted_ca_file", R"("ca.pem")"},
    Shown{"endpoint", "address", R"("10.0.0.9")"}, Shown{"endpoint", "port", "9090"},
    Shown{"retries", "total_deadline_ms", "1000"}, Shown{"active_health", "timeout_ms", "50"},
    Shown{"timeouts", "read_ms", "400"},
};

std::string shown_value(const SettingText& setting) {
  for (const Shown& shown : SHOWN) {
    if (shown.block == setting.block && shown.name == setting.name) return std::string(shown.value);
  }
  return setting.default_value;
}

void add_blocks(std::string& out) {
  for (const BlockPlace& place : BLOCKS) {
    out += fmt::format("\n## {}\n\n{}\n\n", place.block, place.title);
    if (place.block == "upstream") {
      out +=
          "Besides these it has `endpoints` (required, a list of [endpoint](#endpoint)) and the blocks "
          "[health](#health), "
          "[active_health](#active_health), [breaker](#breaker), [retries](#retries) and "
          "[timeouts](#timeouts).\n\n";
    }
    for (const SettingText& setting : all_settings()) {
      if (setting.block != place.block) continue;
      std::string type = setting.type == "words" ? "one of " + setting.range
                         : setting.range.empty() ? setting.type
                                                 : setting.type + ' ' + setting.range;
      if (!setting.unit.empty() && setting.type != "words") type += ' ' + setting.unit;
      add_row(out, setting.name, notes(std::move(type), setting.required, setting.default_value),
              setting.about, fmt::format("{}/{}={}", place.pointer, setting.name, shown_value(setting)));
    }
  }
}

void add_metrics(std::string& out) {
  out +=
      "\n## metric\n\nThe names that expectations, summaries and sweeps share.\n\n| metric | unit | of one "
      "endpoint too | in `between_ms` "
      "too | exactly |\n|---|---|---|---|---|\n";
  for (const Metric& metric : metrics()) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name, metric.unit,
                       metric.takes_endpoint ? "yes" : "", metric.takes_between ? "yes" : "", metric.about);
  }
}

}  // namespace

std::string scenario_reference() {
  std::string out(HEAD);
  for (const KeyObject& object : scenario_objects()) {
    out += fmt::format("\n## {}\n\n", object.name);
    if (object.title != object.name) out += fmt::format("At `{}`. ", object.title);
    out += fmt::format("{}\n\n", object.about);
    for (const Key& key : object.keys)
      add_row(out, key.name, notes(type_of(key), key.required, key.fallback), key.about, key.example);
    if (object.name == "scenario") add_blocks(out);
  }
  add_metrics(out);
  return out;
}

}  // namespace halfopen::sim
