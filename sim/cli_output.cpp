#include "sim/cli_output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <system_error>
#include <utility>

#include "sim/cli.hpp"
#include "sim/cli_output_place.hpp"
#include "sim/cli_reader.hpp"

namespace halfopen::sim {

namespace {

namespace fs = std::filesystem;

// The temporary file that an interrupt has to remove: fixed storage, because a signal handler may touch
// nothing else. `temporary_exists` is set only while the name is complete.
std::array<char, 4096> temporary_name;
volatile std::sig_atomic_t temporary_exists = 0;

// A status line is on the terminal now. `line_lock` keeps writers from writing into it.
std::atomic<bool> status_shown = false;
std::atomic<bool> leaving = false;                      // an interrupt came: no line is to be shown any more
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler may read it
std::mutex line_lock;
bool reader_left = false;  // of standard output
constexpr std::string_view TAKE_LINE_BACK = "\r\x1b[K";

extern "C" void leave_on_signal(int signal) {
  leaving = true;
  if (status_shown && ::write(STDERR_FILENO, TAKE_LINE_BACK.data(), TAKE_LINE_BACK.size()) < 0) {
    // The terminal is gone, and its line with it.
  }
  if (temporary_exists != 0) ::unlink(temporary_name.data());
  ::_exit(128 + signal);  // 130 for an interrupt, as shells have it
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// With the lock held.
void take_line_back() {
  if (status_shown.exchange(false)) write_all(STDERR_FILENO, TAKE_LINE_BACK);
}

std::string reason() { return std::generic_category().message(errno); }

int cannot_write(std::string_view what) {
  say(fmt::format("halfopen: can't write to {}: {}", what, reason()));
  return EXIT_BAD_INPUT;
}

// A temporary file beside `target`, removed again unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const std::string& target) {
    const std::string pattern = target + ".XXXXXX";
    if (pattern.size() >= temporary_name.size()) {
      errno = ENAMETOOLONG;
      return;
    }
    std::memcpy(temporary_name.data(), pattern.c_str(), pattern.size() + 1);
    const InterruptsBlocked between_making_it_and_knowing_it;
    fd_ = ::mkstemp(temporary_name.data());
    temporary_exists = fd_ >= 0 ? 1 : 0;
  }

  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  ~Temporary() {
    const int error = errno;  // the caller still wants to say what went wrong
    if (fd_ >= 0) ::close(fd_);
    if (temporary_exists != 0) ::unlink(temporary_name.data());
    temporary_exists = 0;
    errno = error;
  }

  bool opened() const { return fd_ >= 0; }

  bool fill(std::string_view text, mode_t mode) {
    return write_all(fd_, text) && ::fchmod(fd_, mode) == 0 && ::fsync(fd_) == 0;
  }

  bool rename_to(const std::string& target) {
    if (::close(std::exchange(fd_, -1)) != 0) return false;
    if (::rename(temporary_name.data(), target.c_str()) != 0) return false;
    temporary_exists = 0;
    return true;
  }

 private:
  int fd_ = -1;
};

int write_stream(int fd, const std::string& path, std::string_view text) {
  if (fd == STDOUT_FILENO) return write_stdout(text);
  return write_all(fd, text) || errno == EPIPE ? EXIT_HELD : cannot_write(path);
}

// The permissions of the file that is replaced, or those that a new file would get.
mode_t mode_for(const std::string& target) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

int write_special(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return cannot_write(path);
  const bool done = write_all(fd, text) || errno == EPIPE;
  const int status = done ? EXIT_HELD : cannot_write(path);
  ::close(fd);
  return status;
}

}  // namespace

void prepare_process() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number. Reading only, so that writing to it still fails and is told.
    if (::open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) return;
  }
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : INTERRUPTS) {
    // Whoever starts us with a signal ignored (nohup, a shell's background) wants it so.
    if (std::signal(signal, leave_on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void show_status_line(std::string_view line) {
  const std::lock_guard lock(line_lock);
  if (leaving) return;
  status_shown = true;
  write_all(STDERR_FILENO, std::string(TAKE_LINE_BACK).append(line));
}

void clear_status_line() {
  const std::lock_guard lock(line_lock);
  take_line_back();
}

std::size_t status_line_width() {
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb" || ::isatty(STDERR_FILENO) != 1) return 0;
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? std::min<std::size_t>(size.ws_col, PAGE_WIDTH) : PAGE_WIDTH) - 1;  // room for the cursor
}

void say(std::string_view text) {
  std::string line(text);
  line += '\n';
  const std::lock_guard lock(line_lock);
  take_line_back();
  write_to_reader(STDERR_FILENO, line);  // nobody is left to tell if this fails
}

int write_stdout(std::string_view text) {
  int error = 0;
  {
    const std::lock_guard lock(line_lock);
    take_line_back();
    if (reader_left || write_to_reader(STDOUT_FILENO, text)) return EXIT_HELD;
    error = errno;
  }
  if (error == ETIMEDOUT) {
    say("halfopen: standard output is not read: what was left to tell is lost");
    return EXIT_BAD_INPUT;
  }
  reader_left = error == EPIPE;
  errno = error;
  return reader_left ? EXIT_HELD : cannot_write("standard output");
}

bool stdout_reader_left() {
  const std::lock_guard lock(line_lock);
  return reader_left;
}

int write_file(const std::string& path, std::string_view text) {
  const OutputPlace place = output_place(path);
  if (place.stream) return write_stream(*place.stream, path, text);
  if (is_special(path)) return write_special(path, text);
  const std::string& target = place.file;
  Temporary temporary(target);
  if (!temporary.opened() || !temporary.fill(text, mode_for(target)) || !temporary.rename_to(target)) {
    return cannot_write(path);
  }
  return EXIT_HELD;
}

bool stdout_wants_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

std::optional<std::string> read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

}  // namespace halfopen::sim
