// SPDX-License-Identifier: Apache-2.0
// What a child is started with: its environment, its words, and descriptors that close themselves.
#include "omen/exec_arguments.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "omen/descriptor.hpp"

namespace omen {
namespace {

using testing::Contains;
using testing::Not;

TEST(ExecArguments, ChangesReplaceWhatTheyName) {
  ::setenv("OMEN_TEST_KEPT", "a=b", 1);
  ::setenv("OMEN_TEST_CHANGED", "old", 1);
  const auto entries = environment_with({{"OMEN_TEST_CHANGED", "new"}, {"OMEN_TEST_ADDED", ""}});
  EXPECT_THAT(entries, Contains("OMEN_TEST_KEPT=a=b"));
  EXPECT_THAT(entries, Contains("OMEN_TEST_CHANGED=new"));
  EXPECT_THAT(entries, Not(Contains("OMEN_TEST_CHANGED=old")));
  EXPECT_THAT(entries, Contains("OMEN_TEST_ADDED="));
}

TEST(ExecArguments, PointersEndWithNull) {
  std::vector<std::string> words = {"omen", "list"};
  const std::vector<char*> pointers = exec_pointers(words);
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_STREQ(pointers[1], "list");
  EXPECT_EQ(pointers[2], nullptr);
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Descriptor, ClosesItself) {
  int kept = -1;
  {
    Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    kept = first.get();
    Descriptor second(std::move(first));
    EXPECT_FALSE(first.open());
    EXPECT_TRUE(second.open() && is_open(kept));
    Descriptor third;
    third = std::move(second);
    EXPECT_EQ(third.get(), kept);
  }
  EXPECT_FALSE(is_open(kept));
}

}  // namespace
}  // namespace omen
