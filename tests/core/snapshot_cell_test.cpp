#include "core/snapshot_cell.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "core/sync.hpp"
#include "tests/core/meddled.hpp"

namespace halfopen {
namespace {

using testing::Meddled;

constexpr int MORE_THAN_A_FOLD = (1 << 21) + 1000;

template <class Sync>
struct Counted : SnapshotBase<Sync> {
  Counted(int& alive, int number) : alive_(alive), number_(number) { ++alive_; }
  ~Counted() { --alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int& alive_;
  int number_;
};

template <class Sync>
using Cell = SnapshotCell<Sync, Counted<Sync>>;

TEST_CASE_TEMPLATE("snapshot cell: a pin reads what was current and keeps it alive past the swap", Sync,
                   Threads, Single) {
  int alive = 0;
  {
    Cell<Sync> cell(new Counted<Sync>(alive, 1));
    auto first = cell.pin();
    auto again = cell.pin();
    cell.replace(new Counted<Sync>(alive, 2));
    CHECK(alive == 2);
    CHECK(first->number_ == 1);
    CHECK(cell.pin()->number_ == 2);
    first.reset();
    CHECK(alive == 2);
    again.reset();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("snapshot cell: without a pin the old one goes at the swap, however often it was pinned before") {
  int alive = 0;
  Cell<Threads> cell(new Counted<Threads>(alive, 0));
  for (int i = 1; i < 1000; ++i) {
    for (int pins = 0; pins < i % 7; ++pins) CHECK(cell.pin()->number_ == i - 1);
    cell.replace(new Counted<Threads>(alive, i));
    REQUIRE(alive == 1);
  }
}

TEST_CASE("snapshot cell: a pin outlives the cell") {
  int alive = 0;
  Cell<Threads>::Pin pin;
  CHECK_FALSE(pin);
  {
    Cell<Threads> cell(new Counted<Threads>(alive, 5));
    pin = cell.pin();
  }
  CHECK(alive == 1);
  CHECK((*pin).number_ == 5);
  pin.reset();
  pin.reset();
  CHECK(alive == 0);
}

TEST_CASE("snapshot cell: a moved pin is one pin, and assigning over one gives it back") {
  int alive = 0;
  Cell<Threads> cell(new Counted<Threads>(alive, 1));
  auto one = cell.pin();
  auto moved = std::move(one);
  CHECK(moved);
  cell.replace(new Counted<Threads>(alive, 2));
  CHECK(alive == 2);
  moved = cell.pin();
  CHECK(alive == 1);
  CHECK(moved->number_ == 2);
}

TEST_CASE_TEMPLATE("snapshot cell: more pins than the word can count are folded away, come and gone", Sync,
                   Threads, Single) {
  int alive = 0;
  {
    Cell<Sync> cell(new Counted<Sync>(alive, 1));
    auto early = cell.pin();
    for (int i = 0; i < 3 * MORE_THAN_A_FOLD; ++i) {
      if (cell.pin()->number_ != 1) FAIL("another snapshot");
    }
    auto late = cell.pin();
    cell.replace(new Counted<Sync>(alive, 2));
    CHECK(alive == 2);
    early.reset();
    CHECK(alive == 2);
    late.reset();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("snapshot cell: pins held through a fold count to the last one") {
  int alive = 0;
  std::vector<Cell<Threads>::Pin> pins;
  pins.reserve(MORE_THAN_A_FOLD);
  {
    Cell<Threads> cell(new Counted<Threads>(alive, 1));
    for (int i = 0; i < MORE_THAN_A_FOLD; ++i) pins.push_back(cell.pin());
    cell.replace(new Counted<Threads>(alive, 2));
    CHECK(alive == 2);
    CHECK(cell.pin()->number_ == 2);
  }
  CHECK(alive == 1);
  auto last = std::move(pins.back());
  pins.clear();
  CHECK(alive == 1);
  last.reset();
  CHECK(alive == 0);
}

TEST_CASE("snapshot cell: a pin that is overtaken by a swap reads the new snapshot") {
  int alive = 0;
  Cell<Meddled> cell(new Counted<Meddled>(alive, 1));
  Meddled::before_count = [&] { cell.replace(new Counted<Meddled>(alive, 2)); };
  const auto pin = cell.pin();
  CHECK(alive == 1);
  CHECK(pin->number_ == 2);
}

TEST_CASE("snapshot cell: a fold that is overtaken by a pin or by a swap loses nobody") {
  int alive = 0;
  Cell<Meddled>::Pin meanwhile;
  {
    Cell<Meddled> cell(new Counted<Meddled>(alive, 1));
    SUBCASE("by a pin") {
      Meddled::before_swap = [&] { meanwhile = cell.pin(); };
    }
    SUBCASE("by a swap") {
      Meddled::before_swap = [&] { cell.replace(new Counted<Meddled>(alive, 2)); };
    }
    auto last = cell.pin();
    for (int i = 0; i < MORE_THAN_A_FOLD && Meddled::before_swap; ++i) last = cell.pin();
    CHECK_FALSE(Meddled::before_swap);
    CHECK(last->number_ == 1);
  }
  CHECK(alive == (meanwhile ? 1 : 0));
  meanwhile.reset();
  CHECK(alive == 0);
}

}  // namespace
}  // namespace halfopen
