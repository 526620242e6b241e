// All upstreams of a gateway, by name, and the reload that carries their state. An upstream is its name:
// renamed or removed and added again it is all fresh, but for the retry budget, which is kept by name for as
// long as the gateway lives.
//
// Thread-safe. find() takes a lock: ask once per configuration, or once per request, and keep the pointer;
// what it points to lives as long as it is held.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/upstream.hpp"

namespace halfopen {

template <class Sync>
class BasicGateway {
 public:
  using Upstream = BasicUpstream<Sync>;
  using Budget = BasicRetryBudget<Sync>;

  // `sink` may be null; otherwise it must outlive the gateway and every handle.
  explicit BasicGateway(EventSink* sink = nullptr) : sink_(sink) {}

  // The first build, and each reload: the configuration applies whole. It must be valid (core/validate.hpp).
  void apply(const std::vector<UpstreamConfig>& upstreams, Instant now) {
    const Guard lock(mutex_);
    std::map<std::string, std::shared_ptr<Upstream>> next;
    for (const UpstreamConfig& config : upstreams) {
      auto known = upstreams_.find(config.name);
      if (known != upstreams_.end()) {
        known->second->reload(config, now);
        next[config.name] = known->second;
      } else {
        auto& budget = budgets_[config.name];
        if (!budget) budget = std::make_shared<Budget>();
        next[config.name] = std::make_shared<Upstream>(config, now, sink_, budget);
      }
    }
    for (const auto& [name, upstream] : upstreams_) {
      if (!next.contains(name)) upstream->retire();
    }
    upstreams_ = std::move(next);
  }

  // Null when no such upstream is configured.
  std::shared_ptr<Upstream> find(const std::string& name) const {
    const Guard lock(mutex_);
    const auto found = upstreams_.find(name);
    return found == upstreams_.end() ? nullptr : found->second;
  }

  // Those of the running configuration, by name: whom to probe after each apply().
  std::vector<std::shared_ptr<Upstream>> upstreams() const {
    const Guard lock(mutex_);
    std::vector<std::shared_ptr<Upstream>> all;
    for (const auto& [name, upstream] : upstreams_) all.push_back(upstream);
    return all;
  }

 private:
  EventSink* sink_;
  mutable typename Sync::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Upstream>> upstreams_;
  std::map<std::string, std::shared_ptr<Budget>> budgets_;
};

using Gateway = BasicGateway<Threads>;

}  // namespace halfopen
