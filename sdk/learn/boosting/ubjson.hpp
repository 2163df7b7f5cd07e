// SPDX-License-Identifier: Apache-2.0
// Reads the part of UBJSON that XGBoost writes, and nothing beyond the bytes that are there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omen::learn {

struct UbjValue {
  enum class Kind { kNothing, kNumber, kText, kNumbers, kList, kObject };
  Kind kind = Kind::kNothing;
  double number = 0;
  std::string text;
  std::vector<double> numbers;     ///< an array whose elements have one type
  std::vector<UbjValue> list;      ///< elements of a list, or values of an object
  std::vector<std::string> names;  ///< of an object's values

  const UbjValue* find(std::string_view key) const;
};

/// Throws OMEN_INVALID_DATA; names of an object are different, and nothing follows the document.
UbjValue parse_ubjson(std::string_view bytes);

}  // namespace omen::learn
