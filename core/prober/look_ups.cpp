#include "core/prober/look_ups.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/prober/quiet_thread.hpp"

namespace halfopen {

std::vector<std::string> interleaved(const std::vector<std::string>& addresses) {
  std::vector<std::string> family[2], out;
  const auto is_v6 = [](const std::string& address) { return address.find(':') != std::string::npos; };
  for (const std::string& address : addresses) family[is_v6(address) ? 1 : 0].push_back(address);
  const std::size_t first = !addresses.empty() && is_v6(addresses.front()) ? 1 : 0;
  for (std::size_t place = 0; out.size() < addresses.size(); ++place) {
    for (const std::size_t which : {first, 1 - first}) {
      if (place < family[which].size()) out.push_back(std::move(family[which][place]));
    }
  }
  return out;
}

struct LookUps::Shared {
  explicit Shared(Resolve how) : resolve(std::move(how)) {}

  struct Waiter {
    std::weak_ptr<const void> asker;
    Done done;
  };
  struct Name {
    std::vector<Waiter> waiters;
    std::size_t look_at = 16;  // how many there may be before the ones that have gone are looked for

    void add(Waiter waiter) {
      if (waiters.size() >= look_at) {
        std::erase_if(waiters, [](const Waiter& one) { return one.asker.expired(); });
        look_at = 16 + 2 * waiters.size();
      }
      waiters.push_back(std::move(waiter));
    }
  };

  // A thread that has had nothing to do for so long ends.
  static constexpr std::chrono::seconds IDLE{5};

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      const bool some = wanted.wait_for(lock, IDLE, [this] { return closing || !queue.empty(); });
      --idle;
      if (closing || !some) {
        --threads;
        return;
      }
      const std::string host = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      Addresses found;
      std::exception_ptr thrown;
      try {
        found = resolve(host);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      // The answer is handed over with the lock held, so that nobody is told anything after the destructor.
      const auto waiting = under_way.extract(host);
      if (closing || waiting.empty()) continue;
      for (const Waiter& waiter : waiting.mapped().waiters) {
        if (waiter.asker.expired()) continue;
        try {
          waiter.done(found, thrown);
        } catch (...) {  // out of memory: whoever waits will run out of time
        }
      }
    }
  }

  const Resolve resolve;
  std::mutex mutex;
  std::condition_variable wanted;
  std::deque<std::string> queue;          // names that no thread has taken yet
  std::map<std::string, Name> under_way;  // who waits for a name, queued or being looked up
  std::size_t threads = 0, idle = 0;
  bool closing = false;
};

LookUps::LookUps(Resolve resolve) : shared_(std::make_shared<Shared>(std::move(resolve))) {}

LookUps::~LookUps() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closing = true;
  shared_->under_way.clear();
  shared_->queue.clear();
  shared_->wanted.notify_all();
}

void LookUps::start(const std::string& host, std::weak_ptr<const void> asker, Done done) {
  const std::lock_guard lock(shared_->mutex);
  const auto known = shared_->under_way.find(host);
  if (known != shared_->under_way.end()) {
    known->second.add({std::move(asker), std::move(done)});
    return;
  }
  if (shared_->idle <= shared_->queue.size() && shared_->threads < MAX_THREADS) {
    try {
      quiet_thread([shared = shared_] { shared->work(); }).detach();
      ++shared_->threads;
    } catch (const std::system_error&) {
      if (shared_->threads == 0) throw;  // otherwise it waits for one of them
    }
  }
  shared_->queue.push_back(host);
  shared_->under_way[host].add({std::move(asker), std::move(done)});
  shared_->wanted.notify_one();
}

}  // namespace halfopen
