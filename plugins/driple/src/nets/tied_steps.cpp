// SPDX-License-Identifier: Apache-2.0
// Keeps states, messages and gates of every step for the backward pass.
#include "nets/tied_steps.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

#include "nets/kernels.hpp"
#include "omen/error.hpp"
#include "omen/torch/nn/step_kernels.hpp"
#include "omen/torch/recorded.hpp"

namespace omen::driple {
namespace {

namespace unit = torch_kit::nn::kernels;
using ::torch::autograd::AutogradContext;
using ::torch::autograd::variable_list;

constexpr std::int64_t kBlockRows = 400;  // whose products stay in the second cache

struct BatchHolder : ::torch::CustomClassHolder {
  explicit BatchHolder(std::shared_ptr<const GroupBatch> b) : batch(std::move(b)) {}
  std::shared_ptr<const GroupBatch> batch;
};

at::Tensor floats_of(at::IntArrayRef shape) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat));
}

const float* floats_in(const at::Tensor& t) {
  return t.const_data_ptr<float>();
}

thread_local KeptMemory* innermost = nullptr;

// What the backward pass needs; steps come first.
struct Kept {
  at::Tensor states;    // [steps + 1, rows, d]
  at::Tensor messages;  // [steps, rows, d]
  at::Tensor gates;     // [steps, rows, 4 d]
};

// Graphs [begin, end) of a batch as a range of rows.
struct Block {
  std::int64_t begin, rows;
  kernels::RowRange range;

  Block(const GroupBatch& batch, std::int64_t index, std::int64_t width) {
    const std::int64_t graphs = graphs_of(batch);
    const std::int64_t first = index * graphs, last = std::min(batch.graphs, first + graphs);
    begin = first * batch.nodes;
    rows = (last - first) * batch.nodes;
    range = {&batch.normalised, begin, begin + rows, width};
  }
  static std::int64_t graphs_of(const GroupBatch& batch) {
    return std::max<std::int64_t>(1, kBlockRows / std::max<std::int64_t>(1, batch.nodes));
  }
  static std::int64_t count(const GroupBatch& batch) {
    return (batch.graphs + graphs_of(batch) - 1) / graphs_of(batch);
  }
  at::Tensor of(const at::Tensor& all, std::int64_t step) const {
    return all.select(0, step).narrow(0, begin, rows);
  }
};

// Calls body(block index) for every block, on as many threads as LibTorch has.
template <class Body>
void for_blocks_of(const GroupBatch& batch, const Body& body) {
  at::parallel_for(0, Block::count(batch), 1, [&](std::int64_t from, std::int64_t to) {
    const at::NoGradGuard no_graph;
    for (std::int64_t i = from; i < to; ++i) body(i);
  });
}

void run_block(const Block& block, const StepWeights& w, std::int64_t steps, Kept& kept,
               bool differentiated) {
  const std::int64_t d = w.weight.size(1), rows = block.rows;
  at::Tensor product = floats_of({rows, d}), input = floats_of({rows, 3 * d}),
             hidden = floats_of({rows, 3 * d});
  // Without a backward pass all steps share two buffers.
  const auto place = [&](std::int64_t step) { return differentiated ? step : step % 2; };
  for (std::int64_t s = 0; s < steps; ++s) {
    const at::Tensor x = block.of(kept.states, place(s));
    at::Tensor next = block.of(kept.states, place(s + 1)),
               y = block.of(kept.messages, differentiated ? s : 0);
    at::mm_out(product, x, w.weight);
    kernels::aggregate_leaky(block.range, floats_in(product), floats_in(w.bias),
                             y.mutable_data_ptr<float>());
    at::addmm_out(input, w.ih_bias, x, w.ih.t());
    at::addmm_out(hidden, w.hh_bias, y, w.hh.t());
    unit::gru({rows, d, 0, {}}, floats_in(input), floats_in(hidden), floats_in(y),
              next.mutable_data_ptr<float>(),
              differentiated ? block.of(kept.gates, s).mutable_data_ptr<float>() : nullptr);
  }
}

// Which gradients are wanted, and the weights' sums over one block.
struct Wanted {
  bool states, convolution, unit;
};
struct WeightGradients {
  at::Tensor weight, bias, ih, hh, ih_bias, hh_bias;

  explicit WeightGradients(const StepWeights& like)
      : weight(at::zeros_like(like.weight)),
        bias(at::zeros_like(like.bias)),
        ih(at::zeros_like(like.ih)),
        hh(at::zeros_like(like.hh)),
        ih_bias(at::zeros_like(like.ih_bias)),
        hh_bias(at::zeros_like(like.hh_bias)) {}
  void add(const WeightGradients& other) {
    weight += other.weight;
    bias += other.bias;
    ih += other.ih;
    hh += other.hh;
    ih_bias += other.ih_bias;
    hh_bias += other.hh_bias;
  }
};

