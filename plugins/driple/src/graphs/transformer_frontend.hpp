// SPDX-License-Identifier: Apache-2.0
// driple.transformer: config.json of Hugging Face to a step of training, prefill or decoding.
#pragma once

#include <omen/opgraph/transformer.hpp>
#include <omen/plugin.hpp>
#include <string>

namespace omen::driple {

struct TransformerOptions {
  std::int64_t batch = 1, prompt = 1024, tokens = 0, cached = 0;
  std::int64_t tensor_ranks = 1, pipeline_ranks = 1;
  std::int64_t data_ranks = 1, expert_ranks = 1, micro_batches = 1, stage = -1;
  std::string mode = "train", attention = "flash", precision = "file", weights = "file";
  std::string cache_precision = "file", matmul_precision = "file", recompute = "none";
  std::string optimizer = "adam", sharding = "none", head = "vocabulary", fused = "auto", family;
  bool loss = true, dropout = true, train = false;

  static auto spec() {
    using O = TransformerOptions;
    return options(
        opt(&O::mode, "mode", "a training step, a forward pass, or a step of serving")
            .choices("train", "infer", "prefill", "decode"),
        opt(&O::train, "train", "short for mode train"),
        opt(&O::batch, "batch", "sequences of a step").range(1, 1 << 20),
        opt(&O::prompt, "prompt", "tokens of each sequence that the step works on").range(1, 1e8),
        opt(&O::tokens, "tokens", "of each sequence, in place of prompt; 0: as prompt says")
            .range(0, 1e8),
        opt(&O::cached, "cached",
            "tokens of each sequence that are there already; 0 in decoding: those of prompt")
            .range(0, 1e8),
        opt(&O::attention, "attention", "one fused kernel, or step by step")
            .choices("flash", "eager"),
        opt(&O::precision, "precision", "of activations; file: as config.json says")
            .choices("file", "fp32", "tf32", "bf16", "fp16"),
        opt(&O::weights, "weights", "precision of the weights in memory")
            .choices("file", "fp32", "bf16", "fp16", "fp8", "int8", "fp4"),
        opt(&O::matmul_precision, "matmul_precision", "of products; file: follows the weights")
            .choices("file", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"),
        opt(&O::cache_precision, "cache_precision", "of keys and values that are kept")
            .choices("file", "fp32", "bf16", "fp16", "fp8"),
        opt(&O::recompute, "recompute", "what is computed again instead of kept in training")
            .choices("none", "selective", "full"),
        opt(&O::optimizer, "optimizer", "of training steps")
            .choices("adam", "sgd", "momentum", "none"),
        opt(&O::tensor_ranks, "tensor_ranks", "ranks that divide each matrix").range(1, 4096),
        opt(&O::pipeline_ranks, "pipeline_ranks", "ranks that divide the blocks").range(1, 4096),
        opt(&O::data_ranks, "data_ranks", "ranks with batches of their own").range(1, 1e6),
        opt(&O::expert_ranks, "expert_ranks", "ranks that divide the experts").range(1, 4096),
        opt(&O::micro_batches, "micro_batches", "parts of the batch, one after the other")
            .range(1, 1 << 20),
        opt(&O::stage, "stage", "of the pipeline; -1: the slowest").range(-1, 4096),
        opt(&O::sharding, "sharding", "states that data ranks divide: ZeRO 1 to 3")
            .choices("none", "optimizer", "gradients", "weights"),
        opt(&O::head, "head", "what stands behind the last block")
            .choices("vocabulary", "classifier", "none"),
        opt(&O::fused, "fused", "q, k, v and gate, up as one matrix each; auto: in serving")
            .choices("auto", "yes", "no"),
        opt(&O::loss, "loss", "a training step has one"),
        opt(&O::dropout, "dropout", "in training, where config.json asks for it"),
        opt(&O::family, "family", "read the file as one of this model_type"));
  }
};

opgraph::TransformerRun run_of(const TransformerOptions& options);

class TransformerFrontend final : public GraphFrontend {
 public:
  explicit TransformerFrontend(TransformerOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  TransformerOptions options_;
};

}  // namespace omen::driple
