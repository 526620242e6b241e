// `halfopen init`: a scenario to begin with, explained in its comments.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"

namespace halfopen::sim {

namespace {

// It holds for (nearly) every seed: its numbers are meant to be changed.
constexpr std::string_view STARTER =
    R"json(// A scenario for halfopen: a gateway, its endpoints, their trouble, and what must
// come of it. JSON with comments. With this file as first.json:
//   halfopen run first.json        shows what happens, and why
//   halfopen check first.json      says whether everything under "expect" holds
//   halfopen validate first.json   tells every mistake, with its place
{
  // For editors that complete and explain keys; `halfopen schema` prints it:
  //   halfopen schema > scenario.schema.json
  "$schema": "scenario.schema.json",

  "name": "first",
  "question": "One of three endpoints browns out: is it taken out, and does it come back?",

  // All luck comes from the seed: the same file gives the same bytes, anywhere.
  // `halfopen run first.json --seed 2` is another draw of the same story.
  "seed": 1,
  "duration_ms": 60000,  // of virtual time; the run itself takes a moment
  "sample_ms": 1000,     // width of a bin in charts and series

  // The gateway. Whatever is left out has its default: "health": {} is enough.
  "upstreams": [
    {
      "name": "api",
      "load_balancer": "round_robin",
      "endpoints": [
        { "address": "10.0.0.1", "port": 8080 },
        { "address": "10.0.0.2", "port": 8080 },
        { "address": "10.0.0.3", "port": 8080 }
      ],
      "health": {
        "consecutive_failures": 5,  // so many in a row put an endpoint out, ...
        "failure_ratio": 0.5,       // ... or this share of what it answered lately
        "failure_min_volume": 20,   // from so many on
        "eject_ms": 10000           // out for so long; then one trial decides
      },
      // A success that was under way when its endpoint was put out is ignored.
      // With "count" it brings the endpoint back: try it.
      "late_reports": "ignore"
    }
  ],

  // The simulated servers. "*" is what they have in common.
  "endpoints": {
    "*": { "latency": { "lognormal": { "p50_ms": 20, "p99_ms": 120 } } },
    "10.0.0.1:8080": {
      "faults": [
        {
          // From the 20th to the 40th second: 9 of 10 answers are a 503, and
          // all of them are slower.
          "from_ms": 20000, "to_ms": 40000,
          "brownout": { "error_ratio": 0.9, "latency_factor": 3, "capacity_factor": 1 }
        }
      ]
    }
  },

  // Requests at random instants, 300 a second on average.
  "traffic": [
    { "upstream": "api", "arrivals": "poisson", "rate_rps": 300 }
  ],

  // What must come of it. `halfopen check` exits with 1 if any of it does not
  // hold, and tells what happened instead.
  "expect": [
    // It goes out within a second of the trouble, and not before it, ...
    { "never": "endpoint_ejected", "between_ms": [0, 20000] },
    { "event": "endpoint_ejected", "endpoint": "10.0.0.1:8080", "between_ms": [20000, 21000] },
    // ... stays out until its time is over, ...
    { "state": "ejected", "endpoint": "10.0.0.1:8080", "between_ms": [21000, 30000] },
    // ... comes back by a trial once the trouble is over, ...
    { "event": "endpoint_recovered", "endpoint": "10.0.0.1:8080", "via": "half_open_probe", "at_least": 1 },
    { "state": "healthy", "endpoint": "10.0.0.1:8080", "between_ms": [55000, 60000] },
    // ... and the others never suffer for it.
    { "never": "endpoint_ejected", "endpoint": "10.0.0.2:8080" },
    { "never": "endpoint_ejected", "endpoint": "10.0.0.3:8080" }
  ]
}
)json";

struct InitOptions {
  std::string file;  // empty or "-": standard output
  bool force = false;
};

int command_init(const InitOptions& options) {
  if (names_stdout(options.file)) return write_stdout(STARTER);
  std::error_code error;
  if (!options.force && std::filesystem::exists(options.file, error)) {
    say("halfopen: " + options.file + " exists; name another file, or replace it with --force");
    return EXIT_BAD_INPUT;
  }
  const int status = write_file(options.file, STARTER);
  if (status == EXIT_HELD) say("wrote " + options.file + "; next: halfopen run " + options.file);
  return status;
}

}  // namespace

void add_init(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* init =
      add_command(app, "init",
                  "Write a scenario to begin with: one endpoint of three browns out. It holds, and "
                  "its comments explain each part.",
                  "  halfopen init first.json\n"
                  "  halfopen init | less");
  init->add_option("FILE", options->file,
                   broken("Where to; not over a file that exists. Default: standard output"));
  init->add_flag("--force", options->force, broken("Replace FILE if it exists. Default: off"));
  init->callback([options, &chosen] { chosen = [options] { return command_init(*options); }; });
}

}  // namespace halfopen::sim
