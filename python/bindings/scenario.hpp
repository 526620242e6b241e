// A scenario as Python holds it: the text it came from, what was changed in it, and the structs it became.
// Immutable, so that any number of threads may run it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario_json.hpp"

namespace halfopen::python {

class LoadedScenario {
 public:
  using Sets = std::vector<std::pair<std::string, std::string>>;  // pointer, JSON text

  struct Origin {
    std::string text;
    std::string file;  // says by its end whether it is YAML, and where the files are that it names
    std::string name;  // what messages call it
    sim::LoadOptions options;
  };

  // Throws BadFile.
  static LoadedScenario read_file(const std::string& path, const std::string& name, sim::LoadOptions options);
  static LoadedScenario read(Origin origin);
  LoadedScenario with_sets(const Sets& sets) const;
  LoadedScenario with_seed(std::uint64_t seed) const;

  const sim::Scenario& scenario() const { return *scenario_; }
  std::shared_ptr<const sim::Scenario> shared() const { return scenario_; }
  // What the digest is taken over, and the same as it can be read again.
  const std::string& effective_json() const { return effective_; }
  const std::string& readable_json() const { return named_.empty() ? effective_ : named_; }
  const std::vector<sim::Mistake>& warnings() const { return warnings_; }
  const Origin& origin() const { return origin_; }

 private:
  LoadedScenario() = default;

  Origin origin_;
  std::shared_ptr<const sim::Scenario> scenario_;
  std::string effective_, named_;
  std::vector<sim::Mistake> warnings_;
};

// A mistake in `file` becomes one in `name`, which is what its author knows.
void called(sim::Mistake& mistake, const std::string& file, const std::string& name);

// What is wrong with a change that was made by `pointer`: it has no place in the file, and the command line's
// option for it is not how it was made.
void of_a_change(sim::Mistake& mistake, const std::string& pointer, const std::string& value);

}  // namespace halfopen::python
