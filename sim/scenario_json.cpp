#include "sim/scenario_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/hash.hpp"
#include "sim/json_patch.hpp"
#include "sim/scenario_json_parts.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {
namespace {

constexpr std::uint64_t LATEST_UNIX_MS =
    1'000'000'000'000'000;  // the year 33658: no sum with a run's length wraps
constexpr std::int64_t LONGEST_STEP_MS = 1'000'000'000'000;  // as every duration of the configuration

const std::vector<std::string_view> CLOCK_SOURCES{"wall", "monotonic"};

void read_clock(Fields& root, Reading& reading) {
  const Json* const value = root.get("clock");
  if (value == nullptr) return;
  Clock& clock = reading.scenario.clock;
  Fields fields(*value, root.at("clock"), reading.findings, "clock");
  clock.start_unix_ms = fields.whole("start_unix_ms", 0, LATEST_UNIX_MS).value_or(clock.start_unix_ms);
  clock.monotonic = fields.word("source", CLOCK_SOURCES).value_or(0) == 1;
  if (const Json* const steps = fields.list("steps")) {
    for (std::size_t n = 0; n < steps->size(); ++n) {
      Fields step((*steps)[n], join(fields.at("steps"), n), reading.findings, "a clock step");
      const Nanos at = step.time("at_ms", ANY_TIME, Need::required).value_or(0);
      const auto by = step.integer("by_ms", -LONGEST_STEP_MS, LONGEST_STEP_MS, Need::required);
      clock.steps.push_back({at, by.value_or(0)});
      step.finish();
    }
  }
  fields.finish();
}

void read_scenario(const Json& value, Reading& reading) {
  Scenario& scenario = reading.scenario;
  Fields root(value, "", reading.findings, "a scenario");
  root.text("$schema");
  scenario.name = root.text("name").value_or("");
  scenario.question = root.text("question").value_or("");
  scenario.seed = root.whole("seed", 0, std::numeric_limits<std::uint64_t>::max()).value_or(scenario.seed);
  scenario.duration = root.time("duration_ms", POSITIVE_TIME, Need::required).value_or(0);
  scenario.sample = root.time("sample_ms", POSITIVE_TIME).value_or(scenario.sample);
  read_clock(root, reading);
  read_configuration(root, reading);
  read_endpoints(root, reading);
  read_traffic(root, reading);
  read_expectations(root, reading);
  root.finish();
  check_limits(reading);
  warn_of_surprises(value, reading);
}

// What the command line changes. The file keeps its places for everything else.
class Overrides {
 public:
  Overrides(Document& document, std::vector<Finding>& findings) : document_(document), findings_(findings) {}

  void apply(const LoadOptions& options) {
    for (const auto& [pointer, value] : options.sets) set(pointer, value);
    if (options.seed && document_.root.is_object()) document_.root["seed"] = *options.seed;
  }

 private:
  void set(const std::string& pointer, const std::string& text) {
    std::size_t bad = 0;
    if (!is_clean_text(pointer, bad) || !is_clean_text(text, bad))
      return refuse("", "--set: it must be UTF-8 text");
    Document value = read_json(text);
    const bool is_json = value.readable && value.findings.empty();
    std::string wrong = assign(document_.root, pointer, is_json ? std::move(value.root) : Json(text));
    if (wrong.empty()) return document_.positions.forget(pointer);
    refuse(pointer, fmt::format("--set {}={}: {}", pointer, text, wrong));
  }

  void refuse(const std::string& pointer, std::string what) {
    Finding finding;
    std::vector<std::string> steps;
    if (split_pointer(pointer, steps)) finding.pointer = pointer;
    finding.what = std::move(what);
    findings_.push_back(std::move(finding));
  }

