// SPDX-License-Identifier: Apache-2.0
// Seeded tensors and layers over ATen's operators.
#include "work/layers.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <cmath>

namespace omen::interference {

Weights::Weights(std::uint64_t seed) : generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor Weights::normal(at::IntArrayRef shape) {
  return at::randn(shape, generator_);
}
at::Tensor Weights::uniform(at::IntArrayRef shape) {
  return at::rand(shape, generator_);
}
at::Tensor Weights::integers(std::int64_t end, at::IntArrayRef shape) {
  return at::randint(end, shape, generator_, at::kLong);
}

at::Tensor Weights::frozen(at::IntArrayRef shape, std::int64_t inputs) {
  return normal(shape).mul(std::sqrt(2.0 / static_cast<double>(inputs)));
}

at::Tensor Weights::trained(at::IntArrayRef shape, std::int64_t inputs) {
  kept_.push_back(frozen(shape, inputs).set_requires_grad(true));
  return kept_.back();
}

at::Tensor Weights::trained_constant(at::IntArrayRef shape, double value) {
  kept_.push_back(at::full(shape, value).set_requires_grad(true));
  return kept_.back();
}

std::vector<at::Tensor> Weights::take() {
  return std::exchange(kept_, {});
}

BatchNorm::BatchNorm(Weights& weights, std::int64_t channels)
    : scale_(weights.trained_constant({channels}, 1)),
      shift_(weights.trained_constant({channels}, 0)) {}

at::Tensor BatchNorm::operator()(const at::Tensor& x) const {
  return at::batch_norm(x, scale_, shift_, {}, {}, true, 0.1, 1e-5, false);
}

FrozenSeparable::FrozenSeparable(Weights& weights, std::int64_t in, std::int64_t out,
                                 std::int64_t stride)
    : each_(weights.frozen({in, 1, 3, 3}, 9)),
      across_(weights.frozen({out, in, 1, 1}, in)),
      stride_(stride) {}

at::Tensor FrozenSeparable::operator()(const at::Tensor& x) const {
  const at::Tensor own = at::hardtanh(
      at::conv2d(x, each_, {}, {stride_, stride_}, {1, 1}, {1, 1}, each_.size(0)), 0, 6);
  return at::hardtanh(at::conv2d(own, across_), 0, 6);
}

}  // namespace omen::interference
