// SPDX-License-Identifier: Apache-2.0
// Training of the networks, with nets held back for intervals.
#pragma once

#include <array>

#include "learned/learned_predictor.hpp"

namespace omen::power {

// Goes on with `start` where there is one; without epochs only its intervals are measured anew.
LearnedModel fit_model(const LearnedRows& train, const LearnedRows& valid, NetworkKind kind,
                       std::unique_ptr<PowerNetwork> start, const LearnedOptions& options,
                       const std::string& task, const Run& run);

// Of each row, how the logarithms of its costs follow the numbers of its hardware vector: one cost
// after the other. Empty for rows that cannot be answered.
using CostSlopes = std::vector<std::vector<float>>;

// Logarithms of the costs of each row; rows that cannot be answered keep NaN.
std::vector<std::vector<double>> ask(const LearnedModel& model, const LearnedRows& rows,
                                     const Run& run, CostSlopes* slopes = nullptr);

// Mean relative errors of these rows, by cost.
using CostErrors = std::array<double, kCosts>;
CostErrors mean_errors(const std::vector<std::vector<double>>& said, const LearnedRows& rows,
                       const std::vector<std::size_t>& chosen);

}  // namespace omen::power
