// SPDX-License-Identifier: Apache-2.0
// What `--data` names: a table, a file that a front end reads, the directory of a dataset, or its
// name.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace omen::host {

class Components;
class FlagBook;

struct GivenData {
  std::string word;                  // as given
  Tables tables;                     // ids completed; units of the dataset in the columns' metadata
  std::vector<TargetSpec> measured;  // what a dataset says was measured
  std::string group;                 // the column that a dataset groups by; empty: none is named
};

// Through `frontend` where it is not empty. OMEN_NOT_FOUND with the places tried for a name that is
// no dataset, OMEN_IO for a file that is missing.
GivenData read_given_data(const Components& components, const std::string& word,
                          const std::string& frontend, FlagBook& flags);
// Moves columns of `workloads` and `targets` that are asked for into `targets`, or all that were
// measured where nothing is asked for; what was measured is no input in either case. Counts the
// rows that have no target. OMEN_INVALID_ARGUMENT names a column that is not there.
std::int64_t take_targets(GivenData& given, std::vector<TargetSpec> asked);
// The inputs alone: without anything that was measured.
Tables inputs_of(GivenData given);

}  // namespace omen::host
