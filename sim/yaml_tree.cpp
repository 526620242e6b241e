#include "sim/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/json_patch.hpp"
#include "sim/yaml_scalar.hpp"
#include "sim/yaml_syntax.hpp"

namespace halfopen::sim {
namespace {

std::size_t string_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t bytes = 0;
  if (!value.is_structured()) return bytes;
  for (auto member = value.begin(); member != value.end(); ++member) {
    bytes += string_bytes(*member) + (value.is_object() ? member.key().size() : 0);
  }
  return bytes;
}

}  // namespace

bool YamlTree::key_is_next() const {
  return !levels_.empty() && levels_.back().value->is_object() && !levels_.back().has_key;
}

std::string YamlTree::here() const {
  std::string path;
  for (std::size_t n = 0; n + 1 < levels_.size(); ++n) {
    const Level& level = levels_[n];
    path = level.value->is_array() ? join(path, level.value->size() - 1) : join(path, level.key);
  }
  return path;
}

std::string YamlTree::below() const {
  if (levels_.empty()) return {};
  const Level& level = levels_.back();
  return level.value->is_array() ? join(here(), level.value->size()) : join(here(), level.key);
}

void YamlTree::tell(std::size_t offset, std::string at, std::string what) {
  Finding finding;
  finding.pointer = std::move(at);
  finding.what = std::move(what);
  finding.offset = offset;
  out_.findings.push_back(std::move(finding));
}

void YamlTree::tell_unreadable(std::size_t offset, std::string at, std::string what) {
  readable_ = false;
  tell(offset, std::move(at), std::move(what));
}

void YamlTree::stop(std::size_t offset, std::string at, std::string what) {
  tell_unreadable(offset, std::move(at), std::move(what));
  throw Stopped{};
}

// Where nothing is written the parser's mark is that of what follows: the key or the dash is nearer.
std::size_t YamlTree::begin_of_null(std::size_t mark) const {
  const std::string_view rest = text_.substr(mark);
  const std::size_t word = std::min(rest.find_first_of(" \t\r\n,]}#"), rest.size());
  if (word > 0 && resolve_scalar(rest.substr(0, word), "?").value.is_null()) return mark;
  if (levels_.empty()) return mark;
  if (levels_.back().value->is_object()) return levels_.back().key_begin;
  const std::size_t dash = mark == 0 ? std::string_view::npos : text_.find_last_not_of(" \t\r\n", mark - 1);
  return dash != std::string_view::npos && text_[dash] == '-' ? dash : mark;
}

void YamlTree::document(std::size_t at) {
  if (documents_++ > 0) stop(at, "", "a second document begins here: a file holds one");
}

void YamlTree::null(std::size_t at, std::size_t anchor) {
  if (key_is_next()) stop(at, here(), "a key must be a text, not null");
  const bool in_object = !levels_.empty() && levels_.back().value->is_object();
  if (in_object && levels_.back().key_begin == at && anchor == 0)
    stop(at, below(), "a key needs a : and a value behind it");
  add_scalar(nullptr, anchor == 0 ? begin_of_null(at) : at, anchor);
}

void YamlTree::scalar(std::size_t at, const std::string& tag, std::size_t anchor, const std::string& text) {
  last_scalar_ = at;
  if (key_is_next()) return key(at, tag, anchor, text);
  YamlScalar scalar = resolve_scalar(text, tag);
  if (!scalar.wrong.empty()) tell_unreadable(at, below(), std::move(scalar.wrong));
  add_scalar(std::move(scalar.value), at, anchor);
}

void YamlTree::alias(std::size_t at, std::size_t anchor) {
  if (key_is_next()) stop(at, here(), "a key must be written out: an alias (*) can't stand for one");
  const auto named = anchors_.find(anchor);
  if (named == anchors_.end()) stop(at, below(), "this alias (*) repeats a key: only values can be repeated");
  if (!named->second.closed)
    stop(at, below(), "this alias (*) stands inside of what it repeats: it would never end");
  expand(named->second, at);
}

void YamlTree::key(std::size_t at, const std::string& tag, std::size_t anchor, const std::string& name) {
  Level& level = levels_.back();
  if (tag == "?" && name == "<<")
    tell_unreadable(at, join(here(), name), "<< merges are no part of YAML 1.2: write the keys out");
  if (tag != "?" && tag != "!" && !resolve_scalar(name, tag).value.is_string())
    tell_unreadable(at, join(here(), name), "a key must be a text: remove its tag");
  if (anchor != 0) tell_unreadable(at, join(here(), name), "& can't name a key: put it before a value");
  if (level.value->contains(name)) {
    tell(at, join(here(), name),
         fmt::format("the key \"{}\" stands twice in this object: keep one of them", name));
  }
  level.key = name;
  level.key_begin = at;
  level.has_key = true;
}

