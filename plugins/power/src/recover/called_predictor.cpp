// SPDX-License-Identifier: Apache-2.0
// Accelerators and networks as a dataset, and the answers as guesses.
#include "recover/called_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>
#include <omen/host.hpp>

#include "hardware/hardware_columns.hpp"
#include "nets/net_tables.hpp"

namespace omen::power {
namespace {

Table said_of(const Run& run, const std::string& component, const std::vector<Net>& nets,
              const std::vector<Hardware>& accelerators, const std::string& options) {
  std::vector<std::int64_t> id, graph;
  std::vector<Hardware> hardware;
  for (const Hardware& accelerator : accelerators)
    for (std::size_t net = 0; net < nets.size(); ++net) {
      id.push_back(static_cast<std::int64_t>(id.size()));
      graph.push_back(static_cast<std::int64_t>(net));
      hardware.push_back(accelerator);
    }
  TableBuilder workloads;
  workloads.add("workload_id", std::move(id)).add("graph_id", std::move(graph));
  add_hardware(workloads, hardware, ConstantColumns::kept);
  MemoryDataset asked;
  asked.put("workloads", workloads.finish());
  asked.put("nodes", node_table(nets, false));
  asked.put("edges", edge_table(nets));
  return call::predict(run, component.c_str(), asked.view(), options).read_all();
}

// Columns of one cost's slopes, by slope place.
class SlopeColumns {
 public:
  SlopeColumns(const Table& said, const std::string& cost) {
    for (const Parameter& parameter : design_space()) {
      const std::string name = cost + ".slope." + parameter.name;
      if (parameter.kind != ParameterKind::choice) {
        columns_.push_back(said.numbers(name));
        continue;
      }
      for (const double value : parameter.values)
        columns_.push_back(said.numbers(name + "." + word_of(parameter, value)));
      // A node is a word and a number at once.
      if (!said.has(name)) continue;
      const std::vector<double> number = said.numbers(name);
      const std::size_t first = columns_.size() - parameter.values.size();
      for (std::size_t word = 0; word < parameter.values.size(); ++word)
        for (std::size_t row = 0; row < number.size(); ++row)
          columns_[first + word][row] += number[row] * std::log(parameter.values[word]);
    }
  }
  double at(std::size_t place, std::size_t row) const { return columns_[place][row]; }

 private:
  static std::string word_of(const Parameter& parameter, double value) {
    const auto index = static_cast<std::size_t>(value);
    if (parameter.name == "dataflow") return kDataflowNames[index];
    if (parameter.name == "dram") return kDramNames[index];
    return std::to_string(index);
  }

  std::vector<std::vector<double>> columns_;
};

}  // namespace

Surrogate called_surrogate(const Run& run, const std::string& component,
                           const std::vector<Net>& nets, const Objective& objective) {
  return [&run, component, &nets, &objective](const std::vector<Design>& designs) {
    std::vector<Hardware> hardware;
    for (const Design& design : designs) hardware.push_back(objective.hardware(design));
    const Table said = said_of(run, component, nets, hardware, {});
    const std::vector<double> core = said.numbers("p_core_w"), memory = said.numbers("p_bw_w"),
                              latency = said.numbers("latency_s");
    std::vector<Guess> guesses(designs.size());
    for (std::size_t i = 0; i < core.size(); ++i) {
      Guess& guess = guesses[i / nets.size()];
      guess.power_w += (core[i] + memory[i]) / static_cast<double>(nets.size());
      guess.latency_s = std::max(guess.latency_s, latency[i]);
    }
    return guesses;
  };
}

SlopedSurrogate called_slopes(const Run& run, const std::string& component,
                              const std::vector<Net>& nets) {
  return [&run, component, &nets](const std::vector<Hardware>& accelerators) {
    const Table said = said_of(run, component, nets, accelerators, R"({"slopes": true})");
    if (!said.has("latency_s.slope.rows"))
      throw Error(OMEN_UNSUPPORTED, component + " does not say how its answers follow parameters",
                  "Use --surrogate power.seq, or leave --gradient away.");
    const std::vector<double> core = said.numbers("p_core_w"), memory = said.numbers("p_bw_w"),
                              latency = said.numbers("latency_s");
    const std::vector<double> high =
        said.has("latency_s.hi") ? said.numbers("latency_s.hi") : latency;
    const SlopeColumns of_core(said, "p_core_w"), of_memory(said, "p_bw_w"),
        of_latency(said, "latency_s");
    std::vector<SlopedGuess> made(accelerators.size());
    const auto count = static_cast<double>(nets.size());
    for (std::size_t i = 0; i < core.size(); ++i) {
      SlopedGuess& one = made[i / nets.size()];
      one.power.resize(slope_count(), 0);
      one.guess.power_w += (core[i] + memory[i]) / count;
      for (std::size_t at = 0; at < slope_count(); ++at)
        one.power[at] += (core[i] * of_core.at(at, i) + memory[i] * of_memory.at(at, i)) / count;
      if (latency[i] <= one.guess.latency_s) continue;
      one.guess.latency_s = latency[i];
      one.doubt = std::log(high[i] / latency[i]);
      one.latency.clear();
      for (std::size_t at = 0; at < slope_count(); ++at)
        one.latency.push_back(of_latency.at(at, i));
    }
    for (SlopedGuess& one : made)
      for (double& slope : one.power) slope /= one.guess.power_w;
    return made;
  };
}

}  // namespace omen::power
