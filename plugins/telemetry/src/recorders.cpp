// SPDX-License-Identifier: Apache-2.0
// Records a workload and hands its log out as a stream of counters.
#include "recorders.hpp"

#include <cmath>

#include "omen/telemetry/record_log.hpp"

namespace omen::telemetry {
namespace {

void log_notes(const char* who, const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    std::string text = note.source + ": " + note.message;
    if (note.count > 1) text += " (" + std::to_string(note.count) + " times)";
    if (!note.hint.empty()) text += "; " + note.hint;
    omen::log(note.kind == NoteKind::kWarning ? OMEN_LOG_WARN : OMEN_LOG_INFO, who, text);
  }
}

// The rows, then the reason why there are no more: a cancelled recording keeps what it has.
TableStream ending_in_cancel(TableStream rows) {
  const Table schema = rows.schema();
  return TableStream(schema, [rows = std::make_shared<TableStream>(std::move(rows))]() {
    std::optional<Table> next = rows->next();
    if (!next) throw Error(OMEN_CANCELLED, "the recording was cancelled");
    return next;
  });
}

}  // namespace

Recorder::Recorder(const char* id, const RecorderOptions& options, Need host, Need nvml, Need amd)
    : id_(id) {
  record_.interval_ns = std::llround(options.interval_ms * 1e6);
  record_.lead_s = options.lead_s;
  record_.tail_s = options.tail_s;
  record_.host = host;
  record_.nvml = nvml;
  record_.amd = amd;
  record_.nvml_library = options.nvml_library;
  record_.roots = {options.proc_root, options.sys_root, options.kernel_log};
}

std::string Recorder::probe() {
  return describe_devices(record_);
}

TableStream Recorder::collect(const std::string& workload_json, const Run& run) {
  const Workload workload = parse_workload(workload_json);
  RecordOptions options = record_;
  // In the state directory the log survives a kill; elsewhere nobody asked for that.
  options.directory = run.state_dir().empty() ? run.scratch_dir() : run.state_dir();
  RecordHooks hooks;
  hooks.cancelled = [&run] { return run.cancelled(); };
  hooks.live = [&run](const std::string& line) { run.progress(-1, line.c_str()); };
  const Recording recording = record(options, workload, hooks);
  log_notes(id_, recording.notes);
  TableStream rows =
      counters_stream([path = recording.log] { return std::make_unique<LogReader>(path); });
  return recording.cancelled ? ending_in_cancel(std::move(rows)) : std::move(rows);
}

}  // namespace omen::telemetry
