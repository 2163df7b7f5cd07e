// SPDX-License-Identifier: Apache-2.0
// Models that PyTorch wrote against the same networks from the zoo and from config.json.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <omen/onnx/read_onnx.hpp>
#include <omen/opgraph/transformer.hpp>
#include <omen/opgraph/zoo.hpp>
#include <omen/testing/errors.hpp>

#include "graphs/graph_file.hpp"

namespace omen::driple {
namespace {

using opgraph::Job;
using opgraph::Mode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Totals {
  double flops = 0, bytes = 0;
};
Totals totals_of(const Job& job) {
  Totals totals;
  for (const opgraph::Op& op : job.graph.ops) {
    totals.flops += op.flops;
    totals.bytes += op.bytes_read + op.bytes_written;
  }
  return totals;
}

onnxgraph::OnnxJob kept_model(const std::string& name, Mode mode, std::int64_t batch = 2) {
  const std::string path = std::string(OMEN_DRIPLE_TEST_DATA) + "/onnx/" + name + ".onnx";
  onnxgraph::OnnxRun run;
  run.mode = mode;
  run.batch = batch;
  return onnxgraph::read_onnx(read_graph_file(path.c_str(), "test", ""), name, run);
}

Job zoo_twin(const char* name, Mode mode, std::int64_t batch) {
  opgraph::ZooRun run;
  run.mode = mode;
  run.batch = batch;
  run.weight_decay = false;
  return zoo_job(name, run);
}

Job gpt_twin(Mode mode) {
  opgraph::TransformerRun run;
  run.mode = mode;
  run.batch = 2;
  run.prompt = 128;
  run.attention = opgraph::AttentionForm::eager;
  run.dropout = run.loss = false;
  run.optimizer = opgraph::Optimizer::sgd;
  const char* json =
      R"({"model_type": "gpt2", "n_embd": 256, "n_layer": 4, "n_head": 4, "n_positions": 512,
          "vocab_size": 5000, "activation_function": "gelu"})";
  return transformer_job(opgraph::read_config(json), run);
}

void expect_near(const Job& left, const Job& right, double tolerance) {
  EXPECT_NEAR(totals_of(left).flops / totals_of(right).flops, 1, tolerance) << left.name;
  EXPECT_NEAR(totals_of(left).bytes / totals_of(right).bytes, 1, tolerance) << left.name;
}

TEST(OnnxTwins, ImageNetworksCostWhatTheZooSays) {
  for (const char* kept : {"lenet_opset20", "lenet_opset13", "vgg11_opset18"}) {
    const std::string name = std::string(kept).substr(0, std::string(kept).find('_'));
    const auto model = kept_model(kept, Mode::infer);
    EXPECT_THAT(model.warnings, IsEmpty());
    const Job twin = zoo_twin(name.c_str(), Mode::infer, 2);
    EXPECT_EQ(model.job.facts.parameters, twin.facts.parameters);
    expect_near(model.job, twin, 0.01);
  }
}

TEST(OnnxTwins, OpenBatchesAreFilledIn) {
  const auto model = kept_model("resnet50_opset20", Mode::infer, 16);
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_EQ(model.job.facts.batch, 16);
  double products = 0, twin = 0;
  for (const opgraph::Op& op : model.job.graph.ops)
    products += op.kind == opgraph::OpClass::conv ? op.flops : 0;
  for (const opgraph::Op& op : zoo_twin("resnet50", Mode::infer, 16).graph.ops)
    twin += op.kind == opgraph::OpClass::conv ? op.flops : 0;
  EXPECT_DOUBLE_EQ(products, twin);
}

TEST(OnnxTwins, TransformersCostWhatTheirConfigurationSays) {
  for (const char* kept : {"gpt_opset20", "gpt_opset23"}) {
    const auto model = kept_model(kept, Mode::infer);
    EXPECT_THAT(model.warnings, IsEmpty()) << kept;
    expect_near(model.job, gpt_twin(Mode::infer), 0.02);
  }
}

TEST(OnnxTwins, TrainingStepsAgree) {
  const Job model = kept_model("gpt_opset20", Mode::train).job, twin = gpt_twin(Mode::train);
  EXPECT_NEAR(totals_of(model).flops / totals_of(twin).flops, 1, 0.02);
  EXPECT_NEAR(totals_of(model).bytes / totals_of(twin).bytes, 1, 0.05);
  for (const opgraph::Edge& edge : model.graph.edges) EXPECT_LT(edge.src, edge.dst);
}

TEST(OnnxReader, RefusesWhatIsNoModel) {
  const auto error = [](std::string_view bytes) {
    return test::error_of([&] { onnxgraph::read_onnx(bytes, "x", {}); });
  };
  EXPECT_THAT(error(""),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no ONNX model"), HasSubstr("opset")));
  EXPECT_THAT(error("rubbish"),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no ONNX model"), HasSubstr("opset")));
}

}  // namespace
}  // namespace omen::driple
