#include "sim/text_names.hpp"

#include <algorithm>

#include "sim/utf8.hpp"

namespace halfopen::sim {

namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

// Numbers and words are shown whole: the 1 of 10.0.0.1 is not what it has in common with 10.0.0.12.
bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::size_t word_begin(std::string_view text, std::size_t at) {
  while (at > 0 && in_word(text[at - 1])) --at;
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && in_word(text[at])) ++at;
  return at;
}

// The end of the word that is unlike all others', which `most` is in or ends.
std::size_t deciding_word_end(std::string_view text, std::size_t most) {
  const bool between = most < text.size() && !in_word(text[most]) && (most == 0 || !in_word(text[most - 1]));
  return word_end(text, between ? most + 1 : most);
}

}  // namespace

Names::Names(const Timeline& timeline, const TextStyle& style) : ascii_(style.ascii) {
  for (const EndpointLane& lane : timeline.lanes) sorted_.push_back(printable(lane.endpoint, ascii_));
  for (const FaultLane& fault : timeline.faults) sorted_.push_back(printable(fault.endpoint, ascii_));
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

std::string Names::shown(std::string_view name, std::size_t width) const {
  const std::string whole = printable(name, ascii_);
  if (columns_of(whole) <= width || sorted_.size() < 2) return shorten(whole, width, ascii_);
  // Of sorted names the neighbours have the most in common with it, the first and the last the least.
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), whole);
  std::size_t most = 0;
  if (place != sorted_.begin()) most = common_prefix(whole, *(place - 1));
  if (place != sorted_.end() && place + 1 != sorted_.end()) {
    most = std::max(most, common_prefix(whole, *(place + 1)));
  }
  const std::size_t least = common_prefix(sorted_.front(), sorted_.back());
  const std::size_t from = word_begin(whole, std::min(least, whole.size()));
  const std::size_t to = deciding_word_end(whole, most);
  return shorten_around(whole, from, to, width, ascii_);
}

}  // namespace halfopen::sim
