// SPDX-License-Identifier: Apache-2.0
// A view of a temporary table would dangle.
// expect: deleted (member )?function
#include "omen/table.hpp"

omen::Table make();

double first() {
#if OMEN_MUST_FAIL
  return make().column<double>("x")[0];
#else
  const omen::Table table = make();
  return table.column<double>("x")[0];
#endif
}
