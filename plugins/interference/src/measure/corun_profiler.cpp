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

}  // namespace

std::string CorunProfiler::probe() {
  return "{\"devices\":[{\"kind\":\"cpu\",\"name\":\"" +
         std::to_string(std::max(std::thread::hardware_concurrency(), 1U)) + " processors\"}]}";
}

TableStream CorunProfiler::collect(const std::string& workload_json, const Run& run) {
  const telemetry::Workload workload = telemetry::parse_workload(workload_json);
  const CommandLine& words = workload.command;
  const auto split = std::find(words.begin(), words.end(), kSeparator);
  const CommandLine first(words.begin(), split);
  const CommandLine second(split == words.end() ? split : split + 1, words.end());
  if (first.empty() || second.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "interference.corun needs two commands",
                "Use: omen profile --with interference.corun -- A ... -- B ...");
  CorunOptions options;
  options.window_s = options_.window_s;
  options.warmup_s = options_.warmup_s;
  options.patience_s = options_.patience_s;
  options.repeats = options_.repeats;
  options.directory = run.scratch_dir();
  const CorunRates rates =
      measure_corun(first, second, options, [&](double done) { run.step(done, "co-run"); });
  Counters counters;
  for (const int which : {0, 1}) {
    const std::string name = which == 0 ? "a" : "b";
    for (std::size_t turn = 0; turn < rates.alone[which].size(); ++turn) {
      const auto id = static_cast<std::int64_t>(turn);
      counters.add(id, name + ".alone_per_s", rates.alone[which][turn]);
      counters.add(id, name + ".together_per_s", rates.together[which][turn]);
      counters.add(id, name + ".rho", rates.together[which][turn] / rates.alone[which][turn]);
    }
    const CorunSpeed speed = speed_of(rates.alone[which], rates.together[which]);
    counters.add(0, name + ".rho_median", speed.median);
    counters.add(0, name + ".rho_low", speed.low);
    counters.add(0, name + ".rho_high", speed.high);
    counters.add(0, name + ".rho_precise", speed.is_precise ? 1 : 0);
    for (const auto& [when, ms] : {std::pair{".alone", &rates.alone_ms[which]},
                                   std::pair{".together", &rates.together_ms[which]}}) {
      counters.add(0, name + when + "_p50_ms", learn::quantile(*ms, 0.5));
      counters.add(0, name + when + "_p99_ms", learn::quantile(*ms, 0.99));
    }
    counters.add(0, name + ".cpu_percent", 100 * rates.cpu_share[which]);
    counters.add(0, name + ".rss_mib", rates.memory_mib[which]);
  }
  // Both were ended by us, after they had done what they were asked for.
  counters.add(0, OMEN_METRIC_EXIT_CODE, 0);
  return counters.finish();
}

Component corun_component() {
  return profiler<CorunProfiler, CorunProfilerOptions>(
      "interference.corun", "speed of two commands beside each other, relative to alone");
}

}  // namespace omen::interference
