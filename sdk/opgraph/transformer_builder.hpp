// SPDX-License-Identifier: Apache-2.0
// Emits the blocks of a transformer one after the other.
#ifndef OMEN_OPGRAPH_TRANSFORMER_BUILDER_HPP
#define OMEN_OPGRAPH_TRANSFORMER_BUILDER_HPP

#include <string>

#include "omen/opgraph/transformer.hpp"

namespace omen::opgraph {

// Sizes of one rank.
struct RankSizes {
  std::int64_t sequences = 0, queries = 0, keys = 0, tokens = 0;
  std::int64_t heads = 0, key_heads = 0, ffn = 0, vocabulary = 0;
  std::int64_t experts = 0, expert_ffn = 0, shared_ffn = 0;
  Precision activations = Precision::bf16, matmul = Precision::bf16;
  double width = 2, weight_width = 2, cache_width = 2;  // bytes of a number
};

class TransformerBuilder {
 public:
  TransformerBuilder(const TransformerConfig& config, const TransformerRun& run, RankSizes sizes);

  // Blocks [first, first + count) between what comes before and behind them on this rank.
  void build(std::int64_t first, std::int64_t count, bool embedding, bool head);

  ForwardGraph take() { return std::move(graph_); }
  double weight_bytes() const { return weight_bytes_; }
  double cache_bytes() const { return cache_bytes_; }

 private:
  enum class Part : std::uint8_t { encoder, decoder };

  // transformer_builder.cpp
  OpId embed();
  OpId block(OpId x, std::int64_t number, Part part, OpId encoded);
  OpId finish(OpId x, bool head);
  OpId classify(OpId x);

  // transformer_layers.cpp
  std::string named(const char* what) const { return prefix_ + what; }
  Shape rows(std::int64_t width) const;
  OpId linear(const char* name, OpId x, std::int64_t in, std::int64_t out, bool bias,
              bool quantised = true);
  OpId norm(const char* name, OpId x, std::int64_t width, bool counted = true);
  OpId add(const char* name, OpId a, OpId b);
  OpId dropped(const char* name, OpId x, const Shape& shape, double share);
  OpId activation(OpId x, const Shape& shape);
  OpId split_ranks(OpId x);
  OpId join_ranks(const char* name, OpId x);
  double bytes_for(double parameters, bool quantised);

  // transformer_attention.cpp
  OpId attention(OpId x, std::int64_t number, OpId encoded);
  OpId full_attention(OpId x, std::int64_t number, OpId encoded);
  OpId latent_attention(OpId x);
  OpId absorbed_attention(OpId query, OpId latent);
  OpId linear_attention(OpId x);
  OpId indexer(OpId x);
  struct Heads {
    OpId q = 0, k = 0, v = 0;
    std::int64_t heads = 0, key_heads = 0, width = 0, value_width = 0, keys = 0, window = 0;
    bool causal = true;
  };
  OpId attend(const Heads& heads);
  OpId attend_eagerly(const Heads& heads);
  OpId rotate(const char* name, OpId x, std::int64_t heads, std::int64_t width);
  void keep(double numbers_per_token, std::int64_t window);

  // transformer_feed_forward.cpp
  OpId feed_forward(OpId x, std::int64_t number);
  OpId dense(OpId x, std::int64_t width, bool bias, const char* prefix);
  OpId experts(OpId x);
  OpId grouped(const char* name, OpId x, double tokens, std::int64_t in, std::int64_t out,
               double touched, double matrices);

  const TransformerConfig& config_;
  const TransformerRun& run_;
  RankSizes sizes_;
  ForwardGraph graph_;
  std::string prefix_;
  double weight_bytes_ = 0, cache_bytes_ = 0;
};

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TRANSFORMER_BUILDER_HPP
