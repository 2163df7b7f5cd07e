// SPDX-License-Identifier: Apache-2.0
// Compares the gradients of a function with central differences in double precision.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace omen::torch_kit::testing {

using TensorFunction = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

/// A weighted sum of all outputs, so that errors of different elements cannot cancel.
inline double scalar_of(const at::Tensor& y, const at::Tensor& weights) {
  return (y * weights).sum().item<double>();
}

/// `inputs` are double tensors; every one is perturbed element by element.
inline void expect_gradients(const TensorFunction& f, std::vector<at::Tensor> inputs,
                             double tolerance = 1e-6) {
  for (at::Tensor& x : inputs) x = x.detach().clone().set_requires_grad(true);
  const at::Tensor y = f(inputs);
  const at::Tensor weights = at::randn(y.sizes(), y.options());
  (y * weights).sum().backward();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(inputs[i].grad().defined()) << "input " << i << " got no gradient";
    const at::Tensor analytic = inputs[i].grad().contiguous();
    at::Tensor base = inputs[i].detach();
    for (std::int64_t k = 0; k < base.numel(); ++k) {
      constexpr double kStep = 1e-5;
      double* value = base.mutable_data_ptr<double>() + k;
      const double original = *value;
      *value = original + kStep;
      const double up = scalar_of(f(inputs), weights);
      *value = original - kStep;
      const double down = scalar_of(f(inputs), weights);
      *value = original;
      const double numeric = (up - down) / (2 * kStep);
      const double exact = analytic.const_data_ptr<double>()[k];
      ASSERT_NEAR(exact, numeric, tolerance * std::max(1.0, std::abs(numeric)))
          << "input " << i << ", element " << k;
    }
  }
}

inline at::Tensor doubles(at::IntArrayRef shape) {
  return at::randn(shape, at::TensorOptions().dtype(at::kDouble));
}

inline at::Tensor indices(std::vector<std::int64_t> values) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

}  // namespace omen::torch_kit::testing
