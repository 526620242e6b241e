// The first line of an answer, read as it arrives: the whole verdict of an http probe. Its shape is
//   HTTP/1.<digit> SP <3 digits> ( SP anything )? ( LF | CR LF )
// and nothing else is a status line. std only and without a socket, so that it can be tested and fuzzed
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halfopen {

// What a status says to a probe: 2xx is a success; 1xx, redirects (which are not followed), 4xx and 5xx are
// failures (seed 001).
constexpr bool is_probe_success(unsigned status) noexcept { return status >= 200 && status < 300; }

class StatusLineReader {
 public:
  enum class Progress : std::uint8_t {
    more,       // a line so far, without its end
    status,     // a whole status line: status() has its number
    malformed,  // no continuation could make it a status line
    too_long,   // MAX_BYTES came without a line end
  };

  static constexpr std::size_t MAX_BYTES = 4096;

  // The next bytes, split anywhere. Reads up to the line's end; once the answer is not `more` it stays.
  Progress feed(std::string_view bytes) noexcept;

  Progress progress() const noexcept { return progress_; }
  unsigned status() const noexcept { return status_; }  // 0 … 999; meaningful after `status`
  // Up to what decided the answer, which is included: the line's end, or the byte that was wrong.
  std::size_t bytes_read() const noexcept { return read_; }

 private:
  enum class Expect : std::uint8_t { prefix, minor_version, blank, digits, after_digits, reason, line_feed };

  Progress take(char c) noexcept;

  std::size_t read_ = 0;
  unsigned status_ = 0;
  std::uint8_t digits_ = 0;
  Expect expect_ = Expect::prefix;
  Progress progress_ = Progress::more;
};

}  // namespace halfopen
