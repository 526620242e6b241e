// What the name of an output stands for.
#pragma once

#include <optional>
#include <string>

namespace halfopen::sim {

struct OutputPlace {
  std::optional<int> stream;  // a descriptor of ours that it names, as /dev/stdout does: never to be replaced
  std::string file;  // else the file behind all links, whether it is there yet or not: the links stay
};
OutputPlace output_place(const std::string& path);

// Whether it is there and neither a regular file nor a directory.
bool is_special(const std::string& path);

}  // namespace halfopen::sim
