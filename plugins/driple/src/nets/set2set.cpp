// SPDX-License-Identifier: Apache-2.0
// The cell's input holds its own last output, so one matrix serves both; gradients of weights and
// of nodes are products over all steps at the end.
#include "nets/set2set.hpp"

#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "nets/kernels.hpp"
#include "omen/error.hpp"
#include "omen/torch/recorded.hpp"

namespace omen::driple {
namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::variable_list;

at::Tensor numbers(at::IntArrayRef shape) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat));
}

// Weights of [query, read] where the query is also the hidden state.
at::Tensor joined_weights(const at::Tensor& ih, const at::Tensor& hh) {
  at::Tensor joined = ih.clone();
  joined.narrow(1, 0, hh.size(1)).add_(hh);
  return joined;
}

struct ReadoutShape {
  std::int64_t graphs, nodes, width, steps;
};

// Tensors of all steps, graphs inside of steps except where nodes are multiplied at the end.
struct Trail {
  at::Tensor asked;       // [steps + 1, graphs, 2 width] query and read
  at::Tensor cells;       // [steps + 1, graphs, width]
  at::Tensor gates;       // [steps, graphs, 4 width]
  at::Tensor attention;   // [graphs, steps, nodes]
  at::Tensor transposed;  // [graphs, width, nodes]
};

kernels::Attended attended(const ReadoutShape& s, const at::Tensor& x, const at::Tensor& transposed,
                           std::int64_t graph) {
  const std::int64_t size = s.nodes * s.width;
  return {s.nodes, s.width, x.const_data_ptr<float>() + graph * size,
          transposed.const_data_ptr<float>() + graph * size};
}

Trail walk(const ReadoutShape& s, const at::Tensor& x, const at::Tensor& weight,
           const at::Tensor& bias) {
  Trail trail{at::zeros({s.steps + 1, s.graphs, 2 * s.width}),
              at::zeros({s.steps + 1, s.graphs, s.width}),
              numbers({s.steps, s.graphs, 4 * s.width}), numbers({s.graphs, s.steps, s.nodes}),
              x.view({s.graphs, s.nodes, s.width}).transpose(1, 2).contiguous()};
  const kernels::LstmRows shape{s.graphs, s.width, 2 * s.width};
  const at::Tensor turned = weight.t();
  float* attention = trail.attention.mutable_data_ptr<float>();
  for (std::int64_t t = 0; t < s.steps; ++t) {
    at::Tensor gates = trail.gates.select(0, t), next = trail.asked.select(0, t + 1);
    at::addmm_out(gates, bias, trail.asked.select(0, t), turned);
    float* asked = next.mutable_data_ptr<float>();
    kernels::lstm(shape, gates.mutable_data_ptr<float>(),
                  trail.cells.select(0, t).const_data_ptr<float>(),
                  trail.cells.select(0, t + 1).mutable_data_ptr<float>(), asked);
    for (std::int64_t g = 0; g < s.graphs; ++g, asked += 2 * s.width)
      kernels::attend(attended(s, x, trail.transposed, g), asked,
                      attention + (g * s.steps + t) * s.nodes, asked + s.width);
  }
  return trail;
}

struct ReadoutGradients {
  at::Tensor states, weight, bias;
};

ReadoutGradients walk_back(const ReadoutShape& s, const at::Tensor& x, const Trail& trail,
                           const at::Tensor& weight, const at::Tensor& grad) {
  const std::int64_t d = s.width;
  at::Tensor d_asked = grad.contiguous().clone(), d_cell = at::zeros({s.graphs, d}),
             d_gates = numbers({s.steps, s.graphs, 4 * d}),
             d_scores = numbers({s.graphs, s.steps, s.nodes}),
             d_reads = numbers({s.graphs, s.steps, d});
  const kernels::LstmRows shape{s.graphs, d, 2 * d};
  for (std::int64_t t = s.steps - 1; t >= 0; --t) {
    float* asked = d_asked.mutable_data_ptr<float>();
    for (std::int64_t g = 0; g < s.graphs; ++g, asked += 2 * d) {
      const std::int64_t at = g * s.steps + t;
      std::copy_n(asked + d, d, d_reads.mutable_data_ptr<float>() + at * d);
      kernels::attend_backward(attended(s, x, trail.transposed, g),
                               trail.attention.const_data_ptr<float>() + at * s.nodes, asked + d,
                               d_scores.mutable_data_ptr<float>() + at * s.nodes, asked);
    }
    at::Tensor step = d_gates.select(0, t);
    kernels::lstm_backward(shape, trail.gates.select(0, t).const_data_ptr<float>(),
                           trail.cells.select(0, t).const_data_ptr<float>(),
                           trail.cells.select(0, t + 1).const_data_ptr<float>(),
                           d_asked.const_data_ptr<float>(), d_cell.mutable_data_ptr<float>(),
                           step.mutable_data_ptr<float>());
    if (t > 0) at::mm_out(d_asked, step, weight);
  }
  const at::Tensor queries =
      trail.asked.narrow(0, 1, s.steps).narrow(2, 0, d).transpose(0, 1).contiguous();
  const at::Tensor rows = d_gates.view({s.steps * s.graphs, 4 * d});
  return {at::baddbmm(at::bmm(trail.attention.transpose(1, 2), d_reads), d_scores.transpose(1, 2),
                      queries)
              .view({s.graphs * s.nodes, d}),
          at::mm(rows.t(), trail.asked.narrow(0, 0, s.steps).reshape({s.steps * s.graphs, 2 * d})),
          rows.sum(0)};
}

struct Set2Set : ::torch::autograd::Function<Set2Set> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& given, const at::Tensor& ih,
                            const at::Tensor& hh, const at::Tensor& ih_bias,
                            const at::Tensor& hh_bias, std::int64_t nodes, std::int64_t steps,
                            bool differentiated) {
    const at::Tensor x = given.contiguous();
    const ReadoutShape shape{x.size(0) / nodes, nodes, x.size(1), steps};
    const at::Tensor weight = joined_weights(ih, hh);
    const Trail trail = walk(shape, x, weight, ih_bias + hh_bias);
    if (differentiated) {
      ctx->saved_data["nodes"] = nodes;
      ctx->save_for_backward(
          {x, weight, trail.asked, trail.cells, trail.gates, trail.attention, trail.transposed});
    }
    return trail.asked.select(0, steps).clone();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& x = saved[0];
    const std::int64_t nodes = ctx->saved_data["nodes"].toInt();
    const Trail trail{saved[2], saved[3], saved[4], saved[5], saved[6]};
    const ReadoutShape shape{x.size(0) / nodes, nodes, x.size(1), trail.gates.size(0)};
    const ReadoutGradients out = walk_back(shape, x, trail, saved[1], grads[0]);
    return {out.states,   out.weight,  out.weight.narrow(1, 0, shape.width).clone(),
            out.bias,     out.bias,    at::Tensor(),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor set2set(const at::Tensor& states, std::int64_t nodes, std::int64_t steps,
                   const LstmWeights& w) {
  const std::int64_t d = states.size(1);
  if (nodes < 1 || steps < 1 || states.size(0) % nodes != 0 || w.ih.size(1) != 2 * d)
    throw Error(OMEN_INVALID_ARGUMENT, "states or weights do not fit the readout");
  const bool differentiated =
      at::GradMode::is_enabled() && (states.requires_grad() || w.ih.requires_grad());
  return torch_kit::recorded<Set2Set>(states, w.ih, w.hh, w.ih_bias, w.hh_bias, nodes, steps,
                                      differentiated);
}

}  // namespace omen::driple
