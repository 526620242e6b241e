#include "sim/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "core/check.hpp"
#include "sim/latency.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim {

namespace {

constexpr double NANOS_PER_SECOND = 1e9;

double seconds(Nanos length) { return static_cast<double>(length) / NANOS_PER_SECOND; }

// The part of the run that an entry covers, [from, this).
Nanos end_of(const Traffic& traffic, Nanos duration) {
  return std::min({traffic.to, duration, LONGEST_NANOS});
}

// Twice the arrivals that a stage expects, times 10^9. In these units whole rates and lengths add up without
// rounding, and a border that is a whole number of arrivals is exactly that number once it is divided.
double twice_nano_arrivals(const RateStage& stage) {
  return (stage.from_rps + stage.to_rps) * static_cast<double>(stage.length);
}

}  // namespace

ArrivalSource::ArrivalSource(const Traffic& traffic, std::uint64_t entry, std::uint64_t seed, Nanos duration)
    : traffic_(&traffic),
      entry_(entry),
      stream_(seed, "arrivals:" + std::to_string(entry)),
      end_(end_of(traffic, duration)),
      done_(traffic.from >= end_) {
  std::visit([this](const auto& source) { prepare(source); }, traffic.source);
}

// Stages in which no arrival falls, at 0 throughout or of no length, are left out; the others keep their
// times.
void ArrivalSource::prepare(const ArrivalProcess& process) {
  if (process.burst) burst_.emplace(*process.burst);
  if (process.wave) wave_.emplace(*process.wave);
  const bool never = process.burst            ? burst_->empty()
                     : process.wave           ? wave_->empty()
                     : process.stages.empty() ? !(process.rate_rps > 0.0)
                                              : false;
  done_ = done_ || never;
  double sum = 0;
  double before = 0;
  Nanos start = 0;
  for (const RateStage& stage : process.stages) {
    sum += twice_nano_arrivals(stage);
    const double after = sum / (2.0 * NANOS_PER_SECOND);
    if (after > before) {
      const double bend = 2.0 * (stage.to_rps - stage.from_rps) / seconds(stage.length);
      stages_.push_back({before, after, stage.from_rps, bend, start});
    }
    before = after;
    start += stage.length;
  }
}

void ArrivalSource::prepare(const ArrivalTimes& times) {
  const std::vector<Nanos>& at = times.at;
  if (std::is_sorted(at.begin(), at.end())) {
    made_ = static_cast<std::uint64_t>(std::lower_bound(at.begin(), at.end(), traffic_->from) - at.begin());
    last_ = static_cast<std::uint64_t>(std::lower_bound(at.begin(), at.end(), end_) - at.begin());
    return;
  }
  for (std::uint64_t place = 0; place < at.size(); ++place) {
    if (at[place] >= traffic_->from && at[place] < end_) order_.push_back(place);
  }
  std::stable_sort(order_.begin(), order_.end(), [&at](auto a, auto b) { return at[a] < at[b]; });
  last_ = order_.size();
}

void ArrivalSource::prepare(const ArrivalEvery& every) { HALFOPEN_CHECK(every.every > 0); }

void ArrivalSource::prepare(const Users& users) {
  HALFOPEN_CHECK(users.count > 0);
  last_ = users.count;
}

// The last of a block waits for the next block: within a rising stage and at the border of two, rounding may
// put arrival k + 1 a nanosecond before arrival k, and the two must still go out by time.
bool ArrivalSource::refill() {
  if (size_ > ready_) block_[0] = block_[ready_];
  size_ -= ready_;
  next_ = ready_ = 0;
  while (!done_ && size_ < 2) {
    std::visit([this](const auto& source) { fill(source); }, traffic_->source);
  }
  ready_ = done_ ? size_ : size_ - 1;
  return ready_ > 0;
}

void ArrivalSource::fill(const ArrivalProcess& process) {
  std::array<double, BLOCK> levels;
  reach_levels(process.poisson, levels.data());
  if (burst_) {
    append_at(levels.data(), [this](double level) { return burst_->offset(level); });
  } else if (wave_) {
    append_at(levels.data(), [this](double level) { return wave_->offset(level); });
  } else if (process.stages.empty()) {
    const double rate = process.rate_rps;
    append_at(levels.data(), [rate](double level) { return floor_nanos(level * NANOS_PER_SECOND / rate); });
  } else {
    append_at(levels.data(), [this](double level) { return offset_in_stages(level); });
  }
  made_ += BLOCK;
}

template <class Offset>
void ArrivalSource::append_at(const double* levels, Offset offset) {
  for (std::size_t i = 0; i < BLOCK && !done_; ++i) append(traffic_->from + offset(levels[i]), made_ + i);
}

