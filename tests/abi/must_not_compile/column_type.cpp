// SPDX-License-Identifier: Apache-2.0
// Columns hold the fixed set of number types and nothing else.
// expect: columns hold int8
#include "omen/table.hpp"

std::int64_t rows(const omen::Table& table) {
#if OMEN_MUST_FAIL
  return table.column<long double>("x").size();
#else
  return table.column<double>("x").size();
#endif
}
