#include "core/prober/active_probes.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/active_probe.hpp"
#include "core/check.hpp"
#include "core/hash.hpp"
#include "core/prober/clocks.hpp"
#include "core/prober/probe_machine.hpp"
#include "core/prober/quiet_thread.hpp"
#include "core/random.hpp"

namespace halfopen {
namespace {

std::uint64_t another_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

// What all loops share. Everything but the counts belongs to the loops' thread.
struct ActiveProbes::Loops {
  class Loop;

  explicit Loops(Options chosen)
      : options(std::move(chosen)), look_ups(options.resolve), room{context, &look_ups} {
    if (!options.now) options.now = system_now;
    seed = options.seed ? *options.seed : another_seed();
    // Its first timer opens the loop's own files: they are had now, or there is no ActiveProbes, so that no
    // respawn needs one.
    const asio::steady_timer first(*context);
    thread = quiet_thread([this] { context->run(); });
  }
  ~Loops() {
    replace(++tickets, {});
    work.reset();  // what has been cancelled is all there is left to do
    thread.join();
  }

  // Runs on the loops' thread, and waits until that is done. Tickets are numbered in the order of the calls.
  void replace(std::uint64_t ticket, std::vector<std::shared_ptr<Loop>> next);
  std::vector<std::shared_ptr<Loop>> made_for(const std::vector<std::shared_ptr<Upstream>>& upstreams);

  struct Totals {
    std::atomic<std::size_t> loops{0};
    std::atomic<std::uint64_t> started{0}, verdicts{0}, threw{0}, gave_up{0};
  };

  Options options;
  std::uint64_t seed = 0;
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(*context);
  LookUps look_ups;
  ProbeRoom room;
  std::vector<std::shared_ptr<Loop>> running;
  std::atomic<std::uint64_t> tickets{0};
  std::uint64_t newest = 0;  // of the loops that are running
  Totals totals;
  std::thread thread;
};

// One endpoint's loop: sleep, probe, verdict.
class ActiveProbes::Loops::Loop : public std::enable_shared_from_this<Loop> {
 public:
  Loop(Loops& all, const UpstreamConfig& upstream, std::size_t place, std::shared_ptr<EndpointHealth> tracker,
       TlsContext tls, std::string trouble)
      : all_(all),
        subject_{upstream.name, upstream.endpoints[place].name()},
        target_(ProbeTarget::of(upstream, upstream.endpoints[place])),
        tls_(std::move(tls)),
        trouble_(std::move(trouble)),
        tracker_(std::move(tracker)),
        rule_(*upstream.active_health, *upstream.health, tracker_->snapshot().ejections),
        jitter_key_{all.seed, stable_hash("probe-jitter:" + subject_.upstream + "/" + subject_.endpoint)},
        sleep_(*all.context) {}

  void begin() {
    ++all_.totals.loops;
    begun_ = true;
    sleep();
  }

  void end() {
    if (std::exchange(ended_, true) || !begun_) return;
    --all_.totals.loops;
    sleep_.cancel();
    if (probe_) probe_->cancel();
    probe_ = nullptr;
  }

 private:
  void sleep() {
    const double u = unit(philox_word0(draws_++, 0, 0, 0, jitter_key_[0], jitter_key_[1]));
    wake_after(rule_.sleep_ms(u));
  }

  void wake_after(std::uint64_t ms) {
    sleep_.expires_after(std::chrono::milliseconds(ms));
    sleep_.async_wait([self = this->shared_from_this()](const std::error_code& cancelled) {
      if (!cancelled && !self->ended_) self->iterate();
    });
  }

  void iterate() {
    ++all_.totals.started;
    threw_before_ = rule_.exceptions_in_a_row();
    try {
      if (!trouble_.empty()) trust_again();
      probe_ = std::make_shared<Probe>(all_.room, target_, tls_, [this](const ProbeReport& report) {
        probe_ = nullptr;
        judge(report);
      });
      probe_->start();
    } catch (...) {
      if (probe_) probe_->cancel();
      probe_ = nullptr;
      threw(std::current_exception());
    }
  }

  // The file may be whole by now: who replaces it at a reload may not be done when the loops begin. What is
  // no regular file might block every loop.
  void trust_again() {
    if (!std::filesystem::is_regular_file(target_.trusted_ca_file)) throw std::runtime_error(trouble_);
    tls_ = make_tls(target_.trusted_ca_file);
    trouble_.clear();
  }

