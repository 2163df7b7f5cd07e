// SPDX-License-Identifier: Apache-2.0
// Loops of one propagation step on plain memory; rows are `width` floats.
#pragma once

#include <cstdint>

#include "omen/torch/nn/message_plan.hpp"

namespace omen::torch_kit::nn::kernels {

// Keeps each number with probability 1 - p and scales it by 1 / (1 - p). What is kept follows from
// the seed and the place of the number, so that backward needs no mask.
struct Dropout {
  std::uint32_t seed = 0;
  float p = 0;
};

// to[i] = dropped from[rows[i]] for i in [begin, end); rows null: row i itself. The place of a
// number is that in `from`. `to` starts at row `begin`.
void gather(const float* from, const std::int32_t* rows, std::int64_t begin, std::int64_t end,
            std::int64_t width, Dropout dropout, float* to);
// The adjoint: to[rows[i]] += dropped from[i].
void scatter_add(const float* from, const std::int32_t* rows, std::int64_t begin, std::int64_t end,
                 std::int64_t width, Dropout dropout, float* to);

// to[v] = mean of messages[pair] * gates[gate] over the incoming edges of row v; gates null: 1.
void gated_mean(const MessagePlan& plan, const float* messages, const float* gates,
                std::int64_t width, float* to);
// For pairs [begin, end): gradients of their messages, from row 0 of `to` on, and of the gates
// (added; both null where there are none).
void gated_mean_backward(const MessagePlan& plan, const float* grad, const float* messages,
                         const float* gates, std::int64_t begin, std::int64_t end,
                         std::int64_t width, float* to, float* grad_gates);

// Gated recurrent unit on `rows` rows with LibTorch's order of gates (reset, update, new). `input`
// and `hidden` are the [rows, 3 width] products with the biases added. `kept` gets reset, update,
// new and the hidden part of new, [rows, 4 width]; null where nothing is differentiated.
// first_row is the place of row 0 for the dropout of the result.
struct GruRows {
  std::int64_t rows = 0, width = 0, first_row = 0;
  Dropout dropout;
};
void gru(const GruRows& shape, const float* input, const float* hidden, const float* state,
         float* to, float* kept);
// Gradients of input, hidden and state (overwritten).
void gru_backward(const GruRows& shape, const float* grad, const float* kept, const float* state,
                  float* grad_input, float* grad_hidden, float* grad_state);

// to[c] += sum over the rows of from[r, c].
void add_column_sums(const float* from, std::int64_t rows, std::int64_t width, float* to);

}  // namespace omen::torch_kit::nn::kernels
