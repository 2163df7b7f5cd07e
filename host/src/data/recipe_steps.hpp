// SPDX-License-Identifier: Apache-2.0
// Steps of recipes that stand on their own: figures of devices, and candidates out of rows.
#pragma once

#include <string>
#include <vector>

#include "data/recipe.hpp"

namespace omen::host {

// The place of a column; OMEN_INVALID_DATA says what needs it.
std::size_t column_index(const Table& table, const std::string& name, const std::string& why);
// The values of some columns as one text for each row.
std::vector<std::string> row_keys(const Table& table, const std::vector<std::string>& columns,
                                  const std::string& why);

// Adds figures of the registry. OMEN_INVALID_DATA with near names where a device is not in it; a
// figure that was not published is null.
Table join_devices(Table table, const DeviceStep& step);
// Rows of `workloads` become candidates; the first row of each set of equal keys stays a workload,
// without cost and what describes candidates.
void make_row_candidates(const CandidateSteps& steps, Tables& tables);

}  // namespace omen::host
