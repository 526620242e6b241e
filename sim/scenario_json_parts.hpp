// The rooms of the scenario reader: each reads one part of the file into its structs and tells of every
// mistake in it. Internal to scenario_json*.cpp; everybody else includes scenario_json.hpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/json_fields.hpp"
#include "sim/scenario.hpp"

namespace halfopen::sim {

// What the parts tell each other.
struct Reading {
  std::vector<Finding> findings;
  std::filesystem::path folder;  // of the scenario: where the files it names are looked up
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

// ---- configuration ----------------------------------------------------------------------------------

// `pointer` is that of the list. What validate() finds is told too, at the values that the list states.
std::vector<UpstreamConfig> read_upstreams(const Json& list, const std::string& pointer,
                                           std::vector<Finding>& findings);

// Generation 0, then every reload's, worked out in the order of time. Fills the names of all generations.
void read_configuration(Fields& root, Reading& reading);

// ---- servers ----------------------------------------------------------------------------------------

void read_endpoints(Fields& root, Reading& reading);
std::vector<Fault> read_faults(Fields& model, Reading& reading);
// Into `out`; leaves it when there is no such key or it is wrong.
void read_latency(Fields& model, Reading& reading, Latency& out);
std::uint16_t read_status(Fields& fields, std::uint16_t otherwise);

// ---- the run ----------------------------------------------------------------------------------------

void read_traffic(Fields& root, Reading& reading);
void read_expectations(Fields& root, Reading& reading);
// What would never end or never fit: judged on the structs, after everything is read.
void check_limits(Reading& reading);

// from_ms and to_ms of faults and traffic: `to` must come after `from`.
void read_span(Fields& fields, Nanos& from, Nanos& to);

// "; did you mean …", for names that come from the file.
std::string suggest(Reading& reading, std::string_view word, const std::vector<std::string>& names);

// The whole of a small file, or a sentence why not.
bool read_file(const std::filesystem::path& path, std::string& text, std::string& wrong);

}  // namespace halfopen::sim
