// An analysis in the words of an operator: numbers to three digits with their unit, and a sentence for each
// answer. What is held between bounds reads "a to b", unless three digits don't tell them apart.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis.hpp"

namespace halfopen::sim {

// "3.2 ms", "0.4 s", "41 days", "1,020 years", "over 1,000,000 years", "never" for an infinite time.
std::string time_words(double seconds);
std::string time_words(const exact::Bounds& seconds);
// "99.2 %", "2.8e-06": a chance or a share. Never "0 %" or "100 %" for what is not.
std::string chance_words(double chance);
std::string chance_words(const exact::Bounds& chance);
// 1,234, 0.0213: three digits, without a unit.
std::string number_words(double value);
std::string number_words(const exact::Bounds& value);

// "at 0.5 % errors and 250 req/s these rules eject a healthy endpoint once in 41 years; at 60 % errors they
// eject it within 0.13 s, 95 % of the time." One for the endpoints' rules, the breaker, the probes, the pool,
// as far as the upstream has them.
std::vector<std::string> sentences(const UpstreamAnalysis& upstream);

}  // namespace halfopen::sim
