#include "sim/real_math.hpp"

#include <cmath>
#include <limits>

namespace halfopen::sim::real {

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

// A number of about 100 bits: |lo| is at most half a unit in the last place of hi.
struct HiLo {
  double hi, lo;
};

// For |a| >= |b| or a = 0: the sum and exactly what it rounded away.
HiLo fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, (a - sum) + b};
}

// Dekker's product: the rounded product and exactly what it rounded away, without fma.
HiLo two_product(double a, double b) {
  const double product = a * b;
  const double ah = upper_26_bits(a);
  const double bh = upper_26_bits(b);
  const double al = a - ah;  // up to 27 bits, so al * bl may round: harmless, 2^-53 of what is lost anyway
  const double bl = b - bh;
  return {product, ((ah * bh - product) + (ah * bl + al * bh)) + al * bl};
}

// 2^k as a double, k in [-1022, 1023].
double power_of_two(std::int64_t k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

// x * 2^k where either may leave the normal range; a result there is rounded twice.
double scaled_far(double x, std::int64_t k) {
  return k > 0 ? (x * power_of_two(1000)) * power_of_two(k - 1000)
               : (x * power_of_two(-1000)) * power_of_two(k + 1000);
}

// Bits of a positive number made normal by 2^54, ln 2^54 to be taken off.
constexpr int SUBNORMAL_SHIFT = 54;

// e^(hi + lo), |hi| <= 746. n = round(hi * 64 / ln 2) splits off a power of two and a table entry; what is
// left, r, is below 0.0055, and the product of the entry's 27 bits with r's upper 26 bits is exact.
double exp_of(HiLo x) {
  constexpr double SHIFT = 0x1.8p52;  // adding it rounds to an integer, which stands in the low bits
  const double shifted = x.hi * EXP_STEPS + SHIFT;
  const double n = shifted - SHIFT;
  const auto steps = static_cast<std::int64_t>(n);
  const ExpEntry& entry = EXP_TABLE[static_cast<std::uint64_t>(steps) & ((1U << EXP_BITS) - 1)];
  const std::int64_t k = steps >> EXP_BITS;
  const double r_exact = x.hi - n * EXP_STEP_HI;
  const double r_lo = x.lo - n * EXP_STEP_LO;
  const double r = r_exact + r_lo;
  const double r_high = upper_26_bits(r_exact);
  const double r2 = r * r;
  const double tail = (r * r2) * ((EXP_TAIL[0] + r * EXP_TAIL[1]) + r2 * (EXP_TAIL[2] + r * EXP_TAIL[3]));
  const double curve = 0.5 * r2 + tail;  // e^r = 1 + r + curve = 1 + r_high + rest
  const double rest = ((r_exact - r_high) + r_lo) + curve;
  const HiLo sum = fast_two_sum(entry.hi, entry.hi * r_high);
  const double value = sum.hi + (sum.lo + (entry.hi * rest + (entry.lo + entry.lo * (r + curve))));
  if (k >= -1021 && k <= 1022) [[likely]]
    return value * power_of_two(k);
  return scaled_far(value, k);
}

// ln x to about 2^-68 of itself, for the bits of a positive normal number; `shift` is taken off its power of
// two.
HiLo ln_exactly(std::uint64_t bits, int shift) {
  const LnParts p = ln_parts(bits - (static_cast<std::uint64_t>(shift) << 52));
  const HiLo square = two_product(p.r, p.r);
  const HiLo sum = fast_two_sum(p.a, p.r);
  const HiLo less = fast_two_sum(sum.hi, -0.5 * square.hi);
  const double lo = ((sum.lo + less.lo) + p.lo) + (ln_tail(p.r, square.hi) - 0.5 * square.lo);
  return fast_two_sum(less.hi, lo);
}

bool is_positive_normal(double x) { return x >= std::numeric_limits<double>::min() && x < INF; }

constexpr int WICHURA_DEGREE = 7;

// One of AS 241's three ranges: {numerator, denominator} of each power, lowest first, side by side because
// both of Horner's chains run at once.
using Rational = double[WICHURA_DEGREE + 1][2];

constexpr Rational CENTRE = {{3.3871328727963666080e0, 1.0},
                             {1.3314166789178437745e+2, 4.2313330701600911252e+1},
                             {1.9715909503065514427e+3, 6.8718700749205790830e+2},
                             {1.3731693765509461125e+4, 5.3941960214247511077e+3},
                             {4.5921953931549871457e+4, 2.1213794301586595867e+4},
                             {6.7265770927008700853e+4, 3.9307895800092710610e+4},
                             {3.3430575583588128105e+4, 2.8729085735721942674e+4},
                             {2.5090809287301226727e+3, 5.2264952788528545610e+3}};
constexpr Rational SHOULDER = {{1.42343711074968357734e0, 1.0},
                               {4.63033784615654529590e0, 2.05319162663775882187e0},
                               {5.76949722146069140550e0, 1.67638483018380384940e0},
                               {3.64784832476320460504e0, 6.89767334985100004550e-1},
                               {1.27045825245236838258e0, 1.48103976427480074590e-1},
                               {2.41780725177450611770e-1, 1.51986665636164571966e-2},
                               {2.27238449892691845833e-2, 5.47593808499534494600e-4},
                               {7.74545014278341407640e-4, 1.05075007164441684324e-9}};
constexpr Rational TAIL = {{6.65790464350110377720e0, 1.0},
                           {5.46378491116411436990e0, 5.99832206555887937690e-1},
                           {1.78482653991729133580e0, 1.36929880922735805310e-1},
                           {2.96560571828504891230e-1, 1.48753612908506148525e-2},
                           {2.65321895265761230930e-2, 7.86869131145613259100e-4},
                           {1.24266094738807843860e-3, 1.84631831751005468180e-5},
                           {2.71155556874348757815e-5, 1.42151175831644588870e-7},
                           {2.01033439929228813265e-7, 2.04426310338993978564e-15}};

struct Fraction {
  double above, below;
};

Fraction evaluate(const Rational& range, double r) {
  double above = range[WICHURA_DEGREE][0];
  double below = range[WICHURA_DEGREE][1];
  for (int i = WICHURA_DEGREE - 1; i >= 0; --i) {
    above = above * r + range[i][0];
    below = below * r + range[i][1];
  }
  return {above, below};
}

}  // namespace

