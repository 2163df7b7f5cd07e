// SPDX-License-Identifier: Apache-2.0
// What a config.json of Hugging Face says of a transformer.
#ifndef OMEN_OPGRAPH_TRANSFORMER_CONFIG_HPP
#define OMEN_OPGRAPH_TRANSFORMER_CONFIG_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph {

enum class NormKind : std::uint8_t { layer, rms };
enum class ActivationKind : std::uint8_t {
  relu,
  gelu,
  gelu_steps,  // its tanh form, written as eight operations
  silu,
};
enum class AttentionKind : std::uint8_t { full, sliding, linear };

struct ExpertConfig {
  std::int64_t count = 0, per_token = 0, width = 0;
  std::int64_t shared_width = 0;  // of the experts that every token passes
  bool shared_gate = false;       // a number for each token weighs them
  std::int64_t first_dense = 0;   // blocks before the first with experts
  std::int64_t step = 1;          // every how many blocks has experts
  bool bias = false, router_bias = false;
};

// Keys and values are kept as one narrow vector for each token.
struct LatentConfig {
  std::int64_t query_rank = 0, key_value_rank = 0, rope_width = 0, plain_width = 0, value_width = 0;
  bool used() const { return key_value_rank > 0; }
};

// Blocks whose state does not grow with the sequence.
struct LinearAttentionConfig {
  std::int64_t key_heads = 0, key_width = 0, value_heads = 0, value_width = 0, kernel = 0;
};

// A cheap product chooses the keys that attention looks at.
struct IndexerConfig {
  std::int64_t heads = 0, width = 0, keys = 0;
};

struct TransformerConfig {
  std::string name, model_type;
  std::int64_t hidden = 0, layers = 0, heads = 0, key_heads = 0, head_width = 0, ffn = 0;
  std::int64_t decoder_layers = 0;  // behind `layers` of an encoder
  std::int64_t vocabulary = 0, positions = 0, types = 0, relative_buckets = 0;
  std::int64_t window = 0;           // of sliding attention
  std::vector<AttentionKind> kinds;  // of the blocks; empty: all full
  NormKind norm = NormKind::rms;
  ActivationKind activation = ActivationKind::silu;
  bool tied = false, gated = true, causal = true, rotary = true, parallel = false;
  bool fused_projection = false;  // q, k and v are one matrix
  bool key_query_norm = false, projection_bias = false, output_bias = false, ffn_bias = false;
  bool output_gate = false;  // q brings a gate for the output along
  bool sinks = false, embedding_norm = false, pooler = false, final_norm = true;
  bool sandwich_norms = false;  // also behind attention and feed-forward part
  ExpertConfig experts;
  LatentConfig latent;
  LinearAttentionConfig linear;
  IndexerConfig indexer;
  double dropout = 0, attention_dropout = 0;
  Precision precision = Precision::bf16;
  std::optional<Precision> weights;  // narrower ones than of the activations
  std::vector<std::string> warnings;

  AttentionKind kind(std::int64_t block) const {
    const auto at = static_cast<std::size_t>(block);
    return at < kinds.size() ? kinds[at] : AttentionKind::full;
  }
  bool has_experts(std::int64_t block) const;
};

// OMEN_INVALID_DATA for what is no such file, for missing and for absurd fields, OMEN_UNSUPPORTED
// for architectures that are not known; `family` reads the file as one of another model_type.
TransformerConfig read_config(std::string_view json, const std::string& name = "transformer",
                              const std::string& family = {});
TransformerConfig load_config(const std::string& path, const std::string& family = {});

// The model types that read_config knows.
std::vector<std::string> transformer_families();

struct ParameterCount {
  double all = 0, active = 0;  // active: that one token passes
};
ParameterCount parameters_of(const TransformerConfig& config);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TRANSFORMER_CONFIG_HPP
