// SPDX-License-Identifier: Apache-2.0
// Runs the command until the interval is narrow, or reads runs that were recorded elsewhere.
#include "meter/measure_command.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <omen/host.hpp>
#include <omen/join.hpp>
#include <omen/telemetry/imports.hpp>
#include <omen/telemetry/record_log.hpp>

namespace omen::power {
namespace {

namespace fs = std::filesystem;

constexpr int kNotMeasured = 1;
constexpr double kProbe_s = 0.5;
constexpr double kNsPerMillisecond = 1e6;

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts = split(list, ',');
  std::erase(parts, "");
  return parts;
}

using Described = std::vector<std::pair<std::string, std::string>>;
Described described_columns(const std::string& list) {
  Described columns;
  for (const std::string& part : parts_of(list)) {
    const std::size_t equal = part.find('=');
    if (equal == 0 || equal == std::string::npos)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + part + "' of --describe is no COLUMN=VALUE",
                  "Write --describe system=rpi4,model=mobilenet-v2-1.0-224.");
    columns.emplace_back(part.substr(0, equal), part.substr(equal + 1));
  }
  return columns;
}

// Each run of the command in a directory of its own, so that a log is read while none is written.
class CommandRuns {
 public:
  CommandRuns(const MeasureOptions& options, std::vector<std::string> command, const Run& run)
      : options_(options), command_(std::move(command)), run_(run) {}

  // OMEN_UNAVAILABLE with every source that is missing, before the command is run at all.
  void require_power() {
    telemetry::Workload moment;
    moment.duration_s = kProbe_s;
    std::vector<telemetry::Note> notes;
    PowerTrace trace = recorded(moment, 0, notes);
    if (choose_sources(trace, options_.source)) return;
    std::string missing;
    for (const telemetry::Note& note : notes)
      if (note.kind == telemetry::NoteKind::kAbsent &&
          (note.source == "rapl" || note.source == "hwmon" || note.source == "nvml" ||
           note.source == "amd"))
        missing += "\n" + note.source + ": " + note.message + ". " + note.hint;
    throw Error(OMEN_UNAVAILABLE, "no source of power answers here" + missing,
                "Give the log of a meter with --trace FILE, or the rated power of the processor "
                "with --tdp_w WATTS for an estimate.");
  }
  PowerTrace measure() {
    telemetry::Workload workload;
    workload.command = command_;
    std::vector<telemetry::Note> notes;
    return recorded(workload, options_.idle_s, notes);
  }

 private:
  PowerTrace recorded(const telemetry::Workload& workload, double idle_s,
                      std::vector<telemetry::Note>& notes) {
    telemetry::RecordOptions record;
    record.interval_ns = std::llround(options_.interval_ms * kNsPerMillisecond);
    record.lead_s = idle_s;
    record.tail_s = idle_s;
    record.nvml_library = options_.nvml_library;
    record.roots.sys = options_.sys_root;
    record.directory = fs::path(run_.scratch_dir()) / std::to_string(count_++);
    fs::create_directories(record.directory);
    telemetry::RecordHooks hooks;
    hooks.cancelled = [this] { return run_.cancelled(); };
    hooks.live = [this](const std::string& line) { run_.progress(-1, line.c_str()); };
    const telemetry::Recording recording = telemetry::record(record, workload, hooks);
    run_.step(-1, "measure");
    notes = recording.notes;
    telemetry::LogReader reader(recording.log);
    std::vector<PowerTrace> traces = read_power(reader, options_.tdp_w);
    return traces.empty() ? PowerTrace{} : std::move(traces.front());
  }

  const MeasureOptions& options_;
  const std::vector<std::string> command_;
  const Run& run_;
  int count_ = 0;
};

std::vector<double> energies_of(const std::vector<MeasuredRun>& runs, double MeasuredRun::*field) {
  std::vector<double> values;
  for (const MeasuredRun& run : runs)
    if (run.rejected.empty()) values.push_back(run.*field);
  return values;
}

std::vector<MeasuredRun> traced_runs(const MeasureOptions& options, const Protocol& protocol) {
  std::vector<MeasuredRun> runs;
  for (const std::string& file : parts_of(options.trace)) {
    const telemetry::RowReaderPtr reader = telemetry::open_trace(file);
    for (PowerTrace& trace : read_power(*reader, options.tdp_w)) {
      choose_sources(trace, options.source);
      runs.push_back(judge_run(trace, protocol));
    }
  }
  return runs;
}

