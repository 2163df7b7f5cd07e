// SPDX-License-Identifier: Apache-2.0
// Looks at saved trees before XGBoost does, which trusts every index that a model states.
#pragma once

#include <string>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

/// Throws OMEN_INVALID_DATA unless `model` holds trees of `features` features as our learners save
/// them: indices in bounds, every node reached once from its root, every number finite.
void check_trees(const std::string& model, Index features);

}  // namespace omen::learn