  Document& document_;
  std::vector<Finding>& findings_;
};

std::string canonical(Json& root) {
  make_canonical(root);
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void tell_effective(Json& root, Reading& reading, Loaded& loaded) {
  if (!root.is_object()) return;
  root["seed"] = reading.scenario.seed;  // also where it is the default
  if (!reading.inlined.empty()) loaded.named_json = canonical(root);
  for (auto& [pointer, value] : reading.inlined) {
    std::vector<std::string> steps;
    split_pointer(pointer, steps);
    if (Json* const place = resolve(root, steps)) *place = std::move(value);
  }
  loaded.effective_json = canonical(root);
}

// The command line's changes, then everything that the scenario says.
void read_root(const LoadOptions& options, const std::optional<Gateway>& gateway, Source& source,
               Loaded& loaded, Reading& reading) {
  if (gateway) take_upstreams(*gateway, source.document);
  Overrides(source.document, reading.findings).apply(options);
  make_canonical(source.document.root);
  read_scenario(source.document.root, reading);
  if (gateway) gateway->forget_told(reading.findings);
  tell_effective(source.document.root, reading, loaded);
  reading.scenario.digest = stable_hash(loaded.effective_json);
}

Loaded load(std::string_view text, std::string_view file, const LoadOptions& options) {
  Loaded loaded;
  Reading reading;
  reading.folder = std::filesystem::path(file).parent_path();
  reading.files = options.files;
  Source source(text, file);
  reading.findings = std::move(source.document.findings);
  std::optional<Gateway> gateway;
  if (options.gateway) gateway = read_gateway(*options.gateway, reading.files, loaded.mistakes);
  // Without the gateway's names every other one in the scenario would look wrong.
  const bool readable = source.document.readable && gateway.has_value() == options.gateway.has_value();
  if (readable) read_root(options, gateway, source, loaded, reading);
  place_findings(source, reading.findings, loaded.mistakes);
  const bool good = readable && std::all_of(loaded.mistakes.begin(), loaded.mistakes.end(),
                                            [](const Mistake& m) { return m.warning; });
  if (!good) return loaded;
  place_expectations(source, reading.scenario.expect);
  loaded.scenario = std::move(reading.scenario);
  loaded.files = std::move(reading.files);
  return loaded;
}

Loaded refused(std::string_view file, std::string what) {
  Loaded loaded;
  Mistake mistake;
  mistake.file = std::string(file);
  mistake.what = std::move(what);
  loaded.mistakes.push_back(std::move(mistake));
  return loaded;
}

}  // namespace

std::string Mistake::text() const {
  std::string out = printable(file);
  if (line > 0) out += fmt::format(":{}:{}", line, column);
  if (warning) out += ": warning";
  if (!pointer.empty()) out += ": " + printable(pointer);
  return out + ": " + printable(what);
}

std::string suggest(Reading& reading, std::string_view word, const std::vector<std::string>& names) {
  if (reading.names_to_compare < names.size()) return {};
  reading.names_to_compare -= names.size();
  return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

bool read_file(const std::filesystem::path& path, std::string& text, std::string& wrong) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    wrong = "it is a folder, not a file";
    return false;
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    wrong = "it can't be opened: " + std::generic_category().message(errno);
    return false;
  }
  std::string chunk(std::size_t{1} << 16, '\0');
  text.clear();
  // One byte over the limit is enough to know; an endless device must not be read to its end.
  while (text.size() <= MAX_SOURCE_BYTES &&
         (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0)) {
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) wrong = "it can't be read";
  if (text.size() > MAX_SOURCE_BYTES) wrong = fmt::format("it is larger than {} MiB", MAX_SOURCE_BYTES >> 20);
  return wrong.empty();
}

std::shared_ptr<const std::string> named_file(NamedFiles& files, const std::filesystem::path& path,
                                              std::string& wrong) {
  if (const auto known = files.find(path.string()); known != files.end()) return known->second;
  std::string text;
  if (!read_file(path, text, wrong)) return nullptr;
  return files[path.string()] = std::make_shared<const std::string>(std::move(text));
}

// Whatever a library throws at us stops here and becomes a sentence.
Loaded load_scenario_text(std::string_view text, std::string_view file_name, const LoadOptions& options) {
  try {
    return load(text, file_name, options);
  } catch (const std::exception& error) {
    return refused(file_name, fmt::format("it could not be read: {}", error.what()));
  }
}

Loaded load_scenario_file(const std::string& path, const LoadOptions& options) {
  try {
    std::string text, wrong;
    if (!read_file(path, text, wrong)) return refused(path, wrong);
    Loaded loaded = load(text, path, options);
    loaded.text = std::move(text);
    return loaded;
  } catch (const std::exception& error) {
    return refused(path, fmt::format("it could not be read: {}", error.what()));
  }
}

}  // namespace halfopen::sim
