// The same operations on both synchronisation policies give the same answers, events and views: what the
// simulator runs is what a gateway ships.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/active_probe.hpp"
#include "tests/core/dice.hpp"
#include "tests/core/event_log.hpp"
#include "tests/core/upstreams.hpp"

namespace halfopen {
namespace {

using testing::Dice;

enum class Act : std::uint8_t { attempt, hold, use_held, report, abandon, broken, reload, probe, retry };

struct Operation {
  Act act = Act::attempt;
  std::uint64_t now = 0;
  std::uint64_t x0 = 0, x1 = 0;
  std::uint16_t status = 200;
  std::uint64_t which = 0;  // of what is open
  std::string key;
  UpstreamConfig config;  // of a reload
};

template <class Open>
Open take(std::vector<Open>& open, std::uint64_t which) {
  const auto place = open.begin() + static_cast<std::ptrdiff_t>(which % open.size());
  Open one = std::move(*place);
  if (place != open.end() - 1) {
    std::destroy_at(&*place);
    std::construct_at(&*place, std::move(open.back()));
  }
  open.pop_back();
  return one;
}

template <class Sync>
class World {
 public:
  explicit World(const UpstreamConfig& config) : upstream_(config, Instant{10000}, &log_) {}

  // What came of it, in words.
  std::string play(const Operation& op) {
    std::string answer = act(op);
    if (const std::string events = log_.take(); !events.empty()) answer += " | " + events;
    return answer;
  }

  std::string view(Instant now) const {
    std::string text;
    for (const auto& endpoint : upstream_.endpoints()) {
      text += endpoint.name + " " + std::to_string(endpoint.in_flight);
      if (endpoint.tracker) text += health_view(*endpoint.tracker, now);
      text += "; ";
    }
    if (const auto breaker = upstream_.breaker()) {
      const auto seen = breaker->snapshot(now);
      text += std::string(to_string(seen.state)) +
              numbers({seen.until.ms, seen.slots, seen.streak, seen.openings, seen.window_total,
                       seen.window_failures, seen.window_bytes});
    }
    const auto budget = upstream_.budget()->snapshot();
    return text + numbers({upstream_.fail_open_picks(), upstream_.late_reports_ignored(), budget.requests,
                           budget.retries});
  }

 private:
  using Up = BasicUpstream<Sync>;

  static std::string numbers(const std::vector<std::uint64_t>& values) {
    std::string text;
    for (const std::uint64_t value : values) text += " " + std::to_string(value);
    return text;
  }
  static std::string health_view(const typename Up::Tracker& tracker, Instant now) {
    const auto seen = tracker.snapshot();
    return std::string(" ") + to_string(seen.state) + " " + to_string(tracker.label(now)) +
           (tracker.is_available(now) ? " available" : "") +
           numbers({seen.until.ms, seen.slots, seen.streak, seen.ejections, seen.generation,
                    seen.window_total, seen.window_failures, seen.window_bytes});
  }

  std::string act(const Operation& op) {
    const Instant now{op.now};
    switch (op.act) {
      case Act::attempt: return pick(upstream_.admit(now, AttemptKind::first), op);
      case Act::hold: held_.push_back(upstream_.admit(now, AttemptKind::retry)); return "held";
      case Act::use_held: return held_.empty() ? "" : pick(take(held_, op.which), op);
      case Act::report: return report(op);
      case Act::abandon: return abandon(op);
      case Act::broken: return broken(op);
      case Act::reload: upstream_.reload(op.config, now); return "reloaded";
      case Act::probe: return probe(op);
      case Act::retry: break;
    }
    const auto settings = upstream_.config()->retries;
    const auto decision = upstream_.decide_retry(settings, op.which % 4, Outcome::http(op.status),
                                                 op.x1 >> 34, now, [&] { return unit(op.x0); });
    return numbers({static_cast<std::uint64_t>(decision.answer), decision.delay_ms});
  }
  std::string pick(typename Up::Admission admission, const Operation& op) {
    if (!admission.allowed()) return "refused" + numbers({admission.decision().retry_after_ms});
    PickInput input{{}, op.x0, op.x1};
    if (!op.key.empty()) input.key = op.key;
    auto dispatch = admission.pick(Instant{op.now}, input);
    if (!dispatch) return "nobody";
    std::string text =
        dispatch.endpoint() + (dispatch.is_trial() ? " trial" : "") + (dispatch.fail_open() ? " open" : "");
    open_.push_back(std::move(dispatch));
    return text;
  }
  std::string report(const Operation& op) {
    if (open_.empty()) return "";
    bodies_.push_back(take(open_, op.which).report(Instant{op.now}, Outcome::http(op.status)));
    if (bodies_.size() > 8) bodies_.erase(bodies_.begin());
    return "reported";
  }
  std::string abandon(const Operation& op) {
    if (!open_.empty()) take(open_, op.which);
    return "abandoned";
  }
  std::string broken(const Operation& op) {
    if (!bodies_.empty()) take(bodies_, op.which).broken(Instant{op.now});
    return "broken";
  }
  std::string probe(const Operation& op) {
    const auto views = upstream_.endpoints();
    const auto config = upstream_.config();
    if (views.empty() || !config->health) return "";
    const auto& tracker = *views[op.which % views.size()].tracker;
    ActiveProbe loop(ActiveParams{}, *config->health, tracker.snapshot().ejections);
    for (int i = 0; i < 3; ++i)
      loop.verdict(*views[op.which % views.size()].tracker, Instant{op.now}, op.status < 500);
    return "probed" + numbers({loop.success_streak()});
  }

