// SPDX-License-Identifier: Apache-2.0
// The message passing layer of ProGraML: linear maps by relation, gates by position, mean, GRU.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "omen/torch/nn/message_plan.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit {
struct Batch;
}

namespace omen::torch_kit::nn {

struct PropagationOptions {
  std::int64_t width = 64;       // of a state
  std::int64_t text_width = 64;  // part of it that the sinusoids of positions span, even
  std::int64_t relations = 6;
  bool gates = true;           // messages are scaled by gates of their edge's position
  double message_dropout = 0;  // of states before the linear maps, and of sinusoids
  double state_dropout = 0;    // of states after the update
};

// The edges of a batch of GraphSet for one step; the set was made with reverse as wanted.
std::shared_ptr<const MessagePlan> plan_messages(const Batch& batch, std::int64_t relations);

// One parameter set; networks apply it several times. Section 2 of arXiv:2003.10536, with the gate
// after the linear map as both of its programs have it. float32 on the CPU; only pairs (state,
// relation) with edges and gates of positions that occur are computed, forward and backward. It can
// be differentiated once. aggregate_gated of message_passing.hpp stays beside it: it reduces rows
// of any type on any device, while a step here never makes the rows of pairs that send nothing,
// lets equal nodes share a row, and draws dropout anew in place of keeping masks.
class Propagation {
 public:
  // Adds its tensors to `state` as <prefix>message.{weight,bias}, <prefix>gate.{weight,bias} and
  // <prefix>update.{weight_ih,weight_hh,bias_ih,bias_hh}, drawn as LibTorch's own layers draw them.
  Propagation(const PropagationOptions& options, StateDict& state, const std::string& prefix);

  // The gates of the plan's positions, [positions, width]; undefined without gates. Compute them
  // once for all steps over plans of the same graphs.
  at::Tensor gates(const MessagePlan& plan, bool training) const;

  // States [rows_in, width] to [rows_out, width]. The plan must outlive the backward pass, hence
  // the shared pointer. Dropout draws from LibTorch's generator while training.
  at::Tensor step(std::shared_ptr<const MessagePlan> plan, const at::Tensor& states,
                  const at::Tensor& gates, bool training) const;

  // What the update of a step takes in: the mean of the gated messages to each row, [rows_out,
  // width], without dropout.
  at::Tensor receive(std::shared_ptr<const MessagePlan> plan, const at::Tensor& states,
                     const at::Tensor& gates) const;

  const PropagationOptions& options() const { return options_; }

 private:
  PropagationOptions options_;
  at::Tensor message_weight_, message_bias_, gate_weight_, gate_bias_;
  at::Tensor weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

// Sinusoids of the positions, [positions, width]: sines in the first half of text_width, cosines in
// the second, zeros behind it.
at::Tensor position_table(const std::vector<std::int32_t>& positions, std::int64_t text_width,
                          std::int64_t width);

// A parameter drawn evenly between -bound and bound.
at::Tensor uniform_parameter(at::IntArrayRef shape, double bound);

}  // namespace omen::torch_kit::nn
