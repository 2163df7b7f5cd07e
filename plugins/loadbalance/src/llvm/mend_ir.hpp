// SPDX-License-Identifier: Apache-2.0
// Rewrites old textual IR into the syntax that LLVM 14 reads.
#pragma once

#include <string>
#include <string_view>

namespace omen::loadbalance {

// `T* byval` and `T* sret` of arguments become `T* byval(T)` and `T* sret(T)`; linear in the text.
std::string mend_attributes(std::string_view text);

// Drops debug information: its metadata nodes become empty ones, attachments and calls of debug
// intrinsics vanish.
std::string drop_debug_info(std::string_view text);

}  // namespace omen::loadbalance
