#!/usr/bin/env python3
"""Makes sim/real_tables.hpp: the constants of ln, exp, pow, cos and sin, from 80 digits of mpmath.

    python3 tests/support/make_real_tables.py | clang-format > sim/real_tables.hpp

Every promise that sim/real_math.hpp relies on for exactness is asserted here while the tables are made.
"""
import re
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 80

LN_BITS = 7                       # 2^7 intervals of the mantissa
LN_OFFSET = 0x3FE6000000000000    # bits of 0.6875: z lies in [0.6875, 1.375), so that 1 is inside the range
HI_BITS = 42                      # fraction bits of the high parts: k * LN2_HI + hi is exact for |k| < 2^11
EXP_BITS = 6


def double_of_bits(bits):
    """The positive double with these bits, as a Fraction."""
    exponent, fraction = bits >> 52, bits & ((1 << 52) - 1)
    return Fraction((1 << 52) + fraction) * Fraction(2) ** (exponent - 1075)


def real(fraction):
    return mp.mpf(fraction.numerator) / mp.mpf(fraction.denominator)


def grid(value, bits):
    """The multiple of 2^-bits nearest to value, as a Fraction."""
    return Fraction(int(mp.nint(value * mp.mpf(2) ** bits)), 2**bits)


def literal(value):
    """A C++ hex-float literal of the nearest double."""
    return re.sub(r"\.?0*p", "p", float(value).hex())


def split_log(value):
    hi = grid(value, HI_BITS)
    lo = float(value - real(hi))
    assert Fraction(float(real(hi))) == hi
    return float(real(hi)), lo


def reciprocal(low, high, step):
    """A c of few bits for z in [low, high), z a multiple of step: r = z * c - 1 is small and a double for every z."""
    if low <= 1 <= high and (low == 1 or high == 1):
        return Fraction(1)  # so that ln is exact near 1, where its value is as small as r
    best = None
    for bits in range(6, 11):
        for near in (-1, 0, 1):
            c = Fraction(round(2 * 2**bits / (low + high)) + near, 2**bits)
            worst = max(abs(low * c - 1), abs((high - step) * c - 1))
            log_c = abs(mp.log(real(c)))
            # r is a multiple of step * 2^-bits: below 2^53 of them it is exact. |ln c| >= |r|
            # because the two are added by a sum that needs the greater first.
            if worst < step / 2**bits * 2**53 and log_c >= real(worst) and (best is None or worst < best[0]):
                best = (worst, c)
    assert best is not None, (low, high)
    return best[1]


def ln_table():
    rows, worst = [], Fraction(0)
    for i in range(1 << LN_BITS):
        start = LN_OFFSET + (i << (52 - LN_BITS))
        low, high = double_of_bits(start), double_of_bits(start + (1 << (52 - LN_BITS)))
        step = double_of_bits(start + 1) - low
        c = reciprocal(low, high, step)
        # zh keeps the upper 26 bits of z, so both partial products are exact if c has no more than 26.
        assert c.numerator.bit_length() <= 26
        worst = max(worst, abs(low * c - 1), abs((high - step) * c - 1))
        hi, lo = (0.0, 0.0) if c == 1 else split_log(-mp.log(real(c)))
        rows.append((float(c), hi, lo))
    return rows, worst


def exp_table():
    rows = []
    for i in range(1 << EXP_BITS):
        value = mp.mpf(2) ** (mp.mpf(i) / (1 << EXP_BITS))
        hi = grid(value, 26)  # 27 bits with the one before the point
        rows.append((float(real(hi)), float(value - real(hi))))
    return rows


def polynomial(function, low, high, terms):
    """Coefficients, lowest first, of the interpolation at Chebyshev's nodes on [low, high]: near minimax."""
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * j + 1) / (2 * terms)) for j in range(terms)]
    matrix = mp.matrix([[node**j for j in range(terms)] for node in nodes])
    values = mp.matrix([function(node) for node in nodes])
    return [float(c) for c in mp.lu_solve(matrix, values)]


def ln_tail(r):  # ln(1 + r) = r - r^2/2 + r^3 * tail
    return (mp.log1p(r) - r + r * r / 2) / r**3


