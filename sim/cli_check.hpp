// What `check` finds in each file, as plain values, and the ways to tell it. Judging knows nothing of
// renderings; a rendering knows nothing but these structs, and its bytes depend on nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli.hpp"
#include "sim/observer.hpp"
#include "sim/scenario.hpp"
#include "sim/scenario_json.hpp"

namespace halfopen::sim {

enum class Verdict : std::uint8_t {
  held,
  failed,   // an expectation or a golden timeline has not held
  error,    // it could not be judged: a bad file, a defect of ours
  skipped,  // there is nothing to judge
};

inline constexpr std::string_view THE_FILE = "the file";  // the case of a mistake that is about all of it

struct CheckCase {
  std::string name;  // "exactly 1 endpoint_ejected of 10.0.0.1:8080", "golden timeline"
  Verdict verdict = Verdict::held;
  std::string sentence;  // unless held: what is wrong, in one or more lines, fit for a terminal
  std::string file;      // where: the scenario or its golden timeline
  SourcePlace place;     // line 0: the file as a whole
};

struct CheckResult {
  std::string file;
  std::string name;  // the scenario's own, or else the file's; fit for a terminal
  std::vector<CheckCase> cases;
  std::vector<Mistake> mistakes;       // all that loading the file told, warnings too
  std::string note;                    // "1 expectation, golden timeline": what held, if all did
  std::optional<std::string> rewrite;  // with --update: the golden timeline that is still to be written
  int status = EXIT_HELD;              // the highest that a case asks for
  enum class Kind : std::uint8_t { scenario, bad, stale_golden } kind = Kind::scenario;

  void add(CheckCase one);  // with the status that its verdict asks for
};

// What becomes of golden timelines. One is that of the scenario's own upstreams, so a gateway's file leaves
// them out.
enum class Golden : std::uint8_t { compare, update, leave_out };

// Runs a scenario that could be loaded. No exception leaves: a defect of ours becomes a case. From any
// thread.
CheckResult judge_scenario(const Scenario& scenario, const std::string& file, Golden golden,
                           const RunHooks& hooks);

// Things that can't be run.
CheckResult bad_file(const std::string& file, std::vector<Mistake> mistakes);
CheckResult stale_golden(const std::string& file);

// For people. Empty for a bad file, whose mistakes have been told when it was read.
std::string check_text(const CheckResult& result);

// TAP version 14: a test point a case, numbered on from `number`. The version line and the plan are the
// caller's.
inline constexpr const char* TAP_HEADER = "TAP version 14\n";
std::string check_tap(const CheckResult& result, std::size_t& number);
std::string check_tap_plan(std::size_t count);

// JUnit XML: a suite a file, a test case a case.
std::string check_junit(const std::vector<CheckResult>& results);

// Workflow commands of GitHub Actions: an annotation for each case that has not held and each mistake.
std::string check_github(const CheckResult& result);

}  // namespace halfopen::sim
