// SPDX-License-Identifier: Apache-2.0
// Which runs tell most about a machine that nobody measured.
#pragma once

#include <omen/table.hpp>

namespace omen::power {

// The runs that narrow the answer to the asked one most, each with the width of the interval that
// is left once it and those above it were observed, as a part of the width before.
Table runs_to_measure(double batch, double input_tokens, double output_tokens, int count);

}  // namespace omen::power
