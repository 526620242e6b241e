#include "sim/truth.hpp"

#include <algorithm>

#include "core/outcome.hpp"

namespace halfopen::sim {
namespace {

bool hurts(double ratio, std::uint16_t status) { return ratio > 0 && Outcome::http(status).is_failure(); }

struct MakesFail {
  bool operator()(const ErrorFault& fault) const { return hurts(fault.ratio, fault.status); }
  bool operator()(const BrownoutFault& fault) const { return hurts(fault.error_ratio, fault.status); }
  bool operator()(const BurstsFault& fault) const { return hurts(fault.error_ratio, fault.status); }
  bool operator()(const DownFault&) const { return true; }
  bool operator()(const FlapFault&) const { return true; }
  bool operator()(const HangFault& fault) const { return fault.ratio > 0; }
  bool operator()(const TruncateFault& fault) const { return fault.ratio > 0; }
  bool operator()(const OutcomesFault& fault) const {
    return std::any_of(fault.list.begin(), fault.list.end(), [](const ScriptedOutcome& outcome) {
      return outcome.status == 0 || Outcome::http(outcome.status).is_failure();
    });
  }
  bool operator()(const LatencyFault&) const { return false; }
  bool operator()(const ColdStartFault&) const { return false; }
};

}  // namespace

bool makes_fail(const FaultKind& kind) { return std::visit(MakesFail{}, kind); }

}  // namespace halfopen::sim
