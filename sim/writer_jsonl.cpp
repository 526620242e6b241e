#include "sim/writer_jsonl.hpp"

#include "sim/writer_parts.hpp"

namespace halfopen::sim {

std::string timeline_jsonl(const Timeline& timeline, const std::vector<Judgement>& judgements) {
  std::string out;
  ObjectWriter meta(out);
  meta.text("type", "meta");
  meta.text("format", TIMELINE_FORMAT);
  append_meta(meta, timeline);
  meta.uint("expectations", judgements.size());  // so that a reader knows whether all are there
  meta.close();
  out += '\n';
  for (const TimelineEvent& event : timeline.events) {
    append_event(out, timeline, event);
    out += '\n';
  }
  ObjectWriter summary(out);
  summary.text("type", "summary");
  append_summary(summary, timeline);
  summary.close();
  out += '\n';
  for (const Judgement& judgement : judgements) {
    ObjectWriter object(out);
    object.text("type", "expectation");
    append_judgement(object, judgement);
    object.close();
    out += '\n';
  }
  return out;
}

}  // namespace halfopen::sim
