// SPDX-License-Identifier: Apache-2.0
// Whole files for the readers of graphs.
#pragma once

#include <string>

namespace omen::driple {

// OMEN_INVALID_ARGUMENT without a path, OMEN_IO where the file cannot be read, OMEN_INVALID_DATA
// beyond two gigabytes, which no message of protocol buffers may have.
std::string read_graph_file(const char* path, const char* component, const char* hint);

}  // namespace omen::driple
