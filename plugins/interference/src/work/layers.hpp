// SPDX-License-Identifier: Apache-2.0
// Weights drawn from a seed and the few layers that the cases are made of.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace omen::interference {

// Draws tensors; those that are trained are kept for the optimiser.
class Weights {
 public:
  explicit Weights(std::uint64_t seed);
  // Normal, with the deviation that keeps the scale of what `inputs` values add up to.
  at::Tensor trained(at::IntArrayRef shape, std::int64_t inputs);
  at::Tensor trained_constant(at::IntArrayRef shape, double value);
  at::Tensor frozen(at::IntArrayRef shape, std::int64_t inputs);
  at::Tensor normal(at::IntArrayRef shape);
  at::Tensor uniform(at::IntArrayRef shape);
  // From 0 to `end`, without it.
  at::Tensor integers(std::int64_t end, at::IntArrayRef shape);
  // What was trained since the last call.
  std::vector<at::Tensor> take();

 private:
  at::Generator generator_;
  std::vector<at::Tensor> kept_;
};

// Each value over the mean and deviation of its channel in this batch, scaled.
class BatchNorm {
 public:
  BatchNorm(Weights& weights, std::int64_t channels);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor scale_, shift_;
};

// A frozen convolution of each channel and one across them, with rectifiers that end at 6.
class FrozenSeparable {
 public:
  FrozenSeparable(Weights& weights, std::int64_t in, std::int64_t out, std::int64_t stride);
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor each_, across_;
  std::int64_t stride_;
};

}  // namespace omen::interference
