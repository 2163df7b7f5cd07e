// SPDX-License-Identifier: Apache-2.0
// Runs a load and leaves a mark for each step where somebody records.
#include "work/work_command.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <omen/join.hpp>
#include <omen/telemetry/marks.hpp>

#include "measure/loops.hpp"
#if OMEN_INTERFERENCE_NETWORKS
#include <omen/torch/device.hpp>

#include "work/device_loops.hpp"
#include "work/networks.hpp"
#endif

namespace omen::interference {
namespace {

constexpr int kMostBatch = 1 << 16;

std::string known_loads() {
  return join(all_loads(), ", ", [](const LoadKind& kind) { return kind.name; });
}

// The load where the run wants it: loops run on a GPU too, trainings are of CPU size.
std::unique_ptr<Load> placed_load(const LoadChoice& choice, const Run& run) {
#if OMEN_INTERFERENCE_NETWORKS
  const c10::Device device = torch_kit::pick_device(run.devices());
  const auto loop = choice.kind - all_loads().data();
  if (!device.is_cpu() && loop < static_cast<std::ptrdiff_t>(loop_loads().size()))
    return make_device_loop(static_cast<LoopKind>(loop), device, run.seed());
  const bool on_cores = device.is_cpu();
#else
  const bool on_cores = run.devices() == "cpu";
#endif
  if (!on_cores)
    throw Error(OMEN_UNSUPPORTED,
                std::string(choice.kind->name) + " does not run on " + run.devices(),
                "Leave --devices out to run it on processor cores.");
  return choice.kind->make(choice.batch, run.seed());
}

}  // namespace

const std::vector<LoadKind>& all_loads() {
  static const std::vector<LoadKind> loads = [] {
    std::vector<LoadKind> all = loop_loads();
#if OMEN_INTERFERENCE_NETWORKS
    all.push_back({"classify", "pictures", 8, &make_classification});
    all.push_back({"segment", "pictures", 2, &make_segmentation});
    all.push_back({"cartpole", "game", 32, &make_cartpole});
    all.push_back({"gan", "pictures", 4, &make_gan});
    all.push_back({"bert", "text", 2, &make_bert});
#endif
    return all;
  }();
  return loads;
}

LoadChoice parse_load(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const LoadKind& kind : all_loads()) {
    if (name != kind.name) continue;
    if (colon == std::string::npos) return {&kind, kind.batch};
    char* end = nullptr;
    const long batch = std::strtol(text.c_str() + colon + 1, &end, 10);
    if (kind.batch == 0 || colon + 1 == text.size() || *end != '\0' || batch < 1 ||
        batch > kMostBatch)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + text + "' has no batch size that " + name + " takes",
                  kind.batch == 0 ? "Use: omen interference work " + name + "."
                                  : "Use a whole number from 1 to 65536, as in " + name + ":16.");
    return {&kind, static_cast<int>(batch)};
  }
  throw Error(OMEN_INVALID_ARGUMENT, "there is no load '" + name + "'",
              "Known are " + known_loads() + ".");
}

int WorkCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "work needs the name of a load",
                "Use: omen interference work NAME with " + known_loads() + ".");
  const LoadChoice choice = parse_load(args[0]);
#if OMEN_INTERFERENCE_NETWORKS
  const torch_kit::ThreadBudget one_thread(1);
#endif
  const std::unique_ptr<Load> load = placed_load(choice, run);
  const char* file = std::getenv(telemetry::kMarkVariable);
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t steps = run_load(
      *load, options_.seconds,
      [&] {
        if (file && *file) telemetry::write_mark(file, "step");
      },
      [&run] { return run.cancelled(); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double loss = load->loss();
  out.put("work",
          TableBuilder()
              .add_strings("load", {args[0]})
              .add("steps", std::vector<std::int64_t>{steps})
              .add("steps_per_s", std::vector<double>{static_cast<double>(steps) / took.count()},
                   {{"omen.unit", "1/s"}})
              .add("loss", std::vector<double>{std::isfinite(loss) ? loss : 0})
              .valid({std::isfinite(loss)})
              .finish());
  return 0;
}

Component work_component() {
  return command<WorkCommand, WorkOptions>(
      "interference.work",
      "a load to run beside others: loops of known kind, five small trainings");
}

}  // namespace omen::interference
