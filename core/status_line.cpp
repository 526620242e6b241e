#include "core/status_line.hpp"

namespace halfopen {
namespace {

constexpr std::string_view PREFIX = "HTTP/1.";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

StatusLineReader::Progress StatusLineReader::feed(std::string_view bytes) noexcept {
  for (const char c : bytes) {
    if (progress_ != Progress::more) break;
    progress_ = take(c);
    ++read_;
    if (progress_ == Progress::more && read_ == MAX_BYTES) progress_ = Progress::too_long;
  }
  return progress_;
}

StatusLineReader::Progress StatusLineReader::take(char c) noexcept {
  switch (expect_) {
    case Expect::prefix:
      if (c != PREFIX[read_]) return Progress::malformed;
      if (read_ + 1 == PREFIX.size()) expect_ = Expect::minor_version;
      return Progress::more;
    case Expect::minor_version:
      expect_ = Expect::blank;
      return is_digit(c) ? Progress::more : Progress::malformed;
    case Expect::blank: expect_ = Expect::digits; return c == ' ' ? Progress::more : Progress::malformed;
    case Expect::digits:
      if (!is_digit(c)) return Progress::malformed;
      status_ = status_ * 10 + static_cast<unsigned>(c - '0');
      if (++digits_ == 3) expect_ = Expect::after_digits;
      return Progress::more;
    case Expect::after_digits:
      if (c == '\n') return Progress::status;
      expect_ = c == '\r' ? Expect::line_feed : Expect::reason;
      return c == '\r' || c == ' ' ? Progress::more : Progress::malformed;
    case Expect::line_feed: return c == '\n' ? Progress::status : Progress::malformed;
    case Expect::reason: return c == '\n' ? Progress::status : Progress::more;
  }
  return Progress::malformed;
}

}  // namespace halfopen
