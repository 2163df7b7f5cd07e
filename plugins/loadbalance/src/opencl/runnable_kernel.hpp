// SPDX-License-Identifier: Apache-2.0
// All that running a kernel needs to know of it. The front end finds it out in its process and
// hands it over as a text, because its LLVM and that of a driver must not meet.
#pragma once

#include <set>
#include <string>

#include "opencl/arguments.hpp"
#include "opencl/split_verdict.hpp"

namespace omen::loadbalance {

struct RunnableKernel {
  std::string text;           // what devices build; stands alone
  std::string split_text;     // the same with rewritten built-ins
  std::string build_options;  // for both
  Signature signature;
  std::set<std::string> rewritten;  // built-ins that were found, "get_group_id"
  bool takes_range = false;         // it has the size of the whole range as last argument
  SplitVerdict verdict;
};

// The column of `workloads` that holds the text.
inline constexpr const char* kRunnableColumn = "runnable";

std::string to_json(const RunnableKernel& kernel);
// OMEN_INVALID_DATA where the text is of another kind.
RunnableKernel runnable_kernel_from(const std::string& json);

}  // namespace omen::loadbalance
