// A gateway in miniature whose only endpoint is dead: probes find it out without any traffic. Prints what
// happened; exits 1 if the endpoint was not ejected or the last probe was not refused.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <halfopen/core/event_queue.hpp>
#include <halfopen/core/prober/active_probes.hpp>
#include <halfopen/core/prober/probe.hpp>
#include <halfopen/core/upstream.hpp>
#include <halfopen/core/validate.hpp>
#include <memory>
#include <thread>

namespace {

// A port that is taken, so that nobody else listens there, and where nobody listens.
class ClosedPort {
 public:
  ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    number_ = ntohs(address.sin_port);
  }
  ~ClosedPort() { ::close(socket_); }
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;
  std::uint16_t number() const { return number_; }

 private:
  int socket_;
  std::uint16_t number_ = 0;
};

halfopen::Instant now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count())};
}

}  // namespace

int main() {
  const ClosedPort port;
  halfopen::UpstreamConfig config;
  config.name = "api";
  config.endpoints = {{"127.0.0.1", port.number(), 1}};
  config.health.emplace();
  halfopen::ActiveParams& probing = config.active_health.emplace();
  probing.interval_ms = 50;
  probing.timeout_ms = 50;
  probing.jitter_ms = 10;
  for (const auto& problem : halfopen::validate({config})) {
    std::printf("%s: %s\n", problem.pointer.c_str(), problem.message.c_str());
    return 1;
  }

  halfopen::BoundedEventQueue events(16);
  const auto upstream = std::make_shared<halfopen::Upstream>(config, now(), &events);
  halfopen::ActiveProbes probes;
  probes.respawn({upstream});
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  halfopen::Event event;
  while (!events.take(event)) {
    if (std::chrono::steady_clock::now() > patience) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  probes.abort_all();
  std::printf("%s by %s at probe %u\n", to_string(event.type), to_string(event.rule), event.because.streak);

  const auto report = halfopen::probe_once(halfopen::ProbeTarget::of(config, config.endpoints.front()));
  std::printf("%s\n", to_string(report.end));
  return event.type == halfopen::EventType::endpoint_ejected && event.because.streak == 3 &&
                 report.end == halfopen::ProbeEnd::refused
             ? 0
             : 1;
}
