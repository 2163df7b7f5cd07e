// SPDX-License-Identifier: Apache-2.0
// Runs the command beside our own loads; the loads are this program again.
#include "measure/probe_command.hpp"

#include <filesystem>

#include "measure/corun.hpp"
#include "measure/loops.hpp"

namespace omen::interference {
namespace {

// A load that outlasts its window; it is ended from outside.
CommandLine load_command(LoopKind kind) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(OMEN_UNAVAILABLE, "cannot find this program to start a load with it",
                "Probe on a Linux machine with /proc.");
  return {self.string(), "interference", "work", loop_name(kind), "--seconds", "100000"};
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
  const LoopKind kinds[] = {LoopKind::kCompute, LoopKind::kMemory, LoopKind::kCache};
  std::vector<std::string> load;
  std::vector<double> rho, sensitivity, pressure;
  std::vector<bool> precise;
  double done = 0;
  for (const LoopKind kind : kinds) {
    const CorunRates rates = measure_corun(args, load_command(kind), options, [&](double part) {
      run.step((done + part) / 3, loop_name(kind));
    });
    const CorunSpeed own = speed_of(rates.alone[0], rates.together[0]);
    const CorunSpeed other = speed_of(rates.alone[1], rates.together[1]);
    load.emplace_back(loop_name(kind));
    rho.push_back(own.median);
    sensitivity.push_back(1 / own.median);
    pressure.push_back(1 / other.median);
    precise.push_back(own.is_precise && other.is_precise);
    ++done;
  }
  out.put("probe", TableBuilder()
                       .add_strings("beside", load)
                       .add("rho", std::move(rho))
                       .add("sensitivity", std::move(sensitivity))
                       .add("pressure", std::move(pressure))
                       .add_bools("precise", precise)
                       .finish());
  return 0;
}

Component probe_component() {
  return command<ProbeCommand, ProbeOptions>(
      "interference.probe", "what a command suffers and inflicts beside loads of known kind");
}

}  // namespace omen::interference
