// SPDX-License-Identifier: Apache-2.0
// One autograd function for a whole step. It works through blocks of rows that stay in the cache,
// and keeps states, messages, means and gates of the unit for the backward pass.
#include "omen/torch/nn/propagation.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "omen/error.hpp"
#include "omen/torch/graph_batch.hpp"
#include "omen/torch/nn/step_kernels.hpp"
#include "omen/torch/recorded.hpp"

namespace omen::torch_kit::nn {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

constexpr std::int64_t kBlock = 512;  // rows whose products stay in the cache

// What a step needs beside tensors.
struct StepSettings {
  std::shared_ptr<const MessagePlan> plan;
  kernels::Dropout message, state;
};

struct SettingsHolder : ::torch::CustomClassHolder {
  explicit SettingsHolder(StepSettings s) : settings(std::move(s)) {}
  StepSettings settings;
};

const float* in(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<float>() : nullptr;
}

at::Tensor floats(at::IntArrayRef shape) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat));
}

template <class Body>
void for_blocks(std::int64_t begin, std::int64_t end, const Body& body) {
  for (std::int64_t b = begin; b < end; b += kBlock) body(b, std::min(end, b + kBlock));
}

// out = bias + a * weight^T, into memory that is there.
void linear_into(const at::Tensor& a, const at::Tensor& weight, const at::Tensor& bias,
                 at::Tensor out) {
  at::addmm_out(out, bias, a, weight.t());
}

// The weights of a layer in the order of the function's arguments.
struct Weights {
  at::Tensor message, message_bias, gates, ih, hh, ih_bias, hh_bias;
};

// messages[pair] = dropped state of the sender * W_relation^T + b_relation.
at::Tensor send(const StepSettings& s, const at::Tensor& states, const Weights& w) {
  const MessagePlan& plan = *s.plan;
  const std::int64_t d = states.size(1);
  at::Tensor messages = floats({plan.pairs(), d});
  at::Tensor rows = floats({kBlock, d});
  for (std::int64_t r = 0; r < plan.relations; ++r) {
    const auto at_r = static_cast<std::size_t>(r);
    const at::Tensor weight = w.message.narrow(0, r * d, d),
                     bias = w.message_bias.narrow(0, r * d, d);
    for_blocks(plan.relation_begin[at_r], plan.relation_begin[at_r + 1],
               [&](std::int64_t b, std::int64_t e) {
                 kernels::gather(in(states), plan.senders.data(), b, e, d, s.message,
                                 rows.mutable_data_ptr<float>());
                 linear_into(rows.narrow(0, 0, e - b), weight, bias, messages.narrow(0, b, e - b));
               });
  }
  return messages;
}

// Rows [begin, end) of the states that the step continues; `buffer` serves where they are not in
// order.
at::Tensor continued(const MessagePlan& plan, const at::Tensor& states, std::int64_t begin,
                     std::int64_t end, at::Tensor& buffer) {
  if (plan.previous.empty()) return states.narrow(0, begin, end - begin);
  kernels::gather(in(states), plan.previous.data(), begin, end, states.size(1), {},
                  buffer.mutable_data_ptr<float>());
  return buffer.narrow(0, 0, end - begin);
}

// The recurrent unit on blocks; `kept` is undefined where nothing is differentiated.
at::Tensor update(const StepSettings& s, const at::Tensor& states, const at::Tensor& means,
                  const Weights& w, at::Tensor& kept) {
  const std::int64_t rows = s.plan->rows_out, d = states.size(1);
  at::Tensor out = floats({rows, d});
  at::Tensor input = floats({kBlock, 3 * d}), hidden = floats({kBlock, 3 * d}),
             buffer = floats({kBlock, d});
  for_blocks(0, rows, [&](std::int64_t b, std::int64_t e) {
    const at::Tensor before = continued(*s.plan, states, b, e, buffer);
    linear_into(means.narrow(0, b, e - b), w.ih, w.ih_bias, input.narrow(0, 0, e - b));
    linear_into(before, w.hh, w.hh_bias, hidden.narrow(0, 0, e - b));
    kernels::gru({e - b, d, b, s.state}, in(input), in(hidden), in(before),
                 out.mutable_data_ptr<float>() + b * d,
                 kept.defined() ? kept.mutable_data_ptr<float>() + b * 4 * d : nullptr);
  });
  return out;
}

// Gradients of everything that a step reads.
struct Gradients {
  at::Tensor states, means;
  Weights w;

