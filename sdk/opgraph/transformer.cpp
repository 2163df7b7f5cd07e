// SPDX-License-Identifier: Apache-2.0
// From a configuration and a run to the job of one rank.
#include "omen/opgraph/transformer.hpp"

#include <algorithm>
#include <omen/error.hpp>

#include "omen/opgraph/words.hpp"
#include "transformer_builder.hpp"

namespace omen::opgraph {
namespace {

constexpr std::array<std::string_view, 2> kForms = {"flash", "eager"};
constexpr std::array<std::string_view, 3> kRecomputes = {"none", "selective", "full"};
constexpr std::array<std::string_view, 3> kHeads = {"vocabulary", "classifier", "none"};
constexpr double kBlockScales = 0.03125;  // bytes: one scale of a byte for 32 numbers of 4 bits

template <class Enum, std::size_t N>
std::optional<Enum> choice_of(const std::array<std::string_view, N>& words, std::string_view text) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

[[noreturn]] void impossible(const std::string& what, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, what, hint);
}

std::int64_t share(std::int64_t whole, std::int64_t ranks) {
  return (whole + ranks - 1) / ranks;
}

void check(const TransformerConfig& c, const TransformerRun& r) {
  if (r.batch < 1)
    impossible("a batch of " + std::to_string(r.batch) + " sequences", "Use --batch 1.");
  if (r.prompt < 1 && r.mode != Mode::decode)
    impossible("a step without tokens", "Say how many: --prompt 1024");
  if (r.micro_batches < 1 || r.batch % r.micro_batches != 0)
    impossible("a batch of " + std::to_string(r.batch) + " does not divide into " +
                   std::to_string(r.micro_batches) + " micro-batches",
               "Use a number that divides the batch.");
  if (r.tensor_ranks < 1 || r.tensor_ranks > c.heads)
    impossible(
        std::to_string(r.tensor_ranks) + " tensor ranks for " + std::to_string(c.heads) + " heads",
        "Each rank needs a head.");
  if (r.pipeline_ranks < 1 || r.pipeline_ranks > c.layers)
    impossible(std::to_string(r.pipeline_ranks) + " pipeline ranks for " +
                   std::to_string(c.layers) + " blocks",
               "Each rank needs a block.");
  if (r.pipeline_ranks > 1 && c.decoder_layers > 0)
    impossible("pipelines of an encoder with a decoder are not known", "Use tensor or data ranks.");
  if (r.stage >= r.pipeline_ranks)
    impossible("there is no stage " + std::to_string(r.stage), "Stages count from 0.");
  if (r.data_ranks < 1) impossible("no data ranks", "Use at least 1.");
  if (r.expert_ranks < 1 || (r.expert_ranks > 1 && r.expert_ranks > c.experts.count))
    impossible(std::to_string(r.expert_ranks) + " expert ranks for " +
                   std::to_string(c.experts.count) + " experts",
               "Each rank needs an expert.");
}

RankSizes sizes_of(const TransformerConfig& c, const TransformerRun& r) {
  RankSizes s;
  s.sequences = r.batch / r.micro_batches;
  s.queries = r.mode == Mode::decode ? 1 : r.prompt;
  s.keys = (r.mode == Mode::decode || r.mode == Mode::prefill ? r.cached : 0) + s.queries;
  s.tokens = s.sequences * s.queries;
  const std::int64_t t = r.tensor_ranks;
  s.heads = share(c.heads, t);
  s.key_heads = share(c.key_heads, t);
  s.ffn = share(c.ffn, t);
  s.vocabulary = share(c.vocabulary, t);
  s.experts = share(std::max<std::int64_t>(c.experts.count, 1), r.expert_ranks);
  s.expert_ffn = share(c.experts.width, std::max<std::int64_t>(1, t / r.expert_ranks));
  s.shared_ffn = share(std::max<std::int64_t>(c.experts.shared_width, 1), t);
  s.activations = r.precision.value_or(c.precision);
  const Precision weights =
      r.weights.value_or(r.mode == Mode::train ? s.activations : c.weights.value_or(s.activations));
  s.matmul = r.matmul.value_or(
      weights == Precision::fp8 || weights == Precision::int8 ? weights : s.activations);
  s.width = bytes_of(s.activations);
  s.weight_width = bytes_of(weights) + (weights == Precision::fp4 ? kBlockScales : 0);
  s.cache_width = bytes_of(r.cache.value_or(s.activations));
  return s;
}

TrainingOptions training_of(const TransformerRun& r, const RankSizes& sizes) {
  TrainingOptions options;
  options.optimizer = r.optimizer;
  options.precision = sizes.activations;
  options.update_by_variable = false;
  options.accumulate = r.accumulate || r.micro_batches > 1;
  options.data_ranks = r.data_ranks;
  options.sharding = r.sharding;
  return options;
}

struct Stage {
  std::int64_t first = 0, count = 0, in_flight = 1;
  bool embedding = true, head = true;
};

Stage stage_of(const TransformerConfig& c, const TransformerRun& r) {
  const std::int64_t p = r.pipeline_ranks;
  Stage stage{0, c.layers, 1, true, true};
  if (p == 1) return stage;
  if (r.stage < 0) {
    stage.count = share(c.layers, p);
    stage.first = c.layers - stage.count;
    stage.embedding = false;
    return stage;
  }
  const std::int64_t each = c.layers / p, more = c.layers % p;
  stage.first = r.stage * each + std::min(r.stage, more);
  stage.count = each + (r.stage < more ? 1 : 0);
  stage.embedding = r.stage == 0;
  stage.head = r.stage == p - 1;
  stage.in_flight = std::min(r.micro_batches, p - r.stage);
  return stage;
}

}  // namespace

