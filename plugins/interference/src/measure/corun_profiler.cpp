// SPDX-License-Identifier: Apache-2.0
// Splits the command line at "--" and reports rates and speeds as counters.
#include "measure/corun_profiler.hpp"

#include <omen/job_metrics.h>
#include <algorithm>
#include <omen/learn/quantile.hpp>
#include <omen/telemetry/recording.hpp>
#include <thread>

#include "measure/corun.hpp"

namespace omen::interference {
namespace {

constexpr const char* kSeparator = "--";
constexpr std::size_t kMostCommands = 8;

struct Counters {
  std::vector<std::int64_t> workload;
  std::vector<std::int32_t> device;
  std::vector<std::string> metric;
  std::vector<double> value;

  void add(std::int64_t turn, const std::string& name, double number) {
    workload.push_back(turn);
    device.push_back(-1);
    metric.push_back(name);
    value.push_back(number);
  }
  Table finish() {
    return TableBuilder()
        .add("workload_id", std::move(workload))
        .add("device", std::move(device))
        .add_categories("metric", metric)
        .add("value", std::move(value))
        .finish();
  }
};

// "A ... -- B ... -- C ..." as commands. OMEN_INVALID_ARGUMENT for fewer than two or too many.
std::vector<CommandLine> commands_in(const CommandLine& words) {
  std::vector<CommandLine> commands(1);
  for (const std::string& word : words)
    if (word == kSeparator)
      commands.emplace_back();
    else
      commands.back().push_back(word);
  const bool gap = std::any_of(commands.begin(), commands.end(),
                               [](const CommandLine& command) { return command.empty(); });
  if (gap || commands.size() < 2 || commands.size() > kMostCommands)
    throw Error(OMEN_INVALID_ARGUMENT,
                "interference.corun needs two to " + std::to_string(kMostCommands) + " commands",
                "Use: omen profile --with interference.corun -- A ... -- B ...");
  return commands;
}

}  // namespace

std::string CorunProfiler::probe() {
  return "{\"devices\":[{\"kind\":\"cpu\",\"name\":\"" +
         std::to_string(std::max(std::thread::hardware_concurrency(), 1U)) + " processors\"}]}";
}

TableStream CorunProfiler::collect(const std::string& workload_json, const Run& run) {
  const telemetry::Workload workload = telemetry::parse_workload(workload_json);
  const std::vector<CommandLine> commands = commands_in(workload.command);
  CorunOptions options;
  options.window_s = options_.window_s;
  options.warmup_s = options_.warmup_s;
  options.patience_s = options_.patience_s;
  options.repeats = options_.repeats;
  options.directory = run.scratch_dir();
  const std::vector<CorunRates> rates =
      measure_corun(commands, options, [&](double done) { run.step(done, "co-run"); });
  Counters counters;
  for (std::size_t which = 0; which < rates.size(); ++which) {
    const CorunRates& of = rates[which];
    const std::string name(1, static_cast<char>('a' + which));
    for (std::size_t turn = 0; turn < of.alone.size(); ++turn) {
      const auto id = static_cast<std::int64_t>(turn);
      counters.add(id, name + ".alone_per_s", of.alone[turn]);
      counters.add(id, name + ".together_per_s", of.together[turn]);
      counters.add(id, name + ".rho", of.together[turn] / of.alone[turn]);
    }
    const CorunSpeed speed = speed_of(of.alone, of.together);
    counters.add(0, name + ".rho_median", speed.median);
    counters.add(0, name + ".rho_low", speed.low);
    counters.add(0, name + ".rho_high", speed.high);
    counters.add(0, name + ".rho_precise", speed.is_precise ? 1 : 0);
    for (const auto& [when, ms] :
         {std::pair{".alone", &of.alone_ms}, std::pair{".together", &of.together_ms}}) {
      counters.add(0, name + when + "_p50_ms", learn::quantile(*ms, 0.5));
      counters.add(0, name + when + "_p99_ms", learn::quantile(*ms, 0.99));
    }
    counters.add(0, name + ".cpu_percent", 100 * of.cpu_share);
    counters.add(0, name + ".rss_mib", of.memory_mib);
  }
  // All were ended by us, after they had done what they were asked for.
  counters.add(0, OMEN_METRIC_EXIT_CODE, 0);
  return counters.finish();
}

Component corun_component() {
  return profiler<CorunProfiler, CorunProfilerOptions>(
      "interference.corun", "speed of commands beside each other, relative to alone");
}

}  // namespace omen::interference
