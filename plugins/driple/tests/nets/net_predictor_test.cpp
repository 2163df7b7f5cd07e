// SPDX-License-Identifier: Apache-2.0
// Tables in, tables out: training, saving, transfer, masked outputs, and rows beyond training.
#include "nets/net_predictor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "nets/convert_command.hpp"
#include "omen/container.hpp"
#include "omen/learn/random.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::driple {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;

// Chains of operations; the label `size` is the mean logarithm of their tensors.
struct Jobs {
  MemoryDataset data;
  std::vector<double> size;

  explicit Jobs(int count, std::uint64_t seed, const char* extra_op = nullptr) {
    learn::Random random(seed);
    std::vector<std::int64_t> id, graph, edge_graph;
    std::vector<std::int32_t> node, shape, src, dst;
    std::vector<std::string> op;
    std::vector<double> constant;
    for (int job = 0; job < count; ++job) {
      const double level = 1 + 9 * random.uniform();
      const auto nodes = static_cast<std::int32_t>(20 + random.below(20));
      id.push_back(job);
      size.push_back(level);
      constant.push_back(7);
      for (std::int32_t i = 0; i < nodes; ++i) {
        graph.push_back(job);
        node.push_back(i);
        op.emplace_back(extra_op && i == 0 ? extra_op : i % 3 == 0 ? "conv" : "activation");
        shape.insert(shape.end(), {static_cast<std::int32_t>(level * 10), 4, 0});
        if (i == 0) continue;
        edge_graph.push_back(job);
        src.push_back(i - 1);
        dst.push_back(i);
      }
    }
    data.put("workloads", TableBuilder().add("workload_id", id).finish());
    TableBuilder nodes;
    nodes.metadata("omen.dialect", "step/1");
    data.put("nodes", nodes.add("graph_id", graph)
                          .add("node_id", node)
                          .add_categories("op", op)
                          .add_list("shape", 3, shape)
                          .finish());
    data.put("edges",
             TableBuilder().add("graph_id", edge_graph).add("src", src).add("dst", dst).finish());
    data.put("targets", TableBuilder()
                            .add("workload_id", id)
                            .add("size", size, {{"omen.unit", "1"}})
                            .add("constant", constant)
                            .finish());
  }
};

NetOptions small_options() {
  NetOptions options;
  options.groups = 8;
  options.hidden = 16;
  options.epochs = 60;
  options.batch = 16;
  options.rate = 0.01;
  options.log_features = true;
  options.clip = 1;
  return options;
}

double error_on(NetPredictor& predictor, const Jobs& jobs) {
  const Table answers = predictor.predict(jobs.data.view(), test::ReadyRun()).read_all();
  const std::vector<double> size = answers.numbers("size");
  double sum = 0;
  for (std::size_t i = 0; i < size.size(); ++i) sum += std::abs(size[i] - jobs.size[i]);
  return sum / static_cast<double>(size.size());
}

double constant_error(const Jobs& jobs) {
  double mean = 0, sum = 0;
  for (const double s : jobs.size) mean += s / static_cast<double>(jobs.size.size());
  for (const double s : jobs.size)
    sum += std::abs(s - mean) / static_cast<double>(jobs.size.size());
  return sum;
}

