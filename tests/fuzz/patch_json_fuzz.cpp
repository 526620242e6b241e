// A document, a NUL byte, and a JSON Patch to it. Whatever one operation refuses leaves the document as it
// was.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/check.hpp"
#include "sim/json_patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halfopen::sim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t border = text.find('\0');
  if (border == std::string_view::npos) return 0;
  Document document = read_json(text.substr(0, border));
  const Document patch = read_json(text.substr(border + 1));
  if (!document.readable || !patch.readable || !patch.root.is_array()) return 0;
  std::vector<Finding> findings;
  std::size_t room = 10'000;
  for (const Json& value : patch.root) {
    PatchOp op;
    if (!read_patch_op(value, "", "", findings, op)) continue;
    const Json before = document.root;
    if (!apply_patch_op(document.root, op, room).empty()) HALFOPEN_CHECK(document.root == before);
    HALFOPEN_CHECK(depth_of(document.root) <= 2 * MAX_DEPTH);
  }
  return 0;
}
