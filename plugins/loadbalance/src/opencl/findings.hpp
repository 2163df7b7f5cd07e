// SPDX-License-Identifier: Apache-2.0
// What is said about a kernel, with the line that it is said of.
#pragma once

#include <string>

#include "opencl/splittable.hpp"

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace omen::loadbalance {

// "line 7", or nothing where it is not known.
std::string line_of(const llvm::Instruction* at);
// A parameter or variable as the source has it, in quotes.
std::string name_of(const llvm::Value* base);

// Each text is kept once. `at` may be null.
void refuse(SplitVerdict& verdict, const std::string& reason, const llvm::Instruction* at);
void demand(SplitVerdict& verdict, const LaunchCondition& condition);
void note(SplitVerdict& verdict, const std::string& text, const llvm::Instruction* at);

}  // namespace omen::loadbalance
