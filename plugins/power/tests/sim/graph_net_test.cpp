// SPDX-License-Identifier: Apache-2.0
// Model files as layers: their MACs, weights and caches against the same networks from elsewhere.
#include "nets/graph_net.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <omen/opgraph/costs.hpp>
#include <omen/opgraph/transformer.hpp>

#include "nets/mobile_names.hpp"
#include "nets/net_source.hpp"
#include "nets/net_tables.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "onnx_models.hpp"
#include "sim/simulate.hpp"

namespace omen::power {
namespace {

using opgraph::Mode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLlama =
    R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 128256, "torch_dtype": "bfloat16"})";
constexpr const char* kMixtral =
    R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2,
        "torch_dtype": "bfloat16"})";

double macs_of(const Net& net) {
  return totals_of(net).macs;
}

// Products of the operations, where attention multiplies every query with every key.
double macs_of(const opgraph::Job& job) {
  double macs = 0;
  for (const opgraph::Op& op : job.graph.ops)
    if (op.kind == opgraph::OpClass::matmul || op.kind == opgraph::OpClass::attention)
      macs += op.flops / 2;
  return macs;
}

opgraph::Job whole_job(const char* config, const NetRun& asked) {
  opgraph::TransformerRun run;
  run.mode = asked.mode;
  run.batch = std::max<std::int64_t>(1, asked.batch);
  run.prompt = asked.sequence;
  run.cached = asked.mode == Mode::decode && asked.cached == 0 ? asked.sequence : asked.cached;
  run.fused = true;
  run.attention = opgraph::AttentionForm::eager;
  return transformer_job(opgraph::read_config(config), run);
}

class ModelFiles : public ::testing::Test {
 protected:
  Net net_of(const std::string& name, const std::string& content, const NetRun& run = {}) {
    directory_.write(name, content);
    return read_nets((directory_.path() / name).string(), run, &warnings_).at(0);
  }
  test::TempDir directory_;
  std::vector<std::string> warnings_;
};

TEST_F(ModelFiles, TransformersHaveTheMacsAndParametersOfTheirOpGraphs) {
  for (const char* config : {kLlama, kMixtral})
    for (const Mode mode : {Mode::prefill, Mode::decode})
      for (const std::int64_t batch : {1, 5}) {
        const NetRun run{mode, batch, 96, 0, {}};
        const Net net = net_of("config.json", config, run);
        const opgraph::Job job = whole_job(config, run);
        EXPECT_EQ(macs_of(net), macs_of(job)) << config << int(mode) << batch;
        EXPECT_EQ(net.parameters, opgraph::parameters_of(opgraph::read_config(config)).all);
        EXPECT_EQ(net.cache_bytes, job.facts.cache_bytes);
        EXPECT_EQ(net.batch, 1);
        EXPECT_EQ(net.bits.weight, 16);
      }
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ModelFiles, DecodingIsProductsOfOneRowForEachSequence) {
  const Net net = net_of("config.json", kLlama, {Mode::decode, 4, 0, 2047, {}});
  double cache = 0, weights = 0;
  for (const Primitive& layer : net.layers) {
    if (layer.type == BlockType::linear) {
      EXPECT_EQ(layer.ho, 4);
      weights += amounts_of(layer).weights;
    }
    cache += 2 * amounts_of(layer).second;  // bytes of bf16
  }
  EXPECT_EQ(cache, net.cache_bytes);
  EXPECT_EQ(cache, 2.0 * 2 * 32 * 8 * 128 * 2048 * 4);
  // All parameters but the table of words, of which a row is read, and the norms.
  EXPECT_EQ(weights, net.parameters - 128256.0 * 4096 - 65 * 4096);
  const Net narrow =
      net_of("config.json", kLlama, {Mode::decode, 4, 0, 2047, opgraph::Precision::fp8});
  EXPECT_EQ(narrow.bits.weight, 8);
  EXPECT_EQ(macs_of(narrow), macs_of(net));
}