void ArrivalSource::fill(const ArrivalTimes& times) {
  for (std::size_t i = 0; i < BLOCK && made_ < last_; ++i, ++made_) {
    const std::uint64_t place = order_.empty() ? made_ : order_[made_];
    append(times.at[place], place);
  }
  if (made_ == last_) done_ = true;
}

void ArrivalSource::fill(const ArrivalEvery& every) {
  const Nanos gap = std::min(every.every, LONGEST_NANOS);  // so that one step past the end can't wrap
  for (std::size_t i = 0; i < BLOCK && !done_; ++i, ++made_) append(traffic_->from + made_ * gap, made_);
}

// User u starts at from_ms + floor(u * think_ms / count) ms: evenly over the first think time, in whole ms.
void ArrivalSource::fill(const Users& users) {
  __extension__ typedef unsigned __int128 Wide;
  for (std::size_t i = 0; i < BLOCK && made_ < last_ && !done_; ++i, ++made_) {
    const auto wait =
        static_cast<Nanos>(Wide{made_} * users.think / (users.count * NANOS_PER_MS)) * NANOS_PER_MS;
    append(traffic_->from + wait, request_index(made_, 0));
  }
  if (made_ == last_) done_ = true;
}

// The expected numbers S at which the next BLOCK arrivals come: k itself, or a sum of exponential gaps.
void ArrivalSource::reach_levels(bool poisson, double* levels) {
  if (!poisson) {
    for (std::size_t i = 0; i < BLOCK; ++i) levels[i] = static_cast<double>(made_ + i);
    return;
  }
  std::array<std::uint64_t, BLOCK> words;
  philox_word0_batch({made_, 0, entry_, REQUEST_DRAW}, stream_.key(), words.data(), BLOCK);
  for (std::size_t i = 0; i < BLOCK; ++i) {
    level_ = level_ - real::ln(1.0 - unit(words[i]));
    levels[i] = level_;
  }
}

// Where the expected number reaches `level`, in ns since `from`; ever later levels are asked. The formula is
// taken from left to right, its root never of less than 0, which rounding could make of the very end of a
// stage that falls to 0.
Nanos ArrivalSource::offset_in_stages(double level) {
  while (stage_ < stages_.size() && level >= stages_[stage_].after) ++stage_;
  if (stage_ == stages_.size()) return LONGEST_NANOS;
  const Stage& stage = stages_[stage_];
  const double within = level - stage.before;
  if (within <= 0.0) return stage.start;
  const double root = std::sqrt(std::max(0.0, stage.rate * stage.rate + stage.bend * within));
  return stage.start + floor_nanos(NANOS_PER_SECOND * 2.0 * within / (stage.rate + root));
}

// Into its place by time; the first one that comes too late ends the entry.
void ArrivalSource::append(Nanos at, std::uint64_t index) {
  if (at >= end_) {
    done_ = true;
    return;
  }
  std::size_t place = size_++;
  for (; place > 0 && block_[place - 1].at > at; --place) block_[place] = block_[place - 1];
  block_[place] = {at, index};
}

namespace {

// All of a window that is not empty.
double expected(const ArrivalProcess& process, Nanos window) {
  if (process.burst) return BurstRate(*process.burst).expected(window);
  if (process.wave) return WaveRate(*process.wave).expected(window);
  if (process.stages.empty()) return process.rate_rps * seconds(window);
  double sum = 0;
  for (RateStage stage : process.stages) {
    if (stage.length > window) {
      const double share = seconds(window) / seconds(stage.length);
      stage.to_rps = stage.from_rps + (stage.to_rps - stage.from_rps) * share;
      stage.length = window;
    }
    sum += twice_nano_arrivals(stage);
    window -= stage.length;
  }
  return sum / (2.0 * NANOS_PER_SECOND);
}

double expected(const ArrivalEvery& every, Nanos window) {
  if (every.every == 0) return std::numeric_limits<double>::infinity();
  const Nanos after_first = (window - 1) / every.every;
  return static_cast<double>(after_first) + 1.0;
}

double expected(const Users& users, Nanos window) {
  return static_cast<double>(users.count) * (seconds(window) / seconds(users.think));
}

}  // namespace

double expected_arrivals(const Traffic& traffic, Nanos duration) {
  const Nanos end = end_of(traffic, duration);
  if (traffic.from >= end) return 0.0;
  if (const auto* times = std::get_if<ArrivalTimes>(&traffic.source)) {
    return static_cast<double>(std::count_if(times->at.begin(), times->at.end(),
                                             [&](Nanos at) { return at >= traffic.from && at < end; }));
  }
  const Nanos window = end - traffic.from;
  if (const auto* every = std::get_if<ArrivalEvery>(&traffic.source)) return expected(*every, window);
  if (const auto* users = std::get_if<Users>(&traffic.source)) return expected(*users, window);
  return expected(std::get<ArrivalProcess>(traffic.source), window);
}

}  // namespace halfopen::sim