  Gradients(const MessagePlan& plan, const Weights& like, std::int64_t d)
      : states(at::zeros({plan.rows_in, d})), means(floats({plan.rows_out, d})) {
    const auto zeros = [](const at::Tensor& t) {
      return t.defined() ? at::zeros_like(t) : at::Tensor();
    };
    w = {zeros(like.message), zeros(like.message_bias), zeros(like.gates),  zeros(like.ih),
         zeros(like.hh),      zeros(like.ih_bias),      zeros(like.hh_bias)};
  }
};

// From the gradient of the result to those of means, recurrent weights and continued states.
void update_backward(const StepSettings& s, const at::Tensor& grad, const at::Tensor& states,
                     const at::Tensor& means, const at::Tensor& kept, const Weights& w,
                     Gradients& out) {
  const std::int64_t d = states.size(1);
  at::Tensor input = floats({kBlock, 3 * d}), hidden = floats({kBlock, 3 * d}),
             buffer = floats({kBlock, d}), direct = floats({kBlock, d});
  const std::int32_t* previous = s.plan->previous.empty() ? nullptr : s.plan->previous.data();
  for_blocks(0, s.plan->rows_out, [&](std::int64_t b, std::int64_t e) {
    const std::int64_t n = e - b;
    const at::Tensor before = continued(*s.plan, states, b, e, buffer);
    at::Tensor dx = input.narrow(0, 0, n), dh = hidden.narrow(0, 0, n), ds = direct.narrow(0, 0, n),
               dm = out.means.narrow(0, b, n);
    kernels::gru_backward({n, d, b, s.state}, in(grad) + b * d, in(kept) + b * 4 * d, in(before),
                          dx.mutable_data_ptr<float>(), dh.mutable_data_ptr<float>(),
                          ds.mutable_data_ptr<float>());
    at::mm_out(dm, dx, w.ih);
    ds.addmm_(dh, w.hh);
    out.w.ih.addmm_(dx.t(), means.narrow(0, b, n));
    out.w.hh.addmm_(dh.t(), before);
    kernels::add_column_sums(in(dx), n, 3 * d, out.w.ih_bias.mutable_data_ptr<float>());
    kernels::add_column_sums(in(dh), n, 3 * d, out.w.hh_bias.mutable_data_ptr<float>());
    kernels::scatter_add(in(ds), previous ? previous + b : nullptr, previous ? 0 : b,
                         previous ? n : e, d, {}, out.states.mutable_data_ptr<float>());
  });
}

// From the gradients of means to those of gates, linear maps and sending states.
void send_backward(const StepSettings& s, const at::Tensor& states, const at::Tensor& messages,
                   const Weights& w, Gradients& out) {
  const MessagePlan& plan = *s.plan;
  const std::int64_t d = states.size(1);
  at::Tensor rows = floats({kBlock, d}), grads = floats({kBlock, d}), back = floats({kBlock, d});
  float* gates = out.w.gates.defined() ? out.w.gates.mutable_data_ptr<float>() : nullptr;
  for (std::int64_t r = 0; r < plan.relations; ++r) {
    const auto at_r = static_cast<std::size_t>(r);
    const at::Tensor weight = w.message.narrow(0, r * d, d);
    at::Tensor d_weight = out.w.message.narrow(0, r * d, d);
    float* d_bias = out.w.message_bias.mutable_data_ptr<float>() + r * d;
    for_blocks(plan.relation_begin[at_r], plan.relation_begin[at_r + 1],
               [&](std::int64_t b, std::int64_t e) {
                 at::Tensor dm = grads.narrow(0, 0, e - b), x = rows.narrow(0, 0, e - b),
                            dx = back.narrow(0, 0, e - b);
                 kernels::gated_mean_backward(plan, in(out.means), in(messages), in(w.gates), b, e,
                                              d, dm.mutable_data_ptr<float>(), gates);
                 kernels::gather(in(states), plan.senders.data(), b, e, d, s.message,
                                 x.mutable_data_ptr<float>());
                 d_weight.addmm_(dm.t(), x);
                 kernels::add_column_sums(in(dm), e - b, d, d_bias);
                 at::mm_out(dx, dm, weight);
                 kernels::scatter_add(in(dx), plan.senders.data() + b, 0, e - b, d, s.message,
                                      out.states.mutable_data_ptr<float>());
               });
  }
}

