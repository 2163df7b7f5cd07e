// SPDX-License-Identifier: Apache-2.0
// Random LLVM modules in textual IR that LLVM 10 and 14 both read.
#pragma once

#include <cstdint>
#include <string>

namespace omen::loadbalance::bench {

// A valid module; the same seed gives the same text. It holds several functions with branches,
// switches with repeated targets, loops, unreachable blocks, functions that never return, calls
// (direct, recursive, through pointers and casts, invokes), aggregates, vectors, atomics, globals,
// aliases and constant expressions.
std::string random_module(std::uint64_t seed);

}  // namespace omen::loadbalance::bench
