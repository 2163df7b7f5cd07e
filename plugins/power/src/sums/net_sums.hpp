// SPDX-License-Identifier: Apache-2.0
// A network and an accelerator as one row of numbers.
#pragma once

#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "learned/learned_rows.hpp"

namespace omen::power {

std::vector<std::string> sum_names();
// Sums over the layers, their parts by kind, and the times that arithmetic and memory would take at
// their best; then the accelerator's own numbers.
std::vector<double> sums_of(const LearnedNet& net, const LearnedRow& row);

}  // namespace omen::power
