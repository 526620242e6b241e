// JSON text with comments -> values, and where in the file each of them stands. The only reader of JSON
// documents from the world: it refuses what nlohmann would let pass (duplicate keys, endless depth, a byte
// order mark, bytes that are no UTF-8) and says everything with a place. Its sister for YAML is
// sim/yaml_source.hpp.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halfopen::sim {

using Json = nlohmann::json;  // objects in sorted key order: dumping is canonical

inline constexpr std::size_t MAX_SOURCE_BYTES = std::size_t{64} << 20;  // 64 MiB
inline constexpr std::size_t MAX_SOURCE_VALUES = std::size_t{1} << 22;  // bounds memory: some 60 bytes each
inline constexpr std::size_t MAX_DEPTH = 64;                            // of lists and objects in each other

// Something to say about one value, before anybody has looked up its line.
struct Finding {
  static constexpr std::size_t AT_POINTER = std::numeric_limits<std::size_t>::max();
  std::string pointer;
  std::string what;
  bool at_key = false;       // it is the key that is wrong, not its value
  bool unknown_key = false;  // nobody asked for this key
  bool warning = false;
  // Set by the reader of the text itself, whose complaints may stand where no value is.
  std::size_t offset = AT_POINTER;
};

// Where every value stands: a tree in the order of the file, without a string per value. Any reader (JSON
// here; another notation elsewhere) fills it by open and close; nobody else needs to know how.
class Positions {
 public:
  static constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
  struct Node {
    // Bytes of the value. end == begin: its text is not its value any more; a notation that does not tell
    // where a value ends says begin + 1.
    std::uint32_t begin = 0, end = 0;
    std::uint32_t key_begin = 0;  // of the key, or of the value where there is none
    std::uint32_t next = 0;       // the node after this one's last descendant
    std::uint32_t key = NONE;     // index into the keys; NONE in a list and for the root
    bool replaced = false;        // what stands below it in the file counts no more
  };

  std::uint32_t intern(const std::string& key);
  std::uint32_t open(std::uint32_t key, std::size_t key_begin, std::size_t begin);
  void close(std::uint32_t node, std::size_t end);
  // What stands at `node`, closed, stands at `begin` once more: what is below it keeps its places.
  void repeat(std::uint32_t node, std::uint32_t key, std::size_t key_begin, std::size_t begin);

  // The nodes of `pointers`, or of the nearest enclosing value that the file has. One walk for all of them,
  // so that a file of mistakes takes no longer to explain than to read.
  struct Found {
    std::uint32_t node = NONE;  // NONE only if there is no node at all
    bool exact = false;
  };
  std::vector<Found> find(const std::vector<std::string>& pointers) const;
  const Node& at(std::uint32_t node) const { return nodes_[node]; }
  std::size_t size() const { return nodes_.size(); }
  // Empty in a list and for the root.
  std::string_view key_of(std::uint32_t node) const;

  // The value at `pointer` now comes from elsewhere (--set): nothing below it has a place any more, and
  // the text of whatever encloses it is not its value.
  void forget(const std::string& pointer);

 private:
  struct Wanted;
  std::uint32_t child(std::uint32_t parent, const std::string& step) const;
  std::string step_of(std::uint32_t node, std::size_t index) const;
  static void assign(const Wanted& wanted, std::uint32_t node, std::vector<Found>& out);
  void walk(std::uint32_t node, const Wanted& wanted, std::vector<Found>& out) const;

  std::vector<Node> nodes_;
  std::vector<std::string> keys_;
  std::map<std::string, std::uint32_t> key_index_;
};

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann's move checks itself by a function that may throw
struct Document {
  Json root;
  Positions positions;
  std::vector<Finding> findings;  // of the text itself
  bool readable = false;          // false: `root` is not what the file says
};

Document read_json(std::string_view text);

// What holds for every notation: at most MAX_SOURCE_BYTES, UTF-8, no NUL and no byte order mark; tells if
// not. False: not to be read at all.
bool is_fit_text(std::string_view text, Document& document);
inline constexpr std::string_view BYTE_ORDER_MARK = "\xEF\xBB\xBF";

// 1-based; the column counts bytes. `offsets` in ascending order: one pass over the text.
struct LineColumn {
  std::uint32_t line = 1, column = 1;
};
std::vector<LineColumn> lines_and_columns(std::string_view text, const std::vector<std::size_t>& offsets);

// Whether every byte belongs to a UTF-8 character; `bad` is the first that does not. NUL is refused too:
// the parser takes it for the end of the text.
bool is_clean_text(std::string_view text, std::size_t& bad);

// RFC 6901. `steps` of "/a~1b/0" are "a/b" and "0"; false if the text is no pointer.
bool split_pointer(std::string_view pointer, std::vector<std::string>& steps);
std::string join(std::string_view pointer, std::string_view step);
std::string join(std::string_view pointer, std::size_t index);

}  // namespace halfopen::sim