std::vector<MeasuredRun> command_runs(const MeasureOptions& options, const Protocol& protocol,
                                      const std::vector<std::string>& command, const Run& run) {
  CommandRuns source(options, command, run);
  source.require_power();
  std::vector<MeasuredRun> runs;
  while (static_cast<std::int64_t>(runs.size()) < options.most_runs) {
    PowerTrace trace = source.measure();
    choose_sources(trace, options.source);
    runs.push_back(judge_run(trace, protocol));
    // A command that fails will fail again.
    if (trace.exit_code.value_or(0) != 0) break;
    const Interval energy = interval_of(energies_of(runs, &MeasuredRun::energy_j));
    if (static_cast<std::int64_t>(energy.runs) >= options.least_runs &&
        energy.relative() <= options.within)
      break;
  }
  return runs;
}

Table runs_table(const std::vector<MeasuredRun>& runs) {
  std::vector<std::int64_t> number;
  std::vector<double> energy, net, latency, power, before, after, window;
  std::vector<std::string> method, status;
  std::vector<bool> counts;
  for (const MeasuredRun& run : runs) {
    number.push_back(static_cast<std::int64_t>(number.size()) + 1);
    energy.push_back(run.energy_j);
    net.push_back(run.net_j);
    latency.push_back(run.latency_s);
    power.push_back(run.power_w);
    before.push_back(run.idle_before_w);
    after.push_back(run.idle_after_w);
    window.push_back(run.window_s);
    method.push_back(run.method);
    counts.push_back(run.rejected.empty());
    status.push_back(run.rejected.empty() ? "ok" : "rejected: " + run.rejected);
  }
  TableBuilder table;
  table.add("run", std::move(number));
  const auto put = [&](const char* name, std::vector<double>& values, const char* unit) {
    table.add(name, std::move(values), {{"omen.unit", unit}}).valid(counts);
  };
  put("energy_j", energy, "J");
  put("net_energy_j", net, "J");
  put("latency_s", latency, "s");
  put("power_w", power, "W");
  put("idle_before_w", before, "W");
  put("idle_after_w", after, "W");
  put("window_s", window, "s");
  return table.add_strings("method", method).add_strings("status", status).finish();
}

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

// What `omen observe` reads: the columns that describe the run, and what was measured.
struct Measured {
  Described columns;
  std::vector<std::pair<std::string, double>> targets;

  std::string csv() const {
    const auto quoted = [](const std::string& text) {
      if (text.find_first_of(",\"\n") == std::string::npos) return text;
      std::string made = "\"";
      for (const char c : text) made += c == '"' ? std::string("\"\"") : std::string(1, c);
      return made + "\"";
    };
    std::vector<std::string> names, values;
    for (const auto& [name, value] : columns) {
      names.push_back(quoted(name));
      values.push_back(quoted(value));
    }
    for (const auto& [name, value] : targets) {
      names.push_back(quoted(name));
      values.push_back(number_text(value));
    }
    return join(names, ",") + "\n" + join(values, ",") + "\n";
  }
};

Table summary_table(const Measured& measured, const std::vector<MeasuredRun>& runs,
                    const Interval& energy, bool narrow) {
  TableBuilder table;
  for (const auto& [name, value] : measured.columns) {
    if (is_number(value))
      table.add(name, std::vector<double>{std::strtod(value.c_str(), nullptr)});
    else
      table.add_strings(name, {value});
  }
  const auto put = [&](const char* name, double value, const char* unit) {
    table.add(name, std::vector<double>{value}, {{"omen.unit", unit}});
  };
  const auto mean = [&](double MeasuredRun::*field) {
    return interval_of(energies_of(runs, field)).mean;
  };
  double idle = 0;
  std::string method;
  for (const MeasuredRun& run : runs)
    if (run.rejected.empty())
      idle += run.idle_w() / static_cast<double>(energy.runs), method = run.method;
  put("energy_j", energy.mean, "J");
  put("energy_j.lo", energy.mean - energy.half, "J");
  put("energy_j.hi", energy.mean + energy.half, "J");
  put("mad_j", energy.mad, "J");
  put("net_energy_j", mean(&MeasuredRun::net_j), "J");
  put("latency_s", mean(&MeasuredRun::latency_s), "s");
  put("power_w", mean(&MeasuredRun::power_w), "W");
  put("idle_w", idle, "W");
  table.add("runs", std::vector<std::int64_t>{static_cast<std::int64_t>(energy.runs)})
      .add("rejected",
           std::vector<std::int64_t>{static_cast<std::int64_t>(runs.size() - energy.runs)})
      .add_strings("method", {method == "estimated" ? "estimated:tdp" : "measured:" + method})
      .add_strings("status", {narrow ? "ok" : "wide"});
  return table.finish();
}

}  // namespace

