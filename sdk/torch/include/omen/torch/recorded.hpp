// SPDX-License-Identifier: Apache-2.0
// Runs an autograd function, with a node in the graph only where a gradient will be asked for.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

namespace omen::torch_kit {

inline bool asks_gradient(const at::Tensor& t) {
  return t.defined() && t.requires_grad();
}
inline bool asks_gradient(const std::optional<at::Tensor>& t) {
  return t && asks_gradient(*t);
}
template <class Other>
bool asks_gradient(const Other&) {
  return false;
}

// LibTorch makes a node for every call and releases an unused one at once, in a noexcept function
// that allocates: a process that runs out of memory there ends instead of failing.
template <class Operation, class... Args>
auto recorded(Args&&... args) {
  if (at::GradMode::is_enabled() && (asks_gradient(args) || ...))
    return Operation::apply(std::forward<Args>(args)...);
  ::torch::autograd::AutogradContext unused;
  return Operation::forward(&unused, std::forward<Args>(args)...);
}

}  // namespace omen::torch_kit
