// What a reader of status lines must answer, told by looking at the whole text at once: by places and a
// search, where the reader goes byte by byte through its states. Shared by the fuzz target and the unit
// tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/status_line.hpp"

namespace halfopen::testing {

struct LineAnswer {
  StatusLineReader::Progress progress = StatusLineReader::Progress::more;
  unsigned status = 0;  // 0 unless there is a whole status line
  std::size_t bytes = 0;

  bool operator==(const LineAnswer&) const = default;
};

// "status 200 after 13 bytes", "malformed after 1 bytes".
inline std::string text_of(const LineAnswer& answer) {
  const std::string after = " after " + std::to_string(answer.bytes) + " bytes";
  switch (answer.progress) {
    case StatusLineReader::Progress::more: return "more" + after;
    case StatusLineReader::Progress::status: return "status " + std::to_string(answer.status) + after;
    case StatusLineReader::Progress::malformed: return "malformed" + after;
    case StatusLineReader::Progress::too_long: return "too_long" + after;
  }
  return "";
}

template <class Reader>
LineAnswer answer_of(const Reader& reader) {
  const bool whole = reader.progress() == StatusLineReader::Progress::status;
  return {reader.progress(), whole ? reader.status() : 0, reader.bytes_read()};
}

inline LineAnswer line_oracle(std::string_view text) {
  using Progress = StatusLineReader::Progress;
  constexpr std::string_view SHAPE = "HTTP/1.9 999";  // a 9 stands for any digit
  constexpr std::size_t CAP = 4096;
  text = text.substr(0, CAP);
  const std::size_t n = SHAPE.size();
  const auto fits = [](char shape, char c) { return shape == '9' ? c >= '0' && c <= '9' : c == shape; };
  const std::size_t shared = std::min(n, text.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (!fits(SHAPE[i], text[i])) return {Progress::malformed, 0, i + 1};
  }
  if (text.size() <= n) return {Progress::more, 0, text.size()};
  const std::size_t line_feed = text.find('\n');
  const unsigned status = static_cast<unsigned>(std::stoi(std::string(text.substr(n - 3, 3))));
  const std::string_view tail = text.substr(n, line_feed == text.npos ? text.npos : line_feed - n);
  if (!tail.empty() && tail[0] != ' ') {
    if (tail[0] != '\r') return {Progress::malformed, 0, n + 1};
    if (tail.size() > 1) return {Progress::malformed, 0, n + 2};
  }
  if (line_feed != text.npos) return {Progress::status, status, line_feed + 1};
  return {text.size() == CAP ? Progress::too_long : Progress::more, 0, text.size()};
}

// Feeds the text whole, and again in pieces as long as `steps` says in turn (one byte at least). Empty when
// all answers are the oracle's; otherwise a sentence about the first that is not.
template <class Reader>
std::string broken_promise(std::string_view text, std::string_view steps) {
  const auto differs = [](const std::string& how, const Reader& reader, const LineAnswer& right) {
    return how + ": " + text_of(answer_of(reader)) + ", not " + text_of(right);
  };
  const LineAnswer right = line_oracle(text);
  Reader whole;
  whole.feed(text);
  if (answer_of(whole) != right) return differs("in one piece", whole, right);
  Reader exact;
  exact.feed(text.substr(0, right.bytes));
  if (answer_of(exact) != right) return differs("without what comes behind", exact, right);
  Reader reader;
  std::size_t fed = 0;
  for (std::size_t i = 0; fed < text.size(); ++i) {
    std::size_t step = text.size();
    if (!steps.empty()) step = std::max<std::size_t>(1, static_cast<unsigned char>(steps[i % steps.size()]));
    // On the heap and no longer than the piece, so that the sanitizer sees a look beyond its end.
    const std::string_view next = text.substr(fed, step);
    const std::vector<char> piece(next.begin(), next.end());
    reader.feed({piece.data(), piece.size()});
    reader.feed({});
    fed += piece.size();
    const LineAnswer so_far = line_oracle(text.substr(0, fed));
    if (answer_of(reader) != so_far) return differs("fed to " + std::to_string(fed), reader, so_far);
  }
  return "";
}

}  // namespace halfopen::testing
