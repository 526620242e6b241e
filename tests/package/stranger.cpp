// A gateway in miniature, written against the installed headers alone: one of two endpoints answers 503 until
// it is ejected. Prints what happened; exits 1 if nothing did.
#include <cstdio>
#include <halfopen/core/upstream.hpp>
#include <halfopen/core/validate.hpp>
#include <string>

namespace {

struct PrintingSink final : halfopen::EventSink {
  int events = 0;
  void offer(const halfopen::Event& event) noexcept override {
    ++events;
    std::printf("%llu ms: %s %s by %s\n", static_cast<unsigned long long>(event.at.ms), to_string(event.type),
                event.subject->endpoint.c_str(), to_string(event.rule));
  }
};

}  // namespace

int main() {
  halfopen::UpstreamConfig config;
  config.name = "api";
  config.endpoints = {{"10.0.0.1", 8080, 1}, {"10.0.0.2", 8080, 1}};
  config.health.emplace().consecutive_failures = 3;
  for (const auto& problem : halfopen::validate({config})) {
    std::printf("%s: %s\n", problem.pointer.c_str(), problem.message.c_str());
    return 1;
  }

  PrintingSink sink;
  halfopen::Instant now{1'700'000'000'000};
  halfopen::Upstream upstream(config, now, &sink);
  int answered_by_the_broken_one = 0;
  for (int request = 0; request < 20; ++request, now = now + halfopen::Duration{1}) {
    auto admission = upstream.admit(now, halfopen::AttemptKind::first);
    auto dispatch = admission.pick(now);
    const bool broken = dispatch.endpoint() == "10.0.0.1:8080";
    answered_by_the_broken_one += broken ? 1 : 0;
    dispatch.report(now, halfopen::Outcome::http(broken ? 503 : 200));
  }
  std::printf("the broken endpoint answered %d of 20 requests\n", answered_by_the_broken_one);
  return sink.events == 1 && answered_by_the_broken_one == 3 ? 0 : 1;
}
