// The configuration over time: what the file starts with, then every reload worked out on what stood before
// it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/validate.hpp"
#include "sim/json_patch.hpp"
#include "sim/scenario_json_parts.hpp"

namespace halfopen::sim {
namespace {

// Every generation is held whole, so their number times their size is what memory and time depend on.
constexpr std::size_t MAX_GENERATION_ENTRIES = 4'000'000;
constexpr std::size_t MAX_RELOADS = 10'000;
constexpr std::size_t MAX_PATCH_OPS = 10'000;
constexpr std::size_t MAX_PATCHED_VALUES = 4'000'000;

constexpr std::string_view UPSTREAMS = "/upstreams";

struct ReloadText {
  Nanos at = 0;
  std::string pointer;
  const Json* upstreams = nullptr;                   // a whole configuration, or
  std::vector<std::pair<PatchOp, std::string>> ops;  // operations, each with its pointer
};

std::size_t entries_of(const Json& list) {
  std::size_t entries = list.size();
  for (const Json& upstream : list) {
    if (upstream.is_object() && upstream.contains("endpoints")) entries += upstream["endpoints"].size();
  }
  return entries;
}

class ReloadReader {
 public:
  ReloadReader(Reading& reading, Json upstreams) : reading_(reading) {
    document_["upstreams"] = std::move(upstreams);
  }

  // What generation 0 has wrong already: a reload that leaves it as it was is not to blame.
  void note(const std::vector<Finding>& findings, std::size_t first) {
    std::set<std::pair<std::string, std::string>> wrong;
    for (std::size_t n = first; n < findings.size(); ++n)
      wrong.emplace(findings[n].pointer, findings[n].what);
    known_wrong_ = std::move(wrong);
  }

  void read_shape(const Json& value, const std::string& pointer) {
    Fields fields(value, pointer, reading_.findings, "a reload");
    ReloadText text;
    text.pointer = pointer;
    text.at = fields.time("at_ms", ANY_TIME, Need::required).value_or(0);
    std::string_view found;
    const std::size_t kinds = fields.count_of({"patch", "upstreams"}, found);
    if (fields.is_object() && kinds != 1) {
      fields.tell_here(
          "a reload needs exactly one of \"patch\" (a JSON Patch) and \"upstreams\" (a whole configuration)");
    }
    text.upstreams = fields.list("upstreams");
    if (const Json* const patch = fields.list("patch")) read_ops(*patch, fields.at("patch"), text);
    fields.finish();
    texts_.push_back(std::move(text));
  }

  // In the order of time, which is not that of the file.
  void work_out() {
    std::stable_sort(texts_.begin(), texts_.end(),
                     [](const ReloadText& a, const ReloadText& b) { return a.at < b.at; });
    if (ops_ > MAX_PATCH_OPS)
      return tell("/reloads",
                  fmt::format("there are {} patch operations: {} are the limit", ops_, MAX_PATCH_OPS));
    if (texts_.size() > MAX_RELOADS)
      return tell("/reloads",
                  fmt::format("there are {} reloads: {} are the limit", texts_.size(), MAX_RELOADS));
    std::size_t entries = 0;
    for (const ReloadText& text : texts_) {
      apply(text);
      entries += entries_of(document_["upstreams"]);
      if (entries > MAX_GENERATION_ENTRIES) {
        return tell(text.pointer,
                    fmt::format("the configurations of all reloads together hold more than {} endpoints: "
                                "make fewer reloads or smaller ones",
                                MAX_GENERATION_ENTRIES));
      }
      std::vector<Finding> wrong;
      Reload reload{text.at, read_upstreams(document_["upstreams"], std::string(UPSTREAMS), wrong)};
      tell_consequences(text, wrong);
      reading_.scenario.reloads.push_back(std::move(reload));
    }
  }

 private:
  void tell(std::string pointer, std::string what) {
    Finding finding;
    finding.pointer = std::move(pointer);
    finding.what = std::move(what);
    reading_.findings.push_back(std::move(finding));
  }

  void read_ops(const Json& patch, const std::string& pointer, ReloadText& text) {
    for (std::size_t n = 0; n < patch.size(); ++n) {
      PatchOp op;
      std::string at = join(pointer, n);
      if (read_patch_op(patch[n], at, UPSTREAMS, reading_.findings, op))
        text.ops.emplace_back(std::move(op), std::move(at));
    }
    ops_ += patch.size();
  }

