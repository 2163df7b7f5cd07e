// SPDX-License-Identifier: Apache-2.0
// Runs the command beside our own loads; the loads are this program again.
#include "measure/probe_command.hpp"

#include <omen/learn/quantile.hpp>
#include <omen/telemetry/job.hpp>

#include "measure/campaign.hpp"
#include "measure/gpu_use.hpp"
#include "measure/load_command.hpp"
#include "measure/loops.hpp"

namespace omen::interference {
namespace {

constexpr const char* kFirstGpu = "cuda:0";
constexpr const char* kSharedGpu = "timeslice";
constexpr double kTrialSeconds = 0.1;

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

// Whether our loops run on the first GPU: that takes a LibTorch with CUDA beside the driver.
bool loops_run_on_gpu(double patience_s) {
  telemetry::Job trial = telemetry::Job::start(
      load_command(loop_name(LoopKind::kCompute), kFirstGpu, kTrialSeconds), {});
  return trial.wait(static_cast<std::int64_t>(patience_s * 1e9)) && trial.end().signal == 0 &&
         trial.end().exit_code == 0;
}

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
  std::unique_ptr<GpuUse> gpu = GpuUse::open();
  if (gpu && !loops_run_on_gpu(options.patience_s)) gpu = nullptr;
  const std::string devices = gpu ? kFirstGpu : "cpu";
  if (gpu) options.device_percent = [&gpu] { return gpu->util_percent(); };
  const LoopKind kinds[] = {LoopKind::kCompute, LoopKind::kMemory, LoopKind::kCache};
  std::vector<std::string> load;
  std::vector<double> rho, sensitivity, pressure, alone, alone_ms, busy;
  std::vector<bool> precise;
  double done = 0, share = 0, memory = 0;
  for (const LoopKind kind : kinds) {
    const std::vector<CorunRates> rates =
        measure_corun({args, load_command(loop_name(kind), devices)}, options,
                      [&](double part) { run.step((done + part) / 3, loop_name(kind)); });
    const CorunRates& job = rates[0];
    const CorunSpeed own = speed_of(job.alone, job.together);
    const CorunSpeed other = speed_of(rates[1].alone, rates[1].together);
    load.emplace_back(loop_name(kind));
    rho.push_back(own.median);
    sensitivity.push_back(1 / own.median);
    pressure.push_back(1 / other.median);
    precise.push_back(own.is_precise && other.is_precise);
    alone.insert(alone.end(), job.alone.begin(), job.alone.end());
    alone_ms.insert(alone_ms.end(), job.alone_ms.begin(), job.alone_ms.end());
    busy.insert(busy.end(), job.device_percent.begin(), job.device_percent.end());
    share += job.cpu_share / 3;
    memory = std::max(memory, job.memory_mib);
    ++done;
  }
  const Place place = shared_place();
  JobRow job;
  job.put("job", options_.name.empty() ? args[0] : options_.name);
  job.put("device", gpu ? gpu->name() : kCoresDevice);
  job.put("mode", gpu ? kSharedGpu : place_name(place));
  if (!gpu)
    job.put("util_pct", 100 * share / cores_of(place), "%");
  else if (!busy.empty())
    job.put("util_pct", learn::mean(busy), "%");
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