struct Step : Function<Step> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& given,
                            const at::Tensor& message, const at::Tensor& message_bias,
                            const std::optional<at::Tensor>& gates, const at::Tensor& ih,
                            const at::Tensor& hh, const at::Tensor& ih_bias,
                            const at::Tensor& hh_bias, bool differentiated,
                            const StepSettings& settings) {
    const Weights w{message, message_bias, gates ? gates->contiguous() : at::Tensor(), ih, hh,
                    ih_bias, hh_bias};
    const MessagePlan& plan = *settings.plan;
    const at::Tensor states = given.contiguous();
    const at::Tensor messages = send(settings, states, w);
    at::Tensor means = floats({plan.rows_out, states.size(1)});
    kernels::gated_mean(plan, in(messages), in(w.gates), states.size(1),
                        means.mutable_data_ptr<float>());
    at::Tensor kept = differentiated ? floats({plan.rows_out, 4 * states.size(1)}) : at::Tensor();
    at::Tensor out = update(settings, states, means, w, kept);
    if (differentiated) {
      ctx->saved_data["step"] =
          c10::IValue::make_capsule(c10::make_intrusive<SettingsHolder>(settings));
      ctx->save_for_backward({states, messages, means, kept, w.message, w.message_bias, w.gates,
                              w.ih, w.hh, w.ih_bias, w.hh_bias});
    }
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (at::GradMode::is_enabled())
      throw Error(OMEN_UNSUPPORTED, "a propagation step can be differentiated only once");
    const StepSettings& s =
        static_cast<SettingsHolder*>(ctx->saved_data["step"].toCapsule().get())->settings;
    const variable_list saved = ctx->get_saved_variables();
    const Weights w{saved[4], saved[5], saved[6], saved[7], saved[8], saved[9], saved[10]};
    Gradients out(*s.plan, w, saved[0].size(1));
    update_backward(s, grads[0].contiguous(), saved[0], saved[2], saved[3], w, out);
    send_backward(s, saved[0], saved[1], w, out);
    return {out.states, out.w.message, out.w.message_bias, out.w.gates,  out.w.ih,
            out.w.hh,   out.w.ih_bias, out.w.hh_bias,      at::Tensor(), at::Tensor()};
  }
};

// The first half of a step by itself.
struct Receive : Function<Receive> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& given,
                            const at::Tensor& message, const at::Tensor& message_bias,
                            const std::optional<at::Tensor>& gates, const StepSettings& settings) {
    Weights w;
    w.message = message;
    w.message_bias = message_bias;
    if (gates) w.gates = gates->contiguous();
    const at::Tensor states = given.contiguous();
    const at::Tensor messages = send(settings, states, w);
    at::Tensor means = floats({settings.plan->rows_out, states.size(1)});
    kernels::gated_mean(*settings.plan, in(messages), in(w.gates), states.size(1),
                        means.mutable_data_ptr<float>());
    ctx->saved_data["step"] =
        c10::IValue::make_capsule(c10::make_intrusive<SettingsHolder>(settings));
    ctx->save_for_backward({states, messages, w.message, w.message_bias, w.gates});
    return means;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const StepSettings& s =
        static_cast<SettingsHolder*>(ctx->saved_data["step"].toCapsule().get())->settings;
    const variable_list saved = ctx->get_saved_variables();
    Weights w;
    w.message = saved[2];
    w.message_bias = saved[3];
    w.gates = saved[4];
    Gradients out(*s.plan, w, saved[0].size(1));
    out.means = grads[0].contiguous();
    send_backward(s, saved[0], saved[1], w, out);
    return {out.states, out.w.message, out.w.message_bias, out.w.gates, at::Tensor()};
  }
};

kernels::Dropout draw_dropout(double p, bool training) {
  if (!training || p <= 0) return {};
  const auto seed = at::randint(std::int64_t{1} << 32, {1}, at::kLong).item<std::int64_t>();
  return {static_cast<std::uint32_t>(seed), static_cast<float>(p)};
}

}  // namespace

at::Tensor uniform_parameter(at::IntArrayRef shape, double bound) {
  return floats(shape).uniform_(-bound, bound);
}

at::Tensor position_table(const std::vector<std::int32_t>& positions, std::int64_t text_width,
                          std::int64_t width) {
  at::Tensor table = at::zeros({static_cast<std::int64_t>(positions.size()), width});
  float* row = table.mutable_data_ptr<float>();
  const std::int64_t half = text_width / 2;
  for (const std::int32_t position : positions) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double frequency =
          std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(text_width));
      row[i] = static_cast<float>(std::sin(position * frequency));
      row[half + i] = static_cast<float>(std::cos(position * frequency));
    }
    row += width;
  }
  return table;
}

