#include "sim/cli_sweep_progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::uint64_t QUIET_TICKS = 4;

void write_now(std::string_view text) {
  // A terminal that does not take it has nothing to show; there is nobody to tell.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

std::string time_left(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h", (whole + 1800) / 3600);
}

}  // namespace

SweepProgress::SweepProgress(bool wanted) {
  if (wanted && ::isatty(STDERR_FILENO) == 1) timer_.emplace([this] { count_time(); });
}

SweepProgress::~SweepProgress() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  timer_.reset();
  erase();
}

// Half seconds are counted by a thread that sleeps, because nothing here asks what time it is.
void SweepProgress::count_time() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(500), [this] { return end_; })) ++ticks_;
}

void SweepProgress::show(std::uint64_t done, std::uint64_t total) {
  const std::uint64_t now = ticks_;
  if (now < QUIET_TICKS || now == shown_at_) return;
  shown_at_ = now;
  shown_ = true;
  const double seconds = static_cast<double>(now) / 2;
  std::string line = fmt::format("\r{}/{} runs", grouped(done), grouped(total));
  if (done > 0) {
    const double speed = static_cast<double>(done) / seconds;
    line += fmt::format(", {} runs/s, ETA {}", decimal(speed, speed < 10 ? 1 : 0),
                        time_left(static_cast<double>(total - done) / speed));
  }
  write_now(line + "\x1b[K");
}

void SweepProgress::erase() {
  if (shown_) write_now("\r\x1b[K");
  shown_ = false;
}

}  // namespace halfopen::sim
