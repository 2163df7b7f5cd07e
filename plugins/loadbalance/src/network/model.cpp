// SPDX-License-Identifier: Apache-2.0
// Models to and from artifacts, and their use.
#include "network/model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "omen/error.hpp"
#include "omen/join.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kVersion = "1";
constexpr std::int64_t kGroupNodes = 4096;  // graphs that are predicted together
constexpr double kMargin = 0.7;             // twice or half of what was seen is still near

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

double number_of(const ArtifactReader& in, const std::string& key) {
  const std::string text = in.meta(key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw Error(OMEN_INVALID_DATA, "model metadata '" + key + "' is '" + text + "', not a number");
  return value;
}

std::int64_t count_of(const ArtifactReader& in, const std::string& key, std::int64_t largest) {
  const double value = number_of(in, key);
  if (!(value >= 0 && value <= static_cast<double>(largest)))
    throw Error(OMEN_INVALID_DATA, "model metadata '" + key + "' is out of range");
  return static_cast<std::int64_t>(value);
}

void save_options(const NetworkModel& model, ArtifactWriter& out) {
  const NetworkOptions& o = model.options;
  out.put_meta("network.version", kVersion);
  out.put_meta("network.body", o.body.kind);
  out.put_meta("network.pooling", o.pooling);
  out.put_meta("network.extended", o.extended ? "1" : "0");
  out.put_meta("network.width", std::to_string(o.body.width));
  out.put_meta("network.steps", std::to_string(o.body.steps));
  out.put_meta("network.hidden", std::to_string(o.hidden));
  out.put_meta("network.backward_edges", o.body.backward_edges ? "1" : "0");
  out.put_meta("network.gates", o.body.gates ? "1" : "0");
  out.put_meta("network.uses_bytes", model.uses_bytes ? "1" : "0");
  const std::pair<const char*, double> rates[] = {{"message", o.body.message_dropout},
                                                  {"state", o.body.state_dropout},
                                                  {"readout", o.readout_dropout},
                                                  {"gate", o.gate_dropout}};
  for (const auto& [name, rate] : rates)
    out.put_meta(std::string("network.dropout.") + name, number_text(rate));
}

void load_options(NetworkModel& model, const ArtifactReader& in) {
  if (const std::string version = in.meta("network.version"); version != kVersion)
    throw Error(OMEN_INVALID_DATA, "the model has layout " + version + ", this plugin reads 1",
                "Train it again with this version.");
  NetworkOptions& o = model.options;
  o.body.kind = in.meta("network.body");
  o.pooling = in.meta("network.pooling");
  o.extended = in.meta("network.extended") == "1";
  o.body.width = count_of(in, "network.width", 4096);
  o.body.steps = count_of(in, "network.steps", 1000);
  o.hidden = count_of(in, "network.hidden", 65536);
  o.body.backward_edges = in.meta("network.backward_edges") == "1";
  o.body.gates = in.meta("network.gates") == "1";
  model.uses_bytes = in.meta("network.uses_bytes") == "1";
  o.body.message_dropout = number_of(in, "network.dropout.message");
  o.body.state_dropout = number_of(in, "network.dropout.state");
  o.readout_dropout = number_of(in, "network.dropout.readout");
  o.gate_dropout = number_of(in, "network.dropout.gate");
}

void save_target(const NetworkTarget& target, const std::string& prefix, ArtifactWriter& out) {
  out.put_meta(prefix + "name", target.name);
  out.put_meta(prefix + "mean", number_text(target.mean));
  out.put_meta(prefix + "scale", number_text(target.scale));
  out.put_meta(prefix + "logarithm", target.logarithm ? "1" : "0");
  out.put_text(prefix + "classes", join_lines(target.classes));
  std::vector<std::string> pairs;
  for (const auto& [key, value] : target.metadata) {
    pairs.push_back(key);
    pairs.push_back(value);
  }
  out.put_text(prefix + "metadata", join_lines(pairs));
}

NetworkTarget load_target(const std::string& prefix, const ArtifactReader& in) {
  NetworkTarget target;
  target.name = in.meta(prefix + "name");
  target.mean = number_of(in, prefix + "mean");
  target.scale = number_of(in, prefix + "scale");
  target.logarithm = in.meta(prefix + "logarithm") == "1";
  target.classes = split_lines(in.text(prefix + "classes"));
  const std::vector<std::string> pairs = split_lines(in.text(prefix + "metadata"));
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    target.metadata.emplace_back(pairs[i], pairs[i + 1]);
  return target;
}

void put_bytes(ArtifactWriter& out, const std::string& name, const at::Tensor& matrix) {
  const at::Tensor scale = matrix.abs().amax(1).clamp_min(1e-30) / 127;
  torch_kit::put_tensor(out, name, (matrix / scale.unsqueeze(1)).round().to(at::kChar));
  torch_kit::put_tensor(out, name + ".scale", scale);
}

void save_tensor(ArtifactWriter& out, const torch_kit::NamedTensor& entry,
                 NetworkModel::Precision precision) {
  const at::Tensor tensor = entry.tensor.detach();
  const std::string name = "state." + entry.name;
  if (precision == NetworkModel::Precision::kSingle)
    torch_kit::put_tensor(out, name, tensor);
  else if (precision == NetworkModel::Precision::kByte && tensor.dim() == 2)
    put_bytes(out, name, tensor);
  else
    torch_kit::put_tensor(out, name, entry.trainable ? tensor.to(at::kHalf) : tensor);
}

void load_tensors(const torch_kit::StateDict& state, const ArtifactReader& in) {
  std::vector<at::Tensor> stored;
  for (const torch_kit::NamedTensor& entry : state.entries()) {
    const at::Tensor tensor = torch_kit::get_tensor(in, "state." + entry.name);
    stored.push_back(tensor.to(at::kFloat));
    if (tensor.scalar_type() == at::kChar)
      stored.back().mul_(torch_kit::get_tensor(in, "state." + entry.name + ".scale").unsqueeze(1));
  }
  state.restore(stored);
}

}  // namespace

