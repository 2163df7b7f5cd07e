// SPDX-License-Identifier: Apache-2.0
// What a network says of rows that it does not learn from, as figures in the output directory.
#pragma once

#include <omen/run.hpp>
#include <vector>

#include "learned/learned_rows.hpp"

namespace omen::power {

// `said`: logarithms by cost and row. Writes one figure of answers over truths for each cost, and
// one of how many rows are off by at most how much; without an output directory nothing.
void plot_answers(const Run& run, const std::vector<std::vector<double>>& said,
                  const LearnedRows& rows, const std::vector<std::size_t>& chosen);

}  // namespace omen::power
