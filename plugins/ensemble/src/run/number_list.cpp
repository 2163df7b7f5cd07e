// SPDX-License-Identifier: Apache-2.0
// Numbers between commas.
#include "run/number_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <omen/error.hpp>
#include <sstream>

namespace omen::ensemble {

std::vector<std::int64_t> number_list(const std::string& text, const char* option) {
  std::vector<std::int64_t> numbers;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    char* end = nullptr;
    const long value = std::strtol(part.c_str(), &end, 10);
    if (part.empty() || *end || value < 1 || value > 100000)
      throw Error(OMEN_INVALID_ARGUMENT,
                  std::string(option) + " '" + text + "' are not numbers from 1 on",
                  "Write them as 1,2,4.");
    numbers.push_back(value);
  }
  // By value: as texts 16 would come before 2.
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace omen::ensemble
