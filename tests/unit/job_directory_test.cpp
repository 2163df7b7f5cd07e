// SPDX-License-Identifier: Apache-2.0
// What a killed comparison leaves in the temporary directory goes, what a living one uses stays.
#include "compare/job_directory.hpp"

#include <chrono>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

fs::path make(const fs::path& path, std::chrono::seconds age) {
  fs::create_directories(path / "omen-worker-1");
  std::ofstream(path / "omen-worker-1/targets.omt") << "1,2,3";
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  return path;
}

TEST(JobDirectory, IsGoneWithTheJob) {
  fs::path path;
  {
    const JobDirectory directory;
    path = directory.path();
    EXPECT_TRUE(fs::is_directory(path));
    std::ofstream(path / "model.omen") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(JobDirectory, OnlyAbandonedOnesAreRemoved) {
  test::TempDir base;
  const fs::path abandoned = make(base.path() / "omen-fold-aaaaaa", 1min),
                 young = make(base.path() / "omen-fold-bbbbbb", 0s),
                 used = make(base.path() / "omen-fold-cccccc", 1min),
                 other = make(base.path() / "something", 1min);
  fs::create_directory_symlink(other, base.path() / "omen-fold-dddddd");
  const Descriptor lock(::open(used.c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  remove_abandoned_jobs(base.path());
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(young / "omen-worker-1/targets.omt"));
  EXPECT_TRUE(fs::exists(used / "omen-worker-1/targets.omt"));
  EXPECT_TRUE(fs::exists(other / "omen-worker-1/targets.omt"));
}

}  // namespace
}  // namespace omen::host
