// SPDX-License-Identifier: Apache-2.0
// Statement ids of inst2vec (doi:10.48550/arXiv.1806.07336): instructions with names and numbers
// taken out, looked up in a dictionary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/program_graph.hpp"

namespace omen::loadbalance {

// Names of structures, such as "%struct.pair", and what stands for them, such as "{ i32, float* }".
using StructDefinitions = std::vector<std::pair<std::string, std::string>>;

// The printed instruction as the dictionary knows it: without metadata and attributes, with <%ID>,
// <@ID>, <INT>, <FLOAT> and <STRING> for names and values. Empty for what is no statement.
std::string inst2vec_statement(std::string_view printed, const StructDefinitions& structs = {});

class Inst2vecDictionary {
 public:
  // A file of lines [id, "statement"]. OMEN_NOT_FOUND, or OMEN_INVALID_DATA with the line.
  static Inst2vecDictionary read(const std::string& path);

  // The id of a printed instruction, that of !UNK where its statement is not known.
  std::int32_t id(std::string_view printed, const StructDefinitions& structs = {}) const;
  // One id per node, from the full texts of instructions; variables are !IDENTIFIER, constants and
  // types !IMMEDIATE. OMEN_INVALID_ARGUMENT where the graph has no full texts.
  std::vector<std::int32_t> ids(const ProgramGraph& graph, const StructDefinitions& structs) const;

  std::int32_t unknown() const { return unknown_; }
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
  std::int32_t unknown_ = 0, identifier_ = 0, immediate_ = 0;
};

}  // namespace omen::loadbalance
