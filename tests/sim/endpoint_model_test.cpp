#include "sim/endpoint_model.hpp"

#include <doctest/doctest.h>

#include "tests/support/scenario_builder.hpp"

using namespace halfopen;
using namespace halfopen::sim;
using testing::add_fault;
using testing::ms;
using testing::script;

namespace {

using Manner = ServerAnswer::Manner;

constexpr std::uint64_t SEED = 5;
const Stream SERVICE(SEED, "service:api/a:1");

AttemptKey traffic(std::uint64_t index = 0, std::uint32_t attempt = 0, std::uint64_t entry = 0) {
  return {index, attempt, entry, false, false};
}
AttemptKey http_probe(std::uint64_t index = 0) { return {index, 0, 0, true, false}; }
AttemptKey tcp_probe(std::uint64_t index = 0) { return {index, 0, 0, true, true}; }

struct Fixture {
  ServerModel config;

  Fixture() {
    config.name = "a:1";
    config.latency = FixedLatency{10};
  }
  EndpointModel model() const { return EndpointModel(config, SEED); }
  ServerAnswer judge(double t_ms, const AttemptKey& key) const {
    return model().judge(ms(t_ms), key, SERVICE);
  }
  // The draw of fault n for an attempt.
  static double fault_draw(std::uint32_t n, const AttemptKey& key) {
    return Stream(SEED, "fault:a:1/" + std::to_string(n))
        .unit(key.index, 0, key.attempt, key.entry, key.kind());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "endpoint model: without faults it answers 200 after its latency") {
  const ServerAnswer answer = judge(0, traffic());
  CHECK(answer.manner == Manner::serve);
  CHECK(answer.outcome.status == 200);
  CHECK(answer.latency == ms(10));
  CHECK_FALSE(answer.truncated);
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a latency is drawn by index, attempt, entry and kind") {
  config.latency = UniformLatency{0, 1000};
  const auto drawn = [](double u) { return static_cast<Nanos>(u * 1000 * 1e6); };
  CHECK(judge(0, traffic(7)).latency == drawn(SERVICE.unit(7)));
  CHECK(judge(0, traffic(7, 2, 3)).latency == drawn(SERVICE.unit(7, 0, 2, 3)));
  CHECK(judge(0, http_probe(7)).latency == drawn(SERVICE.unit(7, 0, 0, 0, PROBE_DRAW)));
  add_fault(config, ErrorFault{0, 503});  // the way of a server with faults gives the same
  CHECK(judge(0, traffic(7, 2, 3)).latency == drawn(SERVICE.unit(7, 0, 2, 3)));
  CHECK(judge(0, http_probe(7)).latency == drawn(SERVICE.unit(7, 0, 0, 0, PROBE_DRAW)));
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a fault is active from its from_ms and no more at its to_ms") {
  add_fault(config, DownFault{}, 10, 20);
  CHECK(judge(9.999999, traffic()).manner == Manner::serve);
  CHECK(judge(10, traffic()).manner == Manner::at_once);
  CHECK(judge(19.999999, traffic()).manner == Manner::at_once);
  CHECK(judge(20, traffic()).manner == Manner::serve);
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: the first active down decides, how it refuses is its kind's") {
  add_fault(config, DownFault{DownKind::refused}, 0, 10);
  add_fault(config, DownFault{DownKind::reset}, 0, 20);
  add_fault(config, DownFault{DownKind::timeout}, 0, 30);
  add_fault(config, LatencyFault{5, 3, 0});
  CHECK(judge(0, traffic()).manner == Manner::at_once);
  CHECK(judge(0, traffic()).outcome.transport == TransportError::refused);
  CHECK(judge(10, traffic()).manner == Manner::reset);
  CHECK(judge(10, traffic()).outcome.transport == TransportError::reset);
  CHECK(judge(10, traffic()).latency == ms(35));
  CHECK(judge(20, traffic()).manner == Manner::never_accept);
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint model: a flap that is down decides as a down would, one that is up does nothing") {
  add_fault(config, FlapFault{ms(10), ms(10), 0, DownKind::reset});
  add_fault(config, DownFault{DownKind::refused}, 50);
  EndpointModel flapping = model();
  CHECK(flapping.judge(0, traffic(), SERVICE).manner == Manner::serve);
  flapping.phases(0).bad = true;
  CHECK(flapping.judge(ms(60), traffic(), SERVICE).manner == Manner::reset);
  flapping.phases(0).bad = false;
  CHECK(flapping.judge(ms(60), traffic(), SERVICE).manner == Manner::at_once);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: a phase of a flap lasts its length and its own draw of the jitter") {
  add_fault(config, HangFault{0});
  add_fault(config, FlapFault{ms(10), ms(4), 3.5, DownKind::refused});
  const EndpointModel flapping = model();
  const Stream stream(SEED, "fault:a:1/1");
  for (std::uint64_t phase = 0; phase < 6; ++phase) {
    const auto jitter = static_cast<Nanos>(stream.unit(phase) * 3.5 * 1e6);
    CHECK(flapping.phase_length(1, phase) == (phase % 2 == 0 ? ms(10) : ms(4)) + jitter);
  }
}

TEST_CASE_FIXTURE(
    Fixture, "endpoint model: the n-th attempt that no down decided gets the n-th outcome, then luck again") {
  add_fault(config, script({503, 0, 200}), 0, testing::TO_THE_END, Scope::traffic);
  add_fault(config, DownFault{}, 10, 20);
  add_fault(config, ErrorFault{1, 500});
  add_fault(config, TruncateFault{1});
  EndpointModel scripted = model();
  CHECK(scripted.judge(ms(0), traffic(), SERVICE).outcome.status == 503);
  CHECK(scripted.judge(ms(10), traffic(), SERVICE).manner == Manner::at_once);
  CHECK(scripted.judge(ms(20), http_probe(), SERVICE).outcome.status == 500);
  const ServerAnswer reset = scripted.judge(ms(20), traffic(), SERVICE);
  CHECK(reset.manner == Manner::serve);
  CHECK(reset.outcome.transport == TransportError::reset);
  CHECK(reset.latency == ms(10));
  const ServerAnswer whole = scripted.judge(ms(20), traffic(), SERVICE);
  CHECK(whole.outcome.status == 200);
  CHECK_FALSE(whole.truncated);
  CHECK(scripted.judge(ms(20), traffic(), SERVICE).outcome.status == 500);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: outcomes count from their own from_ms and say nothing after their to_ms") {
  add_fault(config, script({501, 502, 504}), 10, 20);
  EndpointModel scripted = model();
  CHECK(scripted.judge(ms(9), traffic(), SERVICE).outcome.status == 200);
  CHECK(scripted.judge(ms(10), traffic(), SERVICE).outcome.status == 501);
  CHECK(scripted.judge(ms(19), traffic(), SERVICE).outcome.status == 502);
  CHECK(scripted.judge(ms(20), traffic(), SERVICE).outcome.status == 200);
}

TEST_CASE_FIXTURE(
    Fixture,
    "endpoint model: the draw, times the factors in file order, then the adds, then down to the ns") {
  add_fault(config, LatencyFault{0.5, 1.1, 0});
  add_fault(config, BrownoutFault{0, 503, 3, 1});
  add_fault(config, LatencyFault{7, 1.3, 0}, 10);
  CHECK(judge(0, traffic()).latency == ms(33.5));
  const double ms_drawn = 10 * (1 + (1.1 - 1) * 1) * 3 * (1 + (1.3 - 1) * 1) + 0.5 + 7;
  CHECK(judge(10, traffic()).latency == static_cast<Nanos>(ms_drawn * 1e6));
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: adds are added one after the other, which the last nanosecond shows") {
  config.latency = FixedLatency{0.1};
  add_fault(config, LatencyFault{0.1, 1, 0});
  add_fault(config, LatencyFault{4.0, 1, 0});
  CHECK((0.1 + 0.1 + 4.0) * 1e6 != (0.1 + (0.1 + 4.0)) * 1e6);
  CHECK(judge(0, traffic()).latency == static_cast<Nanos>((0.1 + 0.1 + 4.0) * 1e6));
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: a ramp brings factor and add in by shares and stays at the whole") {
  add_fault(config, LatencyFault{8, 3, ms(40)}, 100, 300);
  CHECK(judge(100, traffic()).latency == ms(10));
  CHECK(judge(110, traffic()).latency == ms(10 * 1.5 + 2));
  CHECK(judge(120, traffic()).latency == ms(10 * 2 + 4));
  const double share = static_cast<double>(ms(13)) / static_cast<double>(ms(40));
  CHECK(judge(113, traffic()).latency == static_cast<Nanos>((10 * (1 + 2 * share) + 8 * share) * 1e6));
  CHECK(judge(140, traffic()).latency == ms(38));
  CHECK(judge(299, traffic()).latency == ms(38));
  CHECK(judge(300, traffic()).latency == ms(10));  // no ramp back
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: errors in file order, a draw each, and the first hit wins") {
  add_fault(config, ErrorFault{0.3, 501});
  add_fault(config, BrownoutFault{0.4, 502, 1, 1});
  add_fault(config, ErrorFault{0.5, 504});
  int hits[4] = {0, 0, 0, 0};
  for (std::uint64_t index = 0; index < 400; ++index) {
    const AttemptKey key = traffic(index, 1, 2);
    std::uint16_t expected = 200;
    if (fault_draw(2, key) < 0.5) expected = 504;
    if (fault_draw(1, key) < 0.4) expected = 502;
    if (fault_draw(0, key) < 0.3) expected = 501;
    CHECK(judge(0, key).outcome.status == expected);
    ++hits[expected == 200 ? 0 : expected == 501 ? 1 : expected == 502 ? 2 : 3];
  }
  for (const int count : hits) CHECK(count > 40);
}

TEST_CASE_FIXTURE(
    Fixture,
    "endpoint model: who was answered with an error neither hangs nor breaks off, who hangs is whole") {
  add_fault(config, TruncateFault{0.5});
  add_fault(config, HangFault{0.5});
  add_fault(config, ErrorFault{0.5, 404});
  int errors = 0, hangs = 0, broken = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const AttemptKey key = traffic(index);
    const bool error = fault_draw(2, key) < 0.5;
    const bool hang = !error && fault_draw(1, key) < 0.5;
    const bool truncated = !error && !hang && fault_draw(0, key) < 0.5;
    const ServerAnswer answer = judge(0, key);
    CHECK(answer.outcome.status == (error ? 404 : 200));
    CHECK((answer.manner == Manner::hang) == hang);
    CHECK(answer.truncated == truncated);
    errors += error;
    hangs += hang;
    broken += truncated;
  }
  CHECK(errors > 150);
  CHECK(hangs > 70);
  CHECK(broken > 30);
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a ratio of 1 always hits and a ratio of 0 never does") {
  add_fault(config, ErrorFault{0, 500}, 0, 10);
  add_fault(config, ErrorFault{1, 500}, 10);
  for (std::uint64_t index = 0; index < 1000; ++index) {
    CHECK(judge(0, traffic(index)).outcome.status == 200);
    CHECK(judge(10, traffic(index)).outcome.status == 500);
  }
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a fault meets only attempts in its scope") {
  add_fault(config, ErrorFault{1, 503}, 0, testing::TO_THE_END, Scope::probes);
  add_fault(config, LatencyFault{5, 1, 0}, 0, testing::TO_THE_END, Scope::traffic);
  CHECK(judge(0, traffic()).outcome.status == 200);
  CHECK(judge(0, traffic()).latency == ms(15));
  CHECK(judge(0, http_probe()).outcome.status == 503);
  CHECK(judge(0, http_probe()).latency == ms(10));
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a probe meets its own luck, of kind 1") {
  add_fault(config, ErrorFault{0.5, 503});
  int different = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const bool hit = fault_draw(0, http_probe(index)) < 0.5;
    CHECK((judge(0, http_probe(index)).outcome.status == 503) == hit);
    different += hit != (fault_draw(0, traffic(index)) < 0.5);
  }
  CHECK(different > 20);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: a broken body does not fail a probe, and tcp sees down and flap only") {
  add_fault(config, TruncateFault{1});
  CHECK_FALSE(judge(0, http_probe()).truncated);
  CHECK(judge(0, traffic()).truncated);
  add_fault(config, ErrorFault{1, 503});
  add_fault(config, HangFault{1});
  CHECK(judge(0, tcp_probe()).manner == Manner::at_once);
  CHECK(judge(0, tcp_probe()).outcome.status == 200);
  add_fault(config, LatencyFault{0, 4, 0});
  add_fault(config, DownFault{DownKind::reset});
  CHECK(judge(0, tcp_probe()).manner == Manner::reset);
  CHECK(judge(0, tcp_probe()).latency == ms(40));
}

