#include "sim/latency.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "sim/draws.hpp"

using namespace halfopen::sim;

namespace {

constexpr double LAST_DRAW = 1.0 - 0x1p-53;
constexpr double INF = std::numeric_limits<double>::infinity();

}  // namespace

// Pinned from Python: NumPy doubles for + - * / and sqrt, correctly rounded mpmath for ln, exp and pow.
TEST_CASE("latency: exponential, from 0 to 37 means") {
  const Latency latency = ExponentialLatency{20};
  CHECK(draw_ms(latency, 0.0) == 0.0);
  CHECK(draw_ms(latency, 0.25) == 0x1.703ba95821276p+2);
  CHECK(draw_ms(latency, 0.5) == 0x1.bb9d3beb8c86bp+3);
  CHECK(draw_ms(latency, 0.875) == 0x1.4cb5ecf0a9650p+5);
  CHECK(draw_ms(latency, LAST_DRAW) == 0x1.6f5e359f105f8p+9);
}

TEST_CASE("latency: lognormal by percentiles") {
  const Latency latency = lognormal_of_percentiles(20, 120);
  CHECK(draw_ms(latency, 0.0) == 0x1.13d8d80b582c1p-5);  // the draw 0 counts as 2^-54
  CHECK(draw_ms(latency, 0.25) == 0x1.7caf8fdaae7f8p+3);
  CHECK(draw_ms(latency, 0.5) == 0x1.3ffffffffffffp+4);  // e^(ln 20) by two roundings
  CHECK(draw_ms(latency, 0.875) == 0x1.8410f4f831a34p+5);
  CHECK(draw_ms(latency, LAST_DRAW) == 0x1.5c476344c3de9p+13);
  CHECK(draw_ms(latency, 0.99) == doctest::Approx(120).epsilon(1e-14));
}

TEST_CASE("latency: lognormal by moments") {
  const Latency latency = lognormal_of_moments(35, 30);
  CHECK(draw_ms(latency, 0.0) == 0x1.ce65789a42f19p-5);
  CHECK(draw_ms(latency, 0.25) == 0x1.01bbf09f5d6f3p+4);
  CHECK(draw_ms(latency, 0.5) == 0x1.a92f06c9b15fbp+4);
  CHECK(draw_ms(latency, 0.875) == 0x1.f34441b38bd5ep+5);
  CHECK(draw_ms(latency, LAST_DRAW) == 0x1.6fa8120c6f251p+13);
}

TEST_CASE("latency: pareto begins at its minimum and is cut at its maximum") {
  const Latency latency = ParetoLatency{1, 1.3, 400};
  CHECK(draw_ms(latency, 0.0) == 1.0);
  CHECK(draw_ms(latency, 0.25) == 0x1.3f689de44ee4bp+0);
  CHECK(draw_ms(latency, 0.5) == 0x1.b450fd29e7f54p+0);
  CHECK(draw_ms(latency, 0.875) == 0x1.3cdba13cc9501p+2);
  CHECK(draw_ms(latency, LAST_DRAW) == 400.0);
  CHECK(draw_ms(ParetoLatency{2, 2, 50}, 0.875) == 0x1.6a09e667f3bcdp+2);
}

TEST_CASE("latency: uniform and fixed") {
  CHECK(draw_ms(UniformLatency{2.5, 17.25}, 0.0) == 2.5);
  CHECK(draw_ms(UniformLatency{2.5, 17.25}, 0.25) == 6.1875);
  CHECK(draw_ms(UniformLatency{2.5, 17.25}, LAST_DRAW) == 17.25);  // 17.25 - 2^-49 is rounded; no harm in it
  CHECK(draw_ms(UniformLatency{3, 3}, 0.7) == 3.0);
  CHECK(draw_ms(FixedLatency{1.25}, 0.0) == 1.25);
  CHECK(draw_ms(FixedLatency{1.25}, LAST_DRAW) == 1.25);
}

TEST_CASE("latency: empirical draws every element with the same probability, the last one included") {
  const auto ms =
      std::make_shared<const std::vector<double>>(std::vector<double>{3, 1, 4.5, 1.25, 9, 2.6, 5});
  const Latency latency = EmpiricalLatency{ms};
  CHECK(draw_ms(latency, 0.0) == 3.0);
  CHECK(draw_ms(latency, 1.0 / 7) == 1.0);
  CHECK(draw_ms(latency, std::nextafter(1.0 / 7, 0.0)) == 3.0);
  CHECK(draw_ms(latency, 0.5) == 1.25);
  CHECK(draw_ms(latency, LAST_DRAW) == 5.0);
  std::vector<int> hits(10);
  const Stream stream(1, "a test");
  for (std::uint64_t k = 0; k < 70'000; ++k)
    ++hits[static_cast<std::size_t>(draw_ms(latency, stream.unit(k)))];
  CHECK(hits[3] == doctest::Approx(10'000).epsilon(0.03));
  CHECK(hits[5] == doctest::Approx(10'000).epsilon(0.03));
}

TEST_CASE("latency: an exponential's mean is its mean") {
  const Stream stream(1, "service:api/10.0.0.1:8080");
  double sum = 0;
  for (std::uint64_t k = 0; k < 100'000; ++k) sum += draw_ms(ExponentialLatency{20}, stream.unit(k));
  CHECK(sum / 100'000 == doctest::Approx(20).epsilon(0.01));
}

TEST_CASE("to_nanos: rounds down, once") {
  CHECK(to_nanos(0.0) == 0);
  CHECK(to_nanos(1.0) == 1'000'000);
  CHECK(to_nanos(0.0000019) == 1);
  CHECK(to_nanos(20.123456789) == 20'123'456);
}

TEST_CASE("to_nanos: what is negative, infinite or no number becomes a time all the same") {
  CHECK(to_nanos(-0.0) == 0);
  CHECK(to_nanos(-5.0) == 0);
  CHECK(to_nanos(-INF) == 0);
  CHECK(to_nanos(std::nan("")) == 0);
  CHECK(to_nanos(INF) == LONGEST_NANOS);
  CHECK(to_nanos(1e300) == LONGEST_NANOS);
  CHECK(to_nanos(0x1p62 / 1e6) <= LONGEST_NANOS);
  CHECK(floor_nanos(0x1p62) == LONGEST_NANOS);
  CHECK(floor_nanos(std::nextafter(0x1p62, 0.0)) == LONGEST_NANOS - 512);
}

// From the Python model's Philox and h.
TEST_CASE("draws: key and counter are laid out as the scenario page says") {
  const Stream service(1, "service:api/10.0.0.1:8080");
  CHECK(service.unit(0, 0, 0, 2) == 0x1.7821ed47260a1p-1);
  CHECK(service.unit(1, 0, 0, 2) == 0x1.af007e7fc2410p-4);
  CHECK(service.unit(2, 0, 0, 2) == 0x1.4595ead949f74p-1);
  const Stream balance(1, "balance:api");
  CHECK(balance.words(7, 2, 3, 4, PROBE_DRAW) ==
        std::array<std::uint64_t, 2>{0x2e796d015c0582e3, 0x702d2ebead3f61a3});
}