  // An operation that fails is left out, so that what is wrong with the others is told too.
  void apply(const ReloadText& text) {
    if (text.upstreams != nullptr) document_["upstreams"] = *text.upstreams;
    for (const auto& [op, pointer] : text.ops) {
      if (op.kind == PatchKind::remove && op.path == UPSTREAMS) {
        tell(pointer, "/upstreams can't be removed: a configuration is a list of upstreams");
        continue;
      }
      const bool states_value = op.kind == PatchKind::add || op.kind == PatchKind::replace;
      if (op.path == UPSTREAMS && op.kind != PatchKind::test && !(states_value && op.value->is_array())) {
        tell(pointer, "/upstreams must stay a list of upstreams");
        continue;
      }
      if (std::string wrong = apply_patch_op(document_, op, room_); !wrong.empty())
        tell(pointer, std::move(wrong));
    }
  }

  // The mistakes of a configuration that stands nowhere in the file are told where it comes about. In a
  // reload in full that is the very place; in a patch, the last operation that touched it.
  void tell_consequences(const ReloadText& text, std::vector<Finding>& wrong) {
    std::set<std::pair<std::string, std::string>> now_wrong;
    for (Finding& finding : wrong) {
      const auto id = std::make_pair(finding.pointer, finding.what);
      if (text.upstreams != nullptr || known_wrong_.count(id) == 0) {
        Finding told = std::move(finding);
        if (text.upstreams != nullptr) {
          told.pointer = text.pointer + told.pointer;
        } else {
          told.what = fmt::format("after this change {}: {}", id.first, id.second);
          told.pointer = cause_of(text, id.first);
          told.at_key = false;
        }
        reading_.findings.push_back(std::move(told));
      }
      now_wrong.insert(id);
    }
    known_wrong_ = std::move(now_wrong);
  }

  static bool within(const std::string& inner, const std::string& outer) {
    return inner == outer || inner.rfind(outer + "/", 0) == 0;
  }

  static std::string cause_of(const ReloadText& text, const std::string& pointer) {
    for (auto op = text.ops.rbegin(); op != text.ops.rend(); ++op) {
      std::string path = op->first.path;
      if (path.size() >= 2 && path.substr(path.size() - 2) == "/-") path.resize(path.size() - 2);
      if (within(pointer, path) || within(path, pointer)) return op->second;
    }
    return text.ops.size() == 1 ? text.ops[0].second : text.pointer;
  }

  Reading& reading_;
  Json document_;
  std::vector<ReloadText> texts_;
  std::size_t ops_ = 0;
  std::size_t room_ = MAX_PATCHED_VALUES;
  std::set<std::pair<std::string, std::string>> known_wrong_;
};

void note_names(Reading& reading, const std::vector<UpstreamConfig>& upstreams) {
  for (const UpstreamConfig& upstream : upstreams) {
    if (upstream.name.empty()) reading.upstreams_known = false;
    if (upstream.endpoints.empty()) reading.endpoints_known = false;
    const bool fresh_name =
        reading.upstream_index.emplace(upstream.name, reading.upstream_names.size()).second;
    if (fresh_name) reading.upstream_names.push_back(upstream.name);
    for (const EndpointConfig& endpoint : upstream.endpoints) {
      const auto [entry, fresh] =
          reading.endpoint_index.emplace(endpoint.name(), reading.endpoint_names.size());
      if (fresh) reading.endpoint_names.push_back(entry->first);
    }
  }
}

}  // namespace

void read_configuration(Fields& root, Reading& reading) {
  const std::size_t before = reading.findings.size();
  const Json* const upstreams = root.list("upstreams", Need::required);
  if (upstreams != nullptr) {
    reading.scenario.upstreams = read_upstreams(*upstreams, std::string(UPSTREAMS), reading.findings);
  }
  ReloadReader reloads(reading, upstreams == nullptr ? Json::array() : *upstreams);
  reloads.note(reading.findings, before);
  if (const Json* const list = root.list("reloads")) {
    for (std::size_t n = 0; n < list->size(); ++n) reloads.read_shape((*list)[n], join("/reloads", n));
    if (upstreams != nullptr) reloads.work_out();
  }
  reading.upstreams_known = reading.endpoints_known = upstreams != nullptr;
  note_names(reading, reading.scenario.upstreams);
  for (const Reload& reload : reading.scenario.reloads) note_names(reading, reload.upstreams);
  if (reading.endpoint_names.size() > MAX_ENDPOINTS && reading.findings.size() == before) {
    root.tell("upstreams", fmt::format("all generations together name {} endpoints: {} are the limit",
                                       reading.endpoint_names.size(), MAX_ENDPOINTS));
  }
}

}  // namespace halfopen::sim
