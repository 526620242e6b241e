#include "sim/cli_sweep_progress.hpp"

#include <fmt/core.h>

#include <chrono>
#include <string>

#include "sim/cli_output.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::uint64_t QUIET_TICKS = 4;

std::string time_left(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h", (whole + 1800) / 3600);
}

}  // namespace

SweepProgress::SweepProgress(bool wanted) {
  if (!wanted || status_line_width() == 0) return;
  const InterruptsBlocked in_the_timer;
  timer_.emplace([this] { count_time(); });
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
  std::string line = fmt::format("{}/{} runs", grouped(done), grouped(total));
  if (done > 0) {
    const double speed = static_cast<double>(done) / seconds;
    line += fmt::format(", {} runs/s, ETA {}", decimal(speed, speed < 10 ? 1 : 0),
                        time_left(static_cast<double>(total - done) / speed));
  }
  show_status_line(line);
}

void SweepProgress::erase() {
  if (shown_) clear_status_line();
  shown_ = false;
}

}  // namespace halfopen::sim
