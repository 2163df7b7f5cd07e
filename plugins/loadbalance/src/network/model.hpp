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
#include "network/network.hpp"
#include "omen/artifact.hpp"

namespace omen::loadbalance {

// A number is mean + scale * output, or the exponential of that where its logarithm was learnt; a
// class has one output each, whose softmax is its probability.
struct NetworkTarget {
  std::string name;
  Metadata metadata = {};
  std::vector<std::string> classes = {};
  double mean = 0, scale = 1;
  bool logarithm = false;

  std::int64_t outputs() const {
    return classes.empty() ? 1 : static_cast<std::int64_t>(classes.size());
  }
};

struct NetworkModel {
  NetworkOptions options;
  bool uses_bytes = true;  // otherwise the second auxiliary number is 0
  Vocabulary words{{}, Vocabulary::Lookup::kExact};
  std::vector<NetworkTarget> targets;
  std::set<std::string> compiled;  // settings of the training graphs; empty: not known
  // Least and largest auxiliary numbers in training; least above largest: not known.
  double least[kAuxiliary] = {1, 1}, largest[kAuxiliary] = {0, 0};
  std::unique_ptr<Network> network;

  // Makes the network for the present options, words and targets.
  void build();

  // Matrices as floats, half floats, or bytes with a scale for each row; the latter change answers
  // by less than what training leaves open.
  enum class Precision { kSingle, kHalf, kByte };
  void save(ArtifactWriter& out, Precision precision) const;
  static NetworkModel load(const ArtifactReader& in);

  // log(1 + x) of work-group size and bytes, [rows, 2].
  at::Tensor auxiliary(const KernelRows& rows) const;
  bool extrapolates(const KernelRows& rows, std::size_t row) const;

  // The outputs of the network, [rows, outputs]; rows without graph or sizes have NaN. `step` is
  // called between groups of graphs.
  at::Tensor outputs(const KernelRows& rows, const std::function<void(double)>& step) const;
};

}  // namespace omen::loadbalance
