#include <string>
#include <string_view>

#include "sim/analysis_words.hpp"
#include "sim/number_format.hpp"
#include "sim/writer_analysis.hpp"
#include "sim/writer_parts.hpp"

namespace halfopen::sim {

namespace {

// A member that is an object of its own; `fill` writes its members.
template <class Fill>
void object(ObjectWriter& parent, std::string_view name, Fill fill) {
  ObjectWriter child(parent.key(name));
  fill(child);
  child.close();
}

void bounds(ObjectWriter& parent, std::string_view name, const exact::Bounds& value) {
  object(parent, name, [&](ObjectWriter& out) {
    out.number("low", value.low);
    out.number("high", value.high);
  });
}

void texts(ObjectWriter& parent, std::string_view name, const std::vector<std::string>& list) {
  std::string& out = parent.key(name);
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, list[i]);
  }
  out += ']';
}

void input(ObjectWriter& parent, std::string_view name, const Input& value) {
  object(parent, name, [&](ObjectWriter& out) {
    out.number("value", value.value);
    out.text("from", value.from);
  });
}

template <class T, class Fill>
void answer(ObjectWriter& parent, std::string_view name, const exact::Answer<T>& given, Fill fill) {
  object(parent, name, [&](ObjectWriter& out) {
    if (given) {
      fill(out, *given);
    } else {
      out.text("refused", given.refusal);
    }
  });
}

void ejection_members(ObjectWriter& out, const exact::Ejection& e) {
  out.text("bound", e.bound);
  out.flag("ratio_can_fire", e.ratio_can_fire);
  bounds(out, "mean_s", e.mean_s);
  bounds(out, "median_s", e.median_s);
  bounds(out, "p95_s", e.within_95_s);
  bounds(out, "within_an_hour", e.in_an_hour);
  out.number("exact_until_s", e.window_s);
  out.number("within_first_window", e.by_window);
  out.number("streak_alone_mean_s", e.streak_mean_s);
}

void cycle_members(ObjectWriter& out, const exact::Cycle& c) {
  bounds(out, "in_rotation", c.in_rotation);
  bounds(out, "outage_s", c.outage_s);
  out.number("trials_per_outage", c.trials_per_outage);
  bounds(out, "outages_per_hour", c.outages_per_hour);
  bounds(out, "trials_per_hour", c.trials_per_hour);
  bounds(out, "trial_share", c.trial_share);
  bounds(out, "turned_away", c.turned_away);
}

void onset_members(ObjectWriter& out, const exact::Onset& onset) {
  out.text("bound", onset.bound);
  bounds(out, "median_s", onset.median_s);
  bounds(out, "p95_s", onset.within_95_s);
  bounds(out, "within_an_hour", onset.in_an_hour);
}

void rule(ObjectWriter& parent, std::string_view name, const RuleAnalysis& given, bool turns_so = false) {
  answer(parent, name, given.ejection, [&](ObjectWriter& out, const exact::Ejection& e) {
    ejection_members(out, e);
    if (turns_so) answer(out, "after_healthy", given.onset, onset_members);
    answer(out, "cycle", given.cycle, cycle_members);
  });
}

void pool_sick_members(ObjectWriter& out, const exact::PoolSick& pool) {
  object(out, "p95_s_until_empty", [&](ObjectWriter& time) {
    if (!pool.no_quantile.empty()) {
      time.text("refused", pool.no_quantile);
      return;
    }
    time.number("low", pool.within_95_s.low);
    time.number("high", pool.within_95_s.high);
  });
  bounds(out, "empty_before_a_return", pool.gone_before_return);
  bounds(out, "fail_open_share", pool.fail_open_share);
}

void probe_members(ObjectWriter& out, const exact::ProbeWait& wait) {
  out.number("mean_probes", wait.mean_probes);
  out.number("mean_s", wait.mean_s);
  out.number("least_s", wait.least_s);
  out.number("most_s", wait.most_s);
  bounds(out, "median_s", wait.median_s);
  bounds(out, "p95_s", wait.within_95_s);
}

void upstream_members(ObjectWriter& out, const UpstreamAnalysis& upstream) {
  out.text("name", upstream.config.name);
  out.uint("endpoints", upstream.config.endpoints.size());
  if (upstream.no_rate.empty()) {
    input(out, "rate_rps", upstream.rate_rps);
    out.text("arrivals_at_endpoint", upstream.at_endpoint.poisson ? "poisson" : "uniform");
  } else {
    object(out, "rate_rps", [&](ObjectWriter& rate) { rate.text("refused", upstream.no_rate); });
  }
  input(out, "healthy_error_ratio", upstream.healthy);
  input(out, "sick_error_ratio", upstream.sick);
  texts(out, "sentences", sentences(upstream));
  if (upstream.healthy_endpoint && upstream.sick_endpoint) {
    object(out, "ejection", [&](ObjectWriter& each) {
      rule(each, "healthy", *upstream.healthy_endpoint);
      rule(each, "sick", *upstream.sick_endpoint, true);
    });
    object(out, "pool", [&](ObjectWriter& each) {
      answer(each, "healthy", *upstream.healthy_pool,
             [](ObjectWriter& pool, const exact::PoolHealthy& healthy) {
               bounds(pool, "emptied_per_hour", healthy.emptied_per_hour);
             });
      answer(each, "sick", *upstream.sick_pool, pool_sick_members);
    });
  }
  if (upstream.breaker) {
    object(out, "breaker", [&](ObjectWriter& each) {
      rule(each, "all_healthy", upstream.breaker->all_healthy);
      rule(each, "one_sick", upstream.breaker->one_sick, true);
      rule(each, "all_sick", upstream.breaker->all_sick, true);
    });
  }
  if (upstream.probes) {
    object(out, "probes", [&](ObjectWriter& each) {
      answer(each, "detect", upstream.probes->detect, probe_members);
      answer(each, "readmit", upstream.probes->readmit, probe_members);
    });
  }
  texts(out, "notes", upstream.notes);
}

}  // namespace

std::string analysis_json(const Analysis& analysis) {
  std::string out;
  ObjectWriter whole(out);
  whole.text("format", ANALYSIS_FORMAT);
  whole.text("version", version());
  whole.text("name", analysis.name);
  std::string& list = whole.key("upstreams");
  list += '[';
  for (std::size_t i = 0; i < analysis.upstreams.size(); ++i) {
    if (i > 0) list += ',';
    ObjectWriter upstream(list);
    upstream_members(upstream, analysis.upstreams[i]);
    upstream.close();
  }
  list += ']';
  whole.close();
  return out + '\n';
}

}  // namespace halfopen::sim
