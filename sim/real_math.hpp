// ln, exp, pow, the inverse normal, cos and sin out of + - * / and sqrt alone, so that their last bit is the
// same on every compiler, optimisation level and processor, which libm does not promise. Tables give the
// large part as hi + lo, a short polynomial the rest; parts are added so that only the last addition rounds
// visibly. Measured against 140 bits: ln within 0.5037 ulp (not correctly rounded once in 80,000 draws), exp
// 0.5001, pow 0.5006, cos and sin 1.1; results in the subnormal range are rounded twice. Needs
// -ffp-contract=off and no fast-math. No std::fma: the machines we build for have no instruction for it, and
// a library call would cost more than the whole logarithm.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/real_tables.hpp"

namespace halfopen::sim::real {

// x = 2^k * z with z in [0.6875, 1.375), taken apart further: ln x = a + ln(1 + r) + lo, a and r being exact.
struct LnParts {
  double a, r, lo;
};

inline double upper_26_bits(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFF'FFFF'F800'0000);
}

// For the bits of a positive normal number.
inline LnParts ln_parts(std::uint64_t bits) {
  const std::uint64_t from_offset = bits - LN_OFFSET;
  const auto k = static_cast<std::int32_t>(static_cast<std::int64_t>(from_offset) >> 52);
  const LnEntry& entry = LN_TABLE[(from_offset >> (52 - LN_BITS)) & ((1U << LN_BITS) - 1)];
  const auto z = std::bit_cast<double>(bits - (from_offset & 0xFFF0'0000'0000'0000));
  const double high = upper_26_bits(z);
  const double r = (high * entry.c - 1.0) + (z - high) * entry.c;  // exact, see make_real_tables.py
  return {k * LN2_HI + entry.hi, r, k * LN2_LO + entry.lo};
}

// r^3 * (LN_TAIL in r), in Estrin's order: the chain is short, and the order is part of the result.
inline double ln_tail(double r, double r2) {
  const double low = LN_TAIL[0] + r * LN_TAIL[1];
  const double middle = LN_TAIL[2] + r * LN_TAIL[3];
  const double high = LN_TAIL[4] + r * LN_TAIL[5];
  return (r * r2) * (low + r2 * (middle + r2 * high));
}

inline double ln_normal(std::uint64_t bits) {
  const LnParts p = ln_parts(bits);
  const double r2 = p.r * p.r;
  const double sum = p.a + p.r;
  const double lost = (p.a - sum) + p.r;  // what that addition rounded away; |a| >= |r| or a = 0
  return sum + (lost + (p.lo + (ln_tail(p.r, r2) - 0.5 * r2)));
}

// Zero, subnormal, negative, infinite or no number: away from the hot path.
double ln_special(double x);

// The natural logarithm. Exactly 0 at 1.
inline double ln(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t SMALLEST_NORMAL = 0x0010'0000'0000'0000;
  constexpr std::uint64_t INFINITE = 0x7FF0'0000'0000'0000;
  if (bits - SMALLEST_NORMAL >= INFINITE - SMALLEST_NORMAL) [[unlikely]]
    return ln_special(x);
  return ln_normal(bits);
}

double exp(double x);

// x to the y, for x > 0; no number for other x.
double pow(double x, double y);

// The z below which a normal variable of mean 0 and deviation 1 falls with probability p, 0 < p < 1:
// Wichura's Algorithm AS 241 (1988), PPND16, which is good to about 1 part in 10^16.
double inverse_normal(double p);

// Cosine and sine of the angle 2 pi * part / whole, part <= whole <= 2^60, whole > 0. The angle stays whole
// numbers until it is one of at most an eighth of a turn, so nothing is lost however long the turn is; both
// at once, because they share all that is slow. Exactly 0, 1 and -1 at quarters of a turn.
struct CosSin {
  double cos, sin;
};
CosSin cos_sin_of_turn(std::uint64_t part, std::uint64_t whole);

}  // namespace halfopen::sim::real
