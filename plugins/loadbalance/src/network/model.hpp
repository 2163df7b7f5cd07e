// SPDX-License-Identifier: Apache-2.0
// A network with all that is needed to use it: vocabulary, targets, and what it was trained on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/vocabulary.hpp"
#include "network/kernel_rows.hpp"
#include "omen/artifact.hpp"
#include "omen/torch/nn/fit.hpp"
#include "omen/torch/nn/network.hpp"
#include "omen/torch/nn/saving.hpp"
#include "omen/torch/nn/targets.hpp"

namespace omen::loadbalance {

inline constexpr std::int64_t kAuxiliary = 2;  // logarithms of work-group size and bytes

struct NetworkModel {
  nn::NetworkOptions options;
  bool uses_bytes = true;  // otherwise the second auxiliary number is 0
  Vocabulary words{{}, Vocabulary::Lookup::kExact};
  std::vector<nn::Target> targets;
  std::set<std::string> compiled;  // settings of the training graphs; empty: not known
  // Least and largest auxiliary numbers in training; least above largest: not known.
  double least[kAuxiliary] = {1, 1}, largest[kAuxiliary] = {0, 0};
  std::unique_ptr<nn::Network> network;

  // Makes the network for the present options, words and targets.
  void build();

  void save(ArtifactWriter& out, nn::Precision precision) const;
  static NetworkModel load(const ArtifactReader& in);

  // Scales of the targets and ranges of the auxiliary inputs: what build() and training need.
  void measure(const KernelRows& rows, const std::vector<TargetColumn>& columns);
  // The rows as the network learns from them; they refer to the graphs of `rows`.
  nn::FitRows fit_rows(const KernelRows& rows, const std::vector<TargetColumn>& columns) const;

  // log(1 + x) of work-group size and bytes, [rows, 2].
  at::Tensor auxiliary(const KernelRows& rows) const;
  bool extrapolates(const KernelRows& rows, std::size_t row) const;

  // The outputs of the network, [rows, outputs]; rows without graph or sizes have NaN. `step` is
  // called between groups of graphs.
  at::Tensor outputs(const KernelRows& rows, const std::function<void(double)>& step) const;
};

}  // namespace omen::loadbalance
