// SPDX-License-Identifier: Apache-2.0
// Named tensors to and from artifacts.
#include "omen/torch/state_dict.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <utility>

namespace omen::torch_kit {
namespace {

struct Dtype {
  at::ScalarType type;
  const char* name;
};

constexpr Dtype kDtypes[] = {{at::kFloat, "F32"},    {at::kDouble, "F64"}, {at::kLong, "I64"},
                             {at::kInt, "I32"},      {at::kShort, "I16"},  {at::kChar, "I8"},
                             {at::kByte, "U8"},      {at::kBool, "BOOL"},  {at::kHalf, "F16"},
                             {at::kBFloat16, "BF16"}};

const char* dtype_name(at::ScalarType type) {
  for (const Dtype& d : kDtypes)
    if (d.type == type) return d.name;
  throw Error(OMEN_UNSUPPORTED,
              std::string("artifacts do not hold tensors of type ") + at::toString(type));
}

at::ScalarType dtype_named(const std::string& name, const std::string& tensor) {
  for (const Dtype& d : kDtypes)
    if (name == d.name) return d.type;
  throw Error(OMEN_INVALID_DATA, "tensor '" + tensor + "' has unknown type " + name);
}

std::string shape_text(at::IntArrayRef shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Refuses what copy_ would silently convert or broadcast.
void require_same_kind(const at::Tensor& stored, const at::Tensor& wanted,
                       const std::string& name) {
  if (stored.scalar_type() == wanted.scalar_type() && stored.sizes() == wanted.sizes()) return;
  throw Error(OMEN_INVALID_DATA,
              "tensor '" + name + "' is " + dtype_name(stored.scalar_type()) + " " +
                  shape_text(stored.sizes()) + " in the artifact, the model has " +
                  dtype_name(wanted.scalar_type()) + " " + shape_text(wanted.sizes()),
              "create the component with the options it was trained with");
}

}  // namespace

void StateDict::add(std::string name, at::Tensor tensor, bool trainable) {
  for (const NamedTensor& e : entries_)
    if (e.name == name) throw Error(OMEN_INVALID_ARGUMENT, "model has two tensors '" + name + "'");
  entries_.push_back({std::move(name), std::move(tensor), trainable});
}

void StateDict::add_parameter(std::string name, at::Tensor tensor) {
  if (!tensor.is_leaf() || !tensor.is_floating_point())
    throw Error(OMEN_INVALID_ARGUMENT, "parameter '" + name + "' is not a floating leaf tensor");
  tensor.set_requires_grad(true);
  add(std::move(name), std::move(tensor), true);
}

void StateDict::add_buffer(std::string name, at::Tensor tensor) {
  add(std::move(name), std::move(tensor), false);
}

const at::Tensor& StateDict::at(const std::string& name) const {
  for (const NamedTensor& e : entries_)
    if (e.name == name) return e.tensor;
  throw Error(OMEN_NOT_FOUND, "model has no tensor '" + name + "'");
}

std::vector<at::Tensor> StateDict::parameters() const {
  std::vector<at::Tensor> out;
  for (const NamedTensor& e : entries_)
    if (e.trainable) out.push_back(e.tensor);
  return out;
}

std::int64_t StateDict::parameter_count() const {
  std::int64_t count = 0;
  for (const NamedTensor& e : entries_) count += e.trainable ? e.tensor.numel() : 0;
  return count;
}

std::vector<at::Tensor> StateDict::snapshot() const {
  std::vector<at::Tensor> out;
  for (const NamedTensor& e : entries_) out.push_back(e.tensor.detach().clone());
  return out;
}

void StateDict::restore(const std::vector<at::Tensor>& snapshot) const {
  if (snapshot.size() != entries_.size())
    throw Error(OMEN_INVALID_ARGUMENT, "snapshot has " + std::to_string(snapshot.size()) +
                                           " tensors, the model " +
                                           std::to_string(entries_.size()));
  for (std::size_t i = 0; i < entries_.size(); ++i)
    require_same_kind(snapshot[i], entries_[i].tensor, entries_[i].name);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    at::Tensor into = entries_[i].tensor;
    into.copy_(snapshot[i]);
  }
}

void put_tensor(ArtifactWriter& out, const std::string& name, const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  out.put_raw(name, dtype_name(host.scalar_type()), host.sizes().vec(), host.const_data_ptr(),
              host.nbytes());
}

at::Tensor get_tensor(const ArtifactReader& in, const std::string& name) {
  const TensorView view = in.tensor(name);
  at::Tensor tensor =
      at::empty(view.shape, at::TensorOptions().dtype(dtype_named(view.dtype, name)));
  if (tensor.nbytes() != view.size)
    throw Error(OMEN_INVALID_DATA, "tensor '" + name + "' of shape " + shape_text(view.shape) +
                                       " has " + std::to_string(view.size) + " bytes");
  if (view.size > 0) std::memcpy(tensor.mutable_data_ptr(), view.bytes, view.size);
  return tensor;
}

void save_state(const StateDict& state, ArtifactWriter& out, const std::string& prefix) {
  for (const NamedTensor& e : state.entries()) put_tensor(out, prefix + e.name, e.tensor);
}

void load_state(const StateDict& state, const ArtifactReader& in, const std::string& prefix) {
  std::vector<at::Tensor> stored;
  for (const NamedTensor& e : state.entries()) {
    stored.push_back(get_tensor(in, prefix + e.name));
    require_same_kind(stored.back(), e.tensor, prefix + e.name);
  }
  state.restore(stored);
}

}  // namespace omen::torch_kit