std::vector<Option<MeasureOptions>> MeasureOptions::spec() {
  using O = MeasureOptions;
  return options(
      opt(&O::idle_s, "idle_s", "recorded before and after each run").range(1, 3600).unit("s"),
      opt(&O::ramp_s, "ramp_s", "left out behind each start and end").range(0, 60).unit("s"),
      opt(&O::least_window_s, "least_window_s", "of steady power that a run must have")
          .range(1, 3600)
          .unit("s"),
      opt(&O::inferences, "inferences",
          "inferences in one run of the command; marks (omen mark) tell better")
          .range(1, 1e12),
      opt(&O::within, "within", "half width of the interval at which it ends, as a part")
          .range(0.001, 1),
      opt(&O::least_runs, "least_runs", "runs that must count").range(2, 1000),
      opt(&O::most_runs, "most_runs", "after which it gives up").range(2, 1000),
      opt(&O::most_drift, "most_drift", "of idle, as a part of the power of the job").range(0, 1),
      opt(&O::most_spread, "most_spread", "of power within the window, as a part").range(0.001, 1),
      opt(&O::trace, "trace",
          "recordings or meter logs in place of a command, with commas between them"),
      opt(&O::source, "source", "what counts; empty: what together is the machine")
          .choices("", "meter", "gpu", "rapl", "hwmon", "estimate"),
      opt(&O::tdp_w, "tdp_w", "rated power of the processor, for an estimate from its load")
          .range(0, 1e5)
          .unit("W"),
      opt(&O::describe, "describe", "columns of the result, such as system=rpi4,batch=1"),
      opt(&O::power_column, "power_column", "what the model to observe calls watts"),
      opt(&O::energy_column, "energy_column", "what it calls joules of an inference"),
      opt(&O::time_column, "time_column", "what it calls seconds of an inference"),
      opt(&O::interval_ms, "interval_ms", "time between samples").range(10, 60000).unit("ms"),
      opt(&O::sys_root, "sys_root", "where /sys is mounted").path().advanced(),
      opt(&O::nvml_library, "nvml_library", "NVML by name or path").advanced());
}

int MeasureCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.empty() == options_.trace.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "measure needs a command or --trace, and not both",
                "Use: omen power measure -- python infer.py");
  Protocol protocol;
  protocol.ramp_s = options_.ramp_s;
  protocol.least_window_s = options_.least_window_s;
  protocol.most_drift = options_.most_drift;
  protocol.most_spread = options_.most_spread;
  protocol.inferences = options_.inferences;
  Measured measured{described_columns(options_.describe), {}};
  const std::vector<MeasuredRun> runs =
      args.empty() ? traced_runs(options_, protocol) : command_runs(options_, protocol, args, run);
  out.put("runs", runs_table(runs));
  const Interval energy = interval_of(energies_of(runs, &MeasuredRun::energy_j));
  if (energy.runs == 0) {
    log(OMEN_LOG_WARN, "power.measure",
        "no run counts; the last one: " + (runs.empty() ? "there is none" : runs.back().rejected));
    return kNotMeasured;
  }
  const bool narrow = energy.relative() <= options_.within;
  if (!narrow)
    log(OMEN_LOG_WARN, "power.measure",
        "the interval is wider than asked for after " + std::to_string(energy.runs) +
            " runs that count: allow more with --most_runs, or make each longer");
  out.put("measured", summary_table(measured, runs, energy, narrow));
  measured.targets = {
      {options_.time_column, interval_of(energies_of(runs, &MeasuredRun::latency_s)).mean},
      {options_.power_column, interval_of(energies_of(runs, &MeasuredRun::power_w)).mean},
      {options_.energy_column, energy.mean}};
  if (!run.output_dir().empty()) {
    fs::create_directories(run.output_dir());
    std::ofstream(fs::path(run.output_dir()) / "measured.csv") << measured.csv();
  }
  return 0;
}

Component measure_component() {
  return command<MeasureCommand, MeasureOptions>(
      "power.measure", "energy of an inference on this machine, by windows, idle and rejection");
}

}  // namespace omen::power
