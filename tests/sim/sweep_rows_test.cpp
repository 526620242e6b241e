#include "sim/sweep_rows.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "sim/metrics.hpp"
#include "tests/sim/scenario_texts.hpp"

using namespace halfopen::sim;

namespace {

SweepPlan plan(std::vector<SweepParam> params) {
  SweepPlan out;
  out.text =
      testing::scenario(R"("traffic": [ { "upstream": "api", "arrivals": "poisson", "rate_rps": 20 } ])");
  out.file = "t.json";
  out.params = std::move(params);
  return out;
}

const SweepParam NAMES{"/name", {R"("plain")", R"("a,b")", R"("say \"x\"")", R"("")", R"("two\nlines")"}};

// Header and rows of `runs`, and where each of them ends.
struct Table {
  std::string text;
  std::vector<std::size_t> ends;
};

Table table_of(Sweep& sweep, const SweepRuns& runs, RowFormat format) {
  Table out{sweep_header(sweep.plan(), format), {}};
  REQUIRE(sweep.prepare(runs, {1, {}}).empty());
  sweep.execute(runs, {1, {}}, [&](SweepRecord&& record) {
    out.text += sweep_row(sweep, record, format);
    out.ends.push_back(out.text.size());
  });
  return out;
}

std::string foreign(Sweep& sweep, const SweepRuns& runs, RowFormat format, const std::string& table) {
  return sweep_begun(sweep, runs, format, table).foreign;
}

}  // namespace

TEST_CASE("sweep_rows: fields are quoted as RFC 4180 has it, and every row is one line") {
  const Sweep sweep(plan({NAMES, {"/x,y", {"null"}}}));
  CHECK(sweep_header(sweep.plan(), RowFormat::csv, true) == "run,replicate,seed,/name,\"/x,y\"\n");
  const auto row = [&sweep](std::uint64_t number) {
    return list_row(sweep, sweep.run(number), 9, RowFormat::csv);
  };
  CHECK(row(1) == "1,1,9,plain,\n");
  CHECK(row(2) == "2,1,9,\"a,b\",\n");
  CHECK(row(3) == "3,1,9,\"say \"\"x\"\"\",\n");
  CHECK(row(4) == "4,1,9,\"\",\n");
  CHECK(row(5) == "5,1,9,\"\"\"two\\nlines\"\"\",\n");
  CHECK(list_row(sweep, sweep.run(3), 9, RowFormat::jsonl) ==
        "{\"run\":3,\"replicate\":1,\"seed\":9,\"/name\":\"say \\\"x\\\"\",\"/x,y\":null}\n");
}

TEST_CASE("sweep_rows: what was not measured is an empty field or null") {
  const Sweep sweep(plan({}));
  SweepRecord record;
  record.run = sweep.run(1);
  std::string fields;
  for (std::uint64_t n = 0; n < metrics().size(); ++n) {
    const bool measured = n % 3 != 2;
    const MetricValue half = measured ? 0.5 : std::numeric_limits<double>::quiet_NaN();
    record.metrics.push_back(n % 3 == 0 ? MetricValue{n} : half);
    fields += ',' + (n % 3 == 0 ? std::to_string(n) : std::string(measured ? "0.5" : ""));
  }
  record.held = 1;
  record.expectations = 2;
  record.fingerprint = 0xab;
  record.digest = 0xcd;
  const std::string csv = sweep_row(sweep, record, RowFormat::csv);
  CHECK(csv == "1,1,1" + fields + ",2,1,00000000000000ab,00000000000000cd\n");
  const std::string jsonl = sweep_row(sweep, record, RowFormat::jsonl);
  CHECK(jsonl.find(R"("requests":0,"ok":0.5,"failed":null,"fast_failed":3,)") != std::string::npos);
  CHECK(
      jsonl.ends_with("\"expectations\":2,\"held\":1,\"fingerprint\":\"00000000000000ab\",\"digest\":"
                      "\"00000000000000cd\"}\n"));
}

TEST_CASE("sweep_rows: a table that was cut anywhere is gone on with after its last whole row") {
  for (const RowFormat format : {RowFormat::csv, RowFormat::jsonl}) {
    CAPTURE(static_cast<int>(format));
    Sweep sweep(plan({NAMES}));
    const SweepRuns runs = sweep.shard(1, 2);
    const Table table = table_of(sweep, runs, format);
    REQUIRE(table.ends.size() == 3);
    const std::size_t header = sweep_header(sweep.plan(), format).size();
    for (std::size_t cut = 0; cut <= table.text.size(); ++cut) {
      CAPTURE(cut);
      const SweepBegun begun = sweep_begun(sweep, runs, format, table.text.substr(0, cut));
      std::size_t rows = 0;
      while (rows < 3 && table.ends[rows] <= cut) ++rows;
      REQUIRE(begun.foreign == "");
      REQUIRE(begun.rows == rows);
      REQUIRE(begun.bytes == (rows > 0 ? table.ends[rows - 1] : cut < header ? 0 : header));
    }
  }
}

TEST_CASE("sweep_rows: a table of something else is not gone on with") {
  for (const RowFormat format : {RowFormat::csv, RowFormat::jsonl}) {
    CAPTURE(static_cast<int>(format));
    Sweep sweep(plan({NAMES}));
    const Table table = table_of(sweep, sweep.all(), format);
    const SweepRuns all = sweep.all();
    CHECK(foreign(sweep, all, format, table.text) == "");
    CHECK(foreign(sweep, all, format, "hello") != "");
    CHECK(foreign(sweep, all, format, "hello\n") != "");
    CHECK(foreign(sweep, all, format, table.text + "hello") == "it goes on after the 5 rows of these runs");
    CHECK(foreign(sweep, all, format, table.text.substr(0, table.ends[1]) + "hello") ==
          "its last line is not the beginning of a row of these runs");
    CHECK(foreign(sweep, sweep.shard(1, 2), format, table.text).find("for run 3 should begin with") !=
          std::string::npos);
    std::string other_columns = table.text;
    other_columns.insert(table.text.rfind(','), ",1");
    CHECK(foreign(sweep, all, format, other_columns) == "its line for run 5 has other columns");

    Sweep other_values(plan({{"/name", {"\"plain\"", "\"b\""}}}));
    REQUIRE(other_values.prepare(other_values.all(), {}).empty());
    CHECK(foreign(other_values, other_values.all(), format, table.text).find("for run 2 should begin with") !=
          std::string::npos);
    Sweep other_params(plan({{"/question", NAMES.values}}));
    CHECK(foreign(other_params, other_params.all(), format, table.text) != "");
    SweepPlan changed = plan({NAMES});
    changed.load.sets.emplace_back("/traffic/0/rate_rps", "21");
    Sweep other_scenario(changed);
    CHECK(foreign(other_scenario, other_scenario.all(), format, table.text)
              .starts_with("run 1 had another scenario: its digest should be "));
    SweepPlan reseeded = plan({NAMES});
    reseeded.load.seed = 2;
    Sweep other_seed(reseeded);
    CHECK(foreign(other_seed, other_seed.all(), format, table.text).find("for run 1 should begin with") !=
          std::string::npos);
  }
}
