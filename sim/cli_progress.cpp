#include "sim/cli_progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <system_error>

#include "sim/cli_output.hpp"
#include "sim/text_layout.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

using namespace std::chrono_literals;

constexpr auto QUIET_FOR = 2s;  // most runs have ended by then
constexpr auto PERIOD = 250ms;

Nanos saturating_sum(Nanos a, Nanos b) { return a > NEVER - b ? NEVER : a + b; }

}  // namespace

Progress::Progress(std::string_view label, Nanos total) : label_(printable(label)), total_(total) {
  const std::size_t width = status_line_width();
  if (width == 0) return;
  const InterruptsBlocked in_the_watcher;
  try {
    watcher_ = std::thread([this, width] { watch(width); });
  } catch (const std::system_error&) {
    // No thread to be had: the runs matter, the line does not.
  }
}

Progress::~Progress() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    end_ = true;
  }
  ended_.notify_all();
  watcher_.join();
}

Progress::Run::Run(Progress& progress, Nanos duration) : progress_(progress), duration_(duration) {
  const std::lock_guard lock(progress_.lock_);
  progress_.running_.push_back(this);
}

Progress::Run::~Run() {
  const std::lock_guard lock(progress_.lock_);
  std::erase(progress_.running_, this);
  progress_.done_ = saturating_sum(progress_.done_, duration_);
}

void Progress::watch(std::size_t width) {
  std::unique_lock lock(lock_);
  const auto ended = [this] { return end_; };
  if (ended_.wait_for(lock, QUIET_FOR, ended)) return;
  do {
    show_status_line(line(width));
  } while (!ended_.wait_for(lock, PERIOD, ended));
  clear_status_line();
}

std::string Progress::line(std::size_t width) const {
  Nanos reached = done_;
  for (const Run* run : running_) {
    reached = saturating_sum(reached, run->reached_.load(std::memory_order_relaxed));
  }
  reached = std::min(reached, total_);
  const double share = total_ == 0 ? 1 : static_cast<double>(reached) / static_cast<double>(total_);
  constexpr Nanos SECOND = 1000 * NANOS_PER_MS;
  const std::string state =
      fmt::format(": {} of {} of virtual time, {} %", length_text(reached / SECOND * SECOND),
                  length_text(total_), static_cast<int>(share * 100));
  const std::size_t room = width > state.size() ? width - state.size() : 0;
  return shorten(shorten(label_, room, false) + state, width, false);
}

Nanos total_duration(const std::vector<Nanos>& durations) {
  return std::accumulate(durations.begin(), durations.end(), Nanos{0}, saturating_sum);
}

std::string some_files(const std::vector<std::string>& files) {
  return files.size() == 1 ? files.front() : plural(files.size(), "scenario");
}

}  // namespace halfopen::sim
