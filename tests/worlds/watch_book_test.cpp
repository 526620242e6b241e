// What `watch` keeps of what the probe loops tell, without loops and without a reader.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/active_probe.hpp"
#include "core/endpoint_health.hpp"
#include "sim/cli_watch_book.hpp"

using namespace halfopen;
using namespace halfopen::sim;

namespace {

using namespace std::chrono_literals;

// A tracker whose verdicts are told as a loop of ActiveProbes tells them.
struct Endpoint {
  Endpoint(WatchBook& into, const std::string& name)
      : book(into),
        subject(std::make_shared<EventSubject>(EventSubject{"api", name})),
        tracker(into.sink(), subject) {}

  void verdict(bool ok) {
    rule.verdict(tracker, Instant{now += 10}, ok);
    ProbeReport report;
    report.end = ok ? ProbeEnd::ok : ProbeEnd::refused;
    book.verdict(*subject, report);
  }
  void verdicts(std::initializer_list<bool> all) {
    for (const bool ok : all) verdict(ok);
  }

  WatchBook& book;
  std::shared_ptr<EventSubject> subject;
  EndpointHealth tracker;
  ActiveProbe rule{ActiveParams{}, HealthParams{}, 0};
  std::uint64_t now = 1000;
};

}  // namespace

TEST_CASE("watch book: a transition comes with the verdict that brought it about, at the tracker's time") {
  WatchBook book(false);
  Endpoint a(book, "a:1"), b(book, "b:1");
  book.watch({{"api", "a:1", false}, {"api", "b:1", false}});
  a.verdicts({false, false});
  CHECK(book.wait(0ns).notes.empty());  // nothing came of them
  b.verdict(true);
  a.verdict(false);
  const std::vector<WatchNote> out = book.wait(0ns).notes;
  REQUIRE(out.size() == 1);
  CHECK(out[0].subject.endpoint == "a:1");
  CHECK(out[0].report->end == ProbeEnd::refused);
  REQUIRE(out[0].events.size() == 1);
  CHECK(out[0].events[0].type == EventType::endpoint_ejected);
  CHECK(out[0].time.at == Instant{1030});
  a.verdicts({true, true});
  const std::vector<WatchNote> back = book.wait(0ns).notes;
  REQUIRE(back.size() == 1);
  CHECK(back[0].events.at(0).type == EventType::endpoint_recovered);
  const std::vector<WatchTally> tallies = book.tallies();
  REQUIRE(tallies.size() == 2);
  CHECK(tallies[0].probes == 5);
  CHECK(tallies[0].failed == 3);
  CHECK(tallies[0].ejections == 1);
  CHECK(tallies[0].recoveries == 1);
  CHECK_FALSE(tallies[0].out_since);
  CHECK(tallies[0].out == back[0].time.since - out[0].time.since);
  CHECK(tallies[1].probes == 1);
}

TEST_CASE("watch book: what a slow reader has no room for is dropped and counted, and still in the tallies") {
  WatchBook book(true);
  Endpoint a(book, "a:1");
  book.watch({{"api", "a:1", false}});
  for (std::size_t n = 0; n < WatchBook::ROOM; ++n) a.verdict(true);
  a.verdicts({false, false, false, true});  // one of them ejects
  book.iteration_threw(*a.subject, "no descriptor left", 1);
  WatchBook::Mail mail = book.wait(0ns);
  CHECK(mail.notes.size() == WatchBook::ROOM);
  CHECK(mail.dropped_lines == 5);
  CHECK(mail.dropped_events == 1);
  CHECK(book.tallies().at(0).probes == WatchBook::ROOM + 4);
  CHECK(book.tallies().at(0).ejections == 1);
  CHECK(book.tallies().at(0).no_verdict == 1);
  a.verdict(true);  // there is room again, and nothing of before comes back
  mail = book.wait(0ns);
  REQUIRE(mail.notes.size() == 1);
  REQUIRE(mail.notes[0].events.size() == 1);
  CHECK(mail.notes[0].events[0].type == EventType::endpoint_recovered);
  CHECK(mail.dropped_lines == 0);
}

TEST_CASE("watch book: the third iteration in a row without a verdict is the loop's last, until a reload") {
  WatchBook book(false);
  Endpoint a(book, "a:1");
  book.watch({{"api", "a:1", false}});
  for (const std::uint32_t in_a_row : {1u, 2u, 3u}) book.iteration_threw(*a.subject, "bad file", in_a_row);
  const std::vector<WatchNote> notes = book.wait(0ns).notes;
  REQUIRE(notes.size() == 3);
  CHECK_FALSE(notes[1].gave_up());
  CHECK(notes[2].gave_up());
  CHECK(notes[2].what == "bad file");
  CHECK(book.tallies().at(0).gave_up);
  book.watch({{"api", "a:1", false}});
  CHECK_FALSE(book.tallies().at(0).gave_up);
  CHECK(book.tallies().at(0).no_verdict == 3);
}

TEST_CASE("watch book: being out goes on over a reload with the tracker, and ends with it") {
  WatchBook book(false);
  Endpoint a(book, "a:1"), b(book, "b:1");
  book.watch({{"api", "a:1", false}, {"api", "b:1", false}});
  a.verdicts({false, false, false});
  b.verdicts({false, false, false});
  const auto since = book.tallies().at(0).out_since;
  REQUIRE(since);
  book.watch({{"api", "a:1", true}});  // b has left
  CHECK(book.tallies().at(0).out_since == since);
  CHECK(book.tallies().at(0).watched);
  CHECK_FALSE(book.tallies().at(1).watched);
  CHECK_FALSE(book.tallies().at(1).out_since);
  const Nanos out = book.tallies().at(1).out;
  CHECK(out > 0);
  std::this_thread::sleep_for(1ms);
  book.watch({{"api", "a:1", false}, {"api", "b:1", false}});  // both upstreams are new ones
  CHECK_FALSE(book.tallies().at(0).out_since);
  CHECK(book.tallies().at(0).out >= 1'000'000);
  CHECK(book.tallies().at(1).out == out);  // its time away is no time out
  CHECK(book.tallies().at(1).ejections == 1);
  book.watch({{"api", "a:1", false}, {"api", "b:1", true}});  // its tracker was kept by the upstream
  CHECK(book.tallies().at(1).out_since);
}

TEST_CASE("watch book: whoever waits is woken by a wish to stop or to read again, and only once") {
  WatchBook book(false);
  std::thread asker([&book] { book.ask_to_reload(); });
  WatchBook::Mail mail = book.wait(60s);
  asker.join();
  CHECK(mail.reload);
  CHECK_FALSE(mail.stop);
  mail = book.wait(0ns);
  CHECK_FALSE(mail.reload);
  book.ask_to_stop();
  CHECK(book.wait(60s).stop);
}
