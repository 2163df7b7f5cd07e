// SPDX-License-Identifier: Apache-2.0
// Counts of transformers against published ones, and their steps against worked formulas.
#include "omen/opgraph/transformer.hpp"

#include <gmock/gmock.h>

#include <omen/testing/errors.hpp>

#include "omen/opgraph/liveness.hpp"
#include "published_configs.hpp"

namespace omen::opgraph {
namespace {

using omen::test::error_of;
using omen::test::IsError;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TransformerConfig config_of(const std::string& name) {
  return read_config(published_models::published(name).json, name);
}

TransformerRun run_of(Mode mode, std::int64_t batch, std::int64_t prompt) {
  TransformerRun run;
  run.mode = mode;
  run.batch = batch;
  run.prompt = prompt;
  run.dropout = false;
  return run;
}

double parameters_in(const Job& job, double width) {
  return (job.facts.weight_bytes) / width;
}

struct Sums {
  double matmul = 0, attention = 0, bytes = 0, kernels = 0;
};
Sums sums_of(const OpGraph& graph, Phase phase) {
  Sums sums;
  for (const Op& op : graph.ops) {
    if (op.phase != phase) continue;
    if (op.kind == OpClass::matmul) sums.matmul += op.flops;
    if (op.kind == OpClass::attention) sums.attention += op.flops;
    sums.bytes += op.bytes_read + op.bytes_written;
    sums.kernels += op.kernels;
  }
  return sums;
}

TEST(TransformerParameters, AreThosePublished) {
  for (const published_models::Published& each : published_models::kPublished) {
    const ParameterCount count = parameters_of(read_config(each.json, each.name));
    EXPECT_EQ(static_cast<std::int64_t>(count.all), static_cast<std::int64_t>(each.parameters))
        << each.name;
    if (each.active > 0) {
      EXPECT_EQ(static_cast<std::int64_t>(count.active), static_cast<std::int64_t>(each.active))
          << each.name;
    }
  }
}

TEST(TransformerParameters, AreNearRoughNumbers) {
  for (const published_models::Published& each : published_models::kRough) {
    const ParameterCount count = parameters_of(read_config(each.json, each.name));
    EXPECT_NEAR(count.all / each.parameters, 1, 0.02) << each.name << ' ' << count.all;
    if (each.active > 0) {
      EXPECT_NEAR(count.active / each.active, 1, 0.06) << each.name << ' ' << count.active;
    }
  }
}

TEST(TransformerParameters, OfTheGraphAreThoseOfTheFormula) {
  const auto check = [](const published_models::Published& each) {
    const TransformerConfig config = read_config(each.json, each.name);
    TransformerRun run = run_of(Mode::infer, 1, 8);
    run.weights = run.precision = Precision::fp32;
    run.head = config.pooler ? Head::none : Head::vocabulary;
    const double pooler = config.pooler ? double(config.hidden) * double(config.hidden + 1) : 0;
    EXPECT_EQ(parameters_in(transformer_job(config, run), 4) + pooler, parameters_of(config).all)
        << each.name;
  };
  for (const published_models::Published& each : published_models::kPublished) check(each);
  for (const published_models::Published& each : published_models::kRough) check(each);
}

TEST(TransformerStep, HasTheFlopsOfTheFormulas) {
  const TransformerConfig c = config_of("llama-3-8b");
  const double T = 2 * 512.0, h = 4096, d = 128, a = 32, g = 8, f = 14336, L = 32, V = 128256;
  const Job job = transformer_job(c, run_of(Mode::train, 2, 512));
  const double pairs = 512.0 * 513 / 2;
  const double matmul = L * (2 * T * h * d * (2 * a + 2 * g) + 2 * T * 3 * h * f) + 2 * T * h * V;
  const double attention = L * 4 * 2 * a * d * pairs;
  EXPECT_DOUBLE_EQ(sums_of(job.graph, Phase::forward).matmul, matmul);
  EXPECT_DOUBLE_EQ(sums_of(job.graph, Phase::forward).attention, attention);
  EXPECT_DOUBLE_EQ(sums_of(job.graph, Phase::backward).matmul, 2 * matmul);
  EXPECT_DOUBLE_EQ(sums_of(job.graph, Phase::backward).attention, 2.5 * attention);
}

TEST(TransformerStep, KeepsWhatTheFormulaSays) {
  const TransformerConfig c = config_of("llama-3-8b");
  TransformerRun run = run_of(Mode::train, 1, 2048);
  run.head = Head::none;
  const Liveness tensors = liveness(transformer_job(c, run).graph);
  const double h = 4096, a = 32, g = 8, d = 128, f = 14336, L = 32, T = 2048;
  const double block = 2 * (4 * h + 2 * a * d + 2 * g * d + 4 * f) + 4 * a;
  EXPECT_NEAR(tensors.kept_bytes / (L * T * block), 1, 0.01);
  run.recompute = Recompute::full;
  EXPECT_NEAR(liveness(transformer_job(c, run).graph).kept_bytes / (L * T * 2 * h), 1, 0.07);
}

TEST(TransformerStep, KeepsTheScoresOfPlainAttention) {
  const TransformerConfig c = read_config(
      R"({"model_type": "gpt2", "n_embd": 1024, "n_layer": 8, "n_head": 16, "n_positions": 1024,
          "vocab_size": 100, "activation_function": "gelu", "torch_dtype": "float16"})");
  TransformerRun run = run_of(Mode::train, 4, 1024);
  run.attention = AttentionForm::eager;
  run.head = Head::none;
  run.dropout = true;
  const double s = 1024, b = 4, h = 1024, a = 16;
  EXPECT_NEAR(
      liveness(transformer_job(c, run).graph).kept_bytes / (8 * s * b * (34 * h + 5 * a * s)), 1,
      0.02);
  run.recompute = Recompute::selective;
  EXPECT_NEAR(liveness(transformer_job(c, run).graph).kept_bytes / (8 * s * b * 34 * h), 1, 0.03);
}

TEST(TransformerStep, CachesKeysAndValues) {
  TransformerRun run = run_of(Mode::decode, 1, 0);
  run.cached = 1023;
  EXPECT_EQ(transformer_job(config_of("llama-2-7b"), run).facts.cache_bytes, 1024.0 * 512 * 1024);
  EXPECT_EQ(transformer_job(config_of("llama-3-8b"), run).facts.cache_bytes, 1024.0 * 128 * 1024);
  run.tensor_ranks = 8;
  EXPECT_EQ(transformer_job(config_of("llama-3-8b"), run).facts.cache_bytes, 1024.0 * 16 * 1024);
}

TEST(TransformerStep, ReadsOnlyTheExpertsThatWereChosen) {
  TransformerRun run = run_of(Mode::decode, 1, 0);
  const Job job = transformer_job(config_of("mixtral-8x7b"), run);
  double read = 0;
  for (const Op& op : job.graph.ops) read += op.bytes_read;
  EXPECT_NEAR(read / (2 * 12879925248.0), 1, 0.02);
}

TEST(TransformerStep, DividesAmongRanks) {
  const TransformerConfig c = config_of("llama-3-8b");
  TransformerRun run = run_of(Mode::train, 8, 1024);
  const Job whole = transformer_job(c, run);
  run.tensor_ranks = 4;
  const Job part = transformer_job(c, run);
  EXPECT_NEAR(
      sums_of(part.graph, Phase::forward).matmul * 4 / sums_of(whole.graph, Phase::forward).matmul,
      1, 1e-9);
  double sums = 0;
  for (const Op& op : part.graph.ops) sums += op.kind == OpClass::all_reduce;
  EXPECT_EQ(sums, 4 * 32 + 2);  // and of the embedding and the head
  run.tensor_ranks = 1;
  run.data_ranks = 8;
  run.sharding = Sharding::optimizer;
  const Job data = transformer_job(c, run);
  EXPECT_NEAR(data.facts.optimizer_bytes * 8, 12 * 8030261248.0, 1);
  run.pipeline_ranks = 4;
  run.micro_batches = 8;
  run.stage = 0;
  const Job stage = transformer_job(c, run);
  EXPECT_EQ(stage.facts.in_flight, 4);
  EXPECT_LT(stage.graph.ops.size() * 3, whole.graph.ops.size());
}

TEST(TransformerStep, EdgesLeadForward) {
  for (const published_models::Published& each : published_models::kRough) {
    TransformerRun run = run_of(Mode::train, 2, 64);
    run.recompute = Recompute::full;
    const Job job = transformer_job(read_config(each.json, each.name), run);
    for (const Edge& edge : job.graph.edges) ASSERT_LT(edge.src, edge.dst) << each.name;
    for (const Op& op : job.graph.ops) {
      ASSERT_GE(op.bytes_read, 0) << each.name << ' ' << op.name;
      ASSERT_GE(op.output_bytes, 0) << each.name << ' ' << op.name;
    }
  }
}

TEST(TransformerConfigReader, WarnsOfUnknownFields) {
  EXPECT_THAT(config_of("llama-3-8b").warnings, IsEmpty());
  const TransformerConfig c = read_config(
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 128, "vocab_size": 100, "warp_drive": 9, "hidden_act": "sine"})");
  EXPECT_THAT(c.warnings,
              ::testing::UnorderedElementsAre(HasSubstr("warp_drive"), HasSubstr("sine")));
}