TEST_F(ModelFiles, ExpertsAreReadAsOftenAsTheyAreChosen) {
  const auto read = [&](std::int64_t batch) {
    double weights = 0;
    for (const Primitive& layer :
         net_of("config.json", kMixtral, {Mode::decode, batch, 64, 0, {}}).layers)
      weights += layer.type == BlockType::linear ? amounts_of(layer).weights : 0;
    return weights;
  };
  const opgraph::ParameterCount count = opgraph::parameters_of(opgraph::read_config(kMixtral));
  const double words = 32000.0 * 4096 + 65 * 4096;
  EXPECT_EQ(read(1), count.active - words);
  EXPECT_GT(read(4), 1.9 * read(1));
  EXPECT_EQ(read(256), count.all - words);
}

#if OMEN_POWER_ONNX
TEST_F(ModelFiles, ImageNetworksFromOnnxHaveThePublishedMacs) {
  const Net mobile = net_of("mobile.onnx", mobilenet_v2_onnx(0));
  const Net named = mobile_net("mobilenet-v2-1.0-224").value();
  EXPECT_EQ(macs_of(mobile), 300774272);
  EXPECT_EQ(macs_of(mobile), macs_of(named));
  EXPECT_EQ(mobile.parameters, 3487816);
  EXPECT_THAT(warnings_, IsEmpty());
  const Net resnet = net_of("resnet.onnx", resnet50_onnx(0));
  EXPECT_EQ(macs_of(resnet), 4089184256);
  EXPECT_NEAR(resnet.parameters, 25.53e6, 0.01e6);
  EXPECT_EQ(resnet.bits.weight, 32);
  std::map<BlockType, int> kinds;
  for (const Primitive& layer : resnet.layers) ++kinds[layer.type];
  EXPECT_EQ(kinds[BlockType::conv], 53);
  EXPECT_EQ(kinds[BlockType::add], 16);
  EXPECT_EQ(kinds[BlockType::pool], 1);
  EXPECT_EQ(kinds[BlockType::globalpool], 1);
  EXPECT_EQ(kinds[BlockType::linear], 1);
}

TEST_F(ModelFiles, LayersOfOnnxAreThoseOfTheSameNetworkByName) {
  const Net mobile = net_of("mobile.onnx", mobilenet_v2_onnx(0));
  const Net named = mobile_net("mobilenet-v2-1.0-224").value();
  const auto products = [](const Net& net) {
    std::vector<std::vector<std::int64_t>> layers;
    for (const Primitive& l : net.layers)
      if (has_macs(l.type))
        layers.push_back({std::int64_t(l.type), l.cin, l.cout, l.h, l.w, l.kh, l.kw, l.stride_h,
                          l.pad_h, l.groups, l.ho, l.wo});
    return layers;
  };
  EXPECT_EQ(products(mobile), products(named));
}

TEST_F(ModelFiles, BatchesOfOnnxAreRepeatedImages) {
  const Net open = net_of("a.onnx", mobilenet_v2_onnx(0), {Mode::prefill, 8, 0, 0, {}});
  const Net fixed = net_of("b.onnx", mobilenet_v2_onnx(8));
  EXPECT_EQ(open.batch, 8);
  EXPECT_EQ(fixed.batch, 8);
  EXPECT_EQ(macs_of(open), macs_of(fixed));
  EXPECT_EQ(net_key(open), net_key(fixed));
}

TEST_F(ModelFiles, UnknownOperationsWarn) {
  OnnxModel model({1, 3, 16, 16});
  const std::string odd = model.node("Wobble", {model.conv("x", 3, 8, 3, 1)});
  const Net net = net_of("odd.onnx", model.finish(model.conv(odd, 8, 4, 1, 1)));
  EXPECT_EQ(net.layers.front().cout, 8);
  EXPECT_THAT(warnings_, ::testing::Contains(HasSubstr("Wobble")));
}

TEST_F(ModelFiles, WhatNothingMultipliesInIsRefused) {
  OnnxModel model({1, 3, 16, 16});
  const std::string content = model.finish(model.node("Relu", {"x"}));
  EXPECT_THAT(test::error_of([&] { net_of("relu.onnx", content); }),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no operation multiplies"),
                            HasSubstr("convolutions")));
  EXPECT_THAT(test::error_of([&] { net_of("rubbish.onnx", "rubbish"); }),
              test::IsError(OMEN_INVALID_DATA, HasSubstr("no ONNX model"), HasSubstr("opset")));
}
#endif

}  // namespace
}  // namespace omen::power
