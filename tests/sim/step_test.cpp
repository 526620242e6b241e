#include "sim/step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "tests/sim/step_run.hpp"

using namespace halfopen::sim;
using namespace halfopen::sim::steps;

namespace {

std::string exact(const std::string& machine, const std::string& line) {
  std::istringstream in(line);
  std::ostringstream out;
  run_step(machine, in, out);
  return out.str();
}

TEST_CASE("step: these are the machines and no others") {
  for (const auto name : STEP_MACHINES) CHECK(is_step_machine(name));
  CHECK_FALSE(is_step_machine("Health"));
  CHECK_FALSE(is_step_machine(""));
}

TEST_CASE("step: an answer is one line, spelt like this") {
  CHECK(
      exact("health", R"({"op":"report","t":5,"failure":true})") ==
      R"({"result":null,"state":"healthy","ejections":0,"streak":1,"window_total":1,"window_failures":1,"events":[]})"
      "\n");
  CHECK(
      exact("breaker", R"({"op":"check"})") ==
      R"({"result":{"decision":"allow"},"state":"closed","streak":0,"window_total":0,"window_failures":0,"events":[]})"
      "\n");
  CHECK(exact("retry_budget", R"({"op":"request"})") == "{\"result\":null,\"requests\":1,\"retries\":0}\n");
  CHECK(exact("upstream", R"({"op":"build","endpoints":[{"address":"::1","port":80}],"health":{}})") ==
        R"({"result":null,"fail_open_picks":0,"late_reports_ignored":0,"inflight":[0],"states":["healthy"],)"
        R"("breaker":null,"events":[]})"
        "\n");
}

TEST_CASE("step: no input, no answers, no complaint") {
  for (const auto machine : STEP_MACHINES) {
    for (const char* text : {"", "\n", " \t\r\n\n"}) {
      const Run run = step_text(std::string(machine), text);
      CHECK(run.status == 0);
      CHECK(run.answers.empty());
    }
  }
}

TEST_CASE("step: blank lines are skipped but counted, a refusal names its line and the run goes on") {
  const Run run = step_text("retry_budget",
                            "\n{\"op\":\"request\"}\r\n  \n{\"op\":\"requets\"}\n\t\n{\"op\":\"request\"}");
  CHECK(run.status == 2);
  REQUIRE(run.answers.size() == 3);
  CHECK(run.answers[0]["requests"] == 1);
  CHECK(run.answers[1]["line"] == 4);
  CHECK(run.answers[1]["error"].get<std::string>().find("did you mean \"request\"") != std::string::npos);
  CHECK(run.answers[1].size() == 2);
  CHECK(run.answers[2]["requests"] == 2);
}

TEST_CASE("step: what is no operation is refused") {
  const std::vector<std::string> wrong{"{",
                                       "[]",
                                       "null",
                                       "7",
                                       "nonsense",
                                       "{}",
                                       R"({"t":1})",
                                       R"({"op":5})",
                                       R"({"op":"Report","failure":true})",
                                       R"({"op":"report"})",
                                       R"({"op":"report","failure":1})",
                                       R"({"op":"report","failure":null})",
                                       R"({"op":"report","failure":true,"t":-1})",
                                       R"({"op":"report","failure":true,"t":18446744073709551616})",
                                       R"({"op":"report","failure":true,"t":1.0})",
                                       R"({"op":"report","failure":true,"t":1e3})",
                                       R"({"op":"report","failure":true,"t":"1"})",
                                       R"({"op":"report","failure":true,"t":null})",
                                       R"({"op":"report","failure":true,"t":true})",
                                       R"({"op":"report","failure":true} {})",
                                       R"({"op":"report","failure":true,"failure":true})",
                                       R"({"op":"report","failure":true,"x":{"a":1,"a":2}})",
                                       R"({"op":"report","failure":true,})",
                                       R"({"op":"report","failure":true} // why)",
                                       R"({'op':'report','failure':true})",
                                       R"({"op":"report","failure":NaN})",
                                       "\xEF\xBB\xBF{\"op\":\"report\",\"failure\":true}",
                                       "{\"op\":\"report\",\"failure\":true,\"x\":\"\xFF\"}",
                                       std::string("{\"op\":\"report\",\"failure\":true}\0 x", 34)};
  for (const std::string& line : wrong) {
    CAPTURE(line);
    const Run run = step("health", {line, R"({"op":"is_available"})"});
    CHECK(run.status == 2);
    REQUIRE(run.answers.size() == 2);
    CHECK(run.answers[0]["line"] == 1);
    CHECK_FALSE(run.answers[0]["error"].get<std::string>().empty());
    CHECK(run.answers[1]["streak"] == 0);
    CHECK(run.answers[1]["window_total"] == 0);
  }
}

TEST_CASE("step: the whole range of t is good, and -0 is 0") {
  const auto seen = answers("health", {R"({"op":"report","failure":true,"t":18446744073709551615})",
                                       R"({"op":"report","failure":true,"t":-0})"});
  CHECK(seen[1]["streak"] == 2);
}

TEST_CASE("step: lines too deep, too long or of too many values are refused and don't stop the run") {
  std::vector<std::string> lines;
  const std::string deep(100000, '[');
  lines.push_back(R"({"op":"request","x":)" + deep);
  lines.push_back(R"({"op":"request","x":)" + std::string(64, '[') + std::string(64, ']') + "}");
  lines.push_back(R"({"op":"request","x":")" + std::string(std::size_t{9} << 20, 'x') + "\"}");
  std::string many = R"({"op":"request","x":[0)";
  for (int n = 0; n < 600000; ++n) many += ",0";
  lines.push_back(many + "]}");
  lines.push_back("{\"op\":\"" + std::string(std::size_t{1} << 20, 'x') + "\"}");
  lines.push_back(R"({"op":"request","x":)" + std::string(63, '[') + std::string(63, ']') + "}");
  const Run run = step("retry_budget", lines);
  CHECK(run.status == 2);
  REQUIRE(run.answers.size() == lines.size());
  for (std::size_t n = 0; n + 1 < lines.size(); ++n) {
    CAPTURE(n);
    CHECK(run.answers[n]["line"] == n + 1);
    CHECK(run.answers[n]["error"].get<std::string>().size() <= 500);
  }
  CHECK(run.answers.back()["requests"] == 1);
}

