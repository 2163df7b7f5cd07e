// SPDX-License-Identifier: Apache-2.0
// Options that take several numbers, such as 1,2,4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace omen::ensemble {

// Ascending; OMEN_INVALID_ARGUMENT where one is not a number from 1 on.
std::vector<std::int64_t> number_list(const std::string& text, const char* option);

}  // namespace omen::ensemble
