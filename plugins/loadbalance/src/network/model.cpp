// SPDX-License-Identifier: Apache-2.0
// Models to and from artifacts, and their use.
#include "network/model.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

constexpr double kMargin = 0.7;  // twice or half of what was seen is still near

// The graphs of rows that are known; null for the others.
std::vector<const nn::TokenGraph*> known_graphs(const KernelRows& rows) {
  std::vector<const nn::TokenGraph*> graphs = rows.graph;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (!rows.known(row)) graphs[row] = nullptr;
  return graphs;
}

// A share is in percent, in old models too.
void set_bounds(nn::Target& target) {
  if (target.name != "share") return;
  target.least = 0;
  target.largest = 100;
}

std::array<double, kAuxiliary> logarithms(const KernelRows& rows, std::size_t row) {
  return {std::log1p(rows.wgsize[row]), std::log1p(rows.input_size[row])};
}

}  // namespace

void NetworkModel::build() {
  for (nn::Target& target : targets) set_bounds(target);
  options.body.words = words.unknown() + 1;
  options.body.edge_kinds = kFlows;
  options.auxiliary = kAuxiliary;
  options.outputs = nn::outputs_of(targets);
  network = std::make_unique<nn::Network>(options);
}

void NetworkModel::save(ArtifactWriter& out, nn::Precision precision) const {
  nn::save_options(options, out);
  out.put_meta("network.uses_bytes", uses_bytes ? "1" : "0");
  out.put_meta("network.lookup",
               words.lookup() == Vocabulary::Lookup::kExact ? "exact" : "similar");
  nn::put_lines(out, "vocabulary", words.texts());
  nn::put_lines(out, "compiled", {compiled.begin(), compiled.end()});
  out.put_meta("network.targets", std::to_string(targets.size()));
  for (std::size_t i = 0; i < targets.size(); ++i)
    nn::save_target(targets[i], "target." + std::to_string(i) + ".", out);
  out.put<double>("range", {least[0], least[1], largest[0], largest[1]});
  nn::save_weights(*network, out, precision);
}

NetworkModel NetworkModel::load(const ArtifactReader& in) {
  NetworkModel model;
  model.options = nn::load_options(in);
  model.uses_bytes = in.meta("network.uses_bytes") == "1";
  const bool exact = in.meta("network.lookup") == "exact";
  model.words = Vocabulary(nn::get_lines(in, "vocabulary"),
                           exact ? Vocabulary::Lookup::kExact : Vocabulary::Lookup::kSimilar);
  for (const std::string& line : nn::get_lines(in, "compiled")) model.compiled.insert(line);
  const std::int64_t count = nn::get_count(in, "network.targets", 1000);
  for (std::int64_t i = 0; i < count; ++i)
    model.targets.push_back(nn::load_target("target." + std::to_string(i) + ".", in));
  const std::vector<double> range = in.get<double>("range");
  if (range.size() != 2 * kAuxiliary)
    throw Error(OMEN_INVALID_DATA, "the model's range of inputs is incomplete");
  std::copy_n(range.begin(), kAuxiliary, model.least);
  std::copy_n(range.begin() + kAuxiliary, kAuxiliary, model.largest);
  model.build();
  nn::load_weights(*model.network, in);
  return model;
}

void NetworkModel::measure(const KernelRows& rows, const std::vector<TargetColumn>& columns) {
  const nn::FitRows learnt = fit_rows(rows, columns);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    set_bounds(targets[t]);
    std::vector<double> values;
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (learnt.graph[row]) values.push_back(learnt.values[t][row]);
    nn::measure(targets[t], values);
  }
  std::fill(std::begin(least), std::end(least), 1e300);
  std::fill(std::begin(largest), std::end(largest), -1e300);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto finite = [row](const TargetColumn& c) { return std::isfinite(c.value[row]); };
    if (!learnt.graph[row] || std::none_of(columns.begin(), columns.end(), finite)) continue;
    const std::array<double, kAuxiliary> values = logarithms(rows, row);
    for (std::size_t i = 0; i < values.size(); ++i) {
      least[i] = std::min(least[i], values[i]);
      largest[i] = std::max(largest[i], values[i]);
    }
  }
  if (least[0] > largest[0])
    throw Error(OMEN_INVALID_DATA,
                "no training row has a graph, wgsize, input_size and a measured target",
                "Look at the tables workloads, nodes and targets of the data.");
}

nn::FitRows NetworkModel::fit_rows(const KernelRows& rows,
                                   const std::vector<TargetColumn>& columns) const {
  nn::FitRows out{known_graphs(rows), auxiliary(rows), {}};
  for (const TargetColumn& column : columns) out.values.push_back(column.value);
  return out;
}

at::Tensor NetworkModel::auxiliary(const KernelRows& rows) const {
  at::Tensor values = at::empty({static_cast<std::int64_t>(rows.size()), kAuxiliary});
  float* to = values.mutable_data_ptr<float>();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::array<double, kAuxiliary> logarithm = logarithms(rows, row);
    *to++ = static_cast<float>(logarithm[0]);
    *to++ = uses_bytes ? static_cast<float>(logarithm[1]) : 0.0f;
  }
  return values;
}

bool NetworkModel::extrapolates(const KernelRows& rows, std::size_t row) const {
  const std::array<double, kAuxiliary> values = logarithms(rows, row);
  for (std::size_t i = 0; i < (uses_bytes ? values.size() : 1); ++i)
    if (least[i] <= largest[i] &&
        (values[i] < least[i] - kMargin || values[i] > largest[i] + kMargin))
      return true;
  return false;
}

at::Tensor NetworkModel::outputs(const KernelRows& rows,
                                 const std::function<void(double)>& step) const {
  return network->outputs(known_graphs(rows), auxiliary(rows), step);
}

}  // namespace omen::loadbalance
