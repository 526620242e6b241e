// Where the rows of a sweep go: standard output, a device, or a file that grows by whole lines, so that a
// sweep that was ended goes on where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halfopen::sim {

class RowSink {
 public:
  enum class State : std::uint8_t {
    open,
    reader_left,  // of a pipe: it wanted no more, which is no error
    failed        // told already
  };

  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  ~RowSink();

  // Opens `path`, creating it if need be; empty or "-" is standard output. A regular file is locked against a
  // second sweep. False after saying why not.
  bool open(const std::string& path);

  // A file that may hold rows already; nothing else can be gone on with.
  bool resumable() const { return regular_; }

  // What the file holds; none after saying why it can't be read.
  std::optional<std::string> content();

  // Goes on after the first `bytes` of the file and drops what is behind them.
  void keep(std::size_t bytes);

  // Whole lines, which are with the system when this returns.
  void write(std::string_view lines);
  State state() const { return state_; }

 private:
  void fail();

  std::string name_ = "standard output";
  int fd_ = -1;
  bool regular_ = false;
  std::size_t size_ = 0;  // of a regular file, in whole lines
  State state_ = State::open;
};

// From now on an interrupt (SIGINT, SIGTERM) only raises a flag, so that no line is cut; a second one ends
// the process at once. Signals that are ignored stay so.
void catch_interrupts();

// The exit status if there was one: 130 or 143.
std::optional<int> interrupted();

}  // namespace halfopen::sim
