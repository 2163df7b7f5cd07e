// SPDX-License-Identifier: Apache-2.0
// Pairs that stand in the wrong order.
#pragma once

#include <cstdint>
#include <vector>

namespace omen::learn {

// Of whole numbers below 2^31; `values` are sorted afterwards, `other` is room to work in.
std::int64_t count_inversions(std::vector<std::int32_t>& values, std::vector<std::int32_t>& other);

}  // namespace omen::learn
