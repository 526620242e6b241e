// The loop of `step`: lines in, answers out.
#include "sim/step_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ios>
#include <istream>
#include <ostream>
#include <streambuf>

#include "core/check.hpp"
#include "sim/step.hpp"

namespace halfopen::sim {
namespace {

constexpr std::size_t BLOCK = std::size_t{64} << 10;  // bytes of answers written at once
constexpr std::size_t LONGEST_SENTENCE = 500;  // bytes: a message may quote what is as long as the line

std::unique_ptr<StepMachine> make_machine(std::string_view name) {
  if (name == "health") return make_step_health();
  if (name == "breaker") return make_step_breaker();
  if (name == "retry_budget") return make_step_budget();
  HALFOPEN_CHECK(name == "upstream");
  return make_step_upstream();
}

std::string_view sentence(std::string_view text) {
  if (text.size() <= LONGEST_SENTENCE) return text;
  std::size_t cut = LONGEST_SENTENCE;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a character
  return text.substr(0, cut);
}

// Answers gather here until a block is full or the reader is about to wait.
class Output {
 public:
  explicit Output(std::ostream& out) : out_(out) {}

  std::string& buffer() { return buffer_; }
  bool good() const { return out_.good(); }

  void full_block() {
    if (buffer_.size() >= BLOCK) write();
  }
  void before_waiting() {
    if (buffer_.empty()) return;
    write();
    out_.flush();
  }

 private:
  void write() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream& out_;
  std::string buffer_;
};

// Lines of bounded length. std::getline would take a line without an end into memory whole.
class LineReader {
 public:
  LineReader(std::istream& in, Output& out) : in_(in), out_(out) {}

  // False at the end. A line without a newline at the end of the input is one.
  bool next() {
    line_.clear();
    too_long_ = false;
    try {
      return read();
    } catch (
        const std::ios_base::failure&) {  // a directory, a disk error: libstdc++ says it only in this way
      in_.setstate(std::ios_base::badbit);
      return false;
    }
  }

  std::string_view line() const { return line_; }
  bool too_long() const { return too_long_; }

 private:
  bool read() {
    std::streambuf& bytes = *in_.rdbuf();
    for (;;) {
      if (bytes.in_avail() <= 0) out_.before_waiting();
      const int byte = bytes.sbumpc();
      if (byte == std::char_traits<char>::eof()) return !line_.empty();
      if (byte == '\n') return true;
      if (line_.size() == MAX_STEP_LINE) {
        too_long_ = true;
      } else {
        line_ += static_cast<char>(byte);
      }
    }
  }

  std::istream& in_;
  Output& out_;
  std::string line_;
  bool too_long_ = false;
};

class Stepper {
 public:
  explicit Stepper(std::string_view machine) : machine_(make_machine(machine)) {}

  // Appends the answer to a line that is not blank. False: it was refused.
  bool answer(const LineReader& reader, std::uint64_t number, std::string& out) {
    error_.clear();
    Answer answer(out);
    const std::size_t start = out.size();
    if (reader.too_long()) {
      error_ = fmt::format("the line is longer than {} bytes", MAX_STEP_LINE);
    } else if (const Json* const operation = parser_.read(reader.line(), error_)) {
      StepFields fields(*operation, error_);
      const std::uint64_t t = fields.find("t") == nullptr ? 0 : fields.whole("t", 0);
      if (fields.good()) machine_->step(fields, Instant{t}, answer);
    }
    if (!error_.empty()) {
      out.resize(start);  // what was begun of an answer is not one
      answer.text("error", sentence(error_));
      answer.number("line", number);
    }
    answer.end();
    out += '\n';
    return error_.empty();
  }

 private:
  std::unique_ptr<StepMachine> machine_;
  StepParser parser_;
  std::string error_;
};

}  // namespace

void EventLog::show(Answer& answer) const {
  std::string& out = answer.key("events");
  out += '[';
  for (const Event& event : events_) {
    if (out.back() != '[') out += ',';
    Answer one(out);
    one.word("type", to_string(event.type));
    if (event.rule != Rule::none) one.word("rule", to_string(event.rule));
    if (event.via != Via::none) one.word("via", to_string(event.via));
    if (event.subject && !event.subject->endpoint.empty()) one.text("endpoint", event.subject->endpoint);
    one.end();
  }
  out += ']';
}

void refuse_operation(StepFields& fields, std::string_view name, const std::vector<std::string_view>& known) {
  fields.refuse(fmt::format("there is no operation {}{} (known: {})", shown(Json(name)),
                            did_you_mean(name, known), fmt::join(known, ", ")));
}

bool is_step_machine(std::string_view name) noexcept {
  return std::find(STEP_MACHINES.begin(), STEP_MACHINES.end(), name) != STEP_MACHINES.end();
}

int run_step(const std::string& machine, std::istream& in, std::ostream& out) {
  Stepper stepper(machine);
  Output output(out);
  LineReader reader(in, output);
  bool refused = false;
  for (std::uint64_t number = 1; output.good() && reader.next(); ++number) {
    if (reader.line().find_first_not_of(" \t\r") == std::string_view::npos) continue;
    refused |= !stepper.answer(reader, number, output.buffer());
    output.full_block();
  }
  output.before_waiting();
  return refused ? 2 : 0;
}

}  // namespace halfopen::sim
