// SPDX-License-Identifier: Apache-2.0
// Crash recovery around LLVM, which answers some inputs with signals or abort().
#include "llvm/guard.hpp"

#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>

#include <exception>
#include <mutex>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

// Deeply nested sources recurse deeply.
constexpr unsigned kStackBytes = 256U << 20;

// What LLVM said before it gave up; set on the guarded thread.
thread_local std::string* fatal_message = nullptr;

void on_fatal_error(void*, const char* reason, bool) {
  if (fatal_message) *fatal_message = reason ? reason : "no reason given";
  if (llvm::CrashRecoveryContext* recovery = llvm::CrashRecoveryContext::GetCurrent())
    recovery->HandleExit(1);
}

void install_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::CrashRecoveryContext::Enable();
  });
}

}  // namespace

void run_guarded(const char* program, const std::string& subject,
                 const std::function<void()>& body) {
  install_once();
  std::exception_ptr thrown;
  std::string fatal;
  llvm::CrashRecoveryContext recovery;
  const bool finished = recovery.RunSafelyOnThread(
      [&] {
        fatal_message = &fatal;
        try {
          body();
        } catch (...) {
          thrown = std::current_exception();
        }
        fatal_message = nullptr;
      },
      kStackBytes);
  if (thrown) std::rethrow_exception(thrown);
  if (finished) return;
  if (!fatal.empty())
    throw Error(OMEN_INVALID_DATA, std::string(program) + " gave up on " + subject + ": " + fatal,
                "The input is malformed, or uses what this version of LLVM cannot do.");
  throw Error(OMEN_INVALID_DATA, std::string(program) + " crashed on " + subject,
              "Reduce the input until it passes; whatever crashes a compiler is worth a report.");
}

}  // namespace omen::loadbalance
