// SPDX-License-Identifier: Apache-2.0
// A table as it arrives behind the C boundary.
#pragma once

#include <gtest/gtest.h>

#include "omen/table.hpp"

namespace omen::test {

inline Table through_c(const Table& table) {
  ArrowSchema schema{};
  ArrowArray array{};
  table.export_schema(&schema);
  table.export_array(&array);
  Table back = Table::import(&schema, &array);
  EXPECT_EQ(schema.release, nullptr) << "import takes the structs over";
  EXPECT_EQ(array.release, nullptr);
  return back;
}

}  // namespace omen::test
