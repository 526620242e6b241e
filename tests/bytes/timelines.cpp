// What `halfopen run --format json FILE…` writes, without the command line: for test_same_bytes.py, which builds
// this with several compilers, as three quarters of the time of building the command go into reading options.
#include <cstdio>
#include <string>
#include <vector>

#include "sim/expectations.hpp"
#include "sim/scenario_json.hpp"
#include "sim/simulation.hpp"
#include "sim/writer_json.hpp"

int main(int argc, char** argv) {
  using namespace halfopen::sim;
  for (int n = 1; n < argc; ++n) {
    const Loaded loaded = load_scenario_file(argv[n]);
    if (!loaded.scenario) {
      for (const Mistake& mistake : loaded.mistakes) std::fprintf(stderr, "%s\n", mistake.text().c_str());
      return 2;
    }
    const Timeline timeline = simulate(*loaded.scenario);
    const std::string json = timeline_json(timeline, judge(*loaded.scenario, timeline));
    if (std::fwrite(json.data(), 1, json.size(), stdout) != json.size()) return 2;
  }
  return 0;
}
