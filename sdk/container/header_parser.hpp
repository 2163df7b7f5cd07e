// SPDX-License-Identifier: Apache-2.0
// Parses the JSON header of a container event by event, because a document tree would hide
// duplicate keys.
#ifndef OMEN_CONTAINER_HEADER_PARSER_HPP
#define OMEN_CONTAINER_HEADER_PARSER_HPP

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "omen/container.hpp"

namespace omen::container {

struct Header {
  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;  // in the order of the header
};

// Checks syntax, types, names and sizes; where the data lies is the reader's concern. Throws
// OMEN_INVALID_DATA with a message that starts lower case and does not name the file.
Header parse_header(std::string_view json);

}  // namespace omen::container

#endif  // OMEN_CONTAINER_HEADER_PARSER_HPP
