// SPDX-License-Identifier: Apache-2.0
// The built plugin through its C boundary: contract, tables, candidates, graphs, artifacts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "omen/testing/plugin_client.hpp"

namespace omen::baseline {
namespace {

using test::MemoryArtifact;
using test::PluginClient;
using test::PredictorClient;
using test::ReadyRun;
using testing::HasSubstr;

const PluginClient& plugin() {
  static const PluginClient opened(BASELINE_LIBRARY);
  return opened;
}

/// 60 workloads in 6 groups: time grows with m and with the op, device follows m.
struct Fixture {
  MemoryDataset dataset;
  std::vector<double> time;

  explicit Fixture(std::int64_t rows = 60, std::int64_t first = 0) {
    std::vector<std::int64_t> ids;
    std::vector<std::string> groups, ops, devices;
    std::vector<double> m;
    for (std::int64_t i = first; i < first + rows; ++i) {
      ids.push_back(i);
      groups.push_back("g" + std::to_string(i % 6));
      ops.push_back(i % 2 == 0 ? "conv" : "gemm");
      m.push_back(static_cast<double>(1 + (i * 37) % 50));
      time.push_back(m.back() * (i % 2 == 0 ? 2 : 1) + 10);
      devices.push_back(m.back() > 25 ? "gpu" : "cpu");
    }
    dataset.put("workloads", TableBuilder()
                                 .add("workload_id", ids)
                                 .add_categories("group", groups)
                                 .add_categories("op_name", ops)
                                 .add("m", m)
                                 .finish());
    dataset.put("targets",
                TableBuilder()
                    .add("workload_id", ids)
                    .add("time_ms", time, {{"omen.unit", "ms"}, {"omen.direction", "lower"}})
                    .add_dictionary("device", codes(devices), {"cpu", "gpu"})
                    .finish());
  }

  static std::vector<std::int32_t> codes(const std::vector<std::string>& devices) {
    std::vector<std::int32_t> result;
    for (const std::string& device : devices) result.push_back(device == "gpu" ? 1 : 0);
    return result;
  }
};

std::vector<std::string> statuses(const Table& table) {
  const StringColumn column = table.strings("status");
  std::vector<std::string> all;
  for (std::int64_t row = 0; row < column.size(); ++row) all.emplace_back(column[row]);
  return all;
}

std::vector<double> times(const Table& table) {
  return table.numbers("time_ms");
}

template <class Body>
omen_status status_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return OMEN_OK;
}

TEST(Plugin, DescribesItsComponents) {
  std::vector<std::string> ids;
  for (auto* at = plugin().c().components; *at; ++at) {
    ids.emplace_back((*at)->id);
    EXPECT_LE(std::string((*at)->summary).size(), 80U);
  }
  EXPECT_THAT(ids, testing::IsSupersetOf(
                       {"baseline.mean", "baseline.ridge", "baseline.knn", "baseline.nodelink"}));
}

class AnyPredictor : public testing::TestWithParam<const char*> {
 protected:
  const omen_component& component() { return plugin().component(GetParam()); }
  /// A short search is enough here.
  test::OptionTexts options() const {
    if (std::string(GetParam()) != "baseline.gbt") return {};
    return {{"max_rounds", "40"}};
  }
  bool learns() const { return std::string(GetParam()) != "baseline.mean"; }
};

TEST_P(AnyPredictor, PredictsEveryColumnOfTheContract) {
  Fixture train, fresh(30, 60);
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  fresh.dataset.withhold("targets");
  const Table out = client.predict(fresh.dataset, run);
  ASSERT_EQ(out.rows(), 30);
  for (const char* name : {"workload_id", "time_ms", "time_ms.lo", "time_ms.hi", "device",
                           "device.p.cpu", "device.p.gpu", "status"}) {
    EXPECT_TRUE(out.has(name)) << name;
  }
  EXPECT_EQ(out.metadata(out.index("time_ms"), "omen.unit"), "ms");
  EXPECT_EQ(out.metadata(out.index("time_ms.lo"), "omen.level"), "0.9");
  EXPECT_EQ(out.column<std::int64_t>("workload_id")[7], 67);
  const auto lo = out.numbers("time_ms.lo"), hi = out.numbers("time_ms.hi");
  const auto cpu = out.numbers("device.p.cpu"), gpu = out.numbers("device.p.gpu");
  double error = 0;
  for (std::size_t row = 0; row < 30; ++row) {
    const double value = times(out)[row];
    error += std::abs(value - fresh.time[row]) / 30;
    EXPECT_LE(lo[row], value);
    EXPECT_LE(value, hi[row]);
    EXPECT_NEAR(cpu[row] + gpu[row], 1, 1e-6);
  }
  if (learns()) {
    EXPECT_LT(error, 8);
  }
  EXPECT_THAT(statuses(out), testing::Each("ok"));
}

TEST_P(AnyPredictor, SaveAndLoadGiveTheSameTable) {
  Fixture train;
  PredictorClient client(component(), options()), loaded(component(), options());
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  MemoryArtifact artifact = client.save();
  EXPECT_EQ(artifact.meta.at("baseline.component"), GetParam());
  loaded.load(artifact);
  const Table a = client.predict(train.dataset, run), b = loaded.predict(train.dataset, run);
  EXPECT_EQ(times(a), times(b));
  EXPECT_EQ(a.numbers("time_ms.hi"), b.numbers("time_ms.hi"));
  EXPECT_EQ(a.numbers("device.p.gpu"), b.numbers("device.p.gpu"));
  EXPECT_EQ(b.metadata(b.index("time_ms"), "omen.direction"), "lower");
  MemoryArtifact again = loaded.save();
  for (const auto& [name, tensor] : artifact.tensors) {
    EXPECT_EQ(tensor.bytes, again.tensors.at(name).bytes) << name;
  }
}

TEST_P(AnyPredictor, ChunksThreadsAndRowOrderDoNotMatter) {
  Fixture train;
  const ReadyRun one(3, 1), two(3, 2);
  PredictorClient a(component(), options()), b(component(), options());
  a.fit(train.dataset, one);
  train.dataset.set_batch_rows(7);
  b.fit(train.dataset, two);
  const std::vector<double> expected = times(a.predict(train.dataset, one));
  EXPECT_EQ(times(b.predict(train.dataset, two)), expected);
  train.dataset.set_batch_rows(1);
  EXPECT_EQ(times(b.predict(train.dataset, two)), expected);
  MemoryDataset reversed;
  std::vector<std::int64_t> order;
  for (std::int64_t row = 59; row >= 0; --row) order.push_back(row);
  reversed.put("workloads", take(*train.dataset.find("workloads"), order));
  std::vector<double> back = times(a.predict(reversed, one));
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, expected);
}

