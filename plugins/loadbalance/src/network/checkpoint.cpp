// SPDX-License-Identifier: Apache-2.0
// Reading checkpoints, and finding the network in their names and shapes.
#include "network/checkpoint.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "omen/error.hpp"
#include "omen/torch/torch_file.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using torch_kit::kLargestTensor;
using torch_kit::NamedTensor;

[[noreturn]] void bad_file(const std::string& path, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, path + ": " + what,
              "Give a file of torch.save, or a directory with manifest.txt and raw tensors.");
}

std::vector<char> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_NOT_FOUND, "cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

NamedTensor read_raw(const fs::path& directory, const std::string& line) {
  std::istringstream words(line);
  std::string name, type;
  words >> name >> type;
  std::vector<std::int64_t> shape;
  std::int64_t numbers = 1;
  for (std::int64_t size = 0; words >> size;) {
    if (size < 0 || size > kLargestTensor ||
        (numbers *= std::max<std::int64_t>(1, size)) > kLargestTensor)
      bad_file(directory.string(), "tensor " + name + " is too large");
    shape.push_back(size);
  }
  if (type != "f32" && type != "i64")
    bad_file(directory.string(), "tensor " + name + " has type '" + type + "', not f32 or i64");
  if (name.find('/') != name.npos) bad_file(directory.string(), "tensor " + name + " is a path");
  at::Tensor tensor =
      at::empty(shape, at::TensorOptions().dtype(type == "f32" ? at::kFloat : at::kLong));
  const fs::path file = directory / (name + ".bin");
  const std::vector<char> bytes = bytes_of(file);
  if (bytes.size() != tensor.nbytes())
    bad_file(file.string(), "has " + std::to_string(bytes.size()) + " bytes, expected " +
                                std::to_string(tensor.nbytes()));
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return {name, tensor, false};
}

std::vector<NamedTensor> read_directory(const fs::path& directory) {
  std::ifstream manifest(directory / "manifest.txt");
  if (!manifest) bad_file(directory.string(), "has no manifest.txt");
  std::vector<NamedTensor> tensors;
  for (std::string line; std::getline(manifest, line);) {
    if (line.empty()) continue;
    // The sinusoids of positions are computed, not read.
    if (line.find("position_embs") != line.npos) continue;
    tensors.push_back(read_raw(directory, line));
  }
  return tensors;
}

// Our names of theirs.
const std::map<std::string, std::string>& names() {
  static const std::map<std::string, std::string> table = [] {
    std::map<std::string, std::string> t = {
        {"node_embeddings.embedding_layer.weight", "embedding"},
        {"readout.batch_normalization.weight", "readout.norm.weight"},
        {"readout.batch_normalization.bias", "readout.norm.bias"},
        {"readout.batch_normalization.running_mean", "readout.norm.mean"},
        {"readout.batch_normalization.running_var", "readout.norm.variance"}};
    for (const char* layer : {"1", "2"}) {
      const std::string theirs = std::string("mp") + layer + ".",
                        ours = std::string("layer") + layer + ".";
      for (const char* part : {"weight", "bias"}) {
        t[theirs + "linear_net.linear_layer." + part] = ours + "message." + part;
        t[theirs + "pos_transform.linear_layer." + part] = ours + "gate." + part;
      }
      for (const char* part : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
        t[theirs + "gru.gru_layer." + part] = ours + "update." + part;
    }
    // Behind each hidden layer stand a rectifier and a dropout.
    for (int layer = 0; layer < 3; ++layer)
      for (const char* part : {"weight", "bias"})
        t["readout.feed_forward." + std::to_string(3 * layer) + "." + part] =
            "readout." + std::to_string(layer) + "." + part;
    return t;
  }();
  return table;
}

bool is_parameter(const NamedTensor& tensor) {
  return tensor.tensor.is_floating_point() && tensor.name.find("running_") == std::string::npos &&
         tensor.name.find("position_embs") == std::string::npos;
}

std::vector<nn::Target> targets_for(std::int64_t outputs) {
  if (outputs == 1)
    return {{.name = "share", .metadata = {{"omen.unit", "%"}, {"omen.direction", "higher"}}}};
  if (outputs == 5) return {{.name = "share_class", .classes = {"0", "25", "50", "75", "100"}}};
  throw Error(OMEN_INVALID_DATA, "the checkpoint has " + std::to_string(outputs) +
                                     " outputs; 1 (share) and 5 (classes of the share) are known");
}

}  // namespace

std::vector<NamedTensor> read_checkpoint(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_directory(path);
  if (!fs::exists(path, ignored))
    throw Error(OMEN_NOT_FOUND, "there is no checkpoint " + path, "Look at the spelling.");
  return torch_kit::read_torch_file(path);
}

ConvertedCheckpoint convert_checkpoint(const std::vector<NamedTensor>& tensors,
                                       const Vocabulary& words) {
  ConvertedCheckpoint out;
  std::map<std::string, at::Tensor> ours;
  for (const NamedTensor& tensor : tensors) {
    const auto known = names().find(tensor.name);
    if (is_parameter(tensor)) out.parameters += tensor.tensor.numel();
    if (known != names().end())
      ours[known->second] = tensor.tensor.to(at::kFloat);
    else if (is_parameter(tensor))
      out.unused.push_back(tensor.name);
  }
  for (const auto& [theirs, name] : names())
    if (!ours.count(name))
      throw Error(OMEN_INVALID_DATA, "the checkpoint has no tensor " + theirs,
                  "Only networks with skips and the extended readout can be converted.");
  NetworkModel& model = out.model;
  model.options.body.width = ours["embedding"].size(1);
  model.options.hidden = ours["readout.0.weight"].size(0);
  model.options.body.backward_edges =
      ours["layer1.message.weight"].size(0) == 2 * kFlows * model.options.body.width;
  model.options.body.steps =
      (ours["readout.0.weight"].size(1) - kAuxiliary) / model.options.body.width;
  model.words = words;
  model.targets = targets_for(ours["readout.2.weight"].size(0));
  if (ours["embedding"].size(0) != words.unknown() + 1)
    throw Error(OMEN_INVALID_DATA,
                "the checkpoint knows " + std::to_string(ours["embedding"].size(0) - 1) +
                    " texts, the vocabulary has " + std::to_string(words.unknown()),
                "Give the vocabulary that it was trained with.");
  model.build();
  std::vector<at::Tensor> values;
  for (const NamedTensor& entry : model.network->state().entries())
    values.push_back(ours[entry.name]);
  model.network->state().restore(values);
  return out;
}

}  // namespace omen::loadbalance
