// SPDX-License-Identifier: Apache-2.0
// The predictor on made-up kernels: it learns, answers in tables, and survives its artifact.
#include "network/network_predictor.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/testing/ready_run.hpp"

namespace omen::loadbalance {
namespace {

using ::testing::HasSubstr;

// Kernels whose share grows with their loads and with the bytes.
struct Kernels {
  MemoryDataset data;

  explicit Kernels(int count, unsigned seed, bool answers) {
    std::mt19937 random(seed);
    std::vector<std::int64_t> id, graph, node_graph, edge_graph;
    std::vector<std::int32_t> node, src, dst, position;
    std::vector<std::string> op, kind, device, share_class;
    std::vector<double> wgsize, bytes, share;
    for (int k = 0; k < count; ++k) {
      const int loads = static_cast<int>(random() % 5), nodes = 6;
      for (std::int32_t n = 0; n < nodes; ++n) {
        node_graph.push_back(k);
        node.push_back(n);
        op.push_back(n == 0 ? "[external]" : n <= loads ? "load" : "fmul");
      }
      for (std::int32_t n = 1; n < nodes; ++n) {
        edge_graph.push_back(k);
        src.push_back(n - 1);
        dst.push_back(n);
        kind.push_back(n % 2 ? "control" : "data");
        position.push_back(n % 3);
      }
      const double exponent = static_cast<double>(random() % 12);
      id.push_back(k);
      graph.push_back(k);
      wgsize.push_back(64);
      bytes.push_back(std::exp2(10 + exponent));
      share.push_back(10.0 * loads + 4 * exponent);
      device.push_back(share.back() > 45 ? "CPU" : "GPU");
      share_class.push_back(share.back() > 50 ? "75" : "25");
    }
    data.put("workloads", TableBuilder()
                              .add("workload_id", id)
                              .add("graph_id", graph)
                              .add("wgsize", wgsize)
                              .add("input_size", bytes)
                              .finish());
    data.put("nodes", TableBuilder()
                          .metadata("omen.dialect", kDialect)
                          .add("graph_id", node_graph)
                          .add("node_id", node)
                          .add_categories("op", op)
                          .finish());
    data.put("edges", TableBuilder()
                          .add("graph_id", edge_graph)
                          .add("src", src)
                          .add("dst", dst)
                          .add_categories("kind", kind)
                          .add("position", position)
                          .finish());
    if (answers)
      data.put("targets", TableBuilder()
                              .add("workload_id", id)
                              .add("share", share)
                              .add_categories("share_class", share_class)
                              .add_categories("device", device)
                              .finish());
    truth = share;
  }
  std::vector<double> truth;
};

NetworkPredictorOptions quick() {
  NetworkPredictorOptions options;
  options.width = 8;
  options.steps = 2;
  options.hidden = 16;
  options.epochs = 6;
  options.readout_epochs = 40;
  options.precision = "single";
  return options;
}

double error_of(const Table& predicted, const Kernels& kernels) {
  const std::vector<double> share = predicted.numbers("share");
  double sum = 0;
  for (std::size_t i = 0; i < share.size(); ++i) sum += std::abs(share[i] - kernels.truth[i]);
  return sum / static_cast<double>(share.size());
}

TEST(NetworkPredictor, LearnsSharesAndClassesAndSurvivesItsArtifact) {
  const Kernels train(120, 1, true), test(40, 2, false);
  const test::ReadyRun run(5);
  NetworkPredictor predictor(quick());
  predictor.fit(train.data.view(), Dataset(nullptr), run);
  const Table answer = predictor.predict(test.data.view(), run).read_all();
  EXPECT_LT(error_of(answer, test), 6) << "the mean answer is off by about 15";
  EXPECT_TRUE(answer.has("share_class.p.25"));
  EXPECT_TRUE(answer.has("device.p.CPU"));
  EXPECT_EQ(answer.strings("status")[0], "ok");

  container::Writer file;
  ArtifactWriter out(file.sink());
  predictor.save(out);
  const std::string bytes = file.serialise();
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  NetworkPredictor loaded{{}};
  loaded.load(ArtifactReader(reader.source()));
  const Table again = loaded.predict(test.data.view(), run).read_all();
  EXPECT_EQ(again.numbers("share"), answer.numbers("share"));

  NetworkPredictor same(quick());
  same.fit(train.data.view(), Dataset(nullptr), run);
  EXPECT_EQ(same.predict(test.data.view(), run).read_all().numbers("share"),
            answer.numbers("share"));
}

TEST(NetworkPredictor, KeepsTheBestEpochWhereItIsAskedTo) {
  const Kernels train(60, 3, true), valid(20, 4, true), test(20, 5, false);
  const test::ReadyRun run(5);
  NetworkPredictorOptions options = quick();
  options.validation = "stop";
  options.readout_epochs = 5;
  NetworkPredictor predictor(options);
  predictor.fit(train.data.view(), valid.data.view(), run);
  EXPECT_LT(error_of(predictor.predict(test.data.view(), run).read_all(), test), 15);
}

TEST(NetworkPredictor, SaysWhatItCannotAnswer) {
  Kernels train(20, 6, true), test(4, 7, false);
  const test::ReadyRun run(5);
  NetworkPredictorOptions options = quick();
  options.epochs = options.readout_epochs = 1;
  NetworkPredictor predictor(options);
  try {
    predictor.predict(test.data.view(), run);
    ADD_FAILURE() << "predicted without a model";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_STATE);
    EXPECT_THAT(error.what(), HasSubstr("has no model yet"));
  }
  predictor.fit(train.data.view(), Dataset(nullptr), run);
  test.data.put("workloads", TableBuilder()
                                 .add<std::int64_t>("workload_id", {0, 1, 2})
                                 .add<std::int64_t>("graph_id", {0, 99, 1})
                                 .add<double>("wgsize", {64, 64, 64})
                                 .add<double>("input_size", {2048, 2048, 1e15})
                                 .finish());
  const Table answer = predictor.predict(test.data.view(), run).read_all();
  const StringColumn status = answer.strings("status");
  EXPECT_EQ(status[0], "ok");
  EXPECT_EQ(status[1], "no graph for this workload");
  EXPECT_EQ(status[2], "extrapolating");
  EXPECT_TRUE(answer.is_null(answer.index("share"), 1));

  test.data.put("workloads", TableBuilder().add<std::int64_t>("workload_id", {0}).finish());
  try {
    predictor.predict(test.data.view(), run);
    ADD_FAILURE() << "predicted without sizes";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no column wgsize"));
    EXPECT_THAT(error.hint(), HasSubstr("--wgsize"));
  }
}

}  // namespace
}  // namespace omen::loadbalance
