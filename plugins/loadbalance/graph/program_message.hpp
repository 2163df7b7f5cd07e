// SPDX-License-Identifier: Apache-2.0
// Program graphs as ProGraML's protocol buffer messages (proto/program_graph.proto).
#pragma once

#include <string>
#include <vector>

#include "graph/program_graph.hpp"
#include "omen/dataset.hpp"
#include "omen/run.hpp"

namespace omen::loadbalance {

enum class MessageForm { kBinary, kText };

// One ProgramGraph, or a ProgramGraphList where `graphs` does not hold exactly one. `files` names
// the source file of each graph, which becomes its only module.
std::string to_message(const std::vector<ProgramGraph>& graphs,
                       const std::vector<std::string>& files, MessageForm form);

// The graph writer of the plugin: text where `path` ends in .pbtxt, else binary.
void write_message_file(const Dataset& in, const char* path, const Run& run);

}  // namespace omen::loadbalance
