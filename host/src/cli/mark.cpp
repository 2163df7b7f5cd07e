// SPDX-License-Identifier: Apache-2.0
// `omen mark`: leaves a mark in the recording that this process runs under.
#include <cstdlib>

#include "cli/command_line.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "omen/telemetry/marks.hpp"

namespace omen::host::cli {
namespace {

struct MarkRequest {
  std::string name;
};

int run_mark(const Globals&, const MarkRequest& request) {
  const char* file = std::getenv(telemetry::kMarkVariable);
  if (!file || !*file)
    throw ExitError(kFailed, Error(OMEN_NOT_FOUND, "no recording takes marks here",
                                   "run the job under: omen profile -- COMMAND"));
  telemetry::write_mark(file, request.name);
  return kOk;
}

void describe_mark(CommandLine& line) {
  auto& r = line.request(run_mark);
  line.word("NAME", r.name, "what happens now").required();
}

}  // namespace

Verb mark_verb() {
  return {"mark", "leave a mark in the recording that this job runs under",
          "omen mark epoch-1\nomen profile -- sh -c 'omen mark load; ./load; omen mark train; "
          "./train'",
          describe_mark};
}

}  // namespace omen::host::cli