void YamlTree::check_room(std::size_t at, std::size_t more) {
  if (out_.positions.size() + more <= MAX_SOURCE_VALUES) return;
  stop(at, below(),
       fmt::format("the file holds more than {} values, those that an alias repeats counted each "
                   "time: make it smaller",
                   MAX_SOURCE_VALUES));
}

YamlTree::Place YamlTree::next_place(std::size_t begin) {
  if (levels_.empty()) return {&out_.root, Positions::NONE, begin};
  Level& level = levels_.back();
  if (level.value->is_array()) {
    level.value->push_back(nullptr);
    return {&level.value->back(), Positions::NONE, begin};
  }
  level.has_key = false;
  return {&(*level.value)[level.key], out_.positions.intern(level.key), level.key_begin};
}

void YamlTree::name(std::size_t anchor, const std::string& pointer, std::uint32_t node, bool closed) {
  if (anchor == 0) return;
  Anchor& named = anchors_[anchor];
  split_pointer(pointer, named.steps);
  named.node = node;
  named.closed = closed;
}

void YamlTree::add_scalar(Json value, std::size_t begin, std::size_t anchor) {
  check_room(begin, 1);
  const std::string pointer = anchor == 0 ? std::string() : below();
  const Place place = next_place(begin);
  *place.value = std::move(value);
  const std::uint32_t node = out_.positions.open(place.key, place.key_begin, begin);
  out_.positions.close(node, begin + 1);
  name(anchor, pointer, node, true);
}

void YamlTree::open(bool map, std::size_t begin, const std::string& tag, std::size_t anchor) {
  if (key_is_next()) {
    // That is also how yaml-cpp understands a bracket without its other half.
    const bool bracket = text_[begin] == '{' || text_[begin] == '[';
    stop(begin, here(),
         bracket ? fmt::format("no key begins with {}: if a value is meant, close it with its other half",
                               text_[begin])
                 : "a key must be a text, not a list or an object");
  }
  if (levels_.size() >= MAX_DEPTH) {
    stop(begin, here(),
         fmt::format("lists and objects are nested more than {} deep: no scenario needs that", MAX_DEPTH));
  }
  check_room(begin, 1);
  if (!is_plain_collection_tag(tag, map)) tell_unreadable(begin, below(), unknown_tag(tag));
  const std::string pointer = anchor == 0 ? std::string() : below();
  const Place place = next_place(begin);
  *place.value = map ? Json::object() : Json::array();
  const std::uint32_t node = out_.positions.open(place.key, place.key_begin, begin);
  name(anchor, pointer, node, false);
  levels_.push_back({place.value, node, anchor, false, {}, 0});
}

void YamlTree::close() {
  const Level& level = levels_.back();
  out_.positions.close(level.node, std::size_t{out_.positions.at(level.node).begin} + 1);
  if (level.anchor != 0) anchors_[level.anchor].closed = true;
  levels_.pop_back();
}

void YamlTree::expand(const Anchor& anchor, std::size_t at) {
  const Json* const source = resolve(out_.root, anchor.steps);
  if (source == nullptr) stop(at, below(), "this alias (*) repeats a value whose key stands twice");
  check_room(at, out_.positions.at(anchor.node).next - anchor.node);
  expanded_bytes_ += string_bytes(*source);
  if (expanded_bytes_ > MAX_SOURCE_BYTES) {
    stop(at, below(),
         fmt::format("what the aliases of this file repeat is more than {} MiB: no scenario needs that",
                     MAX_SOURCE_BYTES >> 20));
  }
  if (levels_.size() + depth_of(*source) > MAX_DEPTH) {
    stop(at, below(),
         fmt::format("with what this alias repeats, lists and objects are nested more than {} deep: "
                     "no scenario needs that",
                     MAX_DEPTH));
  }
  Json copy = *source;  // before its list grows
  const Place place = next_place(at);
  *place.value = std::move(copy);
  out_.positions.repeat(anchor.node, place.key, place.key_begin, at);
}

void YamlTree::finish() {
  if (out_.root.is_null() && readable_) {
    tell_unreadable(0, "", "the file holds nothing: keys and values are expected");
  } else if (is_unclosed_string(text_, last_scalar_)) {
    tell_unreadable(last_scalar_, "", "the file ends inside this string: close it with its quote");
  }
  out_.readable = readable_;
}

}  // namespace halfopen::sim
