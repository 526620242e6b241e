#include "sim/yaml_source.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <utility>

#include "sim/yaml_syntax.hpp"
#include "sim/yaml_tree.hpp"

namespace halfopen::sim {
namespace {

// The parser reads on without a word until it knows whether a bracket begins a key, at some 200 bytes a
// token: so many characters that could each be a token may come before it says anything.
constexpr std::size_t MAX_TOKENS_AHEAD = std::size_t{1} << 20;

// The text, handed over in pieces that are counted.
class CountedText : public std::streambuf {
 public:
  explicit CountedText(std::string_view text) : text_(text) {}

  void note_event() { ahead_ = 0; }
  bool too_far_ahead() const { return ahead_ > MAX_TOKENS_AHEAD; }

 protected:
  int_type underflow() override {
    constexpr std::size_t PIECE = 2048;
    const std::string_view piece = text_.substr(0, PIECE);
    if (piece.empty()) return traits_type::eof();
    ahead_ += static_cast<std::size_t>(std::count_if(piece.begin(), piece.end(), may_be_token));
    if (too_far_ahead()) throw YamlTree::Stopped{};
    text_.remove_prefix(piece.size());
    char* const begin = const_cast<char*>(piece.data());  // a stream buffer's pointers are for writing too
    setg(begin, begin, begin + piece.size());
    return traits_type::to_int_type(*begin);
  }

 private:
  static bool may_be_token(char c) {
    return std::string_view("[]{},:?\"'&*!#").find(c) != std::string_view::npos;
  }

  std::string_view text_;
  std::size_t ahead_ = 0;
};

// What yaml-cpp reports, with offsets instead of marks.
class Handler : public YAML::EventHandler {
 public:
  // The parser's text begins at `skipped` of the file's.
  Handler(YamlTree& tree, CountedText& input, std::size_t skipped, std::size_t size)
      : tree_(tree), input_(input), skipped_(skipped), size_(size) {}

  // A mark's `pos` counts bytes.
  std::size_t offset_of(const YAML::Mark& mark) const {
    return std::min(skipped_ + static_cast<std::size_t>(std::max(mark.pos, 0)), size_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override { tree_.document(offset_of(mark)); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    input_.note_event();
    tree_.null(offset_of(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    input_.note_event();
    tree_.scalar(offset_of(mark), tag, anchor, value);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    input_.note_event();
    tree_.alias(offset_of(mark), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    input_.note_event();
    tree_.open(false, offset_of(mark), tag, anchor);
  }
  void OnSequenceEnd() override { tree_.close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    input_.note_event();
    tree_.open(true, offset_of(mark), tag, anchor);
  }
  void OnMapEnd() override { tree_.close(); }

 private:
  YamlTree& tree_;
  CountedText& input_;
  std::size_t skipped_, size_;
};

void parse(std::string_view text, std::size_t skipped, Document& document) {
  YamlTree tree(text, document);
  CountedText input(text.substr(skipped));
  std::istream stream(&input);
  Handler handler(tree, input, skipped, text.size());
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) continue;
    tree.finish();
  } catch (const YamlTree::Stopped&) {
    if (!input.too_far_ahead()) return;
    tree.refuse(skipped,
                fmt::format("more than {} brackets, quotes and other marks come before the first value "
                            "that can be understood: write lists and objects one entry a line, or all "
                            "of it as JSON",
                            MAX_TOKENS_AHEAD));
  } catch (const YAML::Exception& error) {
    YamlProblem problem = explain_yaml(text, handler.offset_of(error.mark), error.msg);
    tree.refuse(problem.offset, std::move(problem.what));
  }
}

}  // namespace

Document read_yaml(std::string_view text) {
  Document document;
  if (!is_fit_text(text, document)) return document;
  const std::size_t skipped = document.findings.empty() ? 0 : BYTE_ORDER_MARK.size();
  if (const std::size_t bad = find_control_character(text); bad != std::string_view::npos) {
    Finding finding;
    finding.offset = bad;
    finding.what = fmt::format(
        "the control character 0x{:02X} can't stand in YAML: remove it, or write it as "
        "an escape in double quotes",
        static_cast<unsigned>(static_cast<unsigned char>(text[bad])));
    document.findings.push_back(std::move(finding));
    return document;
  }
  parse(text, skipped, document);
  return document;
}

bool is_yaml_name(std::string_view file_name) {
  return file_name.ends_with(".yaml") || file_name.ends_with(".yml");
}

std::string compact_in_file_order(const Json& value, const Positions& positions, std::uint32_t node) {
  if (!value.is_structured()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool map = value.is_object();
  std::string out(1, map ? '{' : '[');
  std::size_t index = 0;
  for (std::uint32_t at = node + 1; at < positions.at(node).next; at = positions.at(at).next) {
    if (index > 0) out += ',';
    const std::string key(positions.key_of(at));
    if (map) out += Json(key).dump() + ':';
    out += compact_in_file_order(map ? value[key] : value[index], positions, at);
    ++index;
  }
  return out + (map ? '}' : ']');
}

}  // namespace halfopen::sim
