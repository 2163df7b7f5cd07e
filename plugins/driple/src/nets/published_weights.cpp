// SPDX-License-Identifier: Apache-2.0
// Both kinds of files become named tensors, and these fill a network.
#include "nets/published_weights.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/torch/torch_file.hpp"

namespace omen::driple {
namespace {

constexpr const char* kLastLayer = "graph_read_out.mlp.fully_connected.2.linear.weight";
constexpr const char* kFirstLayer = "conv_layers.0.W";

[[noreturn]] void unlike_published(const std::string& path, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, path + ": " + what,
              "Give the state dictionary of a published gcn, such as pre-train.pkl.");
}

using Tensors = std::map<std::string, at::Tensor>;

Tensors read_safetensors(const std::string& path) {
  const container::Reader file = container::Reader::open(path);
  Tensors tensors;
  for (const container::Entry& entry : file.entries()) {
    if (entry.dtype != "F32") unlike_published(path, entry.name + " is not of type F32");
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(at::kFloat));
    std::memcpy(tensor.mutable_data_ptr<float>(), file.bytes(entry),
                static_cast<std::size_t>(tensor.numel()) * sizeof(float));
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

Tensors read_tensors(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".safetensors") return read_safetensors(path);
  Tensors tensors;
  for (torch_kit::NamedTensor& entry : torch_kit::read_torch_file(path))
    tensors.emplace(entry.name, std::move(entry.tensor));
  return tensors;
}

// Rows of outputs or columns of states, read before there is a network to compare with.
std::int64_t size_in(const std::string& path, const Tensors& tensors, const char* name,
                     std::int64_t dimension) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) unlike_published(path, std::string("there is no tensor ") + name);
  if (at->second.dim() != 2) unlike_published(path, std::string(name) + " is no matrix");
  return at->second.size(dimension);
}

}  // namespace

std::unique_ptr<Network> published_network(const std::string& path) {
  Tensors tensors = read_tensors(path);
  NetworkOptions options;
  options.outputs = size_in(path, tensors, kLastLayer, 0);
  options.layer.hidden = size_in(path, tensors, kFirstLayer, 1);
  if (options.outputs < 1 || options.outputs > 4096 || options.layer.hidden < 1 ||
      options.layer.hidden > 4096)
    unlike_published(path, "its layers have no usual width");
  auto network = std::make_unique<Network>(options);
  const at::NoGradGuard no_graph;
  for (const torch_kit::NamedTensor& entry : network->state().entries()) {
    const auto given = tensors.find(entry.name);
    if (given == tensors.end()) unlike_published(path, "there is no tensor " + entry.name);
    if (given->second.sizes() != entry.tensor.sizes() || given->second.scalar_type() != at::kFloat)
      unlike_published(path, entry.name + " has another shape or type");
    at::Tensor(entry.tensor).copy_(given->second);
    tensors.erase(given);
  }
  if (!tensors.empty())
    unlike_published(path, "the network has no tensor " + tensors.begin()->first);
  return network;
}

}  // namespace omen::driple
