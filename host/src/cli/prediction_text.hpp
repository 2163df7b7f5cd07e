// SPDX-License-Identifier: Apache-2.0
// What predictions say beside their values, as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/error.hpp"

namespace omen {
class Table;
}

namespace omen::host::cli {

// "[1.2, 3.4]" where the predictor gives bounds.
std::string interval_text(const Table& rows, const std::string& target, std::int64_t row);
bool has_probabilities(const Table& rows, const std::string& target);
// The probability of the class that was predicted.
std::string probability_text(const Table& rows, const std::string& target, std::int64_t row);
// "estimated", or "simulated:eyeriss" with the profile behind it; empty where the predictor does
// not say.
std::string method_of(const Table& rows, const std::string& target);
// ", simulated by eyeriss", for a heading.
std::string method_text(const Table& rows, const std::string& target);

// Rows that a predictor calls answers and that are none are its defect, one for each kind of them.
std::vector<Error> faults_of_rows(const Table& rows, const std::string& predictor);

}  // namespace omen::host::cli
