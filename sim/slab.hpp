// Objects in one array, found by number, their places used again. A stamp tells a new tenant from the one
// that an old reference meant.
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
  // A place, as its last tenant left it: set every field. References into the slab are invalidated, SlabRefs
  // are not.
  SlabRef add() {
    if (free_ == NONE) {
      cells_.emplace_back();
      return {static_cast<std::uint32_t>(cells_.size() - 1), 0};
    }
    const std::uint32_t index = free_;
    free_ = cells_[index].next_free;
    return {index, cells_[index].stamp};
  }

  void remove(std::uint32_t index) {
    ++cells_[index].stamp;
    cells_[index].next_free = free_;
    free_ = index;
  }

  T& operator[](std::uint32_t index) { return cells_[index].value; }

  // The object a reference meant, or null if it is gone.
  T* find(SlabRef ref) {
    return ref.index < cells_.size() && cells_[ref.index].stamp == ref.stamp ? &cells_[ref.index].value
                                                                             : nullptr;
  }

  SlabRef ref(std::uint32_t index) const { return {index, cells_[index].stamp}; }

 private:
  static constexpr std::uint32_t NONE = UINT32_MAX;

  struct Cell {
    T value{};
    std::uint32_t stamp = 0;
    std::uint32_t next_free = NONE;
  };

  std::vector<Cell> cells_;
  std::uint32_t free_ = NONE;
};

}  // namespace halfopen::sim
