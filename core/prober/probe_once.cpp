#include <exception>
#include <memory>
#include <utility>

#include "core/prober/probe_machine.hpp"

namespace halfopen {
namespace {

ProbeReport probe_on_a_loop_of_its_own(const ProbeTarget& target, const Resolve& resolve,
                                       std::stop_token stop) {
  ProbeReport report;
  TlsContext tls;
  if (target.speaks_tls()) tls = make_tls(target.trusted_ca_file);
  const auto context = std::make_shared<asio::io_context>(1);
  LookUps look_ups(resolve);
  const auto probe = std::make_shared<Probe>(ProbeRoom{context, &look_ups}, target, std::move(tls),
                                             [&report](ProbeReport told) { report = std::move(told); });
  const std::stop_callback stopping(std::move(stop), [&context, weak = std::weak_ptr(probe)] {
    // Weak: a request to stop that comes when the verdict is in stays in the queue.
    asio::post(*context, [weak] {
      if (const auto running = weak.lock()) running->stop();
    });
  });
  probe->start();
  context->run();  // until the deadline, at the latest, has been cancelled
  return report;
}

}  // namespace

ProbeReport probe_once(const ProbeTarget& target, const Resolve& resolve, std::stop_token stop) {
  try {
    return probe_on_a_loop_of_its_own(target, resolve, std::move(stop));
  } catch (const std::exception& error) {  // an unreadable CA file, no descriptor left for the loop
    ProbeReport report;
    report.detail = error.what();
    return report;
  }
}

}  // namespace halfopen
