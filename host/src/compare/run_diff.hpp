// SPDX-License-Identifier: Apache-2.0
// What differs between two runs: settings, options, tasks, and the results that may be compared.
#pragma once

#include <string>
#include <vector>

#include "compare/run_record.hpp"

namespace omen::host {

struct Difference {
  std::string what;  // "seed", "baseline.gbt: depth", "task matmul-cpu"
  std::string a, b;  // empty: not there
};

struct ResultPair {
  RecordedResult a, b;
  bool same_predictions = false;
};

struct RunDiff {
  std::vector<Difference> settings;  // of the runs and of contestants, their options included
  std::vector<Difference> tasks;     // hashes that differ: these results are not compared
  std::vector<ResultPair> results;   // on tasks of the same hash, by contestants of one label
  std::vector<std::string> only_a, only_b;  // contestants
};

// OMEN_INVALID_DATA where no task of one hash is in both, because nothing could be compared.
RunDiff diff_runs(const RunRecord& a, const RunRecord& b);

// Largest relative difference between the numbers that a contestant predicted on a task in two
// runs, from the results that both keep; infinite where anything else differs, or a result is
// missing.
double largest_difference(const RunRecord& a, const RunRecord& b, const std::string& contestant,
                          const std::string& task);

}  // namespace omen::host
