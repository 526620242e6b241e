// The values and places of a YAML text, put together event by event: what yaml-cpp reports goes in, a
// Document comes out. Knows YAML's rules but not yaml-cpp. Internal to yaml_source.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/json_source.hpp"

namespace halfopen::sim {

// Every offset counts bytes of the whole text. An anchor is a number, 0 for none. A tag is "?" of a plain
// scalar, "!" of one in quotes or in a block, else what the file says.
class YamlTree {
 public:
  // Thrown after a mistake behind which nothing can be read; never leaves read_yaml.
  struct Stopped {};

  YamlTree(std::string_view text, Document& out) : text_(text), out_(out) {}

  void document(std::size_t at);
  void null(std::size_t at, std::size_t anchor);
  void scalar(std::size_t at, const std::string& tag, std::size_t anchor, const std::string& text);
  void alias(std::size_t at, std::size_t anchor);
  void open(bool map, std::size_t at, const std::string& tag, std::size_t anchor);
  void close();

  // A mistake of the text at what is open; the document is not readable any more.
  void refuse(std::size_t offset, std::string what) { tell_unreadable(offset, here(), std::move(what)); }
  // After the last event of a text that was read to its end.
  void finish();

 private:
  struct Level {
    Json* value;  // stable: nothing is added to its parent while it is open
    std::uint32_t node;
    std::size_t anchor;
    bool has_key;  // in an object: its value comes next
    std::string key;
    std::size_t key_begin;
  };
  struct Anchor {
    std::vector<std::string> steps;
    std::uint32_t node = 0;
    bool closed = false;
  };
  // Where the next value goes.
  struct Place {
    Json* value;
    std::uint32_t key = Positions::NONE;
    std::size_t key_begin = 0;
  };

  bool key_is_next() const;
  // The pointer of the innermost value that is open, and of what comes next in it.
  std::string here() const;
  std::string below() const;
  void tell(std::size_t offset, std::string at, std::string what);
  void tell_unreadable(std::size_t offset, std::string at, std::string what);
  [[noreturn]] void stop(std::size_t offset, std::string at, std::string what);
  std::size_t begin_of_null(std::size_t mark) const;
  void key(std::size_t at, const std::string& tag, std::size_t anchor, const std::string& name);
  void check_room(std::size_t at, std::size_t more);
  Place next_place(std::size_t begin);
  void name(std::size_t anchor, const std::string& pointer, std::uint32_t node, bool closed);
  void add_scalar(Json value, std::size_t begin, std::size_t anchor);
  void expand(const Anchor& anchor, std::size_t at);

  std::string_view text_;
  Document& out_;
  std::vector<Level> levels_;
  std::map<std::size_t, Anchor> anchors_;
  std::size_t documents_ = 0, expanded_bytes_ = 0, last_scalar_ = 0;
  bool readable_ = true;
};

}  // namespace halfopen::sim
