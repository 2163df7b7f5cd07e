// SPDX-License-Identifier: Apache-2.0
// Options, weights and text of networks in artifacts.
#include "omen/torch/nn/saving.hpp"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "omen/error.hpp"
#include "omen/join.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit::nn {
namespace {

constexpr const char* kLayout = "1";
constexpr const char* kStatePrefix = "state.";

void put_bytes(ArtifactWriter& out, const std::string& name, const at::Tensor& matrix) {
  const at::Tensor scale = matrix.abs().amax(1).clamp_min(1e-30) / 127;
  put_tensor(out, name, (matrix / scale.unsqueeze(1)).round().to(at::kChar));
  put_tensor(out, name + ".scale", scale);
}

}  // namespace

Precision precision_named(const std::string& name) {
  if (name == "single") return Precision::kSingle;
  if (name == "half") return Precision::kHalf;
  if (name == "byte") return Precision::kByte;
  throw Error(OMEN_INVALID_ARGUMENT, "precision '" + name + "' is unknown",
              "Take single, half or byte.");
}

void save_weights(const Network& network, ArtifactWriter& out, Precision precision) {
  for (const NamedTensor& entry : network.state().entries()) {
    const at::Tensor tensor = entry.tensor.detach();
    const std::string name = kStatePrefix + entry.name;
    if (precision == Precision::kSingle)
      put_tensor(out, name, tensor);
    else if (precision == Precision::kByte && tensor.dim() == 2)
      put_bytes(out, name, tensor);
    else
      put_tensor(out, name, entry.trainable ? tensor.to(at::kHalf) : tensor);
  }
}

void load_weights(const Network& network, const ArtifactReader& in) {
  std::vector<at::Tensor> stored;
  for (const NamedTensor& entry : network.state().entries()) {
    const std::string name = kStatePrefix + entry.name;
    const at::Tensor tensor = get_tensor(in, name);
    stored.push_back(tensor.to(at::kFloat));
    if (tensor.scalar_type() == at::kChar)
      stored.back().mul_(get_tensor(in, name + ".scale").unsqueeze(1));
  }
  network.state().restore(stored);
}

void save_options(const NetworkOptions& o, ArtifactWriter& out) {
  out.put_meta("network.version", kLayout);
  out.put_meta("network.body", o.body.kind);
  out.put_meta("network.pooling", o.pooling);
  out.put_meta("network.extended", o.extended ? "1" : "0");
  out.put_meta("network.width", std::to_string(o.body.width));
  out.put_meta("network.steps", std::to_string(o.body.steps));
  out.put_meta("network.hidden", std::to_string(o.hidden));
  out.put_meta("network.backward_edges", o.body.backward_edges ? "1" : "0");
  out.put_meta("network.gates", o.body.gates ? "1" : "0");
  put_number(out, "network.dropout.message", o.body.message_dropout);
  put_number(out, "network.dropout.state", o.body.state_dropout);
  put_number(out, "network.dropout.readout", o.readout_dropout);
  put_number(out, "network.dropout.gate", o.gate_dropout);
}

NetworkOptions load_options(const ArtifactReader& in) {
  if (const std::string layout = in.meta("network.version"); layout != kLayout)
    throw Error(OMEN_INVALID_DATA, "the model has layout " + layout + ", this plugin reads 1",
                "Train it again with this version.");
  NetworkOptions o;
  o.body.kind = in.meta("network.body");
  o.pooling = in.meta("network.pooling");
  o.extended = in.meta("network.extended") == "1";
  o.body.width = get_count(in, "network.width", 4096);
  o.body.steps = get_count(in, "network.steps", 1000);
  o.hidden = get_count(in, "network.hidden", 65536);
  o.body.backward_edges = in.meta("network.backward_edges") == "1";
  o.body.gates = in.meta("network.gates") == "1";
  o.body.message_dropout = get_number(in, "network.dropout.message");
  o.body.state_dropout = get_number(in, "network.dropout.state");
  o.readout_dropout = get_number(in, "network.dropout.readout");
  o.gate_dropout = get_number(in, "network.dropout.gate");
  return o;
}

void put_number(ArtifactWriter& out, const std::string& key, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  out.put_meta(key, text);
}

double get_number(const ArtifactReader& in, const std::string& key) {
  const std::string text = in.meta(key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw Error(OMEN_INVALID_DATA, "model metadata '" + key + "' is '" + text + "', not a number");
  return value;
}

std::int64_t get_count(const ArtifactReader& in, const std::string& key, std::int64_t largest) {
  const double value = get_number(in, key);
  if (!(value >= 0 && value <= static_cast<double>(largest)))
    throw Error(OMEN_INVALID_DATA, "model metadata '" + key + "' is out of range");
  return static_cast<std::int64_t>(value);
}

void put_lines(ArtifactWriter& out, const std::string& name,
               const std::vector<std::string>& lines) {
  out.put_text(name, join_lines(lines));
}

std::vector<std::string> get_lines(const ArtifactReader& in, const std::string& name) {
  const std::string text = in.text(name);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace omen::torch_kit::nn
