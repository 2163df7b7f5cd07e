// SPDX-License-Identifier: Apache-2.0
// A comparison as a Slurm job array, for clusters where MPI is not wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compare/jobs.hpp"

namespace omen::host {

// Elements of the array; each runs its share of the jobs into one directory, and a last job
// reports.
struct SlurmArray {
  std::string program;              // omen, as every node finds it
  std::filesystem::path directory;  // where the command was given
  std::string command;              // "compare A B --task T", quoted for a shell
  std::filesystem::path run_dir;
  std::string id;  // names the jobs
  std::size_t jobs = 0, shares = 1;
  unsigned cpus = 1;         // of one element
  std::uint64_t memory = 0;  // of one element; 0: the cluster's own limit
};
std::string slurm_script(const SlurmArray& array);

// "2/8" is the third of eight: every eighth job from the third on, so that the folds of a costly
// contestant are dealt to all.
struct JobShare {
  std::size_t index = 0, count = 1;
};
// OMEN_INVALID_ARGUMENT where the text is no share.
JobShare parse_share(const std::string& text);
std::vector<Job> jobs_of_share(const std::vector<Job>& jobs, const JobShare& share);

}  // namespace omen::host