// Replaces `grad`, of the last states of the block, by that of the first ones.
void run_block_backward(const Block& block, const StepWeights& w, std::int64_t steps,
                        const Kept& kept, const Wanted& wanted, at::Tensor grad,
                        WeightGradients& out) {
  const std::int64_t d = w.weight.size(1), rows = block.rows;
  at::Tensor d_input = floats_of({rows, 3 * d}), d_hidden = floats_of({rows, 3 * d}),
             d_message = floats_of({rows, d}), d_product = floats_of({rows, d});
  for (std::int64_t s = steps - 1; s >= 0; --s) {
    const at::Tensor x = block.of(kept.states, s), y = block.of(kept.messages, s);
    unit::gru_backward({rows, d, 0, {}}, floats_in(grad), floats_in(block.of(kept.gates, s)),
                       floats_in(y), d_input.mutable_data_ptr<float>(),
                       d_hidden.mutable_data_ptr<float>(), d_message.mutable_data_ptr<float>());
    d_message.addmm_(d_hidden, w.hh);
    kernels::leaky_backward(floats_in(y), rows, d, d_message.mutable_data_ptr<float>(),
                            out.bias.mutable_data_ptr<float>());
    kernels::aggregate(block.range, floats_in(d_message), d_product.mutable_data_ptr<float>());
    if (wanted.convolution) out.weight.addmm_(x.t(), d_product);
    if (wanted.unit) {
      out.ih.addmm_(d_input.t(), x);
      out.hh.addmm_(d_hidden.t(), y);
      unit::add_column_sums(floats_in(d_input), rows, 3 * d, out.ih_bias.mutable_data_ptr<float>());
      unit::add_column_sums(floats_in(d_hidden), rows, 3 * d,
                            out.hh_bias.mutable_data_ptr<float>());
    }
    if (s == 0 && !wanted.states) break;
    at::mm_out(grad, d_input, w.ih);
    grad.addmm_(d_product, w.weight.t());
  }
}

struct TiedSteps : ::torch::autograd::Function<TiedSteps> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& given, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& ih, const at::Tensor& hh,
                            const at::Tensor& ih_bias, const at::Tensor& hh_bias,
                            bool differentiated, std::int64_t steps,
                            const std::shared_ptr<const GroupBatch>& batch) {
    const StepWeights w{weight, bias, ih, hh, ih_bias, hh_bias};
    const std::int64_t rows = given.size(0), d = given.size(1);
    const std::int64_t copies = differentiated ? steps : 1;
    Kept kept{KeptMemory::floats({copies + 1, rows, d}), KeptMemory::floats({copies, rows, d}),
              differentiated ? KeptMemory::floats({steps, rows, 4 * d}) : at::Tensor()};
    kept.states.select(0, 0).copy_(given);
    for_blocks_of(*batch, [&](std::int64_t index) {
      run_block(Block(*batch, index, d), w, steps, kept, differentiated);
    });
    const at::Tensor out = kept.states.select(0, differentiated ? steps : steps % 2).clone();
    if (differentiated) {
      ctx->saved_data["steps"] = steps;
      ctx->saved_data["batch"] = c10::IValue::make_capsule(c10::make_intrusive<BatchHolder>(batch));
      ctx->save_for_backward(
          {kept.states, kept.messages, kept.gates, weight, bias, ih, hh, ih_bias, hh_bias});
    }
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const std::int64_t steps = ctx->saved_data["steps"].toInt();
    const std::shared_ptr<const GroupBatch> batch =
        static_cast<BatchHolder*>(ctx->saved_data["batch"].toCapsule().get())->batch;
    const variable_list saved = ctx->get_saved_variables();
    const Kept kept{saved[0], saved[1], saved[2]};
    const StepWeights w{saved[3], saved[4], saved[5], saved[6], saved[7], saved[8]};
    const Wanted wanted{ctx->needs_input_grad(0), ctx->needs_input_grad(1),
                        ctx->needs_input_grad(3)};
    at::Tensor grad = grads[0].contiguous().clone();
    // A sum for each block, added in their order: results do not depend on the number of threads.
    std::vector<WeightGradients> sums;
    for (std::int64_t i = 0; i < Block::count(*batch); ++i) sums.emplace_back(w);
    for_blocks_of(*batch, [&](std::int64_t index) {
      const Block block(*batch, index, w.weight.size(1));
      run_block_backward(block, w, steps, kept, wanted, grad.narrow(0, block.begin, block.rows),
                         sums[static_cast<std::size_t>(index)]);
    });
    for (std::size_t i = 1; i < sums.size(); ++i) sums[0].add(sums[i]);
    const WeightGradients& out = sums.front();
    return {wanted.states ? grad : at::Tensor(),
            out.weight,
            out.bias,
            out.ih,
            out.hh,
            out.ih_bias,
            out.hh_bias,
            at::Tensor(),
            at::Tensor(),
            at::Tensor()};
  }
};

}  // namespace

KeptMemory::KeptMemory() : outer_(innermost) {
  innermost = this;
}

KeptMemory::~KeptMemory() {
  innermost = outer_;
}

at::Tensor KeptMemory::floats(at::IntArrayRef shape) {
  if (!innermost) return floats_of(shape);
  // Graphs hold the tensor itself or, detached, its memory.
  for (const at::Tensor& spare : innermost->pool_)
    if (spare.sizes() == shape && spare.use_count() == 1 && spare.storage().use_count() == 1)
      return spare;
  innermost->pool_.push_back(floats_of(shape));
  return innermost->pool_.back();
}

at::Tensor tied_steps(std::shared_ptr<const GroupBatch> batch, const at::Tensor& states,
                      const StepWeights& weights, std::int64_t steps) {
  if (steps <= 0) return states;
  if (states.dim() != 2 || states.size(0) != batch->rows() ||
      states.size(1) != weights.weight.size(0) || weights.weight.size(0) != weights.weight.size(1))
    throw Error(OMEN_INVALID_ARGUMENT, "states or weights do not fit the graphs");
  const bool differentiated =
      at::GradMode::is_enabled() &&
      (states.requires_grad() || weights.weight.requires_grad() || weights.ih.requires_grad());
  return torch_kit::recorded<TiedSteps>(states, weights.weight, weights.bias, weights.ih,
                                        weights.hh, weights.ih_bias, weights.hh_bias,
                                        differentiated, steps, std::move(batch));
}

}  // namespace omen::driple
