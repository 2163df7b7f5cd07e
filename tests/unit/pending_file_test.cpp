// SPDX-License-Identifier: Apache-2.0
// Files that appear under their name all at once, or not at all.
#include "omen/pending_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using testing::HasSubstr;

std::string pending_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::ptrdiff_t pending_files_in(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), {});
}

TEST(PendingFile, AppearsOnlyWhenItIsWhole) {
  const test::TempDir directory;
  const fs::path path = directory.path() / "a.txt";
  PendingFile file(path);
  file.append("0123", 4);
  file.overwrite("xy", 2, 1);
  file.overwrite("9", 1, 5);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(pending_text(file.temporary()), std::string("0xy3\0"
                                                        "9",
                                                        6));
  file.commit();
  EXPECT_EQ(pending_text(path), std::string("0xy3\0"
                                            "9",
                                            6));
  EXPECT_EQ(pending_files_in(directory.path()), 1);
}

TEST(PendingFile, LeavesNothingBehindWithoutCommit) {
  const test::TempDir directory;
  {
    PendingFile file(directory.path() / "a.txt");
    file.append("part", 4);
  }
  EXPECT_EQ(pending_files_in(directory.path()), 0);
}

TEST(PendingFile, ReplacesAFileWithText) {
  const test::TempDir directory;
  const fs::path path = directory.path() / "a.txt";
  replace_file(path, "old and long");
  replace_file(path, "new");
  EXPECT_EQ(pending_text(path), "new");
  EXPECT_EQ(pending_files_in(directory.path()), 1);
}

TEST(PendingFile, SaysWhereItCannotWrite) {
  const test::TempDir directory;
  EXPECT_THAT(error_of([&] { replace_file(directory.path() / "none" / "a.txt", "x"); }),
              IsError(OMEN_IO, HasSubstr("cannot create"), HasSubstr("directory exists")));
}

}  // namespace
}  // namespace omen
