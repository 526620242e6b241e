#include "sim/real_math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace {

namespace real = halfopen::sim::real;

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr int POINTS = 200'000;

// The k-th number in [0, 1) of a stream of its own for each `lane`.
double luck(std::uint64_t k, std::uint64_t lane) {
  return halfopen::unit(halfopen::philox_word0(k, lane, 0, 0, 2026, 7));
}

double ulp(double x) { return std::nextafter(std::abs(x), INF) - std::abs(x); }

// How far `got` is from the true value, in units of got's last place. x87's long double has 11 bits more.
double error_in_ulp(double got, long double truth) {
  return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / ulp(got));
}

struct Worst {
  double error = 0;
  int not_nearest =
      0;  // results that are not the double nearest to the truth, or so near a tie that 64 bits can't say

  void see(double got, long double truth) {
    error = std::max(error, error_in_ulp(got, truth));
    not_nearest += got != static_cast<double>(truth);
  }
};

static_assert(std::numeric_limits<long double>::digits >= 64,
              "the comparisons below need a longer long double");

}  // namespace

// The pinned values are the doubles nearest to 300 bits of MPFR.
TEST_CASE("ln: pinned bits") {
  CHECK(real::ln(0.5) == -0x1.62e42fefa39efp-1);
  CHECK(real::ln(2.0) == 0x1.62e42fefa39efp-1);
  CHECK(real::ln(0x1p-53) == -0x1.25e4f7b2737fap+5);
  CHECK(real::ln(0x1.fffffffffffffp-1) == -0x1p-53);
  CHECK(real::ln(0x1.0000000000001p+0) == 0x1.fffffffffffffp-53);
  CHECK(real::ln(0.1) == -0x1.26bb1bbb55515p+1);
  CHECK(real::ln(10.0) == 0x1.26bb1bbb55516p+1);
  CHECK(real::ln(0x1.6p-1) == -0x1.7fafa3bd8151cp-2);  // where the table begins
  CHECK(real::ln(1e300) == 0x1.5963447f87fb5p+9);
  CHECK(real::ln(5e-324) == -0x1.74385446d71c3p+9);
}

TEST_CASE("ln: exactly 0 at 1, so that a draw of 0 is a latency and a gap of 0") {
  CHECK(real::ln(1.0) == 0.0);
  CHECK_FALSE(std::signbit(real::ln(1.0)));
}

TEST_CASE("ln: outside of its domain it answers as libm does") {
  CHECK(real::ln(0.0) == -INF);
  CHECK(real::ln(INF) == INF);
  CHECK(std::isnan(real::ln(-1.0)));
  CHECK(std::isnan(real::ln(std::nan(""))));
}

TEST_CASE("ln: within 0.51 ulp of the truth where simulations take it, 1 - u") {
  Worst worst;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const double x = 1.0 - luck(k, 0);
    worst.see(real::ln(x), std::log(static_cast<long double>(x)));
  }
  CHECK(worst.error < 0.51);
  CHECK(worst.not_nearest <= POINTS / 1'000);
}

TEST_CASE("ln: within 0.51 ulp around 1, where the result is as small as its argument's distance") {
  Worst worst;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const double x = 1.0 + (luck(k, 1) - 0.5) / 32;
    worst.see(real::ln(x), std::log(static_cast<long double>(x)));
  }
  CHECK(worst.error < 0.51);
  CHECK(worst.not_nearest <= POINTS / 1'000);
}

TEST_CASE("ln: within 0.51 ulp over all positive doubles, and over the ends of every table interval") {
  Worst worst;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const auto bits = halfopen::philox_word0(k, 2, 0, 0, 2026, 7) % 0x7FF0'0000'0000'0000;
    const auto x = std::bit_cast<double>(bits);
    worst.see(real::ln(x), std::log(static_cast<long double>(x)));
  }
  for (std::uint64_t i = 0; i < 512; ++i) {
    const std::uint64_t border = 0x3FE0'0000'0000'0000 + (i << 45);
    for (const std::uint64_t bits : {border - 1, border, border + 1}) {
      const auto x = std::bit_cast<double>(bits);
      worst.see(real::ln(x), std::log(static_cast<long double>(x)));
    }
  }
  CHECK(worst.error < 0.51);
}

