// SPDX-License-Identifier: Apache-2.0
// Text views borrow from their table just as numbers do.
// expect: deleted (member )?function
#include "omen/table.hpp"

omen::Table make();

std::int64_t count() {
#if OMEN_MUST_FAIL
  return make().strings("x").size();
#else
  const omen::Table table = make();
  return table.strings("x").size();
#endif
}
