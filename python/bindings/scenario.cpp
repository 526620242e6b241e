#include "python/bindings/scenario.hpp"

#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "python/bindings/bindings.hpp"
#include "python/bindings/mistakes.hpp"
#include "sim/number_format.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::python {

namespace {
constexpr std::string_view NOT_A_TEXT = "<dict>";
}

void called(sim::Mistake& mistake, const std::string& file, const std::string& name) {
  if (mistake.file != file) return;
  mistake.file = name;
  if (name == NOT_A_TEXT) mistake.line = mistake.column = 0;  // nobody wrote the text that it is a place in
}

void of_a_change(sim::Mistake& mistake, const std::string& pointer, const std::string& value) {
  if (mistake.pointer == pointer || mistake.pointer.starts_with(pointer + "/"))
    mistake.line = mistake.column = 0;
  const std::string prefix = "--set " + pointer + "=" + value + ": ";
  if (mistake.what.starts_with(prefix)) mistake.what.erase(0, prefix.size());
}

LoadedScenario LoadedScenario::read_file(const std::string& path, const std::string& name,
                                         sim::LoadOptions options) {
  std::string text, wrong;
  if (!sim::read_file(path, text, wrong)) throw BadFile({{name, 0, 0, "", wrong, false}});
  return read({std::move(text), path, name, std::move(options)});
}

LoadedScenario LoadedScenario::read(Origin origin) {
  sim::Loaded loaded = sim::load_scenario_text(origin.text, origin.file, origin.options);
  for (sim::Mistake& mistake : loaded.mistakes) {
    called(mistake, origin.file, origin.name);
    for (const auto& [pointer, value] : origin.options.sets) of_a_change(mistake, pointer, value);
  }
  if (!loaded.scenario) throw BadFile(std::move(loaded.mistakes));
  LoadedScenario out;
  out.origin_ = std::move(origin);
  out.scenario_ = std::make_shared<const sim::Scenario>(*std::move(loaded.scenario));
  out.origin_.options.files = std::move(loaded.files);  // whatever becomes of them on disk
  out.effective_ = std::move(loaded.effective_json);
  out.named_ = std::move(loaded.named_json);
  out.warnings_ = std::move(loaded.mistakes);
  return out;
}

LoadedScenario LoadedScenario::with_sets(const Sets& sets) const {
  Origin origin = origin_;
  for (const auto& set : sets) {
    if (set.first == "/seed") origin.options.seed.reset();  // the later word wins
    origin.options.sets.push_back(set);
  }
  return read(std::move(origin));
}

LoadedScenario LoadedScenario::with_seed(std::uint64_t seed) const {
  Origin origin = origin_;
  origin.options.seed = seed;
  return read(std::move(origin));
}

namespace {

using Options = sim::LoadOptions;
using State =
    std::tuple<std::string, std::string, std::string, LoadedScenario::Sets, std::optional<std::uint64_t>,
               std::optional<std::string>, std::map<std::string, std::string>>;

State state_of(const LoadedScenario& self) {
  const LoadedScenario::Origin& origin = self.origin();
  std::map<std::string, std::string> files;
  for (const auto& [path, text] : origin.options.files) files[path] = *text;
  return {
      origin.text, origin.file, origin.name, origin.options.sets, origin.options.seed, origin.options.gateway,
      files};
}

LoadedScenario from_state(const State& state) {
  const auto& [text, file, name, sets, seed, gateway, files] = state;
  Options options{seed, sets, gateway};
  for (const auto& [path, content] : files)
    options.files[path] = std::make_shared<const std::string>(content);
  return LoadedScenario::read({text, file, name, std::move(options)});
}

LoadedScenario read_text(std::string text, std::string file, std::string name, LoadedScenario::Sets sets,
                         std::optional<std::uint64_t> seed, std::optional<std::string> gateway) {
  return LoadedScenario::read({std::move(text), std::move(file), std::move(name),
                               Options{seed, std::move(sets), std::move(gateway)}});
}

LoadedScenario read_file(const std::string& path, const std::string& name, LoadedScenario::Sets sets,
                         std::optional<std::uint64_t> seed, std::optional<std::string> gateway) {
  return LoadedScenario::read_file(path, name, Options{seed, std::move(sets), std::move(gateway)});
}

}  // namespace

void bind_scenario(py::module_& m) {
  using Self = LoadedScenario;
  const auto release = py::call_guard<py::gil_scoped_release>();
  py::class_<Self, std::shared_ptr<Self>>(m, "Scenario", "A scenario that was read without a mistake.")
      .def_static("read_text", &read_text, py::arg("text"), py::arg("file"), py::arg("name"), py::arg("sets"),
                  py::arg("seed"), py::arg("gateway"), release)
      .def_static("read_file", &read_file, py::arg("path"), py::arg("name"), py::arg("sets"), py::arg("seed"),
                  py::arg("gateway"), release)
      .def("with_sets", &Self::with_sets, py::arg("sets"), release)
      .def("with_seed", &Self::with_seed, py::arg("seed"), release)
      .def_property_readonly("effective_json", &Self::effective_json)
      .def_property_readonly("readable_json", &Self::readable_json)
      .def_property_readonly("text", [](const Self& self) { return self.origin().text; })
      .def_property_readonly("file", [](const Self& self) { return self.origin().file; })
      .def_property_readonly("file_name", [](const Self& self) { return self.origin().name; })
      .def_property_readonly("sets", [](const Self& self) { return self.origin().options.sets; })
      .def_property_readonly("name", [](const Self& self) { return self.scenario().name; })
      .def_property_readonly("question", [](const Self& self) { return self.scenario().question; })
      .def_property_readonly("seed", [](const Self& self) { return self.scenario().seed; })
      .def_property_readonly("digest", [](const Self& self) { return sim::hex16(self.scenario().digest); })
      .def_property_readonly(
          "duration_ms", [](const Self& self) { return static_cast<double>(self.scenario().duration) / 1e6; })
      .def_property_readonly("warnings", [](const Self& self) { return mistakes_tuple(self.warnings()); })
      .def(py::pickle(&state_of, &from_state));
}

}  // namespace halfopen::python