TEST(TransformerConfigReader, RefusesWhatCannotBe) {
  const auto error = [](const char* text) { return error_of([&] { read_config(text, "x"); }); };
  EXPECT_THAT(error("nonsense"),
              IsError(OMEN_INVALID_DATA, HasSubstr("not a JSON object"), HasSubstr("config.json")));
  EXPECT_THAT(error("{}"),
              IsError(OMEN_UNSUPPORTED, HasSubstr("model_type is missing"), HasSubstr("llama")));
  EXPECT_THAT(error(R"({"model_type": "rnn"})"),
              IsError(OMEN_UNSUPPORTED, HasSubstr("'rnn'"), HasSubstr("family=llama")));
  EXPECT_THAT(error(R"({"model_type": "llama"})"),
              IsError(OMEN_INVALID_DATA, HasSubstr("hidden_size is missing"), HasSubstr("")));
  EXPECT_THAT(error(R"({"model_type": "llama", "hidden_size": -4096})"),
              IsError(OMEN_INVALID_DATA, HasSubstr("-4096; allowed"), HasSubstr("")));
  EXPECT_THAT(error(R"({"model_type": "llama", "hidden_size": 1e30})"),
              IsError(OMEN_INVALID_DATA, HasSubstr("not a whole number"), HasSubstr("")));
  EXPECT_THAT(error(R"({"model_type": "llama", "hidden_size": "4096"})"),
              IsError(OMEN_INVALID_DATA, HasSubstr("hidden_size"), HasSubstr("")));
}

TEST(TransformerStep, RefusesRunsThatCannotBe) {
  const TransformerConfig c = config_of("llama-3-8b");
  const auto error = [&](auto change) {
    TransformerRun run = run_of(Mode::train, 4, 16);
    change(run);
    return error_of([&] { transformer_job(c, run); });
  };
  EXPECT_THAT(error([](auto& r) { r.prompt = 0; }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("without tokens"), HasSubstr("--prompt")));
  EXPECT_THAT(error([](auto& r) { r.tensor_ranks = 64; }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("64 tensor ranks"), HasSubstr("head")));
  EXPECT_THAT(error([](auto& r) { r.micro_batches = 3; }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("3 micro-batches"), HasSubstr("")));
  EXPECT_THAT(error([](auto& r) { r.pipeline_ranks = 33; }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("33 pipeline"), HasSubstr("")));
}

}  // namespace
}  // namespace omen::opgraph