TEST_P(AnyPredictor, MarksWhatLiesOutsideItsTraining) {
  Fixture train;
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  MemoryDataset odd;
  odd.put("workloads", TableBuilder()
                           .add<std::int64_t>("workload_id", {1, 2, 3, 4})
                           .add_categories("op_name", {"conv", "fft", "conv", "gemm"})
                           .add<double>("m", {54, 20, 60, 0})
                           .valid({true, true, true, false})
                           .finish());
  EXPECT_THAT(statuses(client.predict(odd, run)),
              testing::ElementsAre("ok", "extrapolating", "extrapolating", "ok"));
}

TEST_P(AnyPredictor, RefusesWrongMomentsAndDataAndStaysUsable) {
  Fixture train;
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  EXPECT_EQ(status_of([&] { client.predict(train.dataset, run); }), OMEN_INVALID_STATE);
  EXPECT_EQ(status_of([&] { client.save(); }), OMEN_INVALID_STATE);
  client.fit(train.dataset, run);
  const std::vector<double> before = times(client.predict(train.dataset, run));
  Fixture none(0);
  EXPECT_EQ(status_of([&] { client.fit(none.dataset, run); }), OMEN_INVALID_DATA);
  MemoryDataset untargeted;
  untargeted.put("workloads", *train.dataset.find("workloads"));
  EXPECT_EQ(status_of([&] { client.fit(untargeted, run); }), OMEN_NOT_FOUND);
  ReadyRun cancelled(1, 2);
  cancelled.cancel();
  EXPECT_EQ(status_of([&] { client.fit(train.dataset, cancelled); }), OMEN_CANCELLED);
  EXPECT_EQ(times(client.predict(train.dataset, run)), before);
  MemoryArtifact empty;
  EXPECT_NE(status_of([&] { client.load(empty); }), OMEN_OK);
  EXPECT_EQ(times(client.predict(train.dataset, run)), before);
}

TEST_P(AnyPredictor, AnswersAnEmptyTableWithItsColumns) {
  Fixture train, none(0);
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  const Table out = client.predict(none.dataset, run);
  EXPECT_EQ(out.rows(), 0);
  EXPECT_TRUE(out.has("device.p.gpu"));
}