  testing::EventLog log_;
  Up upstream_;
  std::vector<typename Up::Admission> held_;
  std::vector<typename Up::Dispatch> open_;
  std::vector<typename Up::Body> bodies_;
};

UpstreamConfig random_config(Dice& dice) {
  UpstreamConfig config = testing::upstream_of("");
  config.load_balancer = static_cast<Algorithm>(dice(4));
  for (const char address : {'a', 'b', 'c', 'd', 'e'}) {
    if (dice.one_in(4)) continue;
    const std::uint32_t weight = dice.one_in(2) ? 1 : static_cast<std::uint32_t>(1 + dice(3));
    config.endpoints.push_back(testing::endpoint(std::string(1, address), weight));
  }
  for (std::size_t i = config.endpoints.size(); i > 1; --i) {
    if (dice.one_in(2)) std::swap(config.endpoints[i - 1], config.endpoints[dice(i)]);
  }
  config.health->window_ms = 400;
  config.health->failure_min_volume = 8;
  config.health->half_open_probes = static_cast<std::uint32_t>(1 + dice(3));
  if (dice.one_in(5)) config.health.reset();
  config.breaker = testing::quick_breaker();
  config.breaker->consecutive_failures = 4;
  if (dice.one_in(3)) config.breaker.reset();
  if (dice.one_in(2)) config.late_reports = LateReports::ignore;
  if (dice.one_in(3)) config.slow_start_ms = 200;
  config.retries.attempts = 3;
  return config;
}

Act random_act(Dice& dice) {
  constexpr std::array<Act, 20> OFTEN{Act::attempt, Act::attempt,  Act::attempt, Act::attempt, Act::attempt,
                                      Act::attempt, Act::attempt,  Act::report,  Act::report,  Act::report,
                                      Act::report,  Act::report,   Act::report,  Act::abandon, Act::broken,
                                      Act::hold,    Act::use_held, Act::probe,   Act::retry,   Act::abandon};
  return dice.one_in(60) ? Act::reload : OFTEN[dice(OFTEN.size())];
}

// Failures come in spells, or nothing would ever be ejected and nothing ever recover.
Operation random_operation(Dice& dice, std::uint64_t& now, bool& bad_spell) {
  if (dice.one_in(3)) now += dice(12);
  if (dice.one_in(60)) now += 60 + dice(100);
  if (dice.one_in(100)) now -= dice(150);
  if (dice.one_in(50)) bad_spell = !bad_spell;
  Operation op;
  op.act = random_act(dice);
  op.now = now;
  op.x0 = dice.word();
  op.x1 = dice.word();
  op.status = dice.one_in(bad_spell ? 2 : 12) ? 503 : 200;
  op.which = dice.word();
  if (!dice.one_in(4)) op.key = "10.0.0." + std::to_string(dice(40));
  if (op.act == Act::reload) op.config = random_config(dice);
  return op;
}

TEST_CASE("sync: threads and single answer alike, operation for operation") {
  constexpr int RUNS = 50, OPERATIONS = 4200;
  std::string everything;
  for (std::uint64_t seed = 0; seed < RUNS; ++seed) {
    Dice dice(seed);
    const UpstreamConfig config = random_config(dice);
    World<Threads> threads(config);
    World<Single> single(config);
    std::uint64_t now = 10000;
    bool bad_spell = false;
    for (int i = 0; i < OPERATIONS; ++i) {
      const Operation op = random_operation(dice, now, bad_spell);
      CAPTURE(seed);
      CAPTURE(i);
      const std::string answer = threads.play(op);
      REQUIRE(answer == single.play(op));
      if (i % 8 == 0) REQUIRE(threads.view(Instant{now}) == single.view(Instant{now}));
      everything += answer;
    }
    REQUIRE(threads.view(Instant{now}) == single.view(Instant{now}));
  }
  // Sometimes: all of it happened.
  for (const char* what :
       {"trial", "open", "refused", "nobody", "half_open_probe", "active_probe", "fail_open", "late_report",
        "failure_ratio", "half_open_probe_failed", "breaker_closed", "reloaded"}) {
    CAPTURE(what);
    CHECK(everything.find(what) != std::string::npos);
  }
}

}  // namespace
}  // namespace halfopen