double ln_special(double x) {
  if (x == 0.0) return -INF;
  if (!(x > 0.0)) return NOT_A_NUMBER;
  if (x == INF) return INF;
  const HiLo parts =
      ln_exactly(std::bit_cast<std::uint64_t>(x * power_of_two(SUBNORMAL_SHIFT)), SUBNORMAL_SHIFT);
  return parts.hi;
}

double exp(double x) {
  if (x >= -746.0 && x <= 710.0) [[likely]]
    return exp_of({x, 0.0});
  if (x > 0.0) return INF;
  return x < 0.0 ? 0.0 : NOT_A_NUMBER;
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (!is_positive_normal(x)) return x > 0.0 ? exp(y * ln(x)) : NOT_A_NUMBER;
  const HiLo log = ln_exactly(std::bit_cast<std::uint64_t>(x), 0);
  const double rough = y * log.hi;
  if (!(rough >= -746.0 && rough <= 710.0)) return exp(rough);
  const HiLo product = two_product(y, log.hi);
  return exp_of(fast_two_sum(product.hi, product.lo + y * log.lo));
}

double inverse_normal(double p) {
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const Fraction f = evaluate(CENTRE, 0.180625 - q * q);
    return q * f.above / f.below;
  }
  const double root = std::sqrt(-ln(q < 0.0 ? p : 1.0 - p));
  const Rational& range = root <= 5.0 ? SHOULDER : TAIL;
  const Fraction f = evaluate(range, root - (root <= 5.0 ? 1.6 : 5.0));
  const double z = f.above / f.below;
  return q < 0.0 ? -z : z;
}

// Eighths are counted from the nearer axis: odd ones run backwards. x is the angle from there, to about
// 2^-100 of a turn while `whole` is below 2^53.
CosSin cos_sin_of_turn(std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t eighth = 8 * part / whole;
  const std::uint64_t within = 8 * part % whole;
  const auto from_axis = static_cast<double>(eighth % 2 == 0 ? within : whole - within);
  const auto turn = static_cast<double>(whole);
  const double share = from_axis / turn;
  const HiLo taken = two_product(share, turn);
  const double left = ((from_axis - taken.hi) - taken.lo) / turn;
  HiLo x = two_product(share, EIGHTH_TURN_HI);
  x.lo += share * EIGHTH_TURN_LO + left * EIGHTH_TURN_HI;
  const HiLo square = two_product(x.hi, x.hi);
  const double y = square.hi;
  double cos_tail = COS_TAIL[5];
  double sin_tail = SIN_TAIL[5];
  for (int i = 4; i >= 0; --i) {
    cos_tail = cos_tail * y + COS_TAIL[i];
    sin_tail = sin_tail * y + SIN_TAIL[i];
  }
  const HiLo bend = fast_two_sum(1.0, -0.5 * y);
  const double along = bend.hi + (bend.lo + (y * y * cos_tail - (0.5 * square.lo + x.hi * x.lo)));
  const double across = x.hi + (x.lo + x.hi * y * sin_tail);
  const bool steep = (eighth + 1) % 4 >= 2;
  const double cos = steep ? across : along;
  const double sin = steep ? along : across;
  return {eighth >= 2 && eighth < 6 ? -cos : cos, eighth >= 4 && eighth < 8 ? -sin : sin};
}

}  // namespace halfopen::sim::real
