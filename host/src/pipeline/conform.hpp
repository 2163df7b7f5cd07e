// SPDX-License-Identifier: Apache-2.0
// Inputs as a model knows them: 1e3 or 512.0 where it was trained on whole numbers is the same
// column.
#pragma once

#include "pipeline/models.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

// Gives columns the types that the model was trained on. OMEN_INVALID_DATA names the value where
// one cannot have it, such as 512.5 for a whole number; what no cast brings together stays, and
// check_artifact() says so.
Tables conform(const Tables& tables, const Model& model);

}  // namespace omen::host
