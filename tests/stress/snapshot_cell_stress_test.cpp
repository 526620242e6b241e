// Pins taken and returned by several threads while the snapshot is swapped and its count folded away. Run
// under ThreadSanitizer by `make test`.
#include "core/snapshot_cell.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/sync.hpp"

namespace halfopen {
namespace {

struct Watched : SnapshotBase<Threads> {
  Watched(std::atomic<int>& alive, std::uint64_t number)
      : alive_(alive), number_(number), twice_(2 * number) {
    ++alive_;
  }
  ~Watched() { --alive_, twice_ = 0; }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  std::atomic<int>& alive_;
  std::uint64_t number_, twice_;
};

using Cell = SnapshotCell<Threads, Watched>;

struct Readers {
  std::atomic<int> alive{0};
  std::atomic<std::uint64_t> torn{0}, pins{0};
  Cell cell{new Watched(alive, 1)};

  // Some pins are given back at once, some are held for a while.
  void read(int batches) {
    std::vector<Cell::Pin> held(16);
    std::uint64_t newest = 0;
    for (int i = 0; i < batches * 1000; ++i) {
      Cell::Pin pin = cell.pin();
      torn.fetch_add(pin->twice_ != 2 * pin->number_ || pin->number_ < newest, std::memory_order_relaxed);
      newest = pin->number_;
      if (i % 5 == 0) held[static_cast<std::size_t>(i / 5 % 16)] = std::move(pin);
      if (i % 1000 == 0) pins.fetch_add(1000, std::memory_order_relaxed);
    }
  }
};

TEST_CASE("stress: snapshots that are swapped under readers stay whole until the last pin, and then go") {
  Readers readers;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { readers.read(60); });
  for (std::uint64_t number = 2; number < 3000; ++number) {
    readers.cell.replace(new Watched(readers.alive, number));
    if (number % 8 == 0) std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  CHECK(readers.torn == 0);
  CHECK(readers.alive == 1);
}

TEST_CASE("stress: a count that is folded while it is taken, returned and swapped loses nobody") {
  constexpr std::uint64_t FOLD = std::uint64_t{1} << 21;
  Readers readers;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { readers.read(1600); });
  // Two swaps about when the count is folded: one just after, one just before.
  while (readers.pins < FOLD) std::this_thread::yield();
  readers.cell.replace(new Watched(readers.alive, 2));
  while (readers.pins < 2 * FOLD) std::this_thread::yield();
  readers.cell.replace(new Watched(readers.alive, 3));
  for (auto& thread : threads) thread.join();
  CHECK(readers.torn == 0);
  CHECK(readers.alive == 1);
  CHECK(readers.pins > 2 * FOLD);
}

}  // namespace
}  // namespace halfopen
