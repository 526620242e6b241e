// Writing to whoever reads standard output or standard error, and for how long one that does not read is
// waited for.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

namespace halfopen::sim {

// While one lives, a write to a standard stream waits for its reader for ever only until `is_over`; from then
// on as long as the reader takes something at least every GRACE. A command that can be asked to end has one,
// so that a pipe that nobody reads does not hold it. One at a time, and made by the first thread before it
// starts others; `is_over` is asked on threads that write.
class ReaderPatience {
 public:
  static constexpr std::chrono::seconds GRACE{5};

  explicit ReaderPatience(std::function<bool()> is_over);
  ~ReaderPatience();
  ReaderPatience(const ReaderPatience&) = delete;
  ReaderPatience& operator=(const ReaderPatience&) = delete;

 private:
  friend bool write_to_reader(int fd, std::string_view text);
  bool is_spent();

  std::function<bool()> is_over_;
  std::chrono::milliseconds waited_{0};  // since it is over and since the reader took something last
};

// Whether all of it went out; otherwise errno says why not, ETIMEDOUT that the patience was spent. With the
// lock of the caller, if several threads write.
bool write_to_reader(int fd, std::string_view text);

}  // namespace halfopen::sim
