// SPDX-License-Identifier: Apache-2.0
// `omen mark`: leaves a mark in the recording that this process runs under.
#include <cstdlib>

#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "omen/telemetry/marks.hpp"

namespace omen::host::cli {

int run_mark(const Globals&, const MarkRequest& request) {
  const char* file = std::getenv(telemetry::kMarkVariable);
  if (!file || !*file)
    throw ExitError(kFailed, Error(OMEN_NOT_FOUND, "no recording takes marks here",
                                   "run the job under: omen profile -- COMMAND"));
  telemetry::write_mark(file, request.name);
  return kOk;
}

}  // namespace omen::host::cli
