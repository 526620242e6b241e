// `halfopen diff`: where two timelines first part.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/timeline_diff.hpp"

namespace halfopen::sim {

namespace {

int command_diff(const std::array<std::string, 2>& files) {
  const TimelineDiff diff = diff_timeline_files(files[0], files[1]);
  for (const Mistake& mistake : diff.mistakes) say(mistake.text());
  if (!diff.mistakes.empty()) {
    say("`halfopen run X.json --format json -o X.timeline.json` writes timelines to compare.");
    return EXIT_BAD_INPUT;
  }
  const int status = write_stdout(diff.text);
  return std::max(status, diff.same ? EXIT_HELD : EXIT_NOT_HELD);
}

}  // namespace

void add_diff(CLI::App& app, Chosen& chosen) {
  const auto files = std::make_shared<std::array<std::string, 2>>();
  CLI::App* diff = add_command(
      app, "diff",
      "Tell where two timelines first part: the first event that differs, in both versions and with "
      "the 3 common ones before it; if all events are the same, what else differs, as: where, the "
      "value in A | the value in B. meta.version is left out. Exits with 0 if they are the same, "
      "with 1 if not, with 2 if a file is no timeline.",
      "  halfopen run x.json --seed 2 --format json -o now.json\n"
      "  halfopen diff x.timeline.json now.json");
  diff->add_option("A", (*files)[0],
                   broken("A timeline, as `run --format json` or `--format jsonl` writes it"))
      ->required();
  diff->add_option("B", (*files)[1], broken("Another"))->required();
  diff->callback([files, &chosen] { chosen = [files] { return command_diff(*files); }; });
}

}  // namespace halfopen::sim
