// SPDX-License-Identifier: Apache-2.0
// A network that tells classes of images: built in, or from a TorchScript file.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <omen/torch/state_dict.hpp>
#include <string>

namespace omen::ensemble {

struct NetworkShape {
  std::int64_t channels = 3, side = 32, classes = 10;
};

class Network {
 public:
  virtual ~Network() = default;
  // Scores of the classes for [samples, channels, side, side].
  virtual at::Tensor forward(const at::Tensor& images, bool training) = 0;
  const torch_kit::StateDict& state() const { return state_; }

 protected:
  torch_kit::StateDict state_;
};

// Weights follow from the seed alone. OMEN_NOT_FOUND for a name that is not built in.
std::unique_ptr<Network> make_built_in(const std::string& name, const NetworkShape& shape,
                                       std::uint64_t seed);
// Runs what the file says: a TorchScript file is a program, so open only those that you trust.
std::unique_ptr<Network> open_torch_script(const std::string& path);

}  // namespace omen::ensemble
