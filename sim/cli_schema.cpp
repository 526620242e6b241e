// `halfopen schema`: what files look like, for editors and for people.
#include <memory>
#include <string>

#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_words.hpp"
#include "sim/reference_text.hpp"
#include "sim/schema_json.hpp"

namespace halfopen::sim {

namespace {

struct SchemaOptions {
  std::string of = "scenario", output;
};

std::string text_of(const std::string& of) {
  if (of == "timeline") return timeline_schema();
  return of == "reference" ? scenario_reference() : scenario_schema();
}

int command_schema(const SchemaOptions& options) {
  const std::string text = text_of(options.of);
  return names_stdout(options.output) ? write_stdout(text) : write_file(options.output, text);
}

}  // namespace

void add_schema(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<SchemaOptions>();
  CLI::App* schema = add_command(
      app, "schema",
      "Print the JSON Schema (draft-07) of scenarios or of timelines, or the reference of every key. An "
      "editor that finds the schema completes keys and marks mistakes: name it in \"$schema\", or, in YAML, "
      "in a first line `# yaml-language-server: $schema=scenario.schema.json`.",
      "  halfopen schema -o scenario.schema.json\n"
      "  halfopen schema timeline");
  schema
      ->add_option(
          "OF", options->of,
          broken("scenario, timeline (both as JSON Schema) or reference (Markdown). Default: scenario"))
      ->check(one_of({"scenario", "timeline", "reference"}));
  add_output_option(*schema, options->output);
  schema->callback([options, &chosen] { chosen = [options] { return command_schema(*options); }; });
}

}  // namespace halfopen::sim
