// SPDX-License-Identifier: Apache-2.0
// Reads a trace of this or of another tool.
#include "replay.hpp"

#include <nlohmann/json.hpp>

#include "omen/telemetry/imports.hpp"

namespace omen::telemetry {
namespace {

[[noreturn]] void no_trace() {
  throw Error(OMEN_UNAVAILABLE, "there is no trace to replay",
              "Name one: omen profile --with telemetry.replay --trace FILE");
}

std::string trace_of(const std::string& workload_json) {
  const auto workload = nlohmann::json::parse(workload_json, nullptr, false);
  if (!workload.is_object() || !workload.contains("trace")) no_trace();
  if (!workload["trace"].is_string())
    throw Error(OMEN_INVALID_ARGUMENT, "the workload's 'trace' is no text",
                "Use {\"trace\": \"FILE\"}.");
  return workload["trace"].get<std::string>();
}

}  // namespace

std::string Replay::probe() {
  if (options_.trace.empty()) no_trace();
  const auto reader = open_trace(options_.trace, {options_.format, options_.period_s});
  std::vector<LogRow> rows;
  reader->next(rows);
  return nlohmann::json{{"trace", options_.trace}, {"metrics", reader->metrics()}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TableStream Replay::collect(const std::string& workload_json, const Run&) {
  const std::string path = options_.trace.empty() ? trace_of(workload_json) : options_.trace;
  const ImportOptions options{options_.format, options_.period_s};
  return counters_stream([path, options] { return open_trace(path, options); });
}

}  // namespace omen::telemetry
