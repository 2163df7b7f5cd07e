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

// The only module of a graph: its source file, and what it was compiled for where that is known.
struct MessageModule {
  std::string name, target_triple = {}, data_layout = {};
};

// One ProgramGraph, or a ProgramGraphList where `graphs` does not hold exactly one; `modules` are
// those of the graphs.
std::string to_message(const std::vector<ProgramGraph>& graphs,
                       const std::vector<MessageModule>& modules, MessageForm form);

// The graph writer of the plugin: text where `path` ends in .pbtxt, else binary.
void write_message_file(const Dataset& in, const char* path, const Run& run);

}  // namespace omen::loadbalance