TEST_CASE("step: keys that an operation doesn't name are ignored, whatever they hold") {
  const auto seen =
      answers("health", {R"({"op":"params","nonsense":[{}],"failure":7,"consecutive_failures":2})",
                         R"({"failure":true,"eject_ms":0,"ok":"?","op":"report","T":-1})"});
  CHECK(seen[1]["streak"] == 1);
}

// Standard input as a person or a pipe gives it: a line comes only when it is asked for.
class Conversation : public std::streambuf {
 public:
  Conversation(std::vector<std::string> lines, std::ostringstream& heard)
      : lines_(std::move(lines)), heard_(heard) {}
  std::vector<std::ptrdiff_t> answers_before_line;

 protected:
  int_type underflow() override {
    const std::string heard = heard_.str();
    answers_before_line.push_back(std::count(heard.begin(), heard.end(), '\n'));
    if (next_ == lines_.size()) return traits_type::eof();
    std::string& line = lines_[next_++];
    setg(line.data(), line.data(), line.data() + line.size());
    return traits_type::to_int_type(line[0]);
  }

 private:
  std::vector<std::string> lines_;
  std::ostringstream& heard_;
  std::size_t next_ = 0;
};

TEST_CASE("step: whoever waits for an answer before asking on gets it") {
  std::ostringstream out;
  Conversation talk(
      {"{\"op\":\"request\"}\n", "{\"op\":\"request\"}\n{\"op\":", "\"request\"}\n", "nonsense"}, out);
  std::istream in(&talk);
  CHECK(run_step("retry_budget", in, out) == 2);
  // At the end libstdc++ may ask once more; nothing is owed then.
  REQUIRE(talk.answers_before_line.size() >= 5);
  for (std::size_t n = 0; n < 5; ++n) {
    CAPTURE(n);
    CHECK(talk.answers_before_line[n] == std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(n), 3));
  }
}

}  // namespace
