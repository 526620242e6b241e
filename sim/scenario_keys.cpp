#include "sim/scenario_keys.hpp"

#include <algorithm>
#include <vector>

#include "sim/scenario_keys_parts.hpp"

namespace halfopen::sim {

std::span<const KeyObject> scenario_objects() {
  static const std::vector<KeyObject> all = [] {
    std::vector<KeyObject> list;
    for (const auto part : {keys::of_the_run(), keys::of_servers(), keys::of_faults(), keys::of_traffic(),
                            keys::of_expectations()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const KeyObject* find_object(std::string_view name) {
  const auto all = scenario_objects();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const KeyObject& o) { return o.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace halfopen::sim
