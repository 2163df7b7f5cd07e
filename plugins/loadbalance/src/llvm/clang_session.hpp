// SPDX-License-Identifier: Apache-2.0
// One action of Clang over one OpenCL source in memory.
#pragma once

#include <string>
#include <vector>

#include "llvm/compile.hpp"

namespace clang {
class FrontendAction;
}  // namespace clang

namespace omen::loadbalance {

// Makes the targets known; OMEN_UNAVAILABLE where Clang's own headers are not installed.
void prepare_clang();

// Runs the action and returns the warnings, as Clang prints them; `further` are arguments of cc1.
// Errors as of compile_opencl. Call prepare_clang first, and this inside run_guarded.
std::string run_clang(clang::FrontendAction& action, const std::string& source,
                      const std::string& path, const CompileOptions& options,
                      const std::vector<std::string>& further = {});

}  // namespace omen::loadbalance