def exp_tail(r):  # e^r = 1 + r + r^2/2 + r^3 * tail
    return (mp.expm1(r) - r - r * r / 2) / r**3


def cos_tail(y):  # cos x = 1 - x^2/2 + x^4 * tail, y = x^2
    return (mp.cos(mp.sqrt(y)) - 1 + y / 2) / y**2


def sin_tail(y):  # sin x = x + x^3 * tail, y = x^2
    return (mp.sin(mp.sqrt(y)) / mp.sqrt(y) - 1) / y


def emit(name, values):
    print(f"inline constexpr double {name}[] = {{\n    {', '.join(literal(v) for v in values[:3])},")
    print(f"    {', '.join(literal(v) for v in values[3:])}}};")


def main():
    rows, worst = ln_table()
    ln2_hi, ln2_lo = split_log(mp.log(2))
    step = mp.log(2) / (1 << EXP_BITS)
    step_hi = grid(step, 40)
    step_lo = float(step - real(step_hi))
    print("// Made by tests/support/make_real_tables.py with mpmath (80 digits); make it again rather than edit it.")
    print("// hi + lo is the value to about 2^-90; hi has few bits, so that what real_math.hpp does with it is exact.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace halfopen::sim::real {\n")
    print(f"inline constexpr int LN_BITS = {LN_BITS};  // log2 of the number of intervals")
    print(f"inline constexpr std::uint64_t LN_OFFSET = {LN_OFFSET:#x};  // bits of 0.6875, where the first begins")
    print(f"inline constexpr double LN2_HI = {literal(real(Fraction(ln2_hi)))};")
    print(f"inline constexpr double LN2_LO = {literal(ln2_lo)};")
    print(f"// ln(1 + r) = r - r^2/2 + r^3 * (these, lowest first), |r| <= {float(worst):.6f}")
    emit("LN_TAIL", polynomial(ln_tail, -real(worst), real(worst), 6))
    print("\n// c is about 1/z with so few bits that r = z * c - 1 is a double; hi + lo = -ln c.")
    print("struct LnEntry {\n  double c, hi, lo;\n};")
    print(f"inline constexpr LnEntry LN_TABLE[{1 << LN_BITS}] = {{")
    for row in rows:
        print(f"    {{{', '.join(literal(v) for v in row)}}},")
    print("};\n")
    print(f"inline constexpr int EXP_BITS = {EXP_BITS};")
    print(f"inline constexpr double EXP_STEPS = {literal((1 << EXP_BITS) / mp.log(2))};  // {1 << EXP_BITS} / ln 2")
    print(f"inline constexpr double EXP_STEP_HI = {literal(real(step_hi))};  // ln 2 / {1 << EXP_BITS}")
    print(f"inline constexpr double EXP_STEP_LO = {literal(step_lo)};")
    print("// e^r = 1 + r + r^2/2 + r^3 * (these, lowest first), |r| <= ln 2 / 128")
    bound = step / 2 * (1 + mp.mpf(2) ** -20)
    emit("EXP_TAIL", polynomial(exp_tail, -bound, bound, 4))
    print("\n// hi + lo = 2^(i/64); hi has 27 bits.")
    print("struct ExpEntry {\n  double hi, lo;\n};")
    print(f"inline constexpr ExpEntry EXP_TABLE[{1 << EXP_BITS}] = {{")
    for row in exp_table():
        print(f"    {{{', '.join(literal(v) for v in row)}}},")
    print("};\n")
    eighth = mp.pi / 4
    print(f"inline constexpr double EIGHTH_TURN_HI = {literal(eighth)};")
    print(f"inline constexpr double EIGHTH_TURN_LO = {literal(eighth - mp.mpf(float(eighth)))};")
    print("// cos x = 1 - x^2/2 + x^4 * (these in x^2), sin x = x + x^3 * (these in x^2), |x| <= pi/4")
    emit("COS_TAIL", polynomial(cos_tail, mp.mpf(0), eighth**2, 6))
    emit("SIN_TAIL", polynomial(sin_tail, mp.mpf(0), eighth**2, 6))
    print("\n}  // namespace halfopen::sim::real")


if __name__ == "__main__":
    main()
