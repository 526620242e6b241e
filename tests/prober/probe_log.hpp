// What ActiveProbes and the trackers said, in the order in which they said it, and upstreams to probe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/gateway.hpp"
#include "core/prober/active_probes.hpp"
#include "tests/prober/probing.hpp"

namespace halfopen::testing {

struct Entry {
  enum class Kind : std::uint8_t { verdict, transition, threw };
  Kind kind = Kind::verdict;
  Clock::time_point at;
  std::string upstream, endpoint;
  // "ok 200"; "endpoint_ejected consecutive_failures"; what was thrown.
  std::string text;
  bool ok = false;             // verdict
  std::uint32_t in_a_row = 0;  // threw
  Event event;                 // transition
};

// Thread-safe. An event comes before the verdict that caused it.
class ProbeLog final : public ProbeObserver, public EventSink {
 public:
  void verdict(const EventSubject& subject, const ProbeReport& report) override {
    Entry entry = entry_of(Entry::Kind::verdict, subject, told(report));
    entry.ok = report.ok();
    add(std::move(entry));
  }
  void iteration_threw(const EventSubject& subject, const std::string& what, std::uint32_t row) override {
    Entry entry = entry_of(Entry::Kind::threw, subject, what);
    entry.in_a_row = row;
    add(std::move(entry));
  }
  void offer(const Event& event) noexcept override {
    std::string text = to_string(event.type);
    if (event.rule != Rule::none) text += std::string(" ") + to_string(event.rule);
    if (event.via != Via::none) text += std::string(" ") + to_string(event.via);
    Entry entry = entry_of(Entry::Kind::transition, *event.subject, text);
    entry.event = event;
    add(std::move(entry));
  }

  std::vector<Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  std::size_t size() const { return entries().size(); }

  // Ten seconds at most; answers whether it came to that.
  bool wait_until(const std::function<bool(const std::vector<Entry>&)>& so) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return so(entries_); });
  }
  bool wait_for(Entry::Kind kind, std::size_t n, const std::string& upstream = "") const {
    return wait_until([&](const auto& all) { return count(all, kind, upstream) >= n; });
  }

  // Of this kind, and of this upstream unless it is "".
  static std::size_t count(const std::vector<Entry>& all, Entry::Kind kind,
                           const std::string& upstream = "") {
    std::size_t n = 0;
    for (const Entry& entry : all)
      n += entry.kind == kind && (upstream.empty() || entry.upstream == upstream);
    return n;
  }

 private:
  static Entry entry_of(Entry::Kind kind, const EventSubject& subject, std::string text) {
    Entry entry;
    entry.kind = kind;
    entry.at = Clock::now();
    entry.upstream = subject.upstream, entry.endpoint = subject.endpoint;
    entry.text = std::move(text);
    return entry;
  }
  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Entry> entries_;
};

// The texts of them all: "status 503, endpoint_ejected consecutive_failures, status 503".
inline std::string texts(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += (text.empty() ? "" : ", ") + entry.text;
  return text;
}

inline EndpointConfig endpoint_at(const Server& server) { return {"127.0.0.1", server.port(), 1}; }

// Probed every `interval_ms`, with thresholds of 3 failures and 2 successes; out until a probe lets it in.
// The time limit is longer than the interval, which no file may say, so that a busy machine fails no probe.
inline UpstreamConfig probed(const std::string& name, std::vector<EndpointConfig> endpoints,
                             std::uint64_t interval_ms = 20, std::uint64_t timeout_ms = LONG_MS) {
  UpstreamConfig upstream;
  upstream.name = name;
  upstream.endpoints = std::move(endpoints);
  upstream.health.emplace();
  upstream.health->eject_ms = 1'000'000;
  upstream.active_health.emplace();
  upstream.active_health->interval_ms = interval_ms;
  upstream.active_health->timeout_ms = timeout_ms;
  upstream.active_health->jitter_ms = 0;
  return upstream;
}

inline Instant now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return Instant{static_cast<std::uint64_t>(std::chrono::duration_cast<Millis>(since).count())};
}

// A gateway, its loops and what they said.
struct Probing {
  explicit Probing(ActiveProbesOptions options = {}) : probes(with_log(std::move(options))) {}

  void apply(const std::vector<UpstreamConfig>& upstreams) {
    gateway.apply(upstreams, now_ms());
    probes.respawn(gateway.upstreams());
  }
  std::shared_ptr<EndpointHealth> tracker(const std::string& upstream, std::size_t place = 0) const {
    return gateway.find(upstream)->endpoints().at(place).tracker;
  }

  ProbeLog log;
  Gateway gateway{&log};
  ActiveProbes probes;

 private:
  ActiveProbesOptions with_log(ActiveProbesOptions options) {
    if (options.observer == nullptr) options.observer = &log;
    return options;
  }
};

}  // namespace halfopen::testing
