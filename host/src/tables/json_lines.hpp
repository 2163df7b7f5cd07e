// SPDX-License-Identifier: Apache-2.0
// Row objects from JSON lines or from a JSON array, shared by the readers of both.
#ifndef OMEN_HOST_JSON_LINES_HPP
#define OMEN_HOST_JSON_LINES_HPP

#include <iosfwd>
#include <string>

#include "tables/table_io.hpp"

namespace omen::host {

// A JSON array of row objects, or one object; reads the stream to its end.
TableStream stream_json_array(std::istream& in, const std::string& name,
                              const ReadOptions& options);

}  // namespace omen::host

#endif  // OMEN_HOST_JSON_LINES_HPP
