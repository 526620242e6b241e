#include "sim/cli_output_place.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "sim/cli_output.hpp"

namespace halfopen::sim {

namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

// "/dev/stdout", "/proc/self/fd/7": such a name is asked before it is followed, because behind it is the file
// that a shell has opened, perhaps to append to.
std::optional<int> stream_of(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view number = path.substr(folder.size());
    int fd = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fd);
    if (error == std::errc() && end == number.data() + number.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

}  // namespace

OutputPlace output_place(const std::string& path) {
  constexpr int MOST_LINKS = 40;  // as the system has it
  fs::path place(path);
  for (int n = 0; n < MOST_LINKS; ++n) {
    if (const auto stream = stream_of(place.string())) return {stream, path};
    std::error_code error;
    if (!fs::is_symlink(place, error)) return {std::nullopt, place.string()};
    const fs::path next = fs::read_symlink(place, error);
    if (error) break;
    place = place.parent_path() / next;  // an absolute one replaces it
  }
  return {std::nullopt, path};
}

bool is_special(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

std::optional<std::string> why_not_writable(const std::string& path) {
  const OutputPlace place = output_place(path);
  if (place.stream) {
    const int flags = ::fcntl(*place.stream, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return std::nullopt;
    return fmt::format("can't write to {}: {}", path, reason(EBADF));
  }
  std::error_code error;
  if (fs::is_directory(path, error)) return path + " is a directory; name a file in it";
  if (error == std::errc::too_many_symbolic_link_levels) {
    return fmt::format("can't write to {}: {}", path, error.message());
  }
  if (is_special(path)) return std::nullopt;
  const fs::path parent = fs::path(place.file).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return fmt::format("can't write to {}: {}: {}", path, directory, reason(errno));
}

std::optional<std::string> output_problem(std::string_view option, const std::string& output,
                                          const std::vector<std::string>& inputs) {
  if (names_stdout(output)) return std::nullopt;
  if (is_special(output)) return why_not_writable(output);
  std::error_code error;
  const fs::path target = fs::weakly_canonical(output, error);
  for (const std::string& input : inputs) {
    if (!fs::equivalent(input, output, error) && fs::weakly_canonical(input, error) != target) continue;
    return fmt::format("{} {} would overwrite {}; name another file", option, output, input);
  }
  return why_not_writable(output);
}

std::optional<std::string> why_not_readable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return "it is a directory";
  if (::access(path.c_str(), R_OK) != 0) return reason(errno);
  return std::nullopt;
}

}  // namespace halfopen::sim
