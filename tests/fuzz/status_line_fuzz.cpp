// Lengths of segments (a byte each, in turn over and over), a NUL byte, and what an endpoint answers.
// However it is cut, the reader's answer is the oracle's, and nothing behind the line's end counts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "tests/support/status_line_oracle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t border = input.find('\0');
  if (border == std::string_view::npos) return 0;
  const std::string broken = halfopen::testing::broken_promise<halfopen::StatusLineReader>(
      input.substr(border + 1), input.substr(0, border));
  if (!broken.empty()) std::fprintf(stderr, "%s\n", broken.c_str());
  HALFOPEN_CHECK(broken.empty());
  return 0;
}
