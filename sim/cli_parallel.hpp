// Work on several threads whose results are taken in order.
#pragma once

#include <cstddef>
#include <functional>

namespace halfopen::sim {

// As many as the machine has processors; 1 if that is not known.
std::size_t processors() noexcept;

// Calls work(i) for each i < count on `jobs` threads, and take(i) in order of i on this thread, each as soon
// as its turn has come and its work is done. What either throws ends it: no more is begun, and it arrives
// here once all threads have ended.
void in_order(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& work,
              const std::function<void(std::size_t)>& take);

}  // namespace halfopen::sim
