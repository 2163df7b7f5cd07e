// SPDX-License-Identifier: Apache-2.0
// Rows of a column by their value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omen::learn {

// Row numbers from the smallest value on; equal values, both zeros among them, in the order of
// their rows. Columns have less than 2^32 rows; a NaN lies at one of the ends.
std::vector<std::uint32_t> sorted_order(std::span<const double> values);

}  // namespace omen::learn
