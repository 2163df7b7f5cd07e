// SPDX-License-Identifier: Apache-2.0
// The operations of one step of a transformer on one rank.
#ifndef OMEN_OPGRAPH_TRANSFORMER_HPP
#define OMEN_OPGRAPH_TRANSFORMER_HPP

#include "omen/opgraph/training.hpp"
#include "omen/opgraph/transformer_config.hpp"

namespace omen::opgraph {

enum class AttentionForm : std::uint8_t { flash, eager };
enum class Recompute : std::uint8_t { none, selective, full };
// What stands behind the last block.
enum class Head : std::uint8_t { vocabulary, classifier, none };

std::span<const std::string_view> attention_form_words();
std::optional<AttentionForm> attention_form_of(std::string_view text);
std::span<const std::string_view> recompute_words();
std::optional<Recompute> recompute_of(std::string_view text);
std::span<const std::string_view> head_words();
std::optional<Head> head_of(std::string_view text);

struct TransformerRun {
  Mode mode = Mode::train;
  std::int64_t batch = 1;   // sequences of a step, of one rank of data parallelism
  std::int64_t prompt = 0;  // tokens that a step adds to each; decode adds one
  std::int64_t cached = 0;  // tokens that are in the cache already
  AttentionForm attention = AttentionForm::flash;
  std::optional<Precision> precision;  // of activations; that of the file where it is absent
  std::optional<Precision> weights;    // narrower in memory: fp8, int8, fp4
  std::optional<Precision> matmul;     // of the arithmetic; fp8 follows from fp8 weights
  std::optional<Precision> cache;      // of keys and values
  Recompute recompute = Recompute::none;
  Head head = Head::vocabulary;
  bool fused = false;       // q, k, v and gate, up as one matrix each, as servers do
  bool loss = true;         // part of a training step
  bool dropout = true;      // in training, where the file asks for it
  bool accumulate = false;  // gradients are added to earlier ones even with one micro-batch
  std::int64_t tensor_ranks = 1, pipeline_ranks = 1, data_ranks = 1, expert_ranks = 1;
  std::int64_t micro_batches = 1;
  // Of the pipeline; -1: the largest share of blocks with the head, which bounds the step. Stage 0
  // holds the most activations.
  std::int64_t stage = -1;
  Sharding sharding = Sharding::none;
  Optimizer optimizer = Optimizer::adam;
};

// OMEN_INVALID_ARGUMENT for a run that cannot be, such as more ranks than heads.
Job transformer_job(const TransformerConfig& config, const TransformerRun& run);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TRANSFORMER_HPP
