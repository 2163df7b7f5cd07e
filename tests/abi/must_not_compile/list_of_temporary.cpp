// SPDX-License-Identifier: Apache-2.0
// List views borrow from their table just as numbers do.
// expect: deleted (member )?function
#include "omen/table.hpp"

omen::Table make();

std::int64_t width() {
#if OMEN_MUST_FAIL
  return make().list<float>("x").width();
#else
  const omen::Table table = make();
  return table.list<float>("x").width();
#endif
}
