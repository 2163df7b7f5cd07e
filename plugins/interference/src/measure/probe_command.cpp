// SPDX-License-Identifier: Apache-2.0
// Runs the command beside our own loads; the loads are this program again.
#include "measure/probe_command.hpp"

#include <omen/learn/quantile.hpp>

#include "measure/campaign.hpp"
#include "measure/load_command.hpp"
#include "measure/loops.hpp"

namespace omen::interference {
namespace {

// What interference.pair knows of a job: one row of a queue, with the columns of a co-run.
class JobRow {
 public:
  void put(const std::string& name, double value, const char* unit) {
    table_.add(name, std::vector<double>{value}, {{"omen.unit", unit}});
  }
  void put(const std::string& name, const std::string& text) { table_.add_strings(name, {text}); }
  Table finish() { return table_.finish(); }

 private:
  TableBuilder table_;
};

}  // namespace

int ProbeCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.empty())
    throw Error(
        OMEN_INVALID_ARGUMENT, "probe needs a command",
        "Use: omen interference probe -- COMMAND, which marks its steps with: omen mark step.");
  CorunOptions options;
  options.window_s = options_.window_s;
  options.warmup_s = options_.warmup_s;
  options.patience_s = options_.patience_s;
  options.repeats = options_.repeats;
  options.directory = run.scratch_dir();
  const LoopKind kinds[] = {LoopKind::kCompute, LoopKind::kMemory, LoopKind::kCache};
  std::vector<std::string> load;
  std::vector<double> rho, sensitivity, pressure, alone, alone_ms;
  std::vector<bool> precise;
  double done = 0, share = 0, memory = 0;
  for (const LoopKind kind : kinds) {
    const CorunRates rates =
        measure_corun(args, load_command(loop_name(kind)), options,
                      [&](double part) { run.step((done + part) / 3, loop_name(kind)); });
    const CorunSpeed own = speed_of(rates.alone[0], rates.together[0]);
    const CorunSpeed other = speed_of(rates.alone[1], rates.together[1]);
    load.emplace_back(loop_name(kind));
    rho.push_back(own.median);
    sensitivity.push_back(1 / own.median);
    pressure.push_back(1 / other.median);
    precise.push_back(own.is_precise && other.is_precise);
    alone.insert(alone.end(), rates.alone[0].begin(), rates.alone[0].end());
    alone_ms.insert(alone_ms.end(), rates.alone_ms[0].begin(), rates.alone_ms[0].end());
    share += rates.cpu_share[0] / 3;
    memory = std::max(memory, rates.memory_mib[0]);
    ++done;
  }
  const Place place = shared_place();
  JobRow job;
  job.put("job", options_.name.empty() ? args[0] : options_.name);
  job.put("device", kCoresDevice);
  job.put("mode", place_name(place));
  job.put("util_pct", 100 * share / cores_of(place), "%");
  job.put("step_ms", 1000 / median(alone), "ms");
  job.put("rss_mib", memory, "MiB");
  for (std::size_t i = 0; i < load.size(); ++i) {
    job.put("beside_" + load[i], 1 / sensitivity[i], "1");
    job.put("slows_" + load[i], 1 / pressure[i], "1");
  }
  job.put("rate_per_s", median(alone), "1/s");
  job.put("latency_p50_ms", learn::quantile(alone_ms, 0.5), "ms");
  job.put("latency_p99_ms", learn::quantile(alone_ms, 0.99), "ms");
  out.put("probe", TableBuilder()
                       .add_strings("beside", load)
                       .add("rho", std::move(rho))
                       .add("sensitivity", std::move(sensitivity))
                       .add("pressure", std::move(pressure))
                       .add_bools("precise", precise)
                       .finish());
  out.put("profile", job.finish());
  return 0;
}

Component probe_component() {
  return command<ProbeCommand, ProbeOptions>(
      "interference.probe", "what a command suffers and inflicts beside loads of known kind");
}

}  // namespace omen::interference
