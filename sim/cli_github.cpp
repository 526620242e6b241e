#include "sim/cli_github.hpp"

#include <fmt/core.h>

#include <filesystem>

namespace halfopen::sim {

namespace {

// What a workflow command is cut at. A property ends at a comma or colon as well.
std::string escaped(std::string_view text, bool property) {
  constexpr std::string_view IN_MESSAGES = "%\r\n", IN_PROPERTIES = "%\r\n:,";
  const std::string_view special = property ? IN_PROPERTIES : IN_MESSAGES;
  std::string out;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

}  // namespace

std::string github_annotation(std::string_view level, const std::string& file, const SourcePlace& place,
                              const std::string& title, const std::string& message) {
  // Relative to the root of the repository, as GitHub wants it, if that is where it was checked from.
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  std::string out = fmt::format("::{} file={}", level, escaped(path, true));
  if (place.line > 0) out += fmt::format(",line={},col={}", place.line, place.column);
  return out + fmt::format(",title={}::{}\n", escaped(title, true), escaped(message, false));
}

}  // namespace halfopen::sim
