// SPDX-License-Identifier: Apache-2.0
// Runs a loop and leaves a mark for each step where somebody records.
#include "measure/work_command.hpp"

#include <cstdlib>
#include <omen/join.hpp>
#include <omen/telemetry/marks.hpp>

#include "measure/loops.hpp"

namespace omen::interference {

int WorkCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() != 1)
    throw Error(
        OMEN_INVALID_ARGUMENT, "work needs the name of a load",
        "Use: omen interference work NAME with " + join(all_loop_kinds(), ", ", loop_name) + ".");
  const LoopKind kind = parse_loop(args[0]);
  const char* file = std::getenv(telemetry::kMarkVariable);
  const std::int64_t steps = run_loop(
      kind, options_.seconds,
      [&] {
        if (file && *file) telemetry::write_mark(file, "step");
      },
      [&run] { return run.cancelled(); });
  out.put("work", TableBuilder()
                      .add_strings("load", {loop_name(kind)})
                      .add("steps", std::vector<std::int64_t>{steps})
                      .add("steps_per_s",
                           std::vector<double>{static_cast<double>(steps) / options_.seconds},
                           {{"omen.unit", "1/s"}})
                      .finish());
  return 0;
}

Component work_component() {
  return command<WorkCommand, WorkOptions>("interference.work",
                                           "a load bound by arithmetic, memory, cache or waiting");
}

}  // namespace omen::interference
