// SPDX-License-Identifier: Apache-2.0
// The named tensors of a model, and their way into and out of artifacts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "omen/artifact.hpp"

namespace omen::torch_kit {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
  bool trainable = false;
};

/// Tensors under unique names in the order in which they were added. Holds references: a module
/// and its StateDict see the same memory, and loading writes into it.
class StateDict {
 public:
  /// Adds a tensor that training changes; it must be a floating leaf and gets requires_grad.
  void add_parameter(std::string name, at::Tensor tensor);
  /// Adds a tensor that is kept but not trained: statistics, scalers, tables.
  void add_buffer(std::string name, at::Tensor tensor);

  const std::vector<NamedTensor>& entries() const { return entries_; }
  /// Throws OMEN_NOT_FOUND where there is no such tensor.
  const at::Tensor& at(const std::string& name) const;
  std::vector<at::Tensor> parameters() const;
  /// Numbers in all trainable tensors.
  std::int64_t parameter_count() const;

  /// Copies of all tensors, without gradients.
  std::vector<at::Tensor> snapshot() const;
  /// Writes a snapshot of this or an equal model back.
  void restore(const std::vector<at::Tensor>& snapshot) const;

 private:
  void add(std::string name, at::Tensor tensor, bool trainable);
  std::vector<NamedTensor> entries_;
};

/// Parameters and buffers of a torch::nn::Module, by their names in it. A template so that this
/// header does not include the module headers.
template <class Module>
StateDict state_dict_of(const Module& module) {
  StateDict state;
  for (const auto& item : module.named_parameters()) state.add_parameter(item.key(), item.value());
  for (const auto& item : module.named_buffers()) state.add_buffer(item.key(), item.value());
  return state;
}

/// One tensor to and from an artifact. Reading copies, since the artifact's memory is borrowed;
/// OMEN_INVALID_DATA for a type that tensors do not have.
void put_tensor(ArtifactWriter& out, const std::string& name, const at::Tensor& tensor);
at::Tensor get_tensor(const ArtifactReader& in, const std::string& name);

/// Every tensor of a model as `<prefix><name>`.
void save_state(const StateDict& state, ArtifactWriter& out, const std::string& prefix = {});

/// Fills the tensors of `state` in place; further tensors of the artifact are ignored. Everything
/// is checked before anything is written: OMEN_NOT_FOUND for a missing tensor, OMEN_INVALID_DATA
/// for another type or shape.
void load_state(const StateDict& state, const ArtifactReader& in, const std::string& prefix = {});

}  // namespace omen::torch_kit
