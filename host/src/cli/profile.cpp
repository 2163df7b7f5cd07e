// SPDX-License-Identifier: Apache-2.0
// `omen profile`: runs or watches a workload, keeps its trace and says what was measured.
#include <unistd.h>

#include <optional>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/profile_report.hpp"
#include "cli/profile_stats.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "components/named_errors.hpp"
#include "omen/container.hpp"
#include "omen/job_metrics.h"
#include "omen/telemetry/device_registry.hpp"
#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/recording.hpp"
#include "omen/utc_time.hpp"
#include "report/figure.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host::cli {
namespace {

namespace fs = std::filesystem;
using telemetry::OpenRows;
using telemetry::Summary;

constexpr const char* kRowsName = "counters.log";
// What shells say for a command that is not there, or cannot be run.
constexpr int kNoSuchCommand = 127;
constexpr int kCannotRun = 126;

ComponentRef find_profiler(const Registry& registry, const std::string& component) {
  if (!component.empty()) return registry.component(OMEN_PROFILER, component);
  const std::vector<ComponentRef> all = registry.components(OMEN_PROFILER);
  if (all.empty())
    throw ExitError(kUsage, Error(OMEN_NOT_FOUND, "no profiler is installed",
                                  "the telemetry plugin provides profilers; see where plugins are "
                                  "looked for with: omen doctor"));
  for (const ComponentRef& ref : all)
    if (ref.info->caps & OMEN_CAP_DEFAULT) return ref;
  if (all.size() == 1) return all[0];
  std::string ids;
  for (const ComponentRef& ref : all) ids += (ids.empty() ? "" : ", ") + ref.info->id;
  usage_error("several profilers are installed: " + ids,
              "choose one with --with " + all[0].info->id);
}

std::string workload_json(const ProfileRequest& request) {
  JsonWriter json;
  json.object();
  if (request.pid > 0) json.field("pid", request.pid);
  if (!request.command.empty()) json.strings("command", request.command);
  if (request.duration_s > 0) json.field("duration_s", request.duration_s);
  if (request.repeat > 1) json.field("repeat", request.repeat);
  return json.end().text();
}

// Where a recording goes. While it runs, everything lies in `state`.
struct Place {
  fs::path trace, state, directory;
  std::string plot_name;
  bool is_directory = false;

  static Place in_directory(const fs::path& directory) {
    return {directory / "counters.omt", directory / "partial", directory, "profile", true};
  }
  static Place of_file(const fs::path& file) {
    return {file, file.string() + ".partial", file.has_parent_path() ? file.parent_path() : ".",
            file.stem().string(), false};
  }
  // A name without a suffix is a directory; no name is a new one.
  static Place of_output(const std::string& output) {
    if (output.empty()) return in_directory(new_directory());
    const fs::path path(output);
    if (output.back() == '/' || fs::is_directory(path) || !path.has_extension())
      return in_directory(path);
    return of_file(path);
  }

