// Objects in one array, found by number, their places used again. A stamp tells a new tenant from the one that an old
// reference meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace halfopen::sim {

struct SlabRef {
  std::uint32_t index = UINT32_MAX;
  std::uint32_t stamp = 0;
};

template <class T>
class Slab {
 public:
  // A place, as its last tenant left it: set every field. References into the slab are invalidated, SlabRefs are not.
  SlabRef add() {
    if (free_.empty()) {
      cells_.emplace_back();
      return {static_cast<std::uint32_t>(cells_.size() - 1), 0};
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return {index, cells_[index].stamp};
  }

  void remove(std::uint32_t index) {
    ++cells_[index].stamp;
    free_.push_back(index);
  }

  T& operator[](std::uint32_t index) { return cells_[index].value; }

  // The object a reference meant, or null if it is gone.
  T* find(SlabRef ref) {
    return ref.index < cells_.size() && cells_[ref.index].stamp == ref.stamp ? &cells_[ref.index].value : nullptr;
  }

  SlabRef ref(std::uint32_t index) const { return {index, cells_[index].stamp}; }

 private:
  struct Cell {
    T value{};
    std::uint32_t stamp = 0;
  };

  std::vector<Cell> cells_;
  std::vector<std::uint32_t> free_;
};

}  // namespace halfopen::sim