TEST(NetPredictorTest, LearnsSavesAndAnswersTheSame) {
  const Jobs train(48, 1), valid(16, 2), fresh(24, 3);
  GcnPredictor predictor(small_options());
  const test::ReadyRun run;
  predictor.fit(train.data.view(), valid.data.view(), run);
  EXPECT_LT(error_on(predictor, fresh), 0.5 * constant_error(fresh));
  EXPECT_GT(run.metric("valid_loss").size(), 5U);

  test::MemoryArtifact kept;
  const omen_sink sink = kept.sink();
  ArtifactWriter out(&sink);
  predictor.save(out);
  GcnPredictor again(small_options());
  const omen_source source = kept.source();
  again.load(ArtifactReader(&source));
  EXPECT_DOUBLE_EQ(error_on(again, fresh), error_on(predictor, fresh));
  GatPredictor other(small_options());
  EXPECT_THAT(error_of([&] { other.load(ArtifactReader(&source)); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("driple.gcn"), ::testing::_));
}

TEST(NetPredictorTest, OutputsThatNeverVaryAreThatValue) {
  const Jobs train(16, 1), valid(16, 2), fresh(4, 3);
  NetOptions options = small_options();
  options.epochs = 3;
  GinPredictor predictor(options);
  predictor.fit(train.data.view(), valid.data.view(), test::ReadyRun());
  const Table answers = predictor.predict(fresh.data.view(), test::ReadyRun()).read_all();
  for (const double value : answers.numbers("constant")) EXPECT_DOUBLE_EQ(value, 7);
  EXPECT_FALSE(answers.has("constant.lo"));
  const std::vector<double> low = answers.numbers("size.lo"), high = answers.numbers("size.hi"),
                            size = answers.numbers("size");
  for (std::size_t i = 0; i < size.size(); ++i) {
    EXPECT_LT(low[i], size[i]);
    EXPECT_LT(size[i], high[i]);
  }
}

TEST(NetPredictorTest, UnknownKindsAndAbsentGraphsAreSaid) {
  const Jobs train(16, 1), strange(2, 2, "teleport");
  NetOptions options = small_options();
  options.epochs = 2;
  GcnPredictor predictor(options);
  predictor.fit(train.data.view(), Dataset(nullptr), test::ReadyRun());
  Jobs known(16, 1);
  known.data.put("workloads",
                 TableBuilder().add("workload_id", std::vector<std::int64_t>{0, 99}).finish());
  const Table answers = predictor.predict(known.data.view(), test::ReadyRun()).read_all();
  EXPECT_EQ(answers.strings("status")[0], "ok");
  EXPECT_THAT(std::string(answers.strings("status")[1]), HasSubstr("no graph"));
  EXPECT_TRUE(answers.is_null(answers.index("size"), 1));
  const Table other = predictor.predict(strange.data.view(), test::ReadyRun()).read_all();
  EXPECT_EQ(other.strings("status")[0], "extrapolating");
}

TEST(NetPredictorTest, TransferTrainsTheLateHalfOnly) {
  const test::TempDir dir;
  const std::string path = (dir.path() / "first.omen").string();
  const Jobs train(48, 1), valid(16, 2);
  GcnPredictor first(small_options());
  first.fit(train.data.view(), valid.data.view(), test::ReadyRun());
  container::Writer file;
  ArtifactWriter out(file.sink());
  first.save(out);
  file.write(path);

  // The same jobs on a device that is three times as slow.
  Jobs slower(16, 4), held_out(16, 5), fresh(24, 6);
  for (Jobs* jobs : {&slower, &held_out, &fresh}) {
    std::vector<std::int64_t> id;
    for (std::size_t i = 0; i < jobs->size.size(); ++i) {
      id.push_back(static_cast<std::int64_t>(i));
      jobs->size[i] *= 3;
    }
    jobs->data.put("targets",
                   TableBuilder().add("workload_id", id).add("size", jobs->size).finish());
  }
  NetOptions options = small_options();
  options.pretrained = path;
  options.epochs = 15;
  GcnPredictor moved(options);
  moved.fit(slower.data.view(), held_out.data.view(), test::ReadyRun());
  EXPECT_LT(error_on(moved, fresh), 0.5 * constant_error(fresh));

  test::MemoryArtifact before, after;
  const omen_sink sink_before = before.sink(), sink_after = after.sink();
  ArtifactWriter write_before(&sink_before), write_after(&sink_after);
  first.save(write_before);
  moved.save(write_after);
  for (const char* frozen : {"network.conv_layers.1.W", "network.gru.gru.weight_ih_l0",
                             "network.graph_read_out.set2set.lstm.weight_ih_l0"})
    EXPECT_EQ(before.tensors[frozen].bytes, after.tensors[frozen].bytes) << frozen;
  EXPECT_NE(before.tensors["network.conv_layers.1.W"].bytes,
            after.tensors["network.conv_layers.2.W"].bytes);
  GatPredictor other(options);
  EXPECT_THAT(
      error_of([&] { other.fit(slower.data.view(), held_out.data.view(), test::ReadyRun()); }),
      IsError(OMEN_INVALID_DATA, HasSubstr("driple.gcn"), ::testing::_));
}

TEST(NetPredictorTest, RefusesWhatItCannotLearn) {
  const Jobs train(4, 1);
  NetOptions options = small_options();
  options.hidden = 6;
  EXPECT_THAT(error_of([&] { GcnPredictor made(options); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("'hidden' is 6"), ::testing::_));
  GcnPredictor predictor(small_options());
  EXPECT_THAT(error_of([&] { predictor.predict(train.data.view(), test::ReadyRun()); }),
              IsError(OMEN_INVALID_STATE, HasSubstr("driple.gcn"), ::testing::_));
  Jobs loose(4, 1);
  loose.data.put("edges", TableBuilder()
                              .add("graph_id", std::vector<std::int64_t>{0})
                              .add("src", std::vector<std::int32_t>{0})
                              .add("dst", std::vector<std::int32_t>{9999})
                              .finish());
  EXPECT_THAT(
      error_of([&] { predictor.fit(loose.data.view(), Dataset(nullptr), test::ReadyRun()); }),
      IsError(OMEN_INVALID_DATA, HasSubstr("edge 0"), ::testing::_));
}

TEST(ConvertTest, AStateDictionaryBecomesAModelThatAnswers) {
  const test::TempDir dir;
  const std::string from = (dir.path() / "weights.safetensors").string(),
                    to = (dir.path() / "model.omen").string(),
                    operations = (dir.path() / "ops.csv").string();
  std::ofstream(operations) << "conv,0.4\nactivation,0.6\n";
  NetworkOptions shape;
  shape.outputs = 12;
  const Network network(shape);
  container::Writer file;
  for (const auto& entry : network.state().entries()) {
    const at::Tensor tensor = entry.tensor.detach().contiguous();
    file.put_tensor(entry.name, "F32", tensor.sizes().vec(), tensor.const_data_ptr<float>(),
                    static_cast<std::size_t>(tensor.numel()) * sizeof(float));
  }
  file.write(from);
  TableCollector out;
  EXPECT_EQ(ConvertCommand({operations}).run({from, to}, TablesOut(out.c()), test::ReadyRun()), 0);
  const Table said = out.take().at("converted");
  EXPECT_EQ(said.strings("value")[2], "92236");

  const container::Reader model = container::Reader::open(to);
  EXPECT_EQ(model.metadata().at("omen.component"), "driple.gcn");
  GcnPredictor predictor({});
  predictor.load(ArtifactReader(model.source()));
  const Jobs jobs(3, 1);
  const Table answers = predictor.predict(jobs.data.view(), test::ReadyRun()).read_all();
  for (const double value : answers.numbers("net_rx_peak")) EXPECT_TRUE(std::isfinite(value));
  // Graphs of fewer operations than the published 100 groups are not what it was trained on.
  EXPECT_EQ(answers.strings("status")[0], "extrapolating");
}

TEST(ConvertTest, NamesWhatIsNoStateDictionary) {
  const test::TempDir dir;
  const std::string path = (dir.path() / "bad.safetensors").string();
  container::Writer file;
  const std::vector<float> numbers(4, 1.0F);
  file.put_tensor("W", "F32", {2, 2}, numbers.data(), numbers.size() * sizeof(float));
  file.write(path);
  ConvertCommand command({});
  EXPECT_THAT(error_of([&] { command.run({path}, TablesOut(nullptr), test::ReadyRun()); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("convert needs"), HasSubstr("Use:")));
  EXPECT_THAT(
      error_of([&] {
        command.run({path, "x.omen"}, TablesOut(nullptr), test::ReadyRun());
      }),
      IsError(OMEN_INVALID_DATA, HasSubstr("there is no tensor"), HasSubstr("pre-train.pkl")));
}

}  // namespace
}  // namespace omen::driple
