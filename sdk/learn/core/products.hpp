// SPDX-License-Identifier: Apache-2.0
// Sums of products of every two columns.
#pragma once

#include <vector>

namespace omen::learn {

// Row by row, symmetric; all columns have the same length. The answer does not depend on `threads`.
std::vector<double> column_products(const std::vector<std::vector<double>>& columns,
                                    unsigned threads);

}  // namespace omen::learn