TEST_CASE("exp: pinned bits") {
  CHECK(real::exp(1.0) == 0x1.5bf0a8b145769p+1);
  CHECK(real::exp(-1.0) == 0x1.78b56362cef38p-2);
  CHECK(real::exp(0.5) == 0x1.a61298e1e069cp+0);
  CHECK(real::exp(0.0) == 1.0);
  CHECK(real::exp(0x1p-60) == 1.0);
  CHECK(real::exp(709.0) == 0x1.d422d2be5dc9bp+1022);
  CHECK(real::exp(-708.0) == 0x1.7c8ab2288c9abp-1022);
  CHECK(real::exp(0x1.7f7427b73e391p+1) == 0x1.3ffffffffffffp+4);
  CHECK(real::exp(-3.7) == 0x1.9511fc6871044p-6);
}

TEST_CASE("exp: overflows to infinity, vanishes to 0 through the subnormals, and passes no number on") {
  CHECK(real::exp(709.782) < INF);
  CHECK(real::exp(709.783) == INF);
  CHECK(real::exp(1e300) == INF);
  CHECK(real::exp(INF) == INF);
  CHECK(real::exp(-745.1) == std::numeric_limits<double>::denorm_min());
  CHECK(real::exp(-745.2) == 0.0);
  CHECK(real::exp(-INF) == 0.0);
  CHECK(std::isnan(real::exp(std::nan(""))));
}

TEST_CASE("exp: within 0.51 ulp of the truth, small arguments and all") {
  Worst worst;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    for (const double x : {(luck(k, 3) - 0.5) * 20, -708 + luck(k, 4) * 1417, (luck(k, 5) - 0.5) / 16}) {
      worst.see(real::exp(x), std::exp(static_cast<long double>(x)));
    }
  }
  CHECK(worst.error < 0.51);
  CHECK(worst.not_nearest <= 3 * POINTS / 1'000);
}

TEST_CASE("pow: pinned bits") {
  CHECK(real::pow(0.5, -0.5) == 0x1.6a09e667f3bcdp+0);
  CHECK(real::pow(2.0, 0.5) == 0x1.6a09e667f3bcdp+0);
  CHECK(real::pow(0.25, -0x1.5555555555555p-2) == 0x1.965fea53d6e3cp+0);
  CHECK(real::pow(0x1p-53, -0x1.5555555555555p-1) == 0x1.428a2f98d7283p+35);
  CHECK(real::pow(10.0, 2.0) == 100.0);
  CHECK(real::pow(3.0, -4.0) == 0x1.948b0fcd6e9e0p-7);
  CHECK(real::pow(0x1.fffffffffffffp-1, 1e15) == 0x1.ca32cbada6c6ap-1);
  CHECK(real::pow(0x1.000001ad7f29bp+0, 1e7) == 0x1.5bf0a790ce6f2p+1);
}

TEST_CASE("pow: the edges") {
  CHECK(real::pow(1.0, 1e300) == 1.0);
  CHECK(real::pow(7.0, 0.0) == 1.0);
  CHECK(real::pow(2.0, 1024.0) == INF);
  CHECK(real::pow(0.5, 1e300) == 0.0);
  CHECK(real::pow(0x1p-53, -1e300) == INF);
  CHECK(real::pow(INF, -1.0) == 0.0);
  CHECK(std::isnan(real::pow(-2.0, 2.0)));
  CHECK(std::isnan(real::pow(0.0, 2.0)));
  CHECK(std::isnan(real::pow(2.0, std::nan(""))));
}

TEST_CASE("pow: within 0.51 ulp of the truth over Pareto's range") {
  Worst worst;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const double x = 1.0 - luck(k, 6);
    const double y = -1.0 / (1.0 + 4.0 * luck(k, 7));
    worst.see(real::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)));
  }
  CHECK(worst.error < 0.51);
  CHECK(worst.not_nearest <= POINTS / 1'000);
}