std::span<const std::string_view> attention_form_words() {
  return kForms;
}
std::optional<AttentionForm> attention_form_of(std::string_view text) {
  return choice_of<AttentionForm>(kForms, text);
}
std::span<const std::string_view> recompute_words() {
  return kRecomputes;
}
std::optional<Recompute> recompute_of(std::string_view text) {
  return choice_of<Recompute>(kRecomputes, text);
}
std::span<const std::string_view> head_words() {
  return kHeads;
}
std::optional<Head> head_of(std::string_view text) {
  return choice_of<Head>(kHeads, text);
}

Job transformer_job(const TransformerConfig& config, const TransformerRun& run) {
  check(config, run);
  const RankSizes sizes = sizes_of(config, run);
  const Stage stage = stage_of(config, run);
  TransformerBuilder builder(config, run, sizes);
  builder.build(stage.first, stage.count, stage.embedding, stage.head);

  Job job;
  job.name = config.name;
  StepFacts& facts = job.facts;
  facts.mode = run.mode;
  facts.precision = sizes.activations;
  facts.batch = double(run.batch);
  facts.tokens = double(run.batch * sizes.queries);
  const ParameterCount count = parameters_of(config);
  facts.parameters = count.all;
  facts.active_parameters = count.active;
  facts.tensor_ranks = double(run.tensor_ranks);
  facts.pipeline_ranks = double(run.pipeline_ranks);
  facts.data_ranks = double(run.data_ranks);
  facts.expert_ranks = double(run.expert_ranks);
  facts.micro_batches = double(run.micro_batches);
  facts.in_flight = double(stage.in_flight);
  facts.cache_bytes = builder.cache_bytes();
  facts.weight_bytes = builder.weight_bytes();
  ForwardGraph forward = builder.take();
  if (run.mode != Mode::train) {
    job.graph = forward.take();
    return job;
  }
  const TrainingOptions options = training_of(run, sizes);
  const StateBytes states = state_bytes(forward.parameter_count(), options);
  facts.weight_bytes = states.weights;
  facts.gradient_bytes = states.gradients;
  facts.optimizer_bytes = states.optimizer;
  if (run.optimizer != Optimizer::none) facts.optimizer = word(run.optimizer);
  job.graph = training_graph(std::move(forward), options);
  return job;
}

}  // namespace omen::opgraph
