// SPDX-License-Identifier: Apache-2.0
// What is kept of a run comes back, and half of it does not.
#include "sweep/run_record.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "omen/testing/temp_dir.hpp"

namespace omen::driple {
namespace {

TEST(RunRecordTest, ComesBackAsItWas) {
  const test::TempDir dir;
  const RunRecord record{{{"model", "a=b"}, {"batch", "8"}},
                         quoted_command({"train", "a b", "\n"}),
                         "out of memory",
                         "killed\nby the kernel",
                         0,
                         9};
  write_run(dir.path(), record);
  const auto again = read_run(dir.path());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->point, record.point);
  EXPECT_EQ(again->command, record.command);
  EXPECT_EQ(again->outcome, "out of memory");
  EXPECT_EQ(again->reason, "killed by the kernel");
  EXPECT_EQ(again->signal, 9);
}

TEST(RunRecordTest, DamagedOnesAreNone) {
  const test::TempDir dir;
  EXPECT_FALSE(read_run(dir.path()));
  std::ofstream(dir.path() / kRunFile) << "command=x\n";
  EXPECT_FALSE(read_run(dir.path()));
  std::ofstream(dir.path() / kRunFile) << "nonsense\n";
  EXPECT_FALSE(read_run(dir.path()));
}

}  // namespace
}  // namespace omen::driple
