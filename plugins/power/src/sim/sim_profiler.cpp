// SPDX-License-Identifier: Apache-2.0
// Simulates the named network layer by layer; the clock of the table is simulated time.
#include "sim/sim_profiler.hpp"

#include <nlohmann/json.hpp>

#include "hardware/hardware_file.hpp"
#include "nets/net_source.hpp"
#include "nets/text_file.hpp"

namespace omen::power {
namespace {

using nlohmann::json;

std::vector<std::string> words_of_workload(const std::string& workload_json) {
  const json workload = json::parse(workload_json, nullptr, false);
  std::vector<std::string> words;
  if (workload.is_object()) {
    if (const auto list = workload.find("command"); list != workload.end() && list->is_array())
      for (const json& word : *list)
        if (word.is_string()) words.push_back(word.get<std::string>());
    if (const auto source = workload.find("source");
        source != workload.end() && source->is_string())
      words.push_back(source->get<std::string>());
  }
  if (words.empty() || words.size() > 2)
    throw Error(OMEN_INVALID_ARGUMENT, "the workload is no network",
                "write: omen profile --with power.sim -- NET [ACCELERATOR]");
  return words;
}

class SimCounters {
 public:
  void add(std::int64_t workload, double seconds, std::int32_t device, const std::string& metric,
           double value) {
    id_.push_back(workload);
    time_.push_back(static_cast<std::int64_t>(seconds * 1e9));
    device_.push_back(device);
    metric_.push_back(metric);
    value_.push_back(value);
  }
  Table finish() {
    return TableBuilder()
        .add("workload_id", std::move(id_))
        .add("t_ns", std::move(time_))
        .add("device", std::move(device_))
        .add_categories("metric", metric_)
        .add("value", std::move(value_))
        .finish();
  }

 private:
  std::vector<std::int64_t> id_, time_;
  std::vector<std::int32_t> device_;
  std::vector<std::string> metric_;
  std::vector<double> value_;
};

// Totals on the whole machine, and a row of power at the start of each layer.
void add_net(SimCounters& counters, std::int64_t id, const NetCost& cost, const Hardware& hw,
             const std::vector<LayerCost>& layers) {
  double seconds = 0;
  for (const LayerCost& layer : layers) {
    const double length = layer.cycles / (hw.freq_mhz * 1e6);
    if (length == 0) continue;
    counters.add(id, seconds, 0, "power.core_w", layer.core_j() / length + cost.leak_w);
    counters.add(id, seconds, 0, "power.memory_w", layer.dram_j / length);
    counters.add(id, seconds, 0, "array.utilisation", layer.array.compute_utilisation);
    counters.add(id, seconds, 0, "dram.bytes", layer.dram_bytes);
    seconds += length;
  }
  counters.add(id, seconds, -1, "power.core_mean_w", cost.core_w);
  counters.add(id, seconds, -1, "power.memory_mean_w", cost.memory_w);
  counters.add(id, seconds, -1, "time.total_s", cost.latency_s);
  counters.add(id, seconds, -1, "energy.total_j", cost.energy_j());
}

}  // namespace

std::string SimProfiler::probe() {
  return json{
      {"devices", {{{"id", "simulated"}, {"name", "analytic accelerator"}, {"kind", "simulated"}}}},
      {"capabilities", {"power_total", "power_memory", "per_block"}},
      {"method", "simulated:" + chosen_profile(options_).name}}
      .dump();
}

TableStream SimProfiler::collect(const std::string& workload_json, const Run& run) {
  const std::vector<std::string> words = words_of_workload(workload_json);
  const EnergyProfile profile = chosen_profile(options_);
  const SimOptions how{options_.fuse_other_layers, options_.fuse_layers};
  SimCounters counters;
  const std::vector<Net> nets = read_nets(words[0]);
  for (std::size_t i = 0; i < nets.size(); ++i) {
    run.step(static_cast<double>(i) / static_cast<double>(nets.size()), "simulate");
    Hardware hw;
    hw.bits_w = nets[i].bits.weight;
    hw.bits_a = nets[i].bits.act;
    hw.bits_psum = nets[i].bits.psum;
    hw.batch = nets[i].batch;
    if (words.size() > 1) hw = parse_hardware(read_text_file(words[1]), file_name(words[1]), hw);
    if (const std::string fault = illegal_because(hw); !fault.empty())
      throw Error(OMEN_INVALID_DATA, fault, "Change the accelerator.");
    std::vector<LayerCost> layers;
    const NetCost cost = simulate(ArrayNet(nets[i]), hw, profile, how, &layers);
    add_net(counters, static_cast<std::int64_t>(i), cost, hw, layers);
  }
  counters.add(0, 0, -1, "job.exit_code", 0);
  return counters.finish();
}

Component sim_profiler_component() {
  return profiler<SimProfiler, SimPredictorOptions>(
             "power.sim", "simulated power of each layer of a network on an accelerator")
      .writes("counters")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::power
