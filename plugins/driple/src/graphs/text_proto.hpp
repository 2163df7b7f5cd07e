// SPDX-License-Identifier: Apache-2.0
// Text form of protocol buffers as a tree of fields, without knowing their types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

struct TextField {
  std::string name;
  std::string value;              // of a scalar, with escapes resolved
  std::vector<TextField> fields;  // of a message
  bool message = false;
};

// OMEN_INVALID_DATA with the line where the text ends too early or is not of this form.
std::vector<TextField> parse_text_proto(std::string_view text, const std::string& source);

const TextField* find_field(const std::vector<TextField>& fields, std::string_view name);

}  // namespace omen::driple