void NetworkModel::build() {
  options.body.words = words.unknown() + 1;
  options.outputs = 0;
  for (const NetworkTarget& target : targets) options.outputs += target.outputs();
  network = std::make_unique<Network>(options);
}

void NetworkModel::save(ArtifactWriter& out, Precision precision) const {
  save_options(*this, out);
  out.put_meta("network.lookup",
               words.lookup() == Vocabulary::Lookup::kExact ? "exact" : "similar");
  out.put_text("vocabulary", join_lines(words.texts()));
  out.put_text("compiled", join_lines(compiled));
  out.put_meta("network.targets", std::to_string(targets.size()));
  for (std::size_t i = 0; i < targets.size(); ++i)
    save_target(targets[i], "target." + std::to_string(i) + ".", out);
  out.put<double>("range", {least[0], least[1], largest[0], largest[1]});
  for (const torch_kit::NamedTensor& entry : network->state().entries())
    save_tensor(out, entry, precision);
}

NetworkModel NetworkModel::load(const ArtifactReader& in) {
  NetworkModel model;
  load_options(model, in);
  const bool exact = in.meta("network.lookup") == "exact";
  model.words = Vocabulary(split_lines(in.text("vocabulary")),
                           exact ? Vocabulary::Lookup::kExact : Vocabulary::Lookup::kSimilar);
  for (const std::string& line : split_lines(in.text("compiled"))) model.compiled.insert(line);
  const std::int64_t count = count_of(in, "network.targets", 1000);
  for (std::int64_t i = 0; i < count; ++i)
    model.targets.push_back(load_target("target." + std::to_string(i) + ".", in));
  const std::vector<double> range = in.get<double>("range");
  if (range.size() != 2 * kAuxiliary)
    throw Error(OMEN_INVALID_DATA, "the model's range of inputs is incomplete");
  std::copy_n(range.begin(), kAuxiliary, model.least);
  std::copy_n(range.begin() + kAuxiliary, kAuxiliary, model.largest);
  model.build();
  load_tensors(model.network->state(), in);
  return model;
}

at::Tensor NetworkModel::auxiliary(const KernelRows& rows) const {
  at::Tensor values = at::empty({static_cast<std::int64_t>(rows.size()), kAuxiliary});
  float* to = values.mutable_data_ptr<float>();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    *to++ = static_cast<float>(std::log1p(rows.wgsize[row]));
    *to++ = uses_bytes ? static_cast<float>(std::log1p(rows.input_size[row])) : 0.0f;
  }
  return values;
}

bool NetworkModel::extrapolates(const KernelRows& rows, std::size_t row) const {
  const double values[kAuxiliary] = {std::log1p(rows.wgsize[row]),
                                     std::log1p(rows.input_size[row])};
  for (std::int64_t i = 0; i < (uses_bytes ? kAuxiliary : 1); ++i)
    if (least[i] <= largest[i] &&
        (values[i] < least[i] - kMargin || values[i] > largest[i] + kMargin))
      return true;
  return false;
}

at::Tensor NetworkModel::outputs(const KernelRows& rows,
                                 const std::function<void(double)>& step) const {
  const at::NoGradGuard no_grad;
  const PlanOptions plan = network->plan_options(false);
  const DistinctGraphs distinct = distinct_graphs(rows.graph, plan);
  std::vector<at::Tensor> pooled;
  for (std::size_t begin = 0; begin < distinct.graphs.size();) {
    step(static_cast<double>(begin) / static_cast<double>(distinct.graphs.size()));
    std::size_t end = begin;
    for (std::int64_t nodes = 0;
         end < distinct.graphs.size() &&
         (end == begin || nodes + distinct.graphs[end]->nodes() <= kGroupNodes);
         ++end)
      nodes += distinct.graphs[end]->nodes();
    pooled.push_back(
        network->pool(plan_graphs({distinct.graphs.begin() + static_cast<std::ptrdiff_t>(begin),
                                   distinct.graphs.begin() + static_cast<std::ptrdiff_t>(end)},
                                  plan),
                      false));
    begin = end;
  }
  at::Tensor out = at::full({static_cast<std::int64_t>(rows.size()), options.outputs},
                            std::numeric_limits<float>::quiet_NaN());
  std::vector<std::int64_t> known, graph;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows.known(row)) continue;
    known.push_back(static_cast<std::int64_t>(row));
    graph.push_back(distinct.number[row]);
  }
  if (known.empty()) return out;
  const auto index = [](const std::vector<std::int64_t>& values) {
    at::Tensor t =
        at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
    std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
    return t;
  };
  const at::Tensor at_rows = index(known);
  out.index_copy_(0, at_rows,
                  network->read_out(at::cat(pooled).index_select(0, index(graph)),
                                    auxiliary(rows).index_select(0, at_rows), false));
  return out;
}

}  // namespace omen::loadbalance
