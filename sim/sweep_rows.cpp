#include "sim/sweep_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>

#include "sim/metrics.hpp"
#include "sim/number_format.hpp"
#include "sim/sweep_json.hpp"

namespace halfopen::sim {

namespace {

// RFC 4180. An empty text is quoted, so that it differs from nothing.
void append_csv(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  out += '"';
}

void append_csv_value(std::string& out, const std::string& json) {
  if (json != "null") append_csv(out, plain_value(json));
}

// One row: values in the order of the columns, with their names where the format has them.
class RowWriter {
 public:
  RowWriter(std::string& out, RowFormat format) : out_(out), format_(format) {
    if (format == RowFormat::jsonl) out += '{';
  }

  // The caller writes the value after it.
  std::string& column(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    if (format_ == RowFormat::jsonl) {
      append_json_string(out_, name);
      out_ += ':';
    }
    return out_;
  }

  void count(std::string_view name, std::uint64_t value) { append_uint(column(name), value); }

  void value(std::string_view name, const std::string& json) {
    if (format_ == RowFormat::csv) {
      append_csv_value(column(name), json);
    } else {
      column(name) += json;
    }
  }

  void metric(const Metric& metric, const MetricValue& value) {
    column(metric.name);
    if (const auto* count = std::get_if<std::uint64_t>(&value)) return append_uint(out_, *count);
    const double number = std::get<double>(value);
    if (std::isnan(number)) {
      if (format_ == RowFormat::jsonl) out_ += "null";
    } else if (metric.unit == "ms") {
      append_double_ms(out_, number);
    } else {
      append_double(out_, number);
    }
  }

  void hex(std::string_view name, std::uint64_t value) {
    if (format_ == RowFormat::csv) {
      column(name) += hex16(value);
    } else {
      append_json_string(column(name), hex16(value));
    }
  }

  void finish() { out_ += format_ == RowFormat::jsonl ? "}\n" : "\n"; }

 private:
  std::string& out_;
  RowFormat format_;
  bool first_ = true;
};

void append_identity(RowWriter& row, const Sweep& sweep, const SweepRun& run, std::uint64_t seed) {
  row.count("run", run.number);
  row.count("replicate", run.replicate);
  row.count("seed", seed);
  for (std::size_t n = 0; n < sweep.plan().params.size(); ++n) {
    row.value(sweep.plan().params[n].pointer, sweep.value(run, n));
  }
}

// What every row has between its identity and its digest: so many commas, and neither quote nor line end in a
// CSV's.
std::ptrdiff_t commas_of_results() { return static_cast<std::ptrdiff_t>(metrics().size()) + 4; }

// Why a whole line is not the row of `run`; empty if it is.
std::string difference(Sweep& sweep, const SweepRun& run, RowFormat format, std::string_view line) {
  const std::string identity = row_identity(sweep, run, sweep.seed(run), format);
  std::string digest = hex16(sweep.digest(run));
  if (!line.starts_with(identity + ',')) {
    return fmt::format("its line for run {} should begin with {}", run.number, identity);
  }
  const std::string_view results = line.substr(identity.size());
  if (format == RowFormat::jsonl) digest = fmt::format("\"digest\":\"{}\"}}", digest);
  if (std::count(results.begin(), results.end(), ',') != commas_of_results()) {
    return fmt::format("its line for run {} has other columns", run.number);
  }
  if (!results.ends_with(',' + digest)) {
    return fmt::format("run {} had another scenario: its digest should be {}", run.number,
                       hex16(sweep.digest(run)));
  }
  return {};
}

}  // namespace

std::string sweep_header(const SweepPlan& plan, RowFormat format, bool identity) {
  if (format == RowFormat::jsonl) return "";
  std::string out = "run,replicate,seed";
  for (const SweepParam& param : plan.params) {
    out += ',';
    append_csv(out, param.pointer);
  }
  if (!identity) {
    for (const Metric& metric : metrics()) (out += ',') += metric.name;
    out += ",expectations,held,fingerprint,digest";
  }
  return out + '\n';
}

std::string row_identity(const Sweep& sweep, const SweepRun& run, std::uint64_t seed, RowFormat format) {
  std::string out;
  RowWriter row(out, format);
  append_identity(row, sweep, run, seed);
  return out;
}

std::string list_row(const Sweep& sweep, const SweepRun& run, std::uint64_t seed, RowFormat format) {
  std::string out;
  RowWriter row(out, format);
  append_identity(row, sweep, run, seed);
  row.finish();
  return out;
}

std::string sweep_row(const Sweep& sweep, const SweepRecord& record, RowFormat format) {
  std::string out;
  RowWriter row(out, format);
  append_identity(row, sweep, record.run, record.seed);
  const std::span<const Metric> columns = metrics();
  for (std::size_t n = 0; n < columns.size(); ++n) row.metric(columns[n], record.metrics[n]);
  row.count("expectations", record.expectations);
  row.count("held", record.held);
  row.hex("fingerprint", record.fingerprint);
  row.hex("digest", record.digest);
  row.finish();
  return out;
}

SweepBegun sweep_begun(Sweep& sweep, const SweepRuns& runs, RowFormat format, std::string_view table) {
  SweepBegun out;
  const std::string header = sweep_header(sweep.plan(), format);
  if (table.size() < header.size() && header.starts_with(table)) return out;  // torn before its first row
  if (!table.starts_with(header)) {
    out.foreign = "its first line is not this sweep's header";
    return out;
  }
  out.bytes = header.size();
  while (out.bytes < table.size()) {
    if (out.rows == runs.count) {
      out.foreign = fmt::format("it goes on after the {} rows of these runs", runs.count);
      return out;
    }
    const SweepRun run = sweep.run(runs.number(out.rows));
    const std::string_view rest = table.substr(out.bytes);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      const std::string identity = row_identity(sweep, run, sweep.seed(run), format);
      if (!rest.starts_with(identity) && !identity.starts_with(rest)) {
        out.foreign = "its last line is not the beginning of a row of these runs";
      }
      return out;
    }
    out.foreign = difference(sweep, run, format, rest.substr(0, end));
    if (!out.foreign.empty()) return out;
    out.bytes += end + 1;
    ++out.rows;
  }
  return out;
}

}  // namespace halfopen::sim
