// SPDX-License-Identifier: Apache-2.0
// Feed-forward parts: dense, and mixtures of experts with their routing.
#include <algorithm>
#include <cmath>

#include "omen/opgraph/words.hpp"
#include "transformer_builder.hpp"

namespace omen::opgraph {

OpId TransformerBuilder::feed_forward(OpId x, std::int64_t number) {
  if (config_.has_experts(number)) return experts(x);
  return dense(x, sizes_.ffn, config_.ffn_bias, "");
}

OpId TransformerBuilder::dense(OpId x, std::int64_t width, bool bias, const char* prefix) {
  const std::string before = prefix_;
  prefix_ += prefix;
  const Shape inner = rows(width);
  OpId hidden = 0;
  if (!config_.gated) {
    hidden = activation(linear("up", x, config_.hidden, width, bias), inner);
  } else if (run_.fused) {
    const OpId both = linear("gate_up", x, config_.hidden, 2 * width, bias);
    Op op = elementwise_op(OpClass::activation, sizes_.activations, inner, 2);
    hidden = graph_.add(named("gated"), op, Gradient::from_input, {both});
  } else {
    const OpId gate = linear("gate", x, config_.hidden, width, bias);
    const OpId up = linear("up", x, config_.hidden, width, bias);
    const OpId bent = activation(gate, inner);
    Op op = elementwise_op(OpClass::elementwise, sizes_.activations, inner, 2);
    hidden = graph_.add(named("gated"), op, Gradient::factors, {bent, up});
  }
  const OpId out = linear("down", hidden, width, config_.hidden, bias);
  prefix_ = before;
  return out;
}

// One product for each expert that was chosen by any token.
OpId TransformerBuilder::grouped(const char* name, OpId x, double tokens, std::int64_t in,
                                 std::int64_t out, double touched, double matrices) {
  const bool bias = config_.experts.bias;
  const double one = double(in) * double(out) + (bias ? double(out) : 0);
  const double here = double(sizes_.experts), count = here * one;
  const double all_bytes = bytes_for(count, true);
  const auto groups = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(touched)));
  const double rows_each = std::max(1.0, tokens / double(groups));
  MatmulDims dims{groups, static_cast<std::int64_t>(std::llround(rows_each)), out,
                  in,     all_bytes * std::min(1.0, touched / here),          true};
  Op op = matmul_op(sizes_.matmul, sizes_.width, dims);
  op.flops = 2 * tokens * double(in) * double(out);
  op.bytes_read = sizes_.width * tokens * double(in) + dims.right_bytes;
  op.bytes_written = op.output_bytes = sizes_.width * tokens * double(out);
  op.groups = sizes_.experts;
  op.shape = shape_of({static_cast<std::int64_t>(std::llround(tokens)), out});
  return graph_.add(named(name), op, Gradient::matmul, {x},
                    {count, matrices, bias ? here * double(out) : 0, false});
}

OpId TransformerBuilder::experts(OpId x) {
  const ExpertConfig& e = config_.experts;
  const Precision p = sizes_.activations;
  const double tokens = double(sizes_.tokens), chosen = double(e.per_token), all = double(e.count);
  // Ranks with tokens of their own exchange them; ranks that split one batch do not have to.
  const auto ep = double(run_.expert_ranks);
  const double exchange = std::max(1.0, ep / double(run_.tensor_ranks));
  const double here = std::max(1.0, tokens * chosen * exchange / ep);
  const double touched =
      double(sizes_.experts) * (1 - std::pow(1 - chosen / all, tokens * exchange));
  const OpId scores = linear("router", x, config_.hidden, e.count, e.router_bias, false);
  Op choice = elementwise_op(OpClass::softmax, p, rows(e.count));
  choice.kernels = 2;
  const OpId weights = graph_.add(named("choice"), choice, Gradient::from_output, {scores});
  const auto rows_of = [&](double count, std::int64_t width) {
    return shape_of({static_cast<std::int64_t>(std::llround(count)), width});
  };
  Op sort = shrinking_op(OpClass::move, p, tokens * chosen * double(config_.hidden),
                         rows_of(exchange > 1 ? tokens * chosen : here, config_.hidden));
  OpId sent = graph_.add(named("dispatch"), sort, Gradient::same, {x});
  const auto travel = [&](const char* name, OpId from) {
    if (exchange <= 1) return from;
    Op op =
        collective_op(OpClass::all_to_all, p,
                      sizes_.width * tokens * chosen * double(config_.hidden), run_.expert_ranks);
    op.shape = graph_.op(from).shape;
    return graph_.add(named(name), op, Gradient::same, {from});
  };
  sent = travel("dispatch/exchange", sent);
  const std::int64_t f = sizes_.expert_ffn, h = config_.hidden;
  const Shape inner = rows_of(here, f);
  OpId hidden = 0;
  if (config_.gated) {
    const OpId both = grouped("experts/gate_up", sent, here, h, 2 * f, touched, 2);
    hidden = graph_.add(named("experts/gated"), elementwise_op(OpClass::activation, p, inner, 2),
                        Gradient::from_input, {both});
  } else {
    const OpId up = grouped("experts/up", sent, here, h, f, touched, 1);
    hidden = graph_.add(named("experts/activation"), elementwise_op(OpClass::activation, p, inner),
                        Gradient::from_output, {up});
  }
  OpId back = travel("combine/exchange", grouped("experts/down", hidden, here, f, h, touched, 1));
  Op sum = shrinking_op(OpClass::reduce, p, elements_of(graph_.op(back).shape), rows(h));
  OpId out = graph_.add(named("combine"), sum, Gradient::same, {back, weights});
  if (e.shared_width > 0) {
    OpId shared = dense(x, sizes_.shared_ffn, false, "shared/");
    if (e.shared_gate) {
      const OpId gate = linear("shared/gate", x, h, 1, false, false);
      shared = graph_.add(named("shared/weighed"), elementwise_op(OpClass::elementwise, p, rows(h)),
                          Gradient::factors, {shared, gate});
    }
    out = add("shared/add", out, shared);
  }
  return out;
}

}  // namespace omen::opgraph
