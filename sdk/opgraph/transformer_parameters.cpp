// SPDX-License-Identifier: Apache-2.0
// Parameters of a transformer, counted part by part.
#include "omen/opgraph/transformer_config.hpp"

namespace omen::opgraph {
namespace {

using Config = TransformerConfig;

double number(std::int64_t value) {
  return static_cast<double>(value);
}

double norm_size(const Config& c, std::int64_t width) {
  return number(width) * (c.norm == NormKind::layer ? 2 : 1);
}

double latent_attention(const Config& c) {
  const LatentConfig& l = c.latent;
  const double h = number(c.hidden), a = number(c.heads), rank = number(l.key_value_rank);
  const double query = a * number(l.plain_width + l.rope_width);
  const double from = number(l.query_rank);
  const double queries = from > 0 ? h * from + from + from * query : h * query;
  const double keys =
      h * (rank + number(l.rope_width)) + rank + rank * a * number(l.plain_width + l.value_width);
  const double width = number(c.indexer.heads * c.indexer.width);
  const double one = number(c.indexer.width);
  const double indexer =
      width > 0 ? (from > 0 ? from : h) * width + h * one + 2 * one + h * number(c.indexer.heads)
                : 0;
  return queries + keys + a * number(l.value_width) * h + indexer;
}

double linear_attention(const Config& c) {
  const LinearAttentionConfig& n = c.linear;
  const double h = number(c.hidden), keys = number(n.key_heads * n.key_width);
  const double values = number(n.value_heads * n.value_width), heads = number(n.value_heads);
  return h * (2 * keys + 2 * values) + h * 2 * heads + (2 * keys + values) * number(n.kernel) +
         2 * heads + number(n.value_width) + values * h;
}

double full_attention(const Config& c) {
  const double h = number(c.hidden), d = number(c.head_width), a = number(c.heads),
               g = number(c.key_heads);
  double all = h * d * (2 * a + 2 * g);
  if (c.output_gate) all += h * d * a;
  if (c.projection_bias) all += d * (a + 2 * g);
  if (c.output_bias) all += h;
  if (c.key_query_norm) all += 2 * d;
  if (c.sinks) all += a;
  return all;
}

double attention(const Config& c, std::int64_t block) {
  if (c.kind(block) == AttentionKind::linear) return linear_attention(c);
  return c.latent.used() ? latent_attention(c) : full_attention(c);
}

double feed_forward(const Config& c, std::int64_t width, bool bias) {
  const double h = number(c.hidden), f = number(width), inner = c.gated ? 2 : 1;
  return (inner + 1) * h * f + (bias ? inner * f + h : 0);
}

ParameterCount experts(const Config& c) {
  const ExpertConfig& e = c.experts;
  const double one = feed_forward(c, e.width, e.bias), h = number(c.hidden);
  double common = h * number(e.count) + (e.router_bias ? number(e.count) : 0);
  if (e.shared_width > 0)
    common += feed_forward(c, e.shared_width, false) + (e.shared_gate ? h : 0);
  return {common + number(e.count) * one, common + number(e.per_token) * one};
}

// `numbers`: how blocks with experts are counted within an encoder and a decoder.
void add_blocks(const Config& c, std::int64_t blocks, bool cross, ParameterCount& count) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    double same = attention(c, block) + norm_size(c, c.hidden) * (c.sandwich_norms ? 4 : 2);
    if (cross) same += full_attention(c) + norm_size(c, c.hidden);
    ParameterCount ffn;
    if (c.has_experts(block))
      ffn = experts(c);
    else
      ffn.all = ffn.active = feed_forward(c, c.ffn, c.ffn_bias);
    count.all += same + ffn.all;
    count.active += same + ffn.active;
  }
}

}  // namespace

ParameterCount parameters_of(const TransformerConfig& c) {
  const double h = number(c.hidden), words = number(c.vocabulary) * h;
  double outside = words * (c.tied ? 1 : 2) + number(c.positions + c.types) * h;
  if (c.final_norm) outside += norm_size(c, c.hidden) * (c.decoder_layers > 0 ? 2 : 1);
  if (c.embedding_norm) outside += norm_size(c, c.hidden);
  if (c.pooler) outside += h * h + h;
  outside += number(c.relative_buckets * c.heads) * (c.decoder_layers > 0 ? 2 : 1);
  ParameterCount count{outside, outside};
  add_blocks(c, c.layers, false, count);
  add_blocks(c, c.decoder_layers, true, count);
  return count;
}

}  // namespace omen::opgraph
