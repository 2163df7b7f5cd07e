// SPDX-License-Identifier: Apache-2.0
// What predictors of networks on accelerators read.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

// With the columns that read_learned_rows() reads.
Component reads_layers(Component made);

}  // namespace omen::power