TEST_CASE_FIXTURE(Fixture, "endpoint model: a tcp connect to a server without any fault costs nothing") {
  CHECK(judge(0, tcp_probe()).manner == Manner::at_once);
  CHECK(judge(0, tcp_probe()).latency == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "endpoint model: concurrency times the brownouts in scope, rounded down, at least 1") {
  config.capacity = Capacity{10, 0, 503};
  add_fault(config, BrownoutFault{0, 503, 1, 0.55}, 10, 30);
  add_fault(config, BrownoutFault{0, 503, 1, 0.5}, 20, testing::TO_THE_END, Scope::traffic);
  add_fault(config, BrownoutFault{0, 503, 1, 0.01}, 40, 50);
  add_fault(config, BrownoutFault{0, 503, 1, 3}, 60, testing::TO_THE_END, Scope::probes);
  const EndpointModel shrinking = model();
  CHECK(shrinking.concurrency(ms(9), false) == 10);
  CHECK(shrinking.concurrency(ms(10), false) == 5);
  CHECK(shrinking.concurrency(ms(20), false) == 2);
  CHECK(shrinking.concurrency(ms(20), true) == 5);
  CHECK(shrinking.concurrency(ms(30), false) == 5);
  CHECK(shrinking.concurrency(ms(30), true) == 10);
  CHECK(shrinking.concurrency(ms(40), false) == 1);
  CHECK(shrinking.concurrency(ms(60), true) == 30);
}
