#include "sim/step_json_fields.hpp"

#include <fmt/format.h>

#include "core/validate.hpp"

namespace halfopen::sim {
namespace {

// "[json.exception.…] parse error at line 1, column 20: syntax error …" without what a person can't use.
std::string_view plain(std::string_view parser_says) {
  constexpr std::string_view COLUMN = "column ";
  if (const std::size_t at = parser_says.find(COLUMN); at != std::string_view::npos) {
    parser_says.remove_prefix(at);
  } else if (const std::size_t end = parser_says.find("] "); end != std::string_view::npos) {
    parser_says.remove_prefix(end + 2);
  }
  return parser_says;
}

// Receives the parser's events. Answering false stops it, which is how depth, number and doubled keys are
// refused before they cost anything.
class Builder {
 public:
  Builder(Json& root, std::vector<Json*>& open, std::string& error)
      : root_(root), open_(open), error_(error) {
    open_.clear();
  }

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool value) { return add(value) != nullptr; }
  bool number_integer(Json::number_integer_t value) { return add(value) != nullptr; }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value) != nullptr; }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value) != nullptr; }
  bool string(std::string& value) { return add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) { return false; }  // no text holds one
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const auto [place, fresh] = open_.back()->emplace(name, nullptr);
    if (!fresh)
      return refuse(
          fmt::format("the key {} stands twice in one object: keep one of them", shown(Json(name))));
    slot_ = &*place;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    return refuse(fmt::format("the line is not JSON: {}", plain(error.what())));
  }

 private:
  bool refuse(std::string why) {
    error_ = std::move(why);
    return false;
  }

  Json* add(Json&& value) {
    if (++values_ > MAX_STEP_VALUES) {
      refuse(fmt::format("the line holds more than {} values", MAX_STEP_VALUES));
      return nullptr;
    }
    Json* place = slot_;
    if (open_.empty()) {
      place = &root_;
    } else if (open_.back()->is_array()) {
      place = &open_.back()->emplace_back(nullptr);
    }
    *place = std::move(value);
    return place;
  }

  bool open(Json&& value) {
    if (open_.size() >= MAX_DEPTH)
      return refuse(fmt::format("lists and objects are nested more than {} deep", MAX_DEPTH));
    Json* const place = add(std::move(value));
    if (place == nullptr) return false;
    open_.push_back(place);  // stable: nothing is added to its parent while it is open
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Json*>& open_;
  std::string& error_;
  Json* slot_ = nullptr;  // of the key just read
  std::size_t values_ = 0;
};

// Right for everything but what a caller puts into it.
UpstreamConfig some_upstream() {
  UpstreamConfig config;
  config.name = "step";
  config.endpoints.push_back({"endpoint", 1, 1});
  return config;
}

// One flat block has no place worth naming.
std::string first_message(const UpstreamConfig& config) {
  const std::vector<Problem> problems = validate({config});
  return problems.empty() ? std::string() : problems.front().message;
}

}  // namespace

bool StepFields::is_whole(const Json& value, std::uint64_t min, std::uint64_t max, std::uint64_t& out) {
  if (value.is_number_unsigned()) {
    out = value.get<std::uint64_t>();
  } else if (value.is_number_integer() && value.get<std::int64_t>() == 0) {
    out = 0;  // written -0
  } else {
    return false;
  }
  return out >= min && out <= max;
}

void StepFields::missing(std::string_view name) { refuse(fmt::format("the key \"{}\" is missing", name)); }

bool StepFields::flag(std::string_view name) {
  const Json* const value = find(name);
  if (value == nullptr) {
    missing(name);
    return false;
  }
  if (value->is_boolean()) return value->get<bool>();
  refuse(fmt::format("{} is {}: it must be true or false", name, shown(*value)));
  return false;
}

std::uint64_t StepFields::whole(std::string_view name, std::uint64_t min, std::uint64_t max) {
  const Json* const value = find(name);
  std::uint64_t found = min;
  if (value == nullptr) {
    missing(name);
  } else if (!is_whole(*value, min, max, found)) {
    refuse(fmt::format("{} is {}: it must be a whole number from {} to {}", name, shown(*value), min, max));
  }
  return found;
}

std::string_view StepFields::text(std::string_view name) {
  const Json* const value = find(name);
  if (value == nullptr) {
    missing(name);
  } else if (value->is_string()) {
    return value->get_ref<const std::string&>();
  } else {
    refuse(fmt::format("{} is {}: it must be a string", name, shown(*value)));
  }
  return {};
}

const Json* StepParser::read(std::string_view line, std::string& error) {
  // The parser would skip a byte order mark and take NUL for the end of the text.
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || line[first] != '{') {
    error =
        "the line is no JSON object: an operation looks like {\"op\": \"report\", \"t\": 0, \"failure\": "
        "true}";
    return nullptr;
  }
  if (line.find('\0') != std::string_view::npos) {
    error = "the line is not JSON: it holds a NUL byte";
    return nullptr;
  }
  Builder builder(root_.emplace(), open_, error);
  if (!Json::sax_parse(line.data(), line.data() + line.size(), &builder)) return nullptr;
  return &*root_;
}

std::string broken_rule(const UpstreamConfig& config) {
  const std::vector<Problem> problems = validate({config});
  if (problems.empty()) return {};
  // "/0/endpoints/3/port": the upstream is the only one, its number tells nothing.
  return fmt::format("{}: {}", problems.front().pointer.substr(2), problems.front().message);
}

std::string broken_rule(const HealthParams& params) {
  UpstreamConfig config = some_upstream();
  config.health = params;
  return first_message(config);
}

std::string broken_rule(const BreakerParams& params) {
  UpstreamConfig config = some_upstream();
  config.breaker = params;
  return first_message(config);
}

std::string broken_rule(const HealthParams& passive, const ActiveParams& params) {
  UpstreamConfig config = some_upstream();
  config.health = passive;
  config.active_health = params;
  return first_message(config);
}

}  // namespace halfopen::sim