 private:
  static fs::path new_directory() {
    const std::string text = utc_now("profile-%Y%m%d-%H%M%S");
    fs::path path = text;
    for (int i = 2; fs::exists(path); ++i) path = text + "-" + std::to_string(i);
    return path;
  }
};

void prepare(const Place& place) {
  if (fs::exists(place.state / telemetry::kLogName))
    usage_error("a recording that did not end lies in " + place.state.string(),
                "finish it with: omen profile --recover " +
                    (place.is_directory ? place.directory : place.trace).string());
  std::error_code error;
  fs::create_directories(place.state, error);
  if (error)
    throw Error(OMEN_IO,
                "directory " + place.state.string() + " cannot be made: " + error.message(),
                "choose another place with -o");
}

// Takes what a failed start has made away again.
void clean_up(const Place& place) {
  std::error_code error;
  fs::remove_all(place.state, error);
  if (place.is_directory) fs::remove(place.directory, error);  // only where it is empty
}

// Copies a stream into a log, so that it can be read more than once without holding it. Rows that
// came before an error are kept; the error is returned.
std::optional<Error> drain(TableStream stream, const fs::path& log) {
  telemetry::MetricTable metrics;
  telemetry::LogWriter writer(log, metrics);
  std::optional<Error> failure;
  const telemetry::RowReaderPtr reader = telemetry::read_stream(std::move(stream));
  try {
    telemetry::copy_rows(*reader, writer, metrics);
  } catch (const Error& error) {
    failure = error;
  }
  writer.finish();
  return failure;
}

void write_trace(const OpenRows& open, const Place& place) {
  if (place.trace.extension() == ".omt") return telemetry::write_container(open, place.trace);
  const fs::path container = place.state / "counters.omt";
  telemetry::write_container(open, container);
  const container::Reader reader = container::Reader::open(container);
  write_rows(place.trace, "counters", container::get_table(reader, "counters"));
}

// The plot's path, or nothing where none was wanted or the chart library is missing.
std::string write_plot(const Globals& globals, const ProfileRequest& request, const Place& place,
                       const OpenRows& open, const std::string& title) {
  if (request.no_plot) return {};
  telemetry::PlotOptions options;
  options.title = title;
  options.all_metrics = request.all;
  try {
    write_figure(place.directory, place.plot_name, telemetry::plot_json(open, options), {});
  } catch (const Error& error) {
    note(globals, std::string("no plot: ") + error.what());
    return {};
  }
  return (place.directory / (place.plot_name + ".html")).string();
}

// Rated power of the cores of this machine, of which a virtual one has only some; 0 where the
// processor is not in the registry. A replayed trace ran somewhere else.
double rated_power_w(const ProfileRequest& request) {
  const bool here = !request.command.empty() || request.pid > 0 || request.duration_s > 0;
  const Machine machine = machine_facts();
  const telemetry::PublishedDevice* device =
      here ? telemetry::find_device(machine.processor) : nullptr;
  if (!device || !device->figure("tdp_w") || !device->figure("threads")) return 0;
  return *device->figure("tdp_w") * machine.cores / *device->figure("threads");
}

// Writes trace, plot and summary. The job owns stdout, so what people read then goes to stderr; a
// document that was asked for follows what the job wrote.
Summary report(const Globals& globals, const ProfileRequest& request, const Place& place,
               const OpenRows& open, const std::string& profiler) {
  write_trace(open, place);
  const telemetry::RowReaderPtr reader = open();
  Summary summary = telemetry::summarise(*reader);
  std::string title;
  for (const std::string& word : request.command) title += (title.empty() ? "" : " ") + word;
  const std::string plot =
      write_plot(globals, request, place, open, title.empty() ? profiler : title);
  telemetry::TraceStatsOptions options;
  options.processor_tdp_w = rated_power_w(request);
  const telemetry::TraceStats stats = telemetry::trace_stats(open, options);
  const std::string json = trace_json(summary, stats, profiler, place.trace.string(), plot);
  if (place.is_directory) write_text(place.directory / "summary.json", json + "\n");
  const bool stdout_is_free = request.command.empty();
  if (globals.json) {
    print(json + "\n");
  } else {
    const TextTable table = trace_table(summary, request.all);
    if (stdout_is_free)
      print_table(globals, table);
    else
      note(globals,
           table.text(globals.plain ? Terminal{} : terminal_of(STDERR_FILENO), !globals.plain));
  }
  note(globals, trace_headline(summary));
  if (const std::string text = stats_text(stats); !text.empty()) note(globals, text);
  const std::string absent = absent_parts(summary, globals.verbose > 0);
  if (!absent.empty())
    note(globals, "not measured here: " + absent + (globals.verbose > 0 ? "" : " (-v says why)"));
  note(globals, "wrote " + place.trace.string() + (plot.empty() ? "" : " and " + plot));
  return summary;
}

// The job's own exit code, or 128 and the signal as shells count.
int exit_code_of_job(const Summary& summary) {
  const auto workloads = summary.workloads();
  const std::int64_t last = workloads.empty() ? 0 : workloads.back();
  if (const auto* signal = summary.find(OMEN_METRIC_SIGNAL, -1, last))
    return 128 + static_cast<int>(signal->last());
  if (const auto* code = summary.find(OMEN_METRIC_EXIT_CODE, -1, last))
    return static_cast<int>(code->last());
  return kOk;
}

// diff, stats and failures read what was recorded earlier.
int run_action(const Globals& globals, const ProfileRequest& request) {
  if (request.words[0] == "stats") return run_profile_stats(globals, request);
  if (request.words[0] == "failures") return run_profile_failures(globals, request);
  if (request.words[0] != "diff" || request.words.size() != 3)
    usage_error("'" + request.words[0] + "' is nothing that omen profile does",
                "put a command behind two dashes: omen profile -- COMMAND; compare traces with: "
                "omen profile diff A B");
  const Summary a = telemetry::summarise(*telemetry::open_trace(request.words[1]));
  const Summary b = telemetry::summarise(*telemetry::open_trace(request.words[2]));
  if (globals.json)
    print(trace_diff_json(a, b) + "\n");
  else
    print_table(globals, trace_diff(a, b, request.all));
  return kOk;
}

// The output that a name stands for: the trace itself, its directory, or what was left of them.
Place find_killed(const fs::path& name) {
  for (const Place& place : {Place::of_file(name), Place::in_directory(name)})
    if (fs::exists(place.state / telemetry::kLogName)) return place;
  if (name.filename() == "partial") return Place::in_directory(name.parent_path());
  if (name.extension() == ".partial") return Place::of_file(name.parent_path() / name.stem());
  throw ExitError(kUsage, Error(OMEN_NOT_FOUND,
                                "no recording that did not end belongs to '" + name.string() + "'",
                                "give the name that -o had, or the directory profile-TIME"));
}

int run_recover(const Globals& globals, const ProfileRequest& request) {
  const Place killed = find_killed(request.recover);
  Place place = request.output.empty() ? killed : Place::of_output(request.output);
  place.state = killed.state;
  const fs::path log = killed.state / telemetry::kLogName;
  const OpenRows open = [log] { return std::make_unique<telemetry::LogReader>(log); };
  telemetry::LogReader reader(log);
  std::vector<telemetry::LogRow> rows;
  while (reader.next(rows)) {
  }
  if (place.is_directory) fs::create_directories(place.directory);
  report(globals, request, place, open, "recovered");
  if (!reader.complete())
    note(globals, "recovered: the end of the run was not recorded, " +
                      std::to_string(reader.lost_bytes()) + " bytes of the last second are lost");
  fs::remove_all(killed.state);
  return kOk;
}

int print_devices(const Globals& globals, const std::string& profiler, const std::string& devices) {
  JsonWriter json;
  json.object().field("format_version", 1).field("profiler", profiler);
  print(globals.json ? json.key("devices").raw(devices).end().text() + "\n" : devices + "\n");
  return kOk;
}

int run_profile(const Globals& globals, const ProfileRequest& request) {
  if (!request.words.empty()) return run_action(globals, request);
  if (!request.recover.empty()) return run_recover(globals, request);
  RunChoices choices = request.run;
  choices.owns_stdout = !request.command.empty();
  if (choices.owns_stdout) give_stdout_back();
  Session session(globals, choices, request.flags, "profile", {});
  const ComponentRef ref = find_profiler(session.registry(), request.component);
  const OptionValues options = resolve_options(*ref.info, session.flags().sources_for(*ref.info));
  session.flags().finish();
  // A profiler that takes a trace needs nothing that runs.
  const bool replays = ref.info->option("trace") != nullptr;
  if (!request.probe && request.command.empty() && request.pid == 0 && request.duration_s == 0 &&
      !replays)
    usage_error(
        "nothing to profile",
        "write omen profile -- COMMAND, --pid PID, --duration 10s for the machine, or --probe");
  const std::string& id = ref.info->id;
  ProfilerHandle handle = said_by(id, [&] { return session.components().profiler(ref, options); });
  if (request.probe) {
    const std::string devices = said_by(id, [&] { return handle.probe(); });
    session.progress().finish();
    return print_devices(globals, id, devices);
  }
  const Place place = Place::of_output(request.output);
  prepare(place);
  RunSettings settings = session.components().settings().run;
  settings.state_dir = fs::absolute(place.state);
  const RunContext run(settings, session.components().settings().hooks);
  std::optional<Error> failure;
  try {
    failure = said_by(id, [&] {
      return drain(handle.collect(run.c(), workload_json(request)), place.state / kRowsName);
    });
  } catch (const Error& error) {
    clean_up(place);
    if (request.command.empty()) throw;
    if (error.code() == OMEN_NOT_FOUND) throw ExitError(kNoSuchCommand, error);
    if (error.code() == OMEN_INVALID_ARGUMENT) throw ExitError(kCannotRun, error);
    throw;
  }
  session.progress().finish();
  const fs::path log = place.state / kRowsName;
  const Summary summary = report(
      globals, request, place, [log] { return std::make_unique<telemetry::LogReader>(log); },
      ref.info->id);
  fs::remove_all(place.state);
  if (failure) throw named_error(id, *failure);
  return exit_code_of_job(summary);
}

void complete_profile(Offers& offers) {
  if (offers.at_first()) offers.words({"diff", "stats", "failures"});
}

void describe_profile(CommandLine& line) {
  auto& r = line.request(run_profile);
  line.word("ACTION", r.words,
            "diff A B: compare two traces; stats TRACE: phases, energy, time of a step "
            "and how it ended; failures TABLE: runs that cannot have finished");
  line.value("--with", "COMPONENT", r.component, "profiler to use");
  line.value("-o,--output", "FILE", r.output,
             "write the trace: .omt, .csv, .jsonl, .json or a directory; otherwise a new "
             "directory profile-TIME");
  line.value("--pid", "PID", r.pid, "watch a running process instead of starting one");
  line.time("--duration", r.duration_s,
            "stop after this long, e.g. 30s or 5m; alone it watches the machine");
  line.value("--repeat", "N", r.repeat, "run the command so many times").range(1, 100000);
  line.value("--recover", "FILE", r.recover,
             "finish a recording that was killed, by the name of its output");
  line.toggle("--all", r.all, "show every series, not only the first to look at");
  line.toggle("--no-plot", r.no_plot, "write no HTML plot");
  line.toggle("--probe", r.probe, "only say which devices are seen");
  line.values("--metric", "METRIC", r.metrics, "stats: look at this metric; may be repeated");
  line.time("--period", r.period_s, "stats: time between samples of a trace without times");
  line.toggle("--legacy", r.legacy, "stats: shares of two clusters, as earlier work has them");
  line.values("--column", "KEY=NAME", r.columns,
              "failures: which column is what; KEY is size, time, work or group");
  line.after_dashes(r.command);
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb profile_verb() {
  return {"profile",
          "run a command and record what it uses, or watch one that runs already",
          "omen profile -- python train.py\nomen profile -o run.omt --repeat 5 -- ./bench\n"
          "omen profile --with telemetry.nvml --pid 1234 --duration 60s\n"
          "omen profile diff before.omt after.omt\nomen profile stats run.omt -o figures/\n"
          "omen profile failures jobs.csv\nomen profile --recover run.omt\nomen profile --probe",
          describe_profile,
          complete_profile,
          OMEN_PROFILER};
}

}  // namespace omen::host::cli
