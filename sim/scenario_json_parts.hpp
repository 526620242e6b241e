// The rooms of the scenario reader: each reads one part of the file into its structs and tells of every
// mistake in it. Internal to scenario_json*.cpp; everybody else includes scenario_json.hpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/json_fields.hpp"
#include "sim/scenario.hpp"
#include "sim/scenario_json.hpp"

namespace halfopen::sim {

// What the parts tell each other.
struct Reading {
  std::vector<Finding> findings;
  std::filesystem::path folder;  // of the scenario: where the files it names are looked up
  NamedFiles files;
  Scenario scenario;
  // Of all generations, in order of first appearance.
  std::vector<std::string> upstream_names, endpoint_names;
  std::map<std::string, std::size_t> upstream_index, endpoint_index;
  // Values that take the place of file names in the effective scenario: (pointer, value).
  std::vector<std::pair<std::string, Json>> inlined;
  // False where a name could not be read: then a name that is not found is nobody's mistake.
  bool upstreams_known = true, endpoints_known = true;
  std::size_t names_to_compare = 200'000;  // for suggestions: not for a file of nothing but wrong names
};

// ---- texts and places -------------------------------------------------------------------------------

// A file of the world: its text, which outlives this, and what was read from it.
struct Source {
  // By the name's end as JSON or YAML.
  Source(std::string_view source_text, std::string_view name);

  std::string_view text, file;
  Document document;
  std::vector<std::string>
      written;  // of a good YAML file: every expectation as compact JSON, keys as written
};

// In the order of the file, behind what `out` holds.
void place_findings(const Source& source, const std::vector<Finding>& findings, std::vector<Mistake>& out);
void place_expectations(const Source& source, std::vector<Expectation>& expectations);

// ---- the gateway's own file -------------------------------------------------------------------------

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann's move checks itself by a function that may throw
struct Gateway {
  Json upstreams;                                      // without the keys that are none of ours
  std::vector<UpstreamConfig> configs;                 // what it says, of use where there is no mistake
  std::set<std::pair<std::string, std::string>> told;  // pointer and sentence of every mistake in it

  // The scenario is read with the same upstreams: what is wrong with them has been told, at its own place.
  void forget_told(std::vector<Finding>& findings) const;
};

// Its mistakes and warnings go to `out`, where the file is called `noun`. None: it can't be read at all, or
// has no upstreams.
std::optional<Gateway> read_gateway(const std::string& path, NamedFiles& files, std::vector<Mistake>& out,
                                    std::string_view noun = "a gateway's file");
void take_upstreams(const Gateway& gateway, Document& scenario);

// ---- configuration ----------------------------------------------------------------------------------

// `pointer` is that of the list. What validate() finds is told too, at the values that the list states.
std::vector<UpstreamConfig> read_upstreams(const Json& list, const std::string& pointer,
                                           std::vector<Finding>& findings);

// Generation 0, then every reload's, worked out in the order of time. Fills the names of all generations.
void read_configuration(Fields& root, Reading& reading);

// ---- servers ----------------------------------------------------------------------------------------

void read_endpoints(Fields& root, Reading& reading);

// Which endpoints a fault of "*" is for: those named, as places in Scenario::servers, or so many drawn ones.
struct Selection {
  std::vector<std::size_t> named;
  std::size_t drawn = 0;
};
// A fault as the file has it: without a selection it is for every endpoint that its model is for.
struct WrittenFault {
  Fault fault;
  std::optional<Selection> selection;
};
// `of_all`: the faults of "*", which alone may have a selection. Sets no fault's number.
std::vector<WrittenFault> read_faults(Fields& model, bool of_all, Reading& reading);
// Needs the names of all endpoints.
std::optional<Selection> read_selection(Fields& fault, Reading& reading);
// The places that a selection takes, ascending; `number` is the fault's place among those of "*". Each
// endpoint has its draw of the stream selection:<number> at its own place and those with the least are taken:
// an endpoint more changes nobody's draw, and a larger share takes the same ones and some more.
std::vector<std::size_t> selected(const Selection& selection, std::size_t number, const Scenario& scenario);
// Into `out`; leaves it when there is no such key or it is wrong.
void read_latency(Fields& model, Reading& reading, Latency& out);
std::uint16_t read_status(Fields& fields, std::uint16_t otherwise);

// ---- the run ----------------------------------------------------------------------------------------

void read_traffic(Fields& root, Reading& reading);
// "arrivals" and its shape, which must be one; that there is any is asked by the reader of the source.
ArrivalProcess read_process(Fields& entry);
void read_expectations(Fields& root, Reading& reading);
// What would never end or never fit: judged on the structs, after everything is read.
void check_limits(Reading& reading);
// What will surprise, of a scenario without mistakes. `root` is what it was read from.
void warn_of_surprises(const Json& root, Reading& reading);

// from_ms and to_ms of faults and traffic: `to` must come after `from`.
void read_span(Fields& fields, Nanos& from, Nanos& to);

// "; did you mean …", for names that come from the file.
std::string suggest(Reading& reading, std::string_view word, const std::vector<std::string>& names);

// The whole of a small file, or a sentence why not.
bool read_file(const std::filesystem::path& path, std::string& text, std::string& wrong);
// The same, from `files` if it is there and into them if not; null, and why.
std::shared_ptr<const std::string> named_file(NamedFiles& files, const std::filesystem::path& path,
                                              std::string& wrong);

}  // namespace halfopen::sim
