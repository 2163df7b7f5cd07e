// SPDX-License-Identifier: Apache-2.0
// The script of a job array, how jobs are dealt to its elements, and the directory they share.
#include <cstdlib>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/run_directory.hpp"
#include "compare/slurm_script.hpp"
#include "omen/error.hpp"
#include "omen/testing/temp_dir.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace {

using testing::HasSubstr;
using testing::Not;

SlurmArray sample_script() {
  SlurmArray array;
  array.program = "/opt/omen/bin/omen";
  array.directory = "/home/a user's";
  array.command = "compare a 'b c' --task t.json";
  array.run_dir = "/home/a user's/runs/12ab";
  array.id = "12ab";
  array.jobs = 30;
  array.shares = 8;
  array.cpus = 2;
  return array;
}

TEST(SlurmScript, NamesWhatTheClusterMustGive) {
  SlurmArray array = sample_script();
  EXPECT_THAT(slurm_script(array), HasSubstr("#SBATCH --cpus-per-task=2\n"));
  EXPECT_THAT(slurm_script(array), Not(HasSubstr("--mem")));
  array.memory = (1u << 30) + 1;
  EXPECT_THAT(slurm_script(array), HasSubstr("#SBATCH --mem=1025M\n"));
  EXPECT_THAT(slurm_script(array), HasSubstr("run='/home/a user'\\''s/runs/12ab'\n"));
  EXPECT_THAT(slurm_script(array), HasSubstr("compare a 'b c' --task t.json --run-dir \"$run\""));
}

TEST(SlurmScript, IsCleanShell) {
  if (find_program("shellcheck").empty()) GTEST_SKIP() << "shellcheck is not installed";
  test::TempDir dir;
  std::ofstream(dir.path() / "array.sh") << slurm_script(sample_script());
  EXPECT_EQ(std::system(("shellcheck " + (dir.path() / "array.sh").string()).c_str()), 0);
}

TEST(JobShare, SharesCoverEveryJobOnce) {
  std::vector<Job> jobs(30);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].fold = i;
  std::multiset<std::size_t> seen;
  for (std::size_t i = 0; i < 8; ++i)
    for (const Job& job : jobs_of_share(jobs, {i, 8})) seen.insert(job.fold);
  EXPECT_EQ(seen.size(), 30u);
  EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), 30u);
}

TEST(JobShare, TextsThatAreNoShareAreRefused) {
  EXPECT_EQ(parse_share("2/8").index, 2u);
  EXPECT_EQ(parse_share("2/8").count, 8u);
  for (const char* text : {"", "8/8", "1", "/", "1/", "-1/8", "1/8x", "a/b", "0/0"})
    EXPECT_THROW(parse_share(text), Error) << text;
}

TEST(SharedRunDirectory, SharesWorkSideBySideAndTheReportWaitsForThem) {
  test::TempDir dir;
  const auto place = dir.path() / "runs/slurm-1";
  {
    const RunDirectory first = RunDirectory::at(place, "12ab", true);
    const RunDirectory second = RunDirectory::at(place.string() + "/", "12ab", true);
    EXPECT_FALSE(first.resumed());
    EXPECT_TRUE(second.resumed());
    EXPECT_EQ(first.id(), "slurm-1");
    EXPECT_EQ(first.path(), second.path());
    EXPECT_THROW(RunDirectory::at(place, "12ab", false), Error);
  }
  RunDirectory report = RunDirectory::at(place, "12ab", false);
  EXPECT_THROW(RunDirectory::at(place, "12ab", true), Error);
  report.finish();
  EXPECT_FALSE(std::filesystem::exists(place / "unfinished"));
}

TEST(SharedRunDirectory, AnotherPlanIsRefused) {
  test::TempDir dir;
  const RunDirectory first = RunDirectory::at(dir.path() / "run", "12ab", true);
  EXPECT_THROW(RunDirectory::at(dir.path() / "run", "98fe", true), Error);
}

}  // namespace
}  // namespace omen::host
