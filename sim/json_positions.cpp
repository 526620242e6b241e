// Pointers and places: RFC 6901 text, the tree of offsets, lines and columns.
#include <memory>

#include "sim/json_source.hpp"

namespace halfopen::sim {

bool split_pointer(std::string_view pointer, std::vector<std::string>& steps) {
  steps.clear();
  if (!pointer.empty() && pointer[0] != '/') return false;
  for (std::size_t at = 0; at < pointer.size(); ++at) {
    const char c = pointer[at];
    if (c == '/') {
      steps.emplace_back();
    } else if (c != '~') {
      steps.back() += c;
    } else {
      const char escaped = ++at < pointer.size() ? pointer[at] : '\0';
      if (escaped != '0' && escaped != '1') return false;
      steps.back() += escaped == '0' ? '~' : '/';
    }
  }
  return true;
}

std::string join(std::string_view pointer, std::string_view step) {
  std::string longer(pointer);
  longer += '/';
  for (const char c : step) {
    if (c == '~') {
      longer += "~0";
    } else if (c == '/') {
      longer += "~1";
    } else {
      longer += c;
    }
  }
  return longer;
}

std::string join(std::string_view pointer, std::size_t index) {
  return std::string(pointer) + '/' + std::to_string(index);
}

std::vector<LineColumn> lines_and_columns(std::string_view text, const std::vector<std::size_t>& offsets) {
  std::vector<LineColumn> places;
  places.reserve(offsets.size());
  LineColumn now;
  std::size_t at = 0;
  for (const std::size_t offset : offsets) {
    for (; at < offset && at < text.size(); ++at) {
      now.column = text[at] == '\n' ? 1 : now.column + 1;
      now.line += text[at] == '\n' ? 1 : 0;
    }
    places.push_back(now);
  }
  return places;
}

std::uint32_t Positions::intern(const std::string& key) {
  const auto [entry, fresh] = key_index_.emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (fresh) keys_.push_back(key);
  return entry->second;
}

std::uint32_t Positions::open(std::uint32_t key, std::size_t key_begin, std::size_t begin) {
  Node node;
  node.begin = node.end = static_cast<std::uint32_t>(begin);  // MAX_SOURCE_BYTES fits
  node.key_begin = static_cast<std::uint32_t>(key_begin);
  node.key = key;
  nodes_.push_back(node);
  nodes_.back().next = static_cast<std::uint32_t>(nodes_.size());
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void Positions::close(std::uint32_t node, std::size_t end) {
  nodes_[node].end = static_cast<std::uint32_t>(end);
  nodes_[node].next = static_cast<std::uint32_t>(nodes_.size());
}

void Positions::repeat(std::uint32_t node, std::uint32_t key, std::size_t key_begin, std::size_t begin) {
  const std::uint32_t end = nodes_[node].next;
  const std::uint32_t copy = open(key, key_begin, begin);
  const std::uint32_t moved = copy - node;
  for (std::uint32_t at = node + 1; at < end; ++at) {
    nodes_.push_back(Node(nodes_[at]));  // not a reference into what may grow
    nodes_.back().next += moved;
  }
  close(copy, begin + 1);
}

std::string_view Positions::key_of(std::uint32_t node) const {
  return nodes_[node].key == NONE ? std::string_view() : std::string_view(keys_[nodes_[node].key]);
}

std::string Positions::step_of(std::uint32_t node, std::size_t index) const {
  return nodes_[node].key == NONE ? std::to_string(index) : keys_[nodes_[node].key];
}

// The pointers looked for, as a tree of steps, so that one walk serves all.
struct Positions::Wanted {
  std::map<std::string, std::unique_ptr<Wanted>> below;
  std::vector<std::size_t> here;

  void add(const std::string& pointer, std::size_t id) {
    std::vector<std::string> steps;
    split_pointer(pointer, steps);
    Wanted* at = this;
    // No file is deeper than MAX_DEPTH; a longer pointer only needs to be too long to be found.
    for (std::size_t n = 0; n < steps.size() && n <= MAX_DEPTH; ++n) {
      std::unique_ptr<Wanted>& next = at->below[steps[n]];
      if (!next) next = std::make_unique<Wanted>();
      at = next.get();
    }
    at->here.push_back(id);
  }
};

void Positions::assign(const Wanted& wanted, std::uint32_t node, std::vector<Found>& out) {
  for (const std::size_t id : wanted.here) out[id] = {node, false};
  for (const auto& [step, below] : wanted.below) assign(*below, node, out);
}

// Depth is that of the file, at most MAX_DEPTH. Of a key that stands twice the last one is found.
void Positions::walk(std::uint32_t node, const Wanted& wanted, std::vector<Found>& out) const {
  assign(wanted, node, out);
  for (const std::size_t id : wanted.here) out[id].exact = true;
  if (wanted.below.empty() || nodes_[node].replaced) return;
  std::map<const Wanted*, std::uint32_t>
      last;  // also where a million keys have one name, each is walked once
  std::size_t index = 0;
  for (std::uint32_t at = node + 1; at < nodes_[node].next; at = nodes_[at].next) {
    const auto below = wanted.below.find(step_of(at, index++));
    if (below != wanted.below.end()) last[below->second.get()] = at;
  }
  for (const auto& [below, at] : last) walk(at, *below, out);
}

std::vector<Positions::Found> Positions::find(const std::vector<std::string>& pointers) const {
  std::vector<Found> out(pointers.size());
  if (nodes_.empty() || pointers.empty()) return out;
  Wanted wanted;
  for (std::size_t id = 0; id < pointers.size(); ++id) wanted.add(pointers[id], id);
  walk(0, wanted, out);
  return out;
}

std::uint32_t Positions::child(std::uint32_t parent, const std::string& step) const {
  std::uint32_t found = NONE;
  std::size_t index = 0;
  if (nodes_[parent].replaced) return found;
  for (std::uint32_t at = parent + 1; at < nodes_[parent].next; at = nodes_[at].next) {
    if (step_of(at, index++) == step) found = at;
  }
  return found;
}

void Positions::forget(const std::string& pointer) {
  std::vector<std::string> steps;
  if (nodes_.empty() || !split_pointer(pointer, steps)) return;
  std::uint32_t at = 0;
  for (const std::string& step : steps) {
    nodes_[at].end = nodes_[at].begin;
    at = child(at, step);
    if (at == NONE) return;
  }
  nodes_[at].end = nodes_[at].begin;
  nodes_[at].replaced = true;
}

}  // namespace halfopen::sim
