// Exact models: what must happen, as opposed to what one run of the simulator did. Each is an absorbing or a
// stationary chain, or a structured recurrence of one, built from the same parameters as the machines of
// core/; assumptions and derivation stand beside each. Probabilities are exact up to rounding and what
// `dropped` tells, or held between named bounds, or refused in a sentence. Pure functions of their arguments,
// from any thread, the same to the last bit on every machine.
//
//   exact_law       the law of a number of attempts, and of the time that they take
//   exact_rule      attempts until a streak, or until the ratio rule
//   exact_ejection  time until an ejection or opening, false or right
//   exact_onset     time until what was healthy for long and turns sick is out
//   exact_cycle     healthy - ejected - half-open of an endpoint; closed - open - half-open of a breaker
//   exact_probes    detection by active probes
//   exact_pool      n identical endpoints until none is left
//   exact_chain     sparse chains in general
#pragma once

#include "sim/exact_chain.hpp"
#include "sim/exact_cycle.hpp"
#include "sim/exact_ejection.hpp"
#include "sim/exact_law.hpp"
#include "sim/exact_onset.hpp"
#include "sim/exact_pool.hpp"
#include "sim/exact_probes.hpp"
#include "sim/exact_rule.hpp"