std::shared_ptr<const MessagePlan> plan_messages(const Batch& batch, std::int64_t relations) {
  const at::Tensor target = batch.adjacency.targets();
  const std::int64_t count = batch.adjacency.num_edges();
  const auto ints = [count](const at::Tensor& t) {
    const std::int64_t* from = t.const_data_ptr<std::int64_t>();
    std::vector<std::int32_t> out(static_cast<std::size_t>(count));
    std::transform(from, from + count, out.begin(),
                   [](std::int64_t v) { return static_cast<std::int32_t>(v); });
    return out;
  };
  if (batch.adjacency.num_sources() != batch.nodes)
    throw Error(OMEN_INVALID_ARGUMENT, "the graph set was made with typed source rows",
                "leave GraphOptions::typed off: propagation sorts relations itself");
  const TypedEdges edges{ints(batch.adjacency.sources()), ints(target), ints(batch.relation),
                         ints(batch.position)};
  return std::make_shared<const MessagePlan>(plan_messages(edges, batch.nodes, relations));
}

Propagation::Propagation(const PropagationOptions& options, StateDict& state,
                         const std::string& prefix)
    : options_(options) {
  const std::int64_t d = options.width;
  if (d < 1 || options.text_width > d || options.text_width % 2 != 0 || options.relations < 1)
    throw Error(OMEN_INVALID_ARGUMENT, "a layer of width " + std::to_string(d) + " with " +
                                           std::to_string(options.text_width) + " sinusoids and " +
                                           std::to_string(options.relations) +
                                           " relations cannot be made");
  const double bound = 1 / std::sqrt(static_cast<double>(d));
  const auto add = [&](const char* name, at::IntArrayRef shape) {
    at::Tensor tensor = uniform_parameter(shape, bound);
    state.add_parameter(prefix + name, tensor);
    return tensor;
  };
  message_weight_ = add("message.weight", {options.relations * d, d});
  message_bias_ = add("message.bias", {options.relations * d});
  if (options.gates) {
    gate_weight_ = add("gate.weight", {d, d});
    gate_bias_ = add("gate.bias", {d});
  }
  weight_ih_ = add("update.weight_ih", {3 * d, d});
  weight_hh_ = add("update.weight_hh", {3 * d, d});
  bias_ih_ = add("update.bias_ih", {3 * d});
  bias_hh_ = add("update.bias_hh", {3 * d});
}

at::Tensor Propagation::gates(const MessagePlan& plan, bool training) const {
  if (!options_.gates) return {};
  const at::Tensor table =
      at::dropout(position_table(plan.positions, options_.text_width, options_.width),
                  options_.message_dropout, training);
  return at::sigmoid(at::linear(table, gate_weight_, gate_bias_)) * 2;
}

at::Tensor Propagation::step(std::shared_ptr<const MessagePlan> plan, const at::Tensor& states,
                             const at::Tensor& gates, bool training) const {
  const auto positions = static_cast<std::int64_t>(plan->positions.size());
  if (states.dim() != 2 || states.size(0) != plan->rows_in || states.size(1) != options_.width ||
      plan->relations != options_.relations)
    throw Error(OMEN_INVALID_ARGUMENT, "states or relations do not fit the layer");
  if (gates.defined() && gates.size(0) != positions)
    throw Error(OMEN_INVALID_ARGUMENT, std::to_string(gates.size(0)) + " gates for " +
                                           std::to_string(positions) + " positions");
  const bool differentiated =
      at::GradMode::is_enabled() && (states.requires_grad() || message_weight_.requires_grad());
  const StepSettings settings{std::move(plan), draw_dropout(options_.message_dropout, training),
                              draw_dropout(options_.state_dropout, training)};
  return recorded<Step>(states, message_weight_, message_bias_,
                        gates.defined() ? std::optional(gates) : std::nullopt, weight_ih_,
                        weight_hh_, bias_ih_, bias_hh_, differentiated, settings);
}

at::Tensor Propagation::receive(std::shared_ptr<const MessagePlan> plan, const at::Tensor& states,
                                const at::Tensor& gates) const {
  return recorded<Receive>(states, message_weight_, message_bias_,
                           gates.defined() ? std::optional(gates) : std::nullopt,
                           StepSettings{std::move(plan), {}, {}});
}

}  // namespace omen::torch_kit::nn
