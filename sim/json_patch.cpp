#include "sim/json_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/json_fields.hpp"

namespace halfopen::sim {
namespace {

const std::vector<std::string_view> KINDS{"add", "remove", "replace", "move", "copy", "test"};

// RFC 6901: "0" or digits without a leading zero. Nine digits are more than any list has.
bool index_of(const std::string& step, std::size_t& index) {
  if (step.empty() || step.size() > 9 || (step.size() > 1 && step[0] == '0')) return false;
  if (step.find_first_not_of("0123456789") != std::string::npos) return false;
  index = static_cast<std::size_t>(std::stoul(step));
  return true;
}

Json* child_of(Json& parent, const std::string& step) {
  if (parent.is_object()) {
    const auto found = parent.find(step);
    return found == parent.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  if (!parent.is_array() || !index_of(step, index) || index >= parent.size()) return nullptr;
  return &parent[index];
}

// What holds the last step of `at`.
Json* parent_of(Json& root, const std::vector<std::string>& at) {
  return resolve(root, std::vector<std::string>(at.begin(), at.end() - 1));
}

std::string too_deep() { return fmt::format("the result would be nested more than {} deep", MAX_DEPTH); }

std::string not_there(const std::string& path) {
  return fmt::format(
      "there is nothing at {}: the configuration has no such key or index at that moment, "
      "and a setting that was left to its default is none",
      path);
}

// Takes `value` only if it fits.
std::string insert(Json& root, const std::string& path, const std::vector<std::string>& at, Json& value) {
  if (at.empty()) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.Move): a second call takes what the first did not
    root = std::move(value);
    return {};
  }
  Json* const parent = parent_of(root, at);
  const std::string& step = at.back();
  if (parent != nullptr && parent->is_object()) {
    (*parent)[step] = std::move(value);
    return {};
  }
  if (parent == nullptr || !parent->is_array()) {
    return fmt::format(
        "nothing can be added at {}: what should hold it is no list or object, or is not there", path);
  }
  std::size_t index = parent->size();
  if (step != "-" && (!index_of(step, index) || index > parent->size())) {
    return fmt::format("{} does not fit its list of {}: an index up to {} or - is expected", path,
                       parent->size(), parent->size());
  }
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
  return {};
}

std::string take_out(Json& root, const std::string& path, const std::vector<std::string>& at, Json* taken) {
  Json* const target = resolve(root, at);
  if (target == nullptr) return not_there(path);
  if (at.empty()) return "the whole document can't be removed";
  if (taken != nullptr) *taken = std::move(*target);
  Json& parent = *parent_of(root, at);
  std::size_t index = 0;
  if (parent.is_object()) {
    parent.erase(at.back());
  } else if (index_of(at.back(), index)) {
    parent.erase(index);
  }
  return {};
}

bool begins_with(const std::vector<std::string>& longer, const std::vector<std::string>& shorter) {
  return shorter.size() <= longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

// A copy into itself doubles, and forty such operations would fill any memory: what patches add is counted,
// and once they have added too much nothing more is even looked at.
std::string too_big(const PatchOp& op, const Json& added, std::size_t& room) {
  const std::size_t grown = room == 0 ? 1 : count_values(added, room + 1);
  if (grown > room) {
    room = 0;
    return "the patches of this scenario add too many values: state the configuration in full instead";
  }
  room -= grown;
  return op.path_steps.size() + depth_of(added) > MAX_DEPTH ? too_deep() : std::string();
}

std::string move_value(Json& root, const PatchOp& op, std::size_t& room) {
  if (op.from_steps == op.path_steps)
    return resolve(root, op.path_steps) == nullptr ? not_there(op.from) : "";
  if (begins_with(op.path_steps, op.from_steps)) {
    return fmt::format("{} can't move into itself, to {}", op.from, op.path);
  }
  Json taken;
  std::string wrong = take_out(root, op.from, op.from_steps, &taken);
  if (!wrong.empty()) return wrong;
  const bool deeper = op.path_steps.size() > op.from_steps.size();
  if (deeper) wrong = too_big(op, taken, room);
  if (wrong.empty()) wrong = insert(root, op.path, op.path_steps, taken);
  if (!wrong.empty()) insert(root, op.from, op.from_steps, taken);  // back to where it fitted before
  return wrong;
}

std::string add_value(Json& root, const PatchOp& op, const Json& added, std::size_t& room) {
  if (std::string wrong = too_big(op, added, room); !wrong.empty()) return wrong;
  Json value = added;
  return insert(root, op.path, op.path_steps, value);
}

std::string replace_value(Json& root, const PatchOp& op, std::size_t& room) {
  Json* const target = resolve(root, op.path_steps);
  if (target == nullptr) return not_there(op.path);
  if (std::string wrong = too_big(op, *op.value, room); !wrong.empty()) return wrong;
  *target = *op.value;
  return {};
}

std::string copy_value(Json& root, const PatchOp& op, std::size_t& room) {
  const Json* const source = resolve(root, op.from_steps);
  return source == nullptr ? not_there(op.from) : add_value(root, op, *source, room);
}

std::string test_value(Json& root, const PatchOp& op) {
  const Json* const target = resolve(root, op.path_steps);
  if (target == nullptr) return not_there(op.path);
  if (*target == *op.value) return {};
  return fmt::format("the test failed: {} is {}, not {}", op.path, shown(*target), shown(*op.value));
}

bool read_path(Fields& fields, std::string_view name, std::string_view within, std::string& text,
               std::vector<std::string>& steps) {
  const std::optional<std::string> found = fields.text(name, Need::required);
  if (!found) return false;
  text = *found;
  const bool inside = text == within || text.rfind(std::string(within) + "/", 0) == 0;
  if (!split_pointer(text, steps)) {
    fields.wrong(name, "a JSON pointer such as /upstreams/0/health/eject_ms");
    return false;
  }
  if (!inside)
    fields.wrong(name, fmt::format("within {}: nothing else of a scenario can be reloaded", within));
  return inside;
}

}  // namespace

Json* resolve(Json& root, const std::vector<std::string>& at) {
  Json* value = &root;
  for (const std::string& step : at) {
    value = child_of(*value, step);
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool read_patch_op(const Json& value, const std::string& pointer, std::string_view within,
                   std::vector<Finding>& findings, PatchOp& out) {
  const std::size_t told = findings.size();
  Fields fields(value, pointer, findings, "a patch operation");
  const std::optional<std::size_t> kind = fields.word("op", KINDS, Need::required);
  if (kind) out.kind = static_cast<PatchKind>(*kind);
  read_path(fields, "path", within, out.path, out.path_steps);
  const bool takes_from = out.kind == PatchKind::move || out.kind == PatchKind::copy;
  const bool takes_value = !takes_from && out.kind != PatchKind::remove;
  // RFC 6902 lets an operation carry members that it does not use; only strangers are mistakes.
  if (kind && takes_from) read_path(fields, "from", within, out.from, out.from_steps);
  out.value = fields.get("value", kind && takes_value ? Need::required : Need::optional);
  fields.has("from");
  fields.finish();
  return findings.size() == told;
}

std::string apply_patch_op(Json& root, const PatchOp& op, std::size_t& room) {
  switch (op.kind) {
    case PatchKind::add: return add_value(root, op, *op.value, room);
    case PatchKind::remove: return take_out(root, op.path, op.path_steps, nullptr);
    case PatchKind::replace: return replace_value(root, op, room);
    case PatchKind::move: return move_value(root, op, room);
    case PatchKind::copy: return copy_value(root, op, room);
    case PatchKind::test: return test_value(root, op);
  }
  return {};
}

std::string assign(Json& root, std::string_view pointer, Json value) {
  std::vector<std::string> steps;
  if (!split_pointer(pointer, steps))
    return "a JSON pointer was expected, such as /traffic/0/rate_rps";
  if (steps.size() + depth_of(value) > MAX_DEPTH) return too_deep();
  if (Json* const target = resolve(root, steps)) {
    *target = std::move(value);
    return {};
  }
  Json* const parent = parent_of(root, steps);
  if (parent == nullptr) return "the scenario has nothing there: only the last step of a pointer may be new";
  if (parent->is_object()) {
    (*parent)[steps.back()] = std::move(value);
  } else if (parent->is_array() && steps.back() == "-") {
    parent->push_back(std::move(value));
  } else {
    return fmt::format("{} holds no key or index \"{}\" (\"-\" appends to a list)", shown(*parent),
                       steps.back());
  }
  return {};
}

std::size_t count_values(const Json& value, std::size_t limit) {
  std::size_t count = 1;
  if (!value.is_structured()) return count;
  for (const Json& inner : value) {
    if (count >= limit) break;
    count += count_values(inner, limit - count);
  }
  return count;
}

std::size_t depth_of(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t deepest = 0;
  for (const Json& inner : value) deepest = std::max(deepest, depth_of(inner));
  return deepest + 1;
}

void make_canonical(Json& value) {
  if (value.is_structured()) {
    for (Json& inner : value) make_canonical(inner);
    return;
  }
  constexpr double EXACT = 9007199254740992.0;  // 2^53: every whole double up to here is that very number
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::floor(number) != number || std::fabs(number) > EXACT) return;
    value = static_cast<std::int64_t>(number);
  }
  // Two types for one number would be two comparisons wherever it is read.
  if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= 0) {
    value = static_cast<std::uint64_t>(value.get<std::int64_t>());
  }
}

}  // namespace halfopen::sim
