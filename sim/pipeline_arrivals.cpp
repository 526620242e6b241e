// Who arrives, and who comes again: the part of the pipeline before the gateway.
#include <algorithm>
#include <utility>

#include "core/retry_budget.hpp"
#include "sim/latency.hpp"
#include "sim/pipeline.hpp"
#include "sim/real_math.hpp"

namespace halfopen::sim {
namespace {

// Zipf: client i of n, from 1, has a share of i^-s; cumulative, the last one 1.
std::vector<double> zipf_shares(const Keys& keys) {
  std::vector<double> shares;
  double total = 0;
  for (std::uint64_t client = 1; client <= keys.clients; ++client) {
    total += keys.zipf == 0 ? 1.0 : real::pow(static_cast<double>(client), -keys.zipf);
    shares.push_back(total);
  }
  for (double& share : shares) share /= total;
  return shares;
}

std::string stream_name(const char* name, std::uint64_t entry) { return name + std::to_string(entry); }

}  // namespace

Pipeline::Entry::Entry(const Traffic& entry_traffic, std::uint64_t number, std::uint64_t seed, Nanos duration,
                       std::uint32_t slot)
    : traffic(entry_traffic),
      upstream(slot),
      source(entry_traffic, number, seed, duration),
      keys(seed, stream_name("key:", number)),
      abandons(seed, stream_name("abandon:", number)),
      jitter(seed, stream_name("retry-jitter:", number)),
      clients(seed, stream_name("client:", number)),
      users(std::get_if<Users>(&traffic.source)),
      patience(traffic.client ? traffic.client->timeout : NEVER),
      returns(users != nullptr || (traffic.client && traffic.client->retries > 0)) {
  if (traffic.keys) key_shares = zipf_shares(*traffic.keys);
}

Pipeline::Pipeline(World& world) : world_(world) {
  const Scenario& scenario = world.scenario;
  for (std::size_t i = 0; i < scenario.traffic.size(); ++i) {
    const std::uint32_t slot = world.upstream_index(scenario.traffic[i].upstream);
    entries_.push_back(
        std::make_unique<Entry>(scenario.traffic[i], i, scenario.seed, scenario.duration, slot));
    if (entries_[i]->source.next(entries_[i]->next))
      turns_.push_back({entries_[i]->next.at, static_cast<std::uint32_t>(i)});
  }
  std::make_heap(turns_.begin(), turns_.end(), later);
}

bool Pipeline::again_comes_first() const {
  if (again_.empty()) return false;
  if (turns_.empty()) return true;
  const Comeback& again = again_.front();
  const Turn& turn = turns_.front();
  if (again.at != turn.at) return again.at < turn.at;
  if (again.entry != turn.entry) return again.entry < turn.entry;
  return again.index < entries_[turn.entry]->next.index;
}

void Pipeline::arrive() {
  if (again_comes_first()) {
    std::pop_heap(again_.begin(), again_.end(), comes_later);
    const Comeback again = again_.back();
    again_.pop_back();
    return begin(again.entry, again.index, again.tryn);
  }
  const std::uint32_t number = turns_.front().entry;
  Entry& entry = *entries_[number];
  const std::uint64_t index = entry.next.index;
  const bool more = entry.source.next(entry.next);
  if (more && turns_.size() == 1) {
    turns_.front().at = entry.next.at;
  } else {
    std::pop_heap(turns_.begin(), turns_.end(), later);
    turns_.back().at = entry.next.at;
    if (more)
      std::push_heap(turns_.begin(), turns_.end(), later);
    else
      turns_.pop_back();
  }
  begin(number, index, 0);
}

void Pipeline::begin(std::uint32_t number, std::uint64_t index, std::uint32_t tryn) {
  const Entry& entry = *entries_[number];
  world_.record.request();
  const SlabRef ref = requests_.add();
  Request& request = requests_[ref.index];
  request.index = index;
  request.arrival = world_.t;
  request.entry = number;
  request.tryn = tryn;
  request.retries = 0;
  request.returns = entry.returns;
  request.job = {};
  request.settings = world_.upstreams[entry.upstream].config.get();
  request.answer = request.timeout = request.departure = request.retry = {};

  // Who means to leave for good in the instant in which its client gives up leaves for good.
  Nanos stay = entry.patience;
  const auto& abandon = entry.traffic.abandon;
  const bool leaves =
      abandon && abandon->after <= stay && entry.abandons.unit(index, tryn, 0, number) < abandon->ratio;
  if (leaves) stay = abandon->after;
  request.gives_up = !leaves;
  if (stay != NEVER) {
    request.departure = world_.queue.schedule_cancellable(world_.t + stay, EventKind::departure, ref.index);
  }
  if (world_.observer != nullptr) world_.observer->arrived(world_.t, name_of(request), entry.upstream);
  attempt(ref, AttemptKind::first);
}

// A try is over. A client that was not served may come again for the same thing; otherwise, in a closed loop,
// its user thinks and then asks for the next.
void Pipeline::over(const RequestName& name, bool served, std::uint64_t retry_after_s) {
  if (!served && tries_again(name, retry_after_s)) return;
  const Entry& entry = *entries_[name.entry];
  if (entry.users == nullptr) return;
  const Nanos think = entry.users->think;
  if (world_.t + think < entry.traffic.to) come_back(think, {name.entry, name.index + 1, 0});
}

// The client's own backoff, which knows nothing of the gateway's budget. It may go past the entry's `to`:
// what has begun is seen through.
bool Pipeline::tries_again(const RequestName& name, std::uint64_t retry_after_s) {
  const Entry& entry = *entries_[name.entry];
  const auto& client = entry.traffic.client;
  if (!client || name.tryn >= client->retries) return false;
  const std::uint32_t tryn = name.tryn + 1;
  const double u = entry.clients.unit(name.index, tryn, 0, name.entry);
  std::uint64_t wait_ms =
      jittered_backoff_ms(nominal_backoff_ms(client->backoff_base_ms, client->backoff_cap_ms, tryn), u);
  if (client->honours_retry_after) wait_ms = std::max(wait_ms, retry_after_s * 1000);
  come_back(std::min(wait_ms, LONGEST_NANOS / NANOS_PER_MS) * NANOS_PER_MS, {name.entry, name.index, tryn});
  return true;
}

void Pipeline::come_back(Nanos wait, const RequestName& name) {
  const Nanos at = world_.t + wait;
  if (at >= world_.scenario.duration) return;
  again_.push_back({at, name.entry, name.tryn, name.index});
  std::push_heap(again_.begin(), again_.end(), comes_later);
}

}  // namespace halfopen::sim
