// SPDX-License-Identifier: Apache-2.0
// Columns that a design may leave out.
#pragma once

#include <omen/optional_columns.hpp>

namespace omen::ensemble {

using omen::NumberColumn;
using omen::TextColumn;

}  // namespace omen::ensemble
