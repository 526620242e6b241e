#include "sim/latency_histogram.hpp"

#include <doctest/doctest.h>

#include <cmath>

using halfopen::sim::LatencyHistogram;
using halfopen::sim::Nanos;

namespace {

constexpr Nanos US = 1000;

double only(Nanos latency) {
  LatencyHistogram histogram;
  histogram.add(latency);
  return histogram.quantile_ms(0.5);
}

}  // namespace

TEST_CASE("latency histogram: whole microseconds, rounded down, are exact below 256") {
  CHECK(only(0) == 0.0);
  CHECK(only(999) == 0.0);
  CHECK(only(1000) == 0.001);
  CHECK(only(1999) == 0.001);
  for (std::uint64_t us = 0; us < 256; ++us) CHECK(only(us * US) == static_cast<double>(us) / 1000);
}

TEST_CASE("latency histogram: 128 parts an octave, and a part is told by its lower edge") {
  CHECK(only(256 * US) == 0.256);
  CHECK(only(257 * US) == 0.256);
  CHECK(only(258 * US) == 0.258);
  CHECK(only(511 * US) == 0.510);
  CHECK(only(512 * US) == 0.512);
  CHECK(only(515 * US) == 0.512);
  CHECK(only(516 * US) == 0.516);
  CHECK(only(10'000 * US) == 9.984);  // parts of 64 us between 8192 and 16384
  CHECK(only(1'000'000 * US) == 999.424);
}

TEST_CASE("latency histogram: the parts of each octave are 128, of one width, without gap or overlap") {
  for (int octave = 7; octave < 44; ++octave) {
    const std::uint64_t begin = std::uint64_t{1} << octave;
    const std::uint64_t width = begin / 128;
    const std::size_t first = LatencyHistogram::part_of(begin);
    CHECK(LatencyHistogram::part_of(2 * begin - 1) - first == 127);
    CHECK(LatencyHistogram::part_of(2 * begin) - first == 128);
    for (std::uint64_t part = 0; part < 128; ++part) {
      const std::uint64_t edge = begin + part * width;
      CHECK(LatencyHistogram::lower_edge_us(first + part) == edge);
      CHECK(LatencyHistogram::part_of(edge) == first + part);
      CHECK(LatencyHistogram::part_of(edge + width - 1) == first + part);
    }
  }
}

TEST_CASE("latency histogram: quantiles are nearest rank, ceil of q times n, for every n") {
  LatencyHistogram histogram;
  CHECK(std::isnan(histogram.quantile_ms(0.5)));
  for (std::uint64_t n = 1; n <= 250; ++n) {
    histogram.add((n - 1) * US);  // the k-th smallest of n is k - 1 us
    const auto rank = [n](std::uint64_t percent) { return (percent * n + 99) / 100; };
    CHECK(histogram.total() == n);
    CHECK(histogram.quantile_ms(0.50) == static_cast<double>(rank(50) - 1) / 1000);
    CHECK(histogram.quantile_ms(0.95) == static_cast<double>(rank(95) - 1) / 1000);
    CHECK(histogram.quantile_ms(0.99) == static_cast<double>(rank(99) - 1) / 1000);
    CHECK(histogram.quantile_ms(1.0) == static_cast<double>(n - 1) / 1000);
  }
}

TEST_CASE("latency histogram: ceil of q times n is exact where q times n is whole, at a million too") {
  LatencyHistogram histogram;
  for (int i = 0; i < 950'000; ++i) histogram.add(1 * US);
  for (int i = 0; i < 40'000; ++i) histogram.add(2 * US);
  for (int i = 0; i < 10'000; ++i) histogram.add(3 * US);
  CHECK(histogram.quantile_ms(0.95) == 0.001);
  CHECK(histogram.quantile_ms(0.99) == 0.002);
  histogram.add(3 * US);
  CHECK(histogram.quantile_ms(0.95) == 0.002);
  CHECK(histogram.quantile_ms(0.99) == 0.003);
}

TEST_CASE("latency histogram: merged and cleared as if each had been added alone") {
  LatencyHistogram run, bin;
  run.merge(bin);
  CHECK(run.total() == 0);
  for (std::uint64_t us = 100; us > 0; --us) {
    bin.add(us * US);
    if (us % 7 != 0) continue;
    run.merge(bin);
    bin.clear();
    CHECK(bin.total() == 0);
    CHECK(std::isnan(bin.quantile_ms(0.5)));
  }
  run.merge(bin);
  CHECK(run.total() == 100);
  CHECK(run.quantile_ms(0.01) == 0.001);
  CHECK(run.quantile_ms(0.5) == 0.050);
  CHECK(run.quantile_ms(0.99) == 0.099);
  bin.clear();
  bin.add(70'000 * US);
  CHECK(bin.quantile_ms(0.5) == 69.632);
  run.merge(bin);
  CHECK(run.quantile_ms(1.0) == 69.632);
}

TEST_CASE("latency histogram: the longest run's latency has a part") {
  CHECK(only(Nanos{10'000'000'000} * 1'000'000) > 9.9e9);
}

TEST_CASE("latency histogram: an earlier state taken away leaves what came after it") {
  LatencyHistogram earlier, later;
  for (const Nanos us : {3, 700, 700}) earlier.add(us * US);
  later = earlier;
  for (const Nanos us : {700, 90'000}) later.add(us * US);
  later.subtract(earlier);
  CHECK(later.total() == 2);
  CHECK(later.quantile_ms(0.5) == only(700 * US));
  CHECK(later.quantile_ms(1) == only(90'000 * US));
  LatencyHistogram same = later;
  same.subtract(later);
  CHECK(same.total() == 0);
  CHECK(std::isnan(same.quantile_ms(0.5)));
  same.add(5 * US);
  CHECK(same.quantile_ms(0.5) == 0.005);
}
