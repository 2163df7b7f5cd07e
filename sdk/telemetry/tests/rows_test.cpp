// SPDX-License-Identifier: Apache-2.0
// From a log to a table and a container and back, figures per series, and charts that keep every
// peak.
#include "omen/telemetry/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "omen/container.hpp"
#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/summary.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::Bench;
using ::testing::ElementsAre;
using ::testing::Pair;

// 100 ticks of two series in two workloads, and a mark.
OpenRows make_log(Bench& bench) {
  {
    LogWriter writer(bench.tree / "recording.log", bench.metrics);
    writer.put_meta("command", "[\"sleep\",\"1\"]");
    for (int workload = 0; workload < 2; ++workload) {
      writer.begin_workload(workload, 1'700'000'000'000'000'000 + workload);
      for (int tick = 0; tick < 100; ++tick) {
        const std::int64_t t = tick * 100'000'000LL;
        writer.put({{t, tick * 1.0, bench.metrics.id("cpu.busy_percent"), -1, 0},
                    {t, tick == 57 ? 99.0 : 1.0, bench.metrics.id("gpu.util_percent"), 1, 0}});
        if (tick % 10 == 0) writer.flush();
      }
      writer.put({{4'200'000'000, 1, bench.metrics.id("mark.epoch"), -1, 0}});
    }
    writer.finish();
  }
  const auto path = bench.tree / "recording.log";
  return [path] { return std::make_unique<LogReader>(path); };
}

TEST(Rows, LogBecomesATableOfTheAgreedShape) {
  Bench bench;
  const OpenRows open = make_log(bench);
  const Table table = counters_stream(open).read_all();
  table.validate();
  ASSERT_EQ(table.rows(), 402);
  EXPECT_EQ(table.column<std::int64_t>("workload_id")[401], 1);
  EXPECT_EQ(table.column<std::int64_t>("t_ns")[2], 100'000'000);
  EXPECT_EQ(table.column<std::int32_t>("device")[1], 1);
  EXPECT_EQ(table.type(table.index("metric")), Type::kDictionary);
  EXPECT_EQ(table.strings("metric")[1], "gpu.util_percent");
  EXPECT_EQ(table.column<double>("value")[57 * 2 + 1], 99);
  EXPECT_EQ(table.metadata("omen.command"), "[\"sleep\",\"1\"]");
  EXPECT_EQ(table.metadata("omen.start_unix_ns.1"), "1700000000000000001");
}

TEST(Rows, ContainerHoldsTheSameTableAndAGoodDigest) {
  Bench bench;
  const OpenRows open = make_log(bench);
  write_container(open, bench.tree / "run.omt");
  const container::Reader reader = container::Reader::open(bench.tree / "run.omt");
  reader.verify_digest();
  EXPECT_NE(reader.metadata().at("omen.digest"), std::string(64, '0'));
  const Table stored = container::get_table(reader, "counters");
  const Table wanted = counters_stream(open).read_all();
  ASSERT_EQ(stored.rows(), wanted.rows());
  ASSERT_EQ(stored.columns(), wanted.columns());
  for (std::size_t c = 0; c < stored.columns(); ++c) {
    EXPECT_EQ(stored.name(c), wanted.name(c));
    EXPECT_EQ(stored.type(c), wanted.type(c));
    EXPECT_EQ(stored.metadata(c), wanted.metadata(c));
  }
  EXPECT_EQ(stored.metadata(), wanted.metadata());
  for (std::int64_t i = 0; i < stored.rows(); ++i) {
    EXPECT_EQ(stored.column<double>("value")[i], wanted.column<double>("value")[i]);
    EXPECT_EQ(stored.column<std::int64_t>("t_ns")[i], wanted.column<std::int64_t>("t_ns")[i]);
    EXPECT_EQ(stored.strings("metric")[i], wanted.strings("metric")[i]);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(bench.tree.root()),
                          std::filesystem::directory_iterator()),
            2)
      << "no temporary file is left";
}

TEST(Rows, ContainerReadsBackAsRowsWithItsFacts) {
  Bench bench;
  write_container(make_log(bench), bench.tree / "run.omt");
  const RowReaderPtr reader = open_trace(bench.tree / "run.omt");
  std::vector<LogRow> rows;
  ASSERT_TRUE(reader->next(rows));
  EXPECT_EQ(rows.size(), 402u);
  EXPECT_EQ(rows[401].workload_id, 1);
  EXPECT_EQ(rows[401].sample.t_ns, 4'200'000'000);
  EXPECT_EQ(reader->metadata().at("command"), "[\"sleep\",\"1\"]");
  EXPECT_EQ(reader->workload_starts().at(1), 1'700'000'000'000'000'001);
}

TEST(Rows, EmptyLogMakesAnEmptyTable) {
  Bench bench;
  { LogWriter writer(bench.tree / "log", bench.metrics); }
  const auto path = bench.tree / "log";
  const OpenRows open = [path] { return std::make_unique<LogReader>(path); };
  EXPECT_EQ(counters_stream(open).read_all().rows(), 0);
  write_container(open, bench.tree / "empty.omt");
  const auto reader = container::Reader::open(bench.tree / "empty.omt");
  EXPECT_EQ(container::get_table(reader, "counters").rows(), 0);
}

TEST(Rows, UnwritableTargetLeavesNothing) {
  Bench bench;
  const OpenRows open = make_log(bench);
  EXPECT_EQ(thrown_by([&] { write_container(open, bench.tree / "no/such/dir.omt"); }).code(),
            OMEN_IO);
}

TEST(Rows, TableWithoutMetricIsRefused) {
  TableBuilder builder;
  builder.add<double>("value", {1.0});
  EXPECT_EQ(thrown_by([&] { read_stream(builder.finish()); }).code(), OMEN_INVALID_DATA);
}

TEST(Summary, MeansAreWeightedByTime) {
  SeriesSummary summary;
  summary.add(1'000'000'000, 10);
  summary.add(2'000'000'000, 20);
  summary.add(5'000'000'000, 30);  // two ticks were missed
  EXPECT_DOUBLE_EQ(summary.mean(), (10 * 1 + 20 * 1 + 30 * 3) / 5.0);
  EXPECT_EQ(summary.min(), 10);
  EXPECT_EQ(summary.max(), 30);
  EXPECT_EQ(summary.last(), 30);
  EXPECT_EQ(summary.rows(), 3);
}

TEST(Summary, SingleRowsAndRowsAtOneMoment) {
  SeriesSummary one;
  one.add(5, 7);
  EXPECT_EQ(one.mean(), 7);
  one.add(5, 9);
  EXPECT_EQ(one.mean(), 8);
}

TEST(Summary, PerWorkloadAndSeries) {
  Bench bench;
  const RowReaderPtr reader = make_log(bench)();
  const Summary summary = summarise(*reader);
  EXPECT_EQ(summary.rows, 402);
  EXPECT_THAT(summary.workloads(), ElementsAre(0, 1));
  ASSERT_TRUE(summary.find("cpu.busy_percent", -1, 1));
  EXPECT_EQ(summary.find("cpu.busy_percent", -1, 1)->max(), 99);
  EXPECT_NEAR(summary.find("cpu.busy_percent")->quantile(0.95), 94, 94 * 0.023);
  EXPECT_EQ(summary.find("gpu.util_percent", 0), nullptr);
}

TEST(Plot, MinMaxKeepsEveryPeakAndIsBounded) {
  MinMaxSampler sampler(1'000'000, 10);
  for (int i = 0; i < 1'000'000; i += 7) sampler.add(i, i == 350'007 ? 1000.0 : (i % 3));
  const auto points = sampler.points();
  EXPECT_LE(points.size(), 20u);
  EXPECT_THAT(points, ::testing::Contains(Pair(350'007, 1000.0)));
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GE(points[i].first, points[i - 1].first);
}

TEST(Plot, PanelsSeriesAndMarks) {
  Bench bench;
  PlotOptions options;
  options.title = "sleep 1";
  options.buckets = 20;
  const auto figure = nlohmann::json::parse(plot_json(make_log(bench), options));
  ASSERT_EQ(figure["data"].size(), 4u);  // two series in two workloads
  EXPECT_EQ(figure["layout"]["title"]["text"], "sleep 1");
  EXPECT_EQ(figure["layout"]["yaxis"]["title"]["text"], "GPU %");
  EXPECT_EQ(figure["layout"]["yaxis2"]["title"]["text"], "CPU %");
  EXPECT_EQ(figure["layout"]["annotations"][0]["text"], "epoch");
  EXPECT_EQ(figure["layout"]["shapes"][0]["x0"], 4.2);
  double highest = 0;
  for (const auto& trace : figure["data"]) {
    EXPECT_LE(trace["x"].size(), 40u);
    if (trace["name"].get<std::string>().rfind("GPU", 0) == 0)
      for (const auto& value : trace["y"]) highest = std::max(highest, value.get<double>());
  }
  EXPECT_EQ(highest, 99) << "the one peak in a hundred samples survives";
}

TEST(Plot, OtherMetricsOnRequest) {
  Bench bench;
  {
    LogWriter writer(bench.tree / "log", bench.metrics);
    writer.begin_workload(0, 0);
    writer.put({{0, 1, bench.metrics.id("my.metric"), -1, 0}});
    writer.finish();
  }
  const auto path = bench.tree / "log";
  const OpenRows open = [path] { return std::make_unique<LogReader>(path); };
  EXPECT_EQ(nlohmann::json::parse(plot_json(open, {}))["data"].size(), 0u);
  PlotOptions all_metrics;
  all_metrics.all_metrics = true;
  const auto all = nlohmann::json::parse(plot_json(open, all_metrics));
  EXPECT_EQ(all["layout"]["yaxis"]["title"]["text"], "my.metric");
}

}  // namespace
}  // namespace omen::telemetry
