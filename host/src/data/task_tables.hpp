// SPDX-License-Identifier: Apache-2.0
// From the tables of a dataset to those of a task.
#pragma once

#include "data/task.hpp"

namespace omen::host {

// Replaces wildcards of the inputs by columns: everything that is neither key, group, name nor
// measured. Fills in kind, unit and loss of targets where they are empty.
void complete_draft(Task& task, const DatasetInfo& info, const Tables& data);
// What load_task gives; OMEN_INVALID_DATA where the task names what the data do not have.
Tables shape_tables(const Task& task, Tables data);
// Refuses data that a frozen task must not hold: targets that are not finite, zeros under a
// relative loss, rows without a group, candidates without a feasible choice.
void check_values(const Task& task, const Tables& shaped);

}  // namespace omen::host
