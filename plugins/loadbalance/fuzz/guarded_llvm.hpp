// SPDX-License-Identifier: Apache-2.0
// For targets that reach LLVM through its guard, which leaves LLVM's frames by a jump when it gives
// up: what they held is lost by design. Leaks of graphs, which are built outside, still count.
#pragma once

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  // Stacks of strings end in the standard library, wherever they were made.
  return "leak:run_guarded\nleak:libLLVM\nleak:libclang-cpp\nleak:libstdc++\n";
}
