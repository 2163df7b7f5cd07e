// SPDX-License-Identifier: Apache-2.0
// What a network is asked for: numbers and classes, their scales, losses and columns of answers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "omen/artifact.hpp"
#include "omen/table.hpp"

namespace omen::torch_kit::nn {

// A number is mean + scale * output, or the exponential of that where its logarithm was learnt; a
// class has one output each, whose softmax is its probability.
struct Target {
  std::string name;
  Metadata metadata = {};
  std::vector<std::string> classes = {};
  double mean = 0, scale = 1;
  bool logarithm = false;
  // Answers are held within these; a number with an end is never learnt as a logarithm. They are
  // not saved: whoever names a target knows what it can be.
  double least = -std::numeric_limits<double>::infinity();
  double largest = std::numeric_limits<double>::infinity();

  std::int64_t outputs() const {
    return classes.empty() ? 1 : static_cast<std::int64_t>(classes.size());
  }
  // From values to what the network learns, and back.
  double standardised(double value) const;
  double value(double output) const;
};

std::int64_t outputs_of(const std::vector<Target>& targets);

// Mean and scale of the finite values, or of their logarithms where they span more than a ratio of
// 100. Targets with classes, and without values, stay as they are.
void measure(Target& target, const std::vector<double>& values);

struct LossOptions {
  bool absolute = true;       // absolute rather than squared errors of numbers
  double class_weight = 0.5;  // of the cross-entropy beside the loss of numbers
};

// Mean losses of all targets together. `outputs` is [rows, outputs_of(targets)]; truth[t] is [rows]
// float: standardised numbers or numbers of classes, NaN where a row was not measured.
at::Tensor target_loss(const std::vector<Target>& targets, const at::Tensor& outputs,
                       const std::vector<at::Tensor>& truth, const LossOptions& options);

// Columns of answers, null where `present` is false. A class also has a column NAME.p.CLASS for the
// probability of each.
void add_answers(TableBuilder& table, const std::vector<Target>& targets, const at::Tensor& outputs,
                 const std::vector<bool>& present);

// To and from an artifact, every name with `prefix`.
void save_target(const Target& target, const std::string& prefix, ArtifactWriter& out);
Target load_target(const std::string& prefix, const ArtifactReader& in);

}  // namespace omen::torch_kit::nn
