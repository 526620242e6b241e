#include "sim/json_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/json_syntax.hpp"
#include "sim/utf8.hpp"

namespace halfopen::sim {
namespace {

// Receives the parser's events and keeps pace with it in the text: the parser says what it read, not where.
// Answering false stops the parser, which is how a hostile depth is refused before it costs anything.
class Builder {
 public:
  Builder(std::string_view text, Document& out) : text_(text), out_(out) {}

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(Json::number_integer_t value) { return scalar(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return scalar(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return scalar(value); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // no text holds one
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    key_begin_ = seek();
    cursor_ = token_end(text_, key_begin_);
    Level& level = levels_.back();
    if (level.value->contains(name)) {
      tell(key_begin_, join(pointer(levels_.size() - 1), name),
           fmt::format("the key \"{}\" stands twice in this object: keep one of them", name));
    }
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error) {
    const char bracket = levels_.empty() ? '\0' : (levels_.back().value->is_array() ? '[' : '{');
    SyntaxError found = explain_syntax(text_, cursor_, read, error.what(), bracket);
    tell(found.offset, pointer(levels_.empty() ? 0 : levels_.size() - 1), std::move(found.what));
    return false;
  }

 private:
  struct Level {
    Json* value;  // stable: nothing is added to its parent while it is open
    std::uint32_t node;
    std::string key;  // the last one read, in an object
  };

  // Past blanks, comments and the separators that the parser has checked already.
  std::size_t seek() const {
    std::size_t at = skip_blanks(text_, cursor_);
    while (at < text_.size() && (text_[at] == ',' || text_[at] == ':')) at = skip_blanks(text_, at + 1);
    return at;
  }

  // Of the value open at `depth` (0: the root).
  std::string pointer(std::size_t depth) const {
    std::string path;
    for (std::size_t n = 0; n < depth; ++n) {
      const Level& level = levels_[n];
      path = level.value->is_array() ? join(path, level.value->size() - 1) : join(path, level.key);
    }
    return path;
  }

  void tell(std::size_t offset, std::string at, std::string what) {
    Finding finding;
    finding.pointer = std::move(at);
    finding.what = std::move(what);
    finding.offset = offset;
    out_.findings.push_back(std::move(finding));
  }

  // Puts a value into what is open and notes its place. Null: the parser must stop.
  Json* add(Json&& value, std::uint32_t& node) {
    const std::size_t begin = seek();
    if (out_.positions.size() >= MAX_SOURCE_VALUES) {
      tell(begin, pointer(levels_.size() - 1),
           fmt::format("the file holds more than {} values: make it smaller", MAX_SOURCE_VALUES));
      return nullptr;
    }
    cursor_ = value.is_structured() ? begin + 1 : token_end(text_, begin);
    if (levels_.empty()) {
      node = out_.positions.open(Positions::NONE, begin, begin);
      out_.root = std::move(value);
      return &out_.root;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      node = out_.positions.open(Positions::NONE, begin, begin);
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    node = out_.positions.open(out_.positions.intern(level.key), key_begin_, begin);
    Json& place = (*level.value)[level.key];
    place = std::move(value);
    return &place;
  }

  bool scalar(Json value) {
    std::uint32_t node = 0;
    if (add(std::move(value), node) == nullptr) return false;
    out_.positions.close(node, cursor_);
    return true;
  }

  bool open(Json value) {
    if (levels_.size() >= MAX_DEPTH) {
      tell(seek(), pointer(levels_.size() - 1),
           fmt::format("lists and objects are nested more than {} deep: no scenario needs that", MAX_DEPTH));
      return false;
    }
    std::uint32_t node = 0;
    Json* const place = add(std::move(value), node);
    if (place == nullptr) return false;
    levels_.push_back({place, node, {}});
    return true;
  }

  bool close() {
    cursor_ = seek() + 1;
    out_.positions.close(levels_.back().node, cursor_);
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  Document& out_;
  std::vector<Level> levels_;
  std::size_t cursor_ = 0;  // the end of the last token
  std::size_t key_begin_ = 0;

  friend Document halfopen::sim::read_json(std::string_view text);
};

void refuse(Document& document, std::size_t offset, std::string what) {
  Finding finding;
  finding.what = std::move(what);
  finding.offset = offset;
  document.findings.push_back(std::move(finding));
}

}  // namespace

bool is_clean_text(std::string_view text, std::size_t& bad) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte > 0 && byte < 0x80) {  // plain ASCII, which nearly everything is
      ++at;
      continue;
    }
    bad = at;
    const char32_t c = next_code_point(text, at);
    if (c == INVALID_CODE_POINT || c == 0) return false;
  }
  return true;
}

bool is_fit_text(std::string_view text, Document& document) {
  if (text.size() > MAX_SOURCE_BYTES) {
    refuse(document, 0,
           fmt::format("the file is larger than {} MiB: no scenario needs that", MAX_SOURCE_BYTES >> 20));
    return false;
  }
  if (std::size_t bad = 0; !is_clean_text(text, bad)) {
    const auto byte = static_cast<unsigned>(static_cast<unsigned char>(text[bad]));
    refuse(document, bad, fmt::format("the byte 0x{:02X} is not text: save the file as UTF-8", byte));
    return false;
  }
  if (text.substr(0, BYTE_ORDER_MARK.size()) == BYTE_ORDER_MARK) {
    refuse(document, 0, "the file begins with a byte order mark: save it as UTF-8 without one");
  }
  return true;
}

Document read_json(std::string_view text) {
  Document document;
  if (!is_fit_text(text, document)) return document;
  Builder builder(text, document);
  if (!document.findings.empty()) builder.cursor_ = BYTE_ORDER_MARK.size();
  constexpr bool WHOLE_TEXT = true;
  constexpr bool COMMENTS = true;
  document.readable =
      Json::sax_parse(text.begin(), text.end(), &builder, Json::input_format_t::json, WHOLE_TEXT, COMMENTS);
  return document;
}

}  // namespace halfopen::sim
