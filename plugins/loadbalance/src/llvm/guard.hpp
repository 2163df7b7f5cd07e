// SPDX-License-Identifier: Apache-2.0
// Runs LLVM code so that its crashes and fatal errors become exceptions.
#pragma once

#include <functional>
#include <string>

namespace omen::loadbalance {

// Calls `body` on a thread with a large stack. An exception of the body passes through; a crash
// inside, or a call of LLVM's fatal error handler, is thrown as OMEN_INVALID_DATA: "Clang crashed
// on <subject>" or LLVM's own message. What the body had allocated is then lost.
void run_guarded(const char* program, const std::string& subject,
                 const std::function<void()>& body);

}  // namespace omen::loadbalance
