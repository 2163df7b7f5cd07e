// SPDX-License-Identifier: Apache-2.0
// What `omen compare` is asked.
#pragma once

#include "cli/globals.hpp"

namespace omen::host::cli {

struct CompareRequest {
  std::vector<std::string> contestants, tasks;
  std::string baseline, fail_if, html, references = "all", runs_dir = "runs";
  double rope = -1;  // below 0: of each task
  double interval_level = 0.90;
  bool self_check = false, shuffle_labels = false, csv = false, markdown = false;
  unsigned jobs = 0;  // 0: what the thread budget allows
  std::string run_dir, only_jobs, emit, output;
  std::size_t shares = 0;  // of an emitted array; 0: one a job, up to 64
  Flags flags;
  RunChoices run;
};

}  // namespace omen::host::cli
