// When the requests of one traffic entry come. Arrival k is fixed by the entry, the seed and k alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/arrival_shapes.hpp"
#include "sim/draws.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

struct Arrival {
  Nanos at = 0;             // since the start of the run
  std::uint64_t index = 0;  // the request's number in its entry, for every draw that it will make
};

// Yields the arrivals of one entry within [from, to) and [0, duration), by (time, index); of users only the
// first of each, because when the next one comes depends on how that one ends. Made a block ahead: draws and
// logarithms of many arrivals overlap in the processor, one at a time they wait for each other. The Traffic
// must outlive it.
class ArrivalSource {
 public:
  ArrivalSource(const Traffic& traffic, std::uint64_t entry, std::uint64_t seed, Nanos duration);

  // False when there are no more, and then always.
  bool next(Arrival& out) {
    if (next_ == ready_ && !refill()) return false;
    out = block_[next_++];
    return true;
  }

 private:
  static constexpr std::size_t BLOCK = 128;

  // A linear piece of the rate, with what its formula needs.
  struct Stage {
    double before = 0;  // arrivals expected before it
    double after = 0;   // and before the one that follows
    double rate = 0;    // 1/s, where it starts
    double bend = 0;    // 2 * (r1 - r0) / d, 1/s^2
    Nanos start = 0;    // since the entry's `from`
  };

  void prepare(const ArrivalProcess& process);
  void prepare(const ArrivalTimes& times);
  void prepare(const ArrivalEvery& every);
  void prepare(const Users& users);
  bool refill();
  void fill(const ArrivalProcess& process);
  void fill(const ArrivalTimes& times);
  void fill(const ArrivalEvery& every);
  void fill(const Users& users);
  void reach_levels(bool poisson, double* levels);
  template <class Offset>
  void append_at(const double* levels, Offset offset);
  Nanos offset_in_stages(double level);
  void append(Nanos at, std::uint64_t index);

  const Traffic* traffic_;
  std::uint64_t entry_;
  Stream stream_;
  Nanos end_;                  // excluded: the lesser of `to` and the run's end
  bool done_ = false;          // nothing left to make
  std::uint64_t made_ = 0;     // the index to make next; for at_ms the place in the sorted order
  std::uint64_t last_ = 0;     // at_ms: where that ends
  double level_ = 0;           // poisson: S of the arrival made last
  std::size_t stage_ = 0;      // the one in which the last S fell
  std::vector<Stage> stages_;  // only those in which arrivals can fall
  std::optional<BurstRate> burst_;
  std::optional<WaveRate> wave_;
  std::vector<std::uint64_t> order_;  // at_ms in no order: places in the list by (time, place)
  std::size_t next_ = 0;              // block_[next_, ready_) may go out; one more may wait behind
  std::size_t ready_ = 0, size_ = 0;
  std::array<Arrival, BLOCK + 1> block_;
};

// The index of a user's request: so many users and so many requests of each can be told apart.
constexpr std::uint64_t request_index(std::uint64_t user, std::uint64_t iteration) {
  return (user << 32) + iteration;
}

// How many arrivals the entry will have, on average: what the limit on a scenario's size is judged by. Users
// count as if every answer came at once; the tries of clients that come again are not counted.
double expected_arrivals(const Traffic& traffic, Nanos duration);

}  // namespace halfopen::sim
