// SPDX-License-Identifier: Apache-2.0
// Figures of devices for people; the unit follows from the name of the figure.
#pragma once

#include <string>

namespace omen::host::cli {

// 89.3 GFLOP/s, 28.5 us, 2.60 GHz.
std::string figure_text(const std::string& figure, double value);

}  // namespace omen::host::cli
