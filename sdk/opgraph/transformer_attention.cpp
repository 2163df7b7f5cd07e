// SPDX-License-Identifier: Apache-2.0
// Attention: grouped heads, latent keys and values, states of fixed size; fused or step by step.
#include <algorithm>
#include <cmath>

#include "omen/opgraph/words.hpp"
#include "transformer_builder.hpp"

namespace omen::opgraph {
namespace {

// Pairs of query and key of one head of one sequence.
double pairs_of(std::int64_t queries, std::int64_t keys, std::int64_t window, bool causal) {
  const auto s = double(queries), all = double(keys), cached = all - s;
  if (!causal) return s * all;
  if (window <= 0 || double(window) >= all) return s * cached + s * (s + 1) / 2;
  // Query i sees min(cached + i, window) keys.
  const double growing = std::clamp(double(window) - cached, 0.0, s);
  return growing * cached + growing * (growing + 1) / 2 + (s - growing) * double(window);
}

}  // namespace

OpId TransformerBuilder::attention(OpId x, std::int64_t number, OpId encoded) {
  if (encoded < 0 && config_.kind(number) == AttentionKind::linear) return linear_attention(x);
  if (config_.latent.used()) return latent_attention(x);
  return full_attention(x, number, encoded);
}

OpId TransformerBuilder::rotate(const char* name, OpId x, std::int64_t heads, std::int64_t width) {
  return graph_.add(named(name),
                    elementwise_op(OpClass::elementwise, sizes_.activations, rows(heads * width)),
                    Gradient::same, {x});
}

// Keys and values of all tokens outlive the step in serving.
void TransformerBuilder::keep(double numbers_per_token, std::int64_t window) {
  if (run_.mode == Mode::train || run_.mode == Mode::infer) return;
  const std::int64_t kept = window > 0 ? std::min(window, sizes_.keys) : sizes_.keys;
  cache_bytes_ += numbers_per_token * double(kept) * double(sizes_.sequences) * sizes_.cache_width;
}

OpId TransformerBuilder::full_attention(OpId x, std::int64_t number, OpId encoded) {
  const bool cross = encoded >= 0;
  const std::int64_t d = config_.head_width, a = sizes_.heads, g = sizes_.key_heads;
  const std::int64_t queries = a * d * (config_.output_gate ? 2 : 1);
  const OpId source = cross ? encoded : x;
  const bool bias = config_.projection_bias;
  const bool one = (config_.fused_projection || run_.fused) && !cross;
  OpId q = 0, k = 0, v = 0;
  if (one) {
    const std::int64_t width = queries + 2 * g * d;
    Op whole = view_op(rows(width));
    whole.precision = sizes_.activations;
    const OpId all = graph_.add(named("qkv/split"), whole, Gradient::split,
                                {linear("qkv", x, config_.hidden, width, bias)});
    const auto part = [&](const char* name, std::int64_t numbers) {
      return graph_.add(named(name), view_op(rows(numbers)), Gradient::pass, {all});
    };
    q = part("q", a * d), k = part("k", g * d), v = part("v", g * d);
  } else {
    q = linear("q", x, config_.hidden, queries, bias);
    k = linear("k", source, config_.hidden, g * d, bias);
    v = linear("v", source, config_.hidden, g * d, bias);
  }
  const OpId gate = q;
  if (config_.output_gate && !one)
    q = graph_.add(named("q/part"), view_op(rows(a * d)), Gradient::pass, {q});
  if (config_.key_query_norm) {
    q = norm("q_norm", q, d);
    k = norm("k_norm", k, d);
  }
  if (config_.rotary) {
    q = rotate("q_rope", q, a, d);
    k = rotate("k_rope", k, g, d);
  }
  const bool sliding = !cross && config_.kind(number) == AttentionKind::sliding;
  const std::int64_t window = sliding ? config_.window : 0;
  keep(2 * double(g) * double(d), window);
  const bool causal = config_.causal && !cross;
  OpId out = attend({q, k, v, a, g, d, d, sizes_.keys, window, causal});
  if (config_.output_gate) {
    Op op = elementwise_op(OpClass::elementwise, sizes_.activations, rows(a * d), 2);
    out = graph_.add(named("gate"), op, Gradient::factors, {out, gate});
  }
  return linear("o", out, a * d, config_.hidden, config_.output_bias);
}

OpId TransformerBuilder::attend(const Heads& h) {
  if (run_.attention == AttentionForm::eager) return attend_eagerly(h);
  AttentionDims dims;
  dims.sequences = sizes_.sequences;
  dims.heads = h.heads, dims.key_heads = h.key_heads;
  dims.queries = sizes_.queries;
  dims.keys = h.window > 0 ? std::min(h.keys, h.window + sizes_.queries) : h.keys;
  dims.width = h.width, dims.value_width = h.value_width;
  dims.pairs = pairs_of(sizes_.queries, h.keys, h.window, h.causal);
  dims.key_value_width = sizes_.cache_width;
  Op op = attention_op(sizes_.activations, dims);
  if (run_.mode != Mode::train) op.output_bytes = op.bytes_written;
  op.shape = rows(h.heads * h.value_width);
  if (config_.sinks) op.parameter_bytes = bytes_for(double(h.heads), false);
  return graph_.add(named("attention"), op, Gradient::attention, {h.q, h.k, h.v},
                    {config_.sinks ? double(h.heads) : 0, config_.sinks ? 1.0 : 0});
}

OpId TransformerBuilder::attend_eagerly(const Heads& h) {
  const std::int64_t n = sizes_.sequences * h.heads, s = sizes_.queries, all = h.keys;
  const Precision p = sizes_.activations;
  const Shape scores_shape = shape_of({sizes_.sequences, h.heads, s, all});
  OpId k = h.k, v = h.v;
  if (h.key_heads < h.heads) {
    const auto repeat = [&](const char* name, OpId x, std::int64_t width) {
      Op op = shrinking_op(OpClass::move, p, elements_of(graph_.op(x).shape),
                           shape_of({sizes_.sequences, h.heads, all, width}));
      return graph_.add(named(name), op, Gradient::same, {x});
    };
    k = repeat("repeat_k", k, h.width), v = repeat("repeat_v", v, h.value_width);
  }
  const double w = sizes_.width;
  Op product =
      matmul_op(p, w, {n, s, all, h.width, w * double(n) * double(all) * double(h.width), false});
  product.shape = scores_shape;
  OpId scores = graph_.add(named("scores"), product, Gradient::matmul, {h.q, k});
  const OpId first = scores;
  if (config_.relative_buckets == 0)
    scores = graph_.add(named("scale"), elementwise_op(OpClass::elementwise, p, scores_shape),
                        Gradient::same, {scores});
  scores = graph_.add(named("mask"), elementwise_op(OpClass::elementwise, p, scores_shape),
                      Gradient::pass, {scores});
  Op soft = elementwise_op(OpClass::softmax, p, scores_shape);
  soft.flops *= 5;
  soft.batch = n, soft.m = s, soft.n = all;
  scores = graph_.add(named("softmax"), soft, Gradient::from_output, {scores});
  scores = dropped("softmax/dropout", scores, scores_shape, config_.attention_dropout);
  Op mixed = matmul_op(
      p, w, {n, s, h.value_width, all, w * double(n) * double(all) * double(h.value_width), false});
  mixed.shape = rows(h.heads * h.value_width);
  OpId out = graph_.add(named("mix"), mixed, Gradient::matmul, {scores, v});
  if (run_.mode == Mode::train && run_.recompute == Recompute::selective)
    graph_.recompute(first, out);
  out = graph_.add(named("merge"), elementwise_op(OpClass::move, p, rows(h.heads * h.value_width)),
                   Gradient::same, {out});
  return out;
}

OpId TransformerBuilder::latent_attention(OpId x) {
  const LatentConfig& l = config_.latent;
  const std::int64_t a = sizes_.heads, query_width = l.plain_width + l.rope_width;
  OpId q = x;
  if (l.query_rank > 0) {
    q = linear("q_a", x, config_.hidden, l.query_rank, false);
    q = norm("q_norm", q, l.query_rank);
  }
  const OpId compressed = q;
  q = linear("q_b", q, l.query_rank > 0 ? l.query_rank : config_.hidden, a * query_width, false);
  q = rotate("q_rope", q, a, l.rope_width);
  graph_.op(q).shape = rows(a * query_width);
  OpId latent = linear("kv_a", x, config_.hidden, l.key_value_rank + l.rope_width, false);
  latent = norm("kv_norm", latent, l.key_value_rank);
  if (config_.indexer.heads > 0) indexer(compressed);
  keep(double(l.key_value_rank + l.rope_width), 0);
  if (run_.mode == Mode::decode) {
    const OpId out = absorbed_attention(q, latent);
    return linear("o", out, a * l.value_width, config_.hidden, config_.output_bias);
  }
  const OpId kv =
      linear("kv_b", latent, l.key_value_rank, a * (l.plain_width + l.value_width), false);
  const OpId k = graph_.add(
      named("k/join"), elementwise_op(OpClass::move, sizes_.activations, rows(a * query_width)),
      Gradient::same, {kv});
  const OpId v = graph_.add(named("v"), view_op(rows(a * l.value_width)), Gradient::pass, {kv});
  const OpId out =
      attend({q, k, v, a, a, query_width, l.value_width, sizes_.keys, config_.indexer.keys, true});
  return linear("o", out, a * l.value_width, config_.hidden, config_.output_bias);
}

// While tokens come one by one, the cached vectors themselves are keys and values, and kv_b moves
// into the queries and the outputs.
OpId TransformerBuilder::absorbed_attention(OpId query, OpId latent) {
  const LatentConfig& l = config_.latent;
  const std::int64_t a = sizes_.heads, rank = l.key_value_rank;
  const auto product = [&](const char* name, OpId from, std::int64_t in, std::int64_t out) {
    const double count = double(a) * double(in) * double(out);
    Op op = matmul_op(sizes_.matmul, sizes_.width,
                      {a, sizes_.tokens, out, in, bytes_for(count, true), true});
    op.shape = rows(a * out);
    return graph_.add(named(name), op, Gradient::matmul, {from}, {count, 1});
  };
  const OpId absorbed = product("q_absorb", query, l.plain_width, rank);
  AttentionDims dims;
  dims.sequences = sizes_.sequences, dims.heads = a, dims.key_heads = 1;
  dims.queries = sizes_.queries;
  dims.keys = config_.indexer.keys > 0 ? std::min(sizes_.keys, config_.indexer.keys) : sizes_.keys;
  dims.width = rank + l.rope_width, dims.value_width = rank;
  dims.pairs = double(dims.queries) * double(dims.keys);
  dims.key_value_width = sizes_.cache_width;
  Op op = attention_op(sizes_.activations, dims);
  // Keys and values are the same bytes.
  op.bytes_read -= sizes_.cache_width * double(sizes_.sequences) * double(dims.keys) * double(rank);
  op.output_bytes = op.bytes_written;
  op.shape = rows(a * rank);
  const OpId out = graph_.add(named("attention"), op, Gradient::attention, {absorbed, latent});
  return product("v_absorb", out, rank, l.value_width);
}

OpId TransformerBuilder::indexer(OpId x) {
  const IndexerConfig& i = config_.indexer;
  const std::int64_t in =
      config_.latent.query_rank > 0 ? config_.latent.query_rank : config_.hidden;
  const OpId q = linear("index_q", x, in, i.heads * i.width, false);
  AttentionDims dims{sizes_.sequences,
                     i.heads,
                     1,
                     sizes_.queries,
                     sizes_.keys,
                     i.width,
                     0,
                     pairs_of(sizes_.queries, sizes_.keys, 0, true),
                     1};
  Op op = attention_op(sizes_.activations, dims);
  op.output_bytes = op.bytes_written =
      4 * double(sizes_.tokens) * double(std::min(sizes_.keys, i.keys));
  op.shape = rows(std::min(sizes_.keys, i.keys));
  // Its key, its norm and the weights of its heads are small; they count with it.
  const double count = double(config_.hidden) * double(i.width + i.heads) + 2 * double(i.width);
  op.parameter_bytes = bytes_for(count, false);
  op.bytes_read += op.parameter_bytes;
  keep(double(i.width), 0);
  return graph_.add(named("index"), op, Gradient::none, {q}, {count, 4});
}

OpId TransformerBuilder::linear_attention(OpId x) {
  const LinearAttentionConfig& n = config_.linear;
  const std::int64_t t = run_.tensor_ranks;
  const std::int64_t key_heads = std::max<std::int64_t>(1, n.key_heads / t);
  const std::int64_t value_heads = std::max<std::int64_t>(1, n.value_heads / t);
  const std::int64_t keys = key_heads * n.key_width, values = value_heads * n.value_width;
  const OpId all = linear("in_qkvz", x, config_.hidden, 2 * keys + 2 * values, false);
  const OpId rates = linear("in_ba", x, config_.hidden, 2 * value_heads, false, false);
  Op mix = elementwise_op(OpClass::depthwise_conv, sizes_.activations, rows(2 * keys + values));
  const double taps = double(2 * keys + values) * double(n.kernel);
  mix.flops = 2 * double(sizes_.tokens) * taps;
  mix.parameter_bytes = bytes_for(taps, false);
  mix.kernel = n.kernel, mix.stride = 1, mix.groups = 2 * keys + values;
  mix.batch = sizes_.sequences, mix.m = sizes_.queries, mix.n = 2 * keys + values, mix.k = n.kernel;
  const OpId mixed = graph_.add(named("conv"), mix, Gradient::from_input, {all}, {taps, 1});
  // Reads, corrects and writes a state of key x value numbers for each token.
  Op op;
  op.kind = OpClass::attention;
  op.precision = sizes_.activations;
  const double state = double(value_heads) * double(n.key_width) * double(n.value_width);
  op.flops = 8 * double(sizes_.tokens) * state;
  const double states = 4 * double(sizes_.sequences) * state;
  op.bytes_read = graph_.size_of(mixed) + graph_.size_of(rates) + states;
  op.bytes_written = sizes_.width * double(sizes_.tokens) * double(values) + states;
  op.output_bytes = sizes_.width * double(sizes_.tokens) * double(values);
  op.batch = sizes_.sequences * value_heads;
  op.m = sizes_.queries, op.n = n.value_width, op.k = n.key_width;
  op.groups = value_heads / key_heads;
  op.shape = rows(values);
  const double own = 2 * double(value_heads);
  op.parameter_bytes = bytes_for(own, false);
  if (run_.mode != Mode::train && run_.mode != Mode::infer)
    cache_bytes_ += states + sizes_.width * double(sizes_.sequences) * taps;
  OpId out = graph_.add(named("delta"), op, Gradient::attention, {mixed, rates}, {own, 2});
  Op gated = elementwise_op(OpClass::norm, sizes_.activations, rows(values), 2);
  gated.parameter_bytes = bytes_for(double(n.value_width), false);
  out = graph_.add(named("gated_norm"), gated, Gradient::from_input, {out, all},
                   {double(n.value_width), 1});
  return linear("o", out, values, config_.hidden, false);
}

}  // namespace omen::opgraph