TEST_P(AnyPredictor, LearnsFromTheValidationRowsToo) {
  Fixture train(30), valid(30, 30), all(60);
  PredictorClient parts(component(), options()), whole(component(), options());
  const ReadyRun run(1, 2);
  parts.fit(train.dataset, run, &valid.dataset);
  whole.fit(all.dataset, run);
  const std::vector<double> a = times(parts.predict(all.dataset, run));
  const std::vector<double> b = times(whole.predict(all.dataset, run));
  for (std::size_t row = 0; row < a.size(); ++row)
    EXPECT_NEAR(a[row], b[row], 1e-6 * std::abs(b[row]));
}

TEST_P(AnyPredictor, PredictsPerCandidate) {
  Fixture train;
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  MemoryDataset in;
  in.put("workloads", TableBuilder()
                          .add<std::int64_t>("workload_id", {5, 9})
                          .add_categories("op_name", {"conv", "gemm"})
                          .finish());
  in.put("candidates", TableBuilder()
                           .add<std::int64_t>("workload_id", {9, 5, 9})
                           .add<std::int32_t>("candidate_id", {0, 0, 1})
                           .add<double>("m", {10, 20, 40})
                           .finish());
  const Table out = client.predict(in, run);
  ASSERT_EQ(out.rows(), 3);
  EXPECT_EQ(out.column<std::int64_t>("workload_id")[1], 5);
  EXPECT_EQ(out.column<std::int32_t>("candidate_id")[2], 1);
  if (learns()) {
    EXPECT_LT(times(out)[0], times(out)[2]);
  }
}

TEST_P(AnyPredictor, LearnsFromGraphs) {
  // Time is three per conv and one per relu; the table itself has no features.
  MemoryDataset data;
  std::vector<std::int64_t> ids, node_graph, edge_graph;
  std::vector<std::int32_t> node, src, dst;
  std::vector<std::string> ops;
  std::vector<double> time;
  for (std::int64_t graph = 0; graph < 40; ++graph) {
    ids.push_back(graph);
    const int convs = 1 + static_cast<int>(graph * 7 % 11),
              relus = 1 + static_cast<int>(graph * 5 % 7);
    for (int i = 0; i < convs + relus; ++i) {
      node_graph.push_back(graph);
      node.push_back(i);
      ops.emplace_back(i < convs ? "conv" : "relu");
      if (i == 0) continue;
      edge_graph.push_back(graph);
      src.push_back(i - 1);
      dst.push_back(i);
    }
    time.push_back(3 * convs + relus);
  }
  data.put("workloads", TableBuilder().add("workload_id", ids).finish());
  data.put("targets", TableBuilder().add("workload_id", ids).add("time_ms", time).finish());
  data.put("nodes", TableBuilder()
                        .add("graph_id", node_graph)
                        .add("node_id", node)
                        .add_categories("op", ops)
                        .finish());
  data.put("edges",
           TableBuilder().add("graph_id", edge_graph).add("src", src).add("dst", dst).finish());
  PredictorClient client(component(), options());
  const ReadyRun run(1, 2);
  client.fit(data, run);
  const std::vector<double> fitted = times(client.predict(data, run));
  double error = 0;
  for (std::size_t i = 0; i < time.size(); ++i) error += std::abs(fitted[i] - time[i]) / 40;
  if (learns()) {
    EXPECT_LT(error, 1);
  }

  std::vector<std::int64_t> more = ids;
  more.push_back(40);
  data.put("workloads", TableBuilder().add("workload_id", more).finish());
  const Table out = client.predict(data, run);
  EXPECT_EQ(statuses(out).back(), "no graph for this workload");
  EXPECT_TRUE(out.is_null(out.index("time_ms"), 40));
  EXPECT_EQ(statuses(out).front(), "ok");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds kCancelLimit{10};  // instrumented code is several times slower
#else
constexpr std::chrono::seconds kCancelLimit{1};
#endif

TEST_P(AnyPredictor, CancelsWithinASecond) {
  const std::int64_t rows = 30000;
  std::vector<std::int64_t> ids;
  std::vector<std::vector<double>> x(12);
  std::vector<double> y;
  std::uint64_t state = 1;
  for (std::int64_t row = 0; row < rows; ++row) {
    ids.push_back(row);
    y.push_back(0);
    for (auto& column : x) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      column.push_back(static_cast<double>(state >> 40));
      y.back() += std::sin(column.back());
    }
  }
  TableBuilder workloads;
  workloads.add("workload_id", ids);
  for (std::size_t i = 0; i < x.size(); ++i) workloads.add("x" + std::to_string(i), x[i]);
  MemoryDataset data;
  data.put("workloads", workloads.finish());
  data.put("targets", TableBuilder().add("workload_id", ids).add("time_ms", y).finish());
  PredictorClient client(component());
  ReadyRun run(1, 2);
  std::chrono::steady_clock::time_point asked;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    asked = std::chrono::steady_clock::now();
    run.cancel();
  });
  const omen_status status = status_of([&] { client.fit(data, run); });
  const auto ended = std::chrono::steady_clock::now();
  user.join();
  EXPECT_TRUE(status == OMEN_CANCELLED || status == OMEN_OK);
  if (status == OMEN_CANCELLED) {
    EXPECT_LT(ended - asked, kCancelLimit);
  }
}

