// What `check` finds: each expectation and the golden timeline of a scenario, as cases.
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/cli_check.hpp"
#include "sim/cli_golden.hpp"
#include "sim/cli_output.hpp"
#include "sim/expectations.hpp"
#include "sim/simulation.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"
#include "sim/writer_json.hpp"

namespace halfopen::sim {

namespace {

constexpr const char* GOLDEN_CASE = "golden timeline";

CheckCase case_of(const Judgement& judgement, const std::string& file) {
  CheckCase out;
  out.name = printable(judgement.expected);
  out.file = file;
  out.place = judgement.expectation->place;
  if (judgement.held) return out;
  out.verdict = Verdict::failed;
  out.sentence = fmt::format("expected {}\ngot {}", out.name, printable(judgement.got));
  return out;
}

// One that differs in nothing but the version stays: a release is no reason to touch every file.
void update_golden(CheckResult& result, const std::string& path, const std::optional<std::string>& golden,
                   std::string now) {
  if (golden && !golden_difference(*golden, now)) {
    result.note += ", golden timeline unchanged";
  } else {
    result.note += golden ? ", golden timeline rewritten" : ", golden timeline written";
    result.rewrite = std::move(now);
  }
  result.add({GOLDEN_CASE, Verdict::held, "", path, {}});
}

void judge_golden(CheckResult& result, std::string now, bool update) {
  const std::string path = golden_path(result.file);
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (!exists && !update) return;
  const std::optional<std::string> golden = exists ? read_whole_file(path) : std::nullopt;
  if (exists && !golden) {
    return result.add({GOLDEN_CASE, Verdict::error, "this golden timeline can't be read", path, {}});
  }
  if (update) return update_golden(result, path, golden, std::move(now));
  const std::optional<GoldenDifference> differs = golden_difference(*golden, now);
  if (differs) {
    return result.add(
        {GOLDEN_CASE, Verdict::failed, differs->sentence, path, {differs->line, differs->column}});
  }
  result.note += ", golden timeline";
  result.add({GOLDEN_CASE, Verdict::held, "", path, {}});
}

void judge_all(CheckResult& result, const Scenario& scenario, Golden golden, const RunHooks& hooks) {
  const Timeline timeline = simulate(scenario, hooks);
  const std::vector<Judgement> judgements = judge(scenario, timeline);
  for (const Judgement& judgement : judgements) result.add(case_of(judgement, result.file));
  if (golden != Golden::leave_out)
    judge_golden(result, timeline_json(timeline, judgements), golden == Golden::update);
  if (!result.cases.empty()) return;
  result.note = "nothing to judge: no expectation, no golden timeline";
  result.add({"nothing to judge", Verdict::skipped, "no expectation, no golden timeline", result.file, {}});
}

void internal_error(CheckResult& result, const char* what) {
  result.rewrite.reset();
  result.add({"internal error", Verdict::error, printable(what), result.file, {}});
  result.status = EXIT_INTERNAL;
}

}  // namespace

void CheckResult::add(CheckCase one) {
  if (one.verdict == Verdict::failed) status = std::max(status, EXIT_NOT_HELD);
  if (one.verdict == Verdict::error) status = std::max(status, EXIT_BAD_INPUT);
  cases.push_back(std::move(one));
}

CheckResult judge_scenario(const Scenario& scenario, const std::string& file, Golden golden,
                           const RunHooks& hooks) {
  CheckResult result;
  result.file = file;
  result.name = printable(scenario.name.empty() ? file : scenario.name);
  result.note = plural(scenario.expect.size(), "expectation");
  try {
    judge_all(result, scenario, golden, hooks);
  } catch (const std::exception& error) {
    internal_error(result, error.what());
  } catch (...) {
    internal_error(result, "an exception of unknown kind");
  }
  return result;
}

CheckResult bad_file(const std::string& file, std::vector<Mistake> mistakes) {
  CheckResult result;
  result.file = file;
  result.name = printable(file);
  result.kind = CheckResult::Kind::bad;
  for (const Mistake& mistake : mistakes) {
    if (mistake.warning) continue;
    const std::string what = printable(mistake.what);
    result.add({mistake.pointer.empty() ? std::string(THE_FILE) : printable(mistake.pointer),
                Verdict::error,
                what,
                mistake.file,
                {mistake.line, mistake.column}});
  }
  result.mistakes = std::move(mistakes);
  return result;
}

CheckResult stale_golden(const std::string& file) {
  CheckResult result;
  result.file = file;
  result.name = printable(file);
  result.kind = CheckResult::Kind::stale_golden;
  const std::string stem = file.substr(0, file.size() - GOLDEN_SUFFIX.size());
  result.add({GOLDEN_CASE,
              Verdict::failed,
              fmt::format("golden timeline of no scenario: delete it, or restore {}.json", printable(stem)),
              file,
              {}});
  return result;
}

}  // namespace halfopen::sim
