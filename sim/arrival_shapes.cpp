#include "sim/arrival_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "sim/latency.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim {

namespace {

constexpr double NANOS_PER_SECOND = 1e9;
constexpr double TURN = 0x1.921fb54442d18p+2;  // 2 pi

double as_double(Nanos value) { return static_cast<double>(value); }

}  // namespace

Periods::Periods(double nano_arrivals, Nanos length)
    : nano_arrivals_(nano_arrivals), length_(length), most_(LONGEST_NANOS / length) {}

double Periods::arrivals() const { return nano_arrivals_ / NANOS_PER_SECOND; }

double Periods::before(std::uint64_t number) const {
  return static_cast<double>(number) * nano_arrivals_ / NANOS_PER_SECOND;
}

// The quotient may be off by its rounding; what counts is on which side of the borders the level is.
bool Periods::find(double level, Place& out) const {
  const double quotient = level * NANOS_PER_SECOND / nano_arrivals_;
  if (!(quotient < static_cast<double>(most_))) return false;
  auto number = static_cast<std::uint64_t>(quotient);
  while (level >= before(number + 1)) ++number;
  while (level < before(number)) --number;
  out = {number * length_, level - before(number)};
  return true;
}

BurstRate::BurstRate(const BurstShape& shape)
    : shape_(shape), periods_(shape.rps * as_double(shape.length), shape.every) {}

Nanos BurstRate::offset(double level) const {
  Periods::Place place;
  if (!periods_.find(level, place)) return LONGEST_NANOS;
  return place.start + floor_nanos(place.within * NANOS_PER_SECOND / shape_.rps);
}

double BurstRate::expected(Nanos t) const {
  const Nanos on = t / shape_.every * shape_.length + std::min(t % shape_.every, shape_.length);
  return shape_.rps * as_double(on) / NANOS_PER_SECOND;
}

WaveRate::WaveRate(const WaveShape& shape)
    : shape_(shape),
      periods_(shape.mean_rps * as_double(shape.period), shape.period),
      swing_(shape.amplitude_rps * as_double(shape.period) / NANOS_PER_SECOND / TURN) {}

WaveRate::Point WaveRate::at(Nanos t) const {
  const real::CosSin turn = real::cos_sin_of_turn(t, shape_.period);
  return {shape_.mean_rps * as_double(t) / NANOS_PER_SECOND + swing_ * (1.0 - turn.cos),
          shape_.mean_rps + shape_.amplitude_rps * turn.sin};
}

// Newton's steps, kept between the two points that enclose the answer and rounded towards it; when they leave
// that stretch, or are many, its middle is taken, so that the worst case is a bisection.
Nanos WaveRate::offset(double level) const {
  constexpr int NEWTON_STEPS = 16;
  Periods::Place place;
  if (!periods_.find(level, place)) return LONGEST_NANOS;
  Nanos low = 0;
  Nanos high = shape_.period;  // L(low) <= within < L(high)
  const double share = place.within / periods_.arrivals();
  Nanos guess = std::max(Nanos{1}, floor_nanos(share * as_double(shape_.period)));
  for (int steps = 0; high - low > 1; ++steps) {
    if (guess <= low || guess >= high || steps >= NEWTON_STEPS) guess = low + (high - low) / 2;
    const Point here = at(guess);
    const double missing = place.within - here.level;
    const Nanos step = floor_nanos(std::abs(missing) / here.rate * NANOS_PER_SECOND);
    if (missing >= 0.0) {
      low = guess;
      guess += std::max(Nanos{1}, step);
    } else {
      high = guess;
      guess -= std::min(guess, step + 1);
    }
  }
  return place.start + low;
}

double WaveRate::expected(Nanos t) const {
  return as_double(t / shape_.period) * periods_.arrivals() + at(t % shape_.period).level;
}

}  // namespace halfopen::sim