  void judge(const ProbeReport& report) {
    try {
      if (!report.is_verdict()) throw std::runtime_error(report.detail);
      rule_.verdict(*tracker_, all_.options.now(), report.ok());
      ++all_.totals.verdicts;
      if (all_.options.observer != nullptr) all_.options.observer->verdict(subject_, report);
      sleep();
    } catch (...) {
      threw(std::current_exception());
    }
  }

  // It is told even to an observer that throws; what that throws changes nothing more. A loop that can't go
  // on, as memory has run out, has given up as well.
  void threw(const std::exception_ptr& thrown) {
    ++all_.totals.threw;
    bool go_on = rule_.iteration_threw(threw_before_);
    try {
      if (all_.options.observer != nullptr)
        all_.options.observer->iteration_threw(subject_, sentence_of(thrown), rule_.exceptions_in_a_row());
    } catch (...) {
    }
    try {
      if (go_on) wake_after(rule_.interval_ms());
    } catch (...) {
      go_on = false;
    }
    if (go_on) return;
    ++all_.totals.gave_up;
    end();
  }

  Loops& all_;
  const EventSubject subject_;
  const ProbeTarget target_;
  TlsContext tls_;
  std::string trouble_;  // why trusted_ca_file could not be read; empty: it could, or there is none
  const std::shared_ptr<EndpointHealth> tracker_;
  ActiveProbe rule_;
  std::uint32_t threw_before_ = 0;  // iterations in a row before the running one
  const std::array<std::uint64_t, 2> jitter_key_;
  std::uint64_t draws_ = 0;
  asio::steady_timer sleep_;
  std::shared_ptr<Probe> probe_;
  bool begun_ = false, ended_ = false;
};

void ActiveProbes::Loops::replace(std::uint64_t ticket, std::vector<std::shared_ptr<Loop>> next) {
  HALFOPEN_CHECK(std::this_thread::get_id() != thread.get_id());
  std::promise<void> done;
  asio::post(*context, [&] {
    try {
      // A call that began later has come first, as it had no files to read: it knows the newer configuration.
      if (ticket < newest) return done.set_value();
      newest = ticket;
      for (const auto& loop : running) loop->end();
      running = std::move(next);
      for (const auto& loop : running) loop->begin();
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  done.get_future().get();
}

std::vector<std::shared_ptr<ActiveProbes::Loops::Loop>> ActiveProbes::Loops::made_for(
    const std::vector<std::shared_ptr<Upstream>>& upstreams) {
  struct Trust {
    TlsContext tls;
    std::string trouble;
  };
  std::map<std::string, Trust> by_file;  // reading the system's roots takes some 10 ms: once is enough
  const auto trust = [&by_file](const std::string& file) -> const Trust& {
    const auto [known, fresh] = by_file.try_emplace(file);
    if (!fresh) return known->second;
    try {
      known->second.tls = make_tls(file);
    } catch (const std::exception& error) {
      known->second.trouble = error.what();
    }
    return known->second;
  };
  std::vector<std::shared_ptr<Loop>> loops;
  for (const auto& upstream : upstreams) {
    const auto view = upstream->view();
    const UpstreamConfig& config = *view.config;
    if (!config.active_health || !config.health) continue;
    for (std::size_t place = 0; place < view.endpoints.size(); ++place) {
      const bool secure = ProbeTarget::of(config, config.endpoints[place]).speaks_tls();
      const Trust trusted = secure ? trust(config.trusted_ca_file) : Trust{};
      loops.push_back(std::make_shared<Loop>(*this, config, place, view.endpoints[place].tracker, trusted.tls,
                                             trusted.trouble));
    }
  }
  return loops;
}

ActiveProbes::ActiveProbes(Options options) : loops_(std::make_unique<Loops>(std::move(options))) {}
ActiveProbes::~ActiveProbes() = default;

void ActiveProbes::respawn(const std::vector<std::shared_ptr<Upstream>>& upstreams) {
  const std::uint64_t ticket = ++loops_->tickets;
  loops_->replace(ticket, loops_->made_for(upstreams));
}

void ActiveProbes::abort_all() { loops_->replace(++loops_->tickets, {}); }

ActiveProbes::Counts ActiveProbes::counts() const {
  const Loops::Totals& totals = loops_->totals;
  return {totals.loops, totals.started, totals.verdicts, totals.threw, totals.gave_up};
}

}  // namespace halfopen
