// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as tensors that index rows.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace omen::torch_kit::nn {

template <class T>
at::Tensor index_tensor(const std::vector<T>& values) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

}  // namespace omen::torch_kit::nn
