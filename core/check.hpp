// Always-on checks for what the programmer promised. Never for anything that came from the world:
// a bad file or a bad request is answered with a sentence, not with an abort.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace halfopen {

[[noreturn]] inline void check_failed(const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, what);
  std::abort();
}

}  // namespace halfopen

#define HALFOPEN_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::halfopen::check_failed(#condition, __FILE__, __LINE__))
