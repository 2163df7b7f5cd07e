// SPDX-License-Identifier: Apache-2.0
// Scales, batches by size, and the way into and out of artifacts.
#include "nets/net_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "omen/error.hpp"
#include "omen/join.hpp"
#include "omen/learn/errors.hpp"

namespace omen::driple {
namespace {

constexpr std::size_t kBatchGraphs = 32;
constexpr const char* kFormat = "driple.nets/1";

// Metadata of outputs as lines of key and value.
std::string text_of(const Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) text += key + "\t" + value + "\n";
  return text;
}

Metadata metadata_of(const std::string& text) {
  Metadata metadata;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t tab = text.find('\t', at);
    if (tab < end)
      metadata.emplace_back(text.substr(at, tab - at), text.substr(tab + 1, end - tab - 1));
    at = end + 1;
  }
  return metadata;
}

std::string list_of(const std::vector<std::string>& words) {
  return join(words, ",");
}

std::vector<std::string> words_of(const LayerOptions& layer, bool scalers) {
  std::vector<std::string> words;
  if (scalers)
    for (const Scaler s : layer.scalers) words.emplace_back(word(s));
  else
    for (const Aggregator a : layer.aggregators) words.emplace_back(word(a));
  return words;
}

std::int64_t whole(const ArtifactReader& in, const char* key, std::int64_t least,
                   std::int64_t most) {
  const std::string text = in.meta(key);
  std::int64_t value = least - 1;
  if (!text.empty() && text.size() < 19 &&
      text.find_first_not_of("0123456789") == std::string::npos)
    value = std::stoll(text);
  if (value < least || value > most)
    learn::throw_bad_data(std::string("the model has ") + key + " '" + text + "'",
                          "Train it again.");
  return value;
}

}  // namespace

OutputScale scale_of(const Label& label) {
  OutputScale out{label.name, label.metadata};
  double least = INFINITY, most = -INFINITY, largest = 0;
  for (const double value : label.value) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
    largest = std::max(largest, std::abs(value));
  }
  if (least > most)
    learn::throw_bad_data("target '" + label.name + "' has no measured value",
                          "Leave it out with --target, or measure it.");
  out.masked = least == most;
  out.constant = out.masked ? least : 0;
  out.scale = out.masked ? 1 : largest;
  return out;
}

FeatureScale FeatureScale::of(const JobRows& rows) {
  FeatureScale out;
  out.logarithm = true;
  double count = 0;
  std::array<double, kGroupFeatures> sum{}, squares{};
  for (const JobGraph& graph : rows.graphs)
    for (const auto& feature : graph.grouped.features) {
      count += 1;
      for (std::size_t k = 0; k < kGroupFeatures; ++k) {
        const double value = std::log1p(double(feature[k]));
        sum[k] += value;
        squares[k] += value * value;
      }
    }
  for (std::size_t k = 0; k < kGroupFeatures && count > 0; ++k) {
    out.mean[k] = sum[k] / count;
    const double variance = squares[k] / count - out.mean[k] * out.mean[k];
    out.scale[k] = variance > 1e-12 ? std::sqrt(variance) : 1;
  }
  return out;
}

at::Tensor FeatureScale::apply(const at::Tensor& features) const {
  if (!logarithm) return features;
  const auto row = [](const std::array<double, kGroupFeatures>& v) {
    return at::tensor(at::ArrayRef<double>(v.data(), v.size()),
                      at::TensorOptions().dtype(at::kFloat));
  };
  return (at::log1p(features) - row(mean)) / row(scale);
}

void SeenRange::include(const JobGraph& graph) {
  const auto operations = static_cast<double>(graph.grouped.operations);
  if (!known) {
    *this = {true, operations, operations, graph.tensor_size, graph.tensor_size};
    return;
  }
  least_operations = std::min(least_operations, operations);
  most_operations = std::max(most_operations, operations);
  least_size = std::min(least_size, graph.tensor_size);
  most_size = std::max(most_size, graph.tensor_size);
}

TensorBatch NetModel::batch(const std::vector<const JobGraph*>& graphs) const {
  std::vector<const GroupedGraph*> grouped;
  for (const JobGraph* graph : graphs) grouped.push_back(&graph->grouped);
  TensorBatch batch(make_batch(grouped));
  batch.features = features.apply(batch.features);
  return batch;
}