#if OMEN_BASELINE_XGBOOST
INSTANTIATE_TEST_SUITE_P(All, AnyPredictor,
                         testing::Values("baseline.mean", "baseline.ridge", "baseline.knn",
                                         "baseline.gbt"));
#else
INSTANTIATE_TEST_SUITE_P(All, AnyPredictor,
                         testing::Values("baseline.mean", "baseline.ridge", "baseline.knn"));
#endif

TEST(Plugin, ModelsBelongToTheirComponent) {
  Fixture train;
  PredictorClient mean(plugin().component("baseline.mean"));
  PredictorClient ridge(plugin().component("baseline.ridge"));
  const ReadyRun run(1, 2);
  mean.fit(train.dataset, run);
  MemoryArtifact artifact = mean.save();
  EXPECT_EQ(status_of([&] { ridge.load(artifact); }), OMEN_INVALID_DATA);
}

TEST(Plugin, LearnsFromChosenColumnsAlone) {
  Fixture train;
  PredictorClient client(plugin().component("baseline.knn"), {{"columns", "m"}});
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  MemoryArtifact artifact = client.save();
  const MemoryArtifact::Tensor& names = artifact.tensors.at("features.numeric.names.bytes");
  EXPECT_EQ(std::string(names.bytes.begin(), names.bytes.end()), "m");
  EXPECT_TRUE(artifact.tensors.at("features.category.names.bytes").bytes.empty());
  EXPECT_EQ(client.predict(train.dataset, run).rows(), 60);

  PredictorClient mistaken(plugin().component("baseline.knn"), {{"columns", "n"}});
  EXPECT_EQ(status_of([&] { mistaken.fit(train.dataset, run); }), OMEN_INVALID_DATA);
}

TEST(Plugin, AColumnAnswersWithItself) {
  Fixture train;
  std::vector<std::int64_t> ids(train.time.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  train.dataset.put("targets", TableBuilder()
                                   .add("workload_id", ids)
                                   .add("time_ms", train.time, {{"omen.unit", "ms"}})
                                   .finish());
  const ReadyRun run(1, 2);
  PredictorClient nameless(plugin().component("baseline.column"));
  EXPECT_EQ(status_of([&] { nameless.fit(train.dataset, run); }), OMEN_INVALID_ARGUMENT);
  PredictorClient absent(plugin().component("baseline.column"), {{"column", "n"}});
  EXPECT_EQ(status_of([&] { absent.fit(train.dataset, run); }), OMEN_INVALID_DATA);
  PredictorClient client(plugin().component("baseline.column"), {{"column", "m"}});
  client.fit(train.dataset, run);
  PredictorClient loaded(plugin().component("baseline.column"));
  MemoryArtifact artifact = client.save();
  loaded.load(artifact);
  const Table said = loaded.predict(train.dataset, run);
  EXPECT_EQ(said.numbers("time_ms"), train.dataset.find("workloads")->numbers("m"));
  EXPECT_EQ(said.metadata(*said.find("time_ms"), "omen.unit"), "ms");
}

TEST(Plugin, TargetsNeverBecomeFeatures) {
  // The target also stands among the workload columns, as in a table that a user saved whole.
  Fixture train;
  TableBuilder leaking;
  const Table workloads = *train.dataset.find("workloads");
  for (std::size_t at = 0; at < workloads.columns(); ++at) leaking.add_column(workloads, at);
  train.dataset.put("workloads", leaking.add("time_ms", train.time).finish());
  PredictorClient client(plugin().component("baseline.ridge"));
  const ReadyRun run(1, 2);
  client.fit(train.dataset, run);
  MemoryArtifact artifact = client.save();
  const MemoryArtifact::Tensor& names = artifact.tensors.at("features.numeric.names.bytes");
  EXPECT_EQ(std::string(names.bytes.begin(), names.bytes.end()), "m");
}

}  // namespace
}  // namespace omen::baseline
