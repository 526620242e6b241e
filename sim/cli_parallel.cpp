#include "sim/cli_parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "sim/cli_output.hpp"

namespace halfopen::sim {

namespace {

class Workers {
 public:
  Workers(std::size_t count, const std::function<void(std::size_t)>& work)
      : work_(work), done_(count, false) {}

  ~Workers() {
    {
      const std::lock_guard lock(lock_);
      next_ = done_.size();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Fewer than asked for, even none, where no more threads are to be had.
  std::size_t start(std::size_t jobs) {
    const InterruptsBlocked in_the_workers;
    threads_.reserve(jobs);
    try {
      while (threads_.size() < jobs) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
    }
    return threads_.size();
  }

  void wait_for(std::size_t number) {
    std::unique_lock lock(lock_);
    one_done_.wait(lock, [this, number] { return done_[number] || failure_; });
    if (!done_[number]) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    std::unique_lock lock(lock_);
    while (next_ < done_.size()) {
      const std::size_t number = next_++;
      lock.unlock();
      const std::exception_ptr failure = failure_of(number);
      lock.lock();
      if (failure) {
        failure_ = failure;
        next_ = done_.size();
      } else {
        done_[number] = true;
      }
      one_done_.notify_one();
    }
  }

  std::exception_ptr failure_of(std::size_t number) const noexcept {
    try {
      work_(number);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  const std::function<void(std::size_t)>& work_;
  std::mutex lock_;
  std::condition_variable one_done_;
  std::vector<bool> done_;
  std::exception_ptr failure_;
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

std::size_t processors() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

void in_order(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& work,
              const std::function<void(std::size_t)>& take) {
  Workers workers(count, work);
  const bool threads = jobs > 1 && count > 1 && workers.start(std::min(jobs, count)) > 0;
  for (std::size_t number = 0; number < count; ++number) {
    if (threads) {
      workers.wait_for(number);
    } else {
      work(number);
    }
    take(number);
  }
}

}  // namespace halfopen::sim