at::Tensor NetModel::run(const std::vector<const JobGraph*>& graphs,
                         const std::function<void(double)>& progress) const {
  const at::NoGradGuard no_graph;
  at::Tensor out =
      at::empty({static_cast<std::int64_t>(graphs.size()), network->options().outputs});
  std::map<std::int32_t, std::vector<std::size_t>> by_size;
  for (std::size_t i = 0; i < graphs.size(); ++i) by_size[graphs[i]->grouped.size()].push_back(i);
  std::size_t done = 0;
  for (const auto& [size, places] : by_size)
    for (std::size_t first = 0; first < places.size(); first += kBatchGraphs) {
      progress(static_cast<double>(done) / static_cast<double>(graphs.size()));
      std::vector<const JobGraph*> some;
      const std::size_t last = std::min(places.size(), first + kBatchGraphs);
      for (std::size_t i = first; i < last; ++i) some.push_back(graphs[places[i]]);
      const at::Tensor answers = network->outputs(batch(some));
      for (std::size_t i = first; i < last; ++i)
        out.select(0, static_cast<std::int64_t>(places[i]))
            .copy_(answers.select(0, static_cast<std::int64_t>(i - first)));
      done += some.size();
    }
  return out;
}

bool NetModel::extrapolates(const JobGraph& graph) const {
  if (graph.unknown_kinds > 0 || graph.grouped.size() != grouping.groups) return true;
  if (!seen.known) return false;
  const auto operations = static_cast<double>(graph.grouped.operations);
  return operations < seen.least_operations || operations > seen.most_operations ||
         graph.tensor_size < seen.least_size || graph.tensor_size > seen.most_size;
}

void NetModel::save(ArtifactWriter& out) const {
  const NetworkOptions& options = network->options();
  out.put_meta("driple.format", kFormat);
  out.put_meta("layer", word(options.layer.kind));
  out.put_meta("hidden", std::to_string(options.layer.hidden));
  out.put_meta("aggregators", list_of(words_of(options.layer, false)));
  out.put_meta("scalers", list_of(words_of(options.layer, true)));
  out.put_meta("late_layer", options.late_layer ? "1" : "0");
  out.put_meta("groups", std::to_string(grouping.groups));
  out.put_meta("grouping_seed", std::to_string(grouping.seed));
  out.put_meta("outputs", std::to_string(outputs.size()));
  out.put_text("frequencies", frequencies.csv());
  std::vector<double> feature{features.logarithm ? 1.0 : 0.0};
  feature.insert(feature.end(), features.mean.begin(), features.mean.end());
  feature.insert(feature.end(), features.scale.begin(), features.scale.end());
  out.put("features", feature);
  out.put("seen", std::vector<double>{seen.known ? 1.0 : 0.0, seen.least_operations,
                                      seen.most_operations, seen.least_size, seen.most_size});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string prefix = "output." + std::to_string(i) + ".";
    const OutputScale& o = outputs[i];
    out.put_text(prefix + "name", o.name);
    out.put_text(prefix + "metadata", text_of(o.metadata));
    out.put(prefix + "scale", std::vector<double>{o.scale, o.masked ? 1.0 : 0.0, o.constant});
    out.put(prefix + "residuals", o.residuals);
  }
  torch_kit::save_state(network->state(), out, "network.");
}

NetModel NetModel::load(const ArtifactReader& in) {
  if (in.meta("driple.format") != kFormat)
    learn::throw_bad_data("the model is of another format", "Train it again with this version.");
  NetworkOptions options;
  options.layer.kind = layer_kind_named(in.meta("layer"));
  options.layer.hidden = whole(in, "hidden", 4, 4096);
  options.layer.aggregators = aggregators_named(in.meta("aggregators"));
  options.layer.scalers = scalers_named(in.meta("scalers"));
  options.late_layer = whole(in, "late_layer", 0, 1) == 1;
  options.outputs = whole(in, "outputs", 1, 4096);
  NetModel model;
  model.grouping = {static_cast<std::int32_t>(whole(in, "groups", 2, 100000)),
                    static_cast<std::uint64_t>(whole(in, "grouping_seed", 0, 1LL << 60))};
  model.frequencies = OpFrequencies::parse(in.text("frequencies"), "the model's op table");
  const std::vector<double> feature = in.get<double>("features"), seen = in.get<double>("seen");
  if (feature.size() != 1 + 2 * kGroupFeatures || seen.size() != 5)
    learn::throw_bad_data("the model's scales are damaged", "Train it again.");
  model.features.logarithm = feature[0] != 0;
  std::copy_n(feature.begin() + 1, kGroupFeatures, model.features.mean.begin());
  std::copy_n(feature.begin() + 1 + kGroupFeatures, kGroupFeatures, model.features.scale.begin());
  model.seen = {seen[0] != 0, seen[1], seen[2], seen[3], seen[4]};
  for (std::int64_t i = 0; i < options.outputs; ++i) {
    const std::string prefix = "output." + std::to_string(i) + ".";
    const std::vector<double> scale = in.get<double>(prefix + "scale");
    if (scale.size() != 3)
      learn::throw_bad_data("the model's scales are damaged", "Train it again.");
    model.outputs.push_back({in.text(prefix + "name"), metadata_of(in.text(prefix + "metadata")),
                             scale[0], scale[1] != 0, scale[2],
                             in.get<double>(prefix + "residuals")});
  }
  model.network = std::make_unique<Network>(options);
  torch_kit::load_state(model.network->state(), in, "network.");
  return model;
}

}  // namespace omen::driple
