// The words of `halfopen watch`.
#include <memory>
#include <string>

#include "sim/cli.hpp"
#include "sim/cli_watch_run.hpp"
#include "sim/cli_words.hpp"

namespace halfopen::sim {

namespace {

struct WatchWords {
  WatchOptions options;
  std::string for_ms, format = "text";
};

constexpr std::string_view EXAMPLES =
    "  halfopen watch gateway.yaml\n"
    "  halfopen watch gateway.yaml --verdicts --for-ms 60000\n"
    "  halfopen watch gateway.yaml --format jsonl > watch.jsonl\n"
    "  halfopen watch gateway.yaml | grep -m1 ejected; notify\n\n"
    "FILE is a scenario or a gateway's own file, JSON or YAML (.yaml, .yml). Of it\n"
    "only \"upstreams\" is read: a scenario's traffic, faults and reloads are not.\n"
    "An upstream without active_health is named and not watched. A relative\n"
    "trusted_ca_file is looked up in the working directory, as a gateway does.\n\n"
    "Each endpoint is probed on its own: a whole interval (and jitter) after the\n"
    "start for the first time, and then after each verdict. No traffic flows, so an\n"
    "endpoint that is out comes back by probes alone; when its eject_ms is over it is\n"
    "\"half_open\" in the summary, and nothing is printed before probes bring it back.\n\n"
    "A line a transition on standard output, at once and however long it is, with\n"
    "the UTC time, the counts that decided and the probe that brought it about:\n"
    "  12:03:04.123Z  api 10.0.0.1:8080  ejected: 3 failures in a row, limit 3\n"
    "    (active health); out for 30 s; last probe: refused    (on one line)\n"
    "A line too when an iteration ends without a verdict (after three in a row the\n"
    "endpoint is given up) and when the file is read again; at the end a summary,\n"
    "within 80 columns: \"out\" is how long it was ejected until probes brought it\n"
    "back; \"not watched\" that the file does not have it probed any more, \"not probed\"\n"
    "that no verdict came, \"given up\" as above. If standard output is not read in\n"
    "time, lines are dropped and counted; if nobody reads it at the end, the rest is\n"
    "lost after 5 s. There is no -o: redirect standard output, a file then grows line\n"
    "by line.\n\n"
    "JSON lines have \"time\" (Unix ms), \"t_ms\" (ms since the start) and \"type\":\n"
    "watch (first), endpoint_ejected and endpoint_recovered with the keys of a\n"
    "timeline's events and \"last_probe\", probe (--verdicts), no_verdict, reloaded,\n"
    "reload_refused, summary (last). `halfopen probe --help` tells the verdicts.\n\n"
    "SIGINT (Ctrl-C) and SIGTERM end it with the summary, and so does a reader that\n"
    "leaves; the third of these signals ends it at once. SIGHUP reads the file again\n"
    "as a gateway reloads, under nohup too: endpoints that stay keep what has been\n"
    "counted, and all intervals begin anew. A file with a mistake is told, and what\n"
    "was watched stays.\n\n"
    "Exit status: 0 ended as asked, by a signal, --for-ms or its reader; 2 usage, a\n"
    "bad file, nothing to watch, or nowhere to write to; 3 an internal error.";

}  // namespace

void add_watch(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<WatchWords>();
  CLI::App* watch = add_command(
      app, "watch",
      "Probe the live endpoints of a file as its active_health says, with a gateway's own probe loops and "
      "trackers, and tell when one of them would be ejected or let back, and why.",
      std::string(EXAMPLES));
  watch->add_option("FILE", words->options.file, broken("A scenario or a gateway's file"))->required();
  watch->add_flag("--verdicts", words->options.verdicts,
                  broken("Print a line for every probe as well. Default: transitions alone"));
  watch
      ->add_option("--for-ms", words->for_ms,
                   broken("End after so long, 1 to 10000000000. Default: when a signal says so"))
      ->type_name("MS");
  watch
      ->add_option("--format", words->format,
                   broken("text (for people) or jsonl (an object a line). Default: text"))
      ->check(one_of({"text", "jsonl"}))
      ->type_name("FORMAT");
  watch->callback([words, &chosen] {
    WatchOptions& options = words->options;
    if (!words->for_ms.empty()) options.for_ms = whole_of("--for-ms", words->for_ms, 1, MAX_TIME_MS);
    options.json = words->format == "jsonl";
    chosen = [words] { return command_watch(words->options); };
  });
}

}  // namespace halfopen::sim