// From AS 241 in Python with a correctly rounded ln.
TEST_CASE("inverse normal: pinned bits in the centre, on the shoulders and in the tails") {
  CHECK(real::inverse_normal(0x1p-54) == -0x1.095b059d67c4cp+3);
  CHECK(real::inverse_normal(1e-10) == -0x1.97203597a2154p+2);
  CHECK(real::inverse_normal(0.01) == -2.3263478740408408);
  CHECK(real::inverse_normal(0.075) == -0x1.7085226d3e523p+0);
  CHECK(real::inverse_normal(0.25) == -0x1.5956b87528a49p-1);
  CHECK(real::inverse_normal(0.5) == 0.0);
  CHECK(real::inverse_normal(0.6) == 0x1.036d6c4a04b5ap-2);
  CHECK(real::inverse_normal(0.925) == 0x1.7085226d3e524p+0);
  CHECK(real::inverse_normal(0.975) == 0x1.f5c0331eeff82p+0);
  CHECK(real::inverse_normal(0.99) == 2.3263478740408408);
  CHECK(real::inverse_normal(0x1.fffffffffffffp-1) == 0x1.06b48528cea51p+3);
}

TEST_CASE("inverse normal: the normal distribution takes it back, to AS 241's 16 digits") {
  double worst = 0;
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const double p = 0x1p-54 + luck(k, 8);
    const long double z = real::inverse_normal(p);
    const long double back = std::erfc(-z / std::sqrt(2.0L)) / 2;
    const long double slope = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0L));
    const long double off = std::abs(back - static_cast<long double>(p)) / slope;  // as an error of z
    worst = std::max(worst, static_cast<double>(off / std::max(1.0L, std::abs(z))));
  }
  CHECK(worst < 1e-15);  // most of it is p's own rounding
}

TEST_CASE("cos and sin: exact at quarters of a turn, pinned bits in every eighth") {
  for (const std::uint64_t whole : {4ULL, 1'000'000ULL, 10'000'000'000'000'000ULL}) {
    const double quarters[][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
    for (std::uint64_t quarter = 0; quarter <= 4; ++quarter) {
      const real::CosSin at = real::cos_sin_of_turn(quarter * (whole / 4), whole);
      CHECK(at.cos == quarters[quarter][0]);
      CHECK(at.sin == quarters[quarter][1]);
    }
  }
  constexpr double LONG = 0x1.d906bcf328d46p-1, SHORT = 0x1.87de2a6aea963p-2;
  const double sixteenths[][2] = {{LONG, SHORT},   {SHORT, LONG},   {-SHORT, LONG}, {-LONG, SHORT},
                                  {-LONG, -SHORT}, {-SHORT, -LONG}, {SHORT, -LONG}, {LONG, -SHORT}};
  for (std::uint64_t n = 0; n < 8; ++n) {
    const real::CosSin at = real::cos_sin_of_turn(2 * n + 1, 16);
    CHECK(at.cos == sixteenths[n][0]);
    CHECK(at.sin == sixteenths[n][1]);
  }
}

TEST_CASE("cos and sin: within 1.1 ulp of the truth, in turns of any length") {
  Worst worst;
  const long double half_turn = std::acos(-1.0L);
  for (std::uint64_t k = 0; k < POINTS; ++k) {
    const std::uint64_t whole = halfopen::philox_word0(k, 9, 0, 0, 2026, 7) >> (12 + k % 50);
    if (whole == 0) continue;
    const std::uint64_t part = halfopen::philox_word0(k, 10, 0, 0, 2026, 7) % whole;
    const real::CosSin got = real::cos_sin_of_turn(part, whole);
    // Both angles from the nearer axis, so that long double loses nothing near a zero.
    const std::uint64_t quarter = 4 * part / whole;
    const long double angle =
        half_turn * static_cast<long double>(4 * part % whole) / (2.0L * static_cast<long double>(whole));
    const long double back = half_turn * static_cast<long double>(whole - 4 * part % whole) /
                             (2.0L * static_cast<long double>(whole));
    const bool near = angle < back;
    const long double cos = near ? std::cos(angle) : std::sin(back);
    const long double sin = near ? std::sin(angle) : std::cos(back);
    const long double turned[][2] = {{cos, sin}, {-sin, cos}, {-cos, -sin}, {sin, -cos}};
    if (got.cos != 0) worst.see(got.cos, turned[quarter][0]);
    if (got.sin != 0) worst.see(got.sin, turned[quarter][1]);
    CHECK(got.cos * got.cos + got.sin * got.sin == doctest::Approx(1).epsilon(1e-15));
  }
  CHECK(worst.error < 1.1);
}
