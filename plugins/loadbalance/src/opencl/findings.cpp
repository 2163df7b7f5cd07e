// SPDX-License-Identifier: Apache-2.0
// Texts with their lines, each once.
#include "opencl/findings.hpp"

#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Instruction.h>

#include <algorithm>

namespace omen::loadbalance {
namespace {

// Nobody reads more of them, and a large kernel could give one for each line.
constexpr std::size_t kMostFindings = 20;

std::string with_line(const std::string& text, const llvm::Instruction* at) {
  const std::string line = line_of(at);
  return line.empty() ? text : text + " (" + line + ")";
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (list.size() == kMostFindings) return;
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

}  // namespace

std::string line_of(const llvm::Instruction* at) {
  const llvm::DebugLoc& line = at ? at->getDebugLoc() : llvm::DebugLoc();
  return line && line.getLine() ? "line " + std::to_string(line.getLine()) : "";
}

std::string name_of(const llvm::Value* base) {
  return "'" + (base->hasName() ? base->getName().str() : std::string("?")) + "'";
}

void refuse(SplitVerdict& verdict, const std::string& reason, const llvm::Instruction* at) {
  add_once(verdict.reasons, with_line(reason, at));
}

void demand(SplitVerdict& verdict, const LaunchCondition& condition) {
  const bool known = std::any_of(verdict.conditions.begin(), verdict.conditions.end(),
                                 [&](const auto& other) { return other.text == condition.text; });
  if (!known) verdict.conditions.push_back(condition);
}

void note(SplitVerdict& verdict, const std::string& text, const llvm::Instruction* at) {
  add_once(verdict.notes, with_line(text, at));
}

}  // namespace omen::loadbalance
