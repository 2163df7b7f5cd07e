// SPDX-License-Identifier: Apache-2.0
// Tables to vectors.
#include "learned/learned_rows.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <omen/error.hpp>

#include "hardware/hardware_columns.hpp"
#include "nets/block_features.hpp"
#include "nets/net_tables.hpp"

namespace omen::power {
namespace {

// The supply and the clock act as powers, and so does everything that is counted.
float logged(double value) {
  return static_cast<float>(std::log2(value));
}

// Of each graph, the weights' precision that its first row names.
std::map<std::int64_t, int> weight_bits(const std::vector<double>& graph,
                                        const std::vector<HardwareRow>& hardware) {
  std::map<std::int64_t, int> bits;
  for (std::size_t i = 0; i < graph.size(); ++i)
    bits.emplace(static_cast<std::int64_t>(graph[i]),
                 static_cast<int>(hardware[i].hardware.bits_w));
  return bits;
}

// Blocks that are alike stand once, with the sum of their shares.
LearnedNet learned_net(const Net& net, const Bits& bits) {
  std::map<std::array<float, kBlockFeatures>, std::size_t> known;
  std::vector<double> share;
  LearnedNet made;
  for (const Primitive& layer : net.layers) {
    const auto features = block_features(layer, bits);
    const auto [at, fresh] = known.emplace(features, share.size());
    if (fresh) {
      made.features.insert(made.features.end(), features.begin(), features.end());
      share.push_back(0);
    }
    share[at->second] += std::max(layer.share, 1e-12);
  }
  for (const double sum : share) made.log_share.push_back(static_cast<float>(std::log(sum)));
  return made;
}

}  // namespace

std::size_t hardware_numbers() {
  return std::size(kHardwareColumns);
}

std::size_t hardware_width() {
  return hardware_numbers() + kDataflowNames.size() + kDramNames.size() + kNodes.size() + 1;
}

std::vector<float> hardware_vector(const Hardware& hardware) {
  std::vector<float> made;
  for (const HardwareColumn& column : kHardwareColumns)
    made.push_back(logged(hardware.*column.field));
  const auto choose = [&](std::size_t chosen, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) made.push_back(i == chosen ? 1.0F : 0.0F);
  };
  choose(static_cast<std::size_t>(hardware.dataflow), kDataflowNames.size());
  choose(static_cast<std::size_t>(hardware.dram), kDramNames.size());
  choose(node_index(hardware.node_nm).value_or(kNodes.size()), kNodes.size());
  made.push_back(hardware.zero_gate ? 1.0F : 0.0F);
  return made;
}

std::vector<std::string> hardware_input_names() {
  std::vector<std::string> made;
  for (const HardwareColumn& column : kHardwareColumns) made.emplace_back(column.name);
  for (const char* word : kDataflowNames) made.push_back(std::string("dataflow.") + word);
  for (const char* word : kDramNames) made.push_back(std::string("dram.") + word);
  for (const int node : kNodes) made.push_back("node_nm." + std::to_string(node));
  made.emplace_back("zero_gate");
  return made;
}

LearnedRows read_learned_rows(const Dataset& in) {
  LearnedRows made;
  const std::map<std::int64_t, ReadNet> nets = read_net_tables(in);
  const Table workloads = in.table("workloads");
  const std::vector<double> id = workloads.numbers("workload_id");
  const std::vector<double> graph = workloads.has("graph_id") ? workloads.numbers("graph_id") : id;
  const std::vector<HardwareRow> hardware = read_hardware(workloads, Hardware());
  const std::map<std::int64_t, int> bits = weight_bits(graph, hardware);
  std::map<std::int64_t, std::int32_t> place;
  for (const auto& [key, read] : nets) {
    const auto precision = bits.find(key);
    if (precision == bits.end()) continue;
    place[key] = static_cast<std::int32_t>(made.nets.size());
    made.nets.push_back(learned_net(read.net, Bits{precision->second, 8, 32}));
  }
  for (std::size_t i = 0; i < id.size(); ++i) {
    LearnedRow row;
    row.workload_id = static_cast<std::int64_t>(id[i]);
    row.refusal = hardware[i].fault;
    if (row.refusal.empty()) row.hardware = hardware_vector(hardware[i].hardware);
    if (workloads.has("group"))
      row.group = std::string(workloads.strings("group")[static_cast<std::int64_t>(i)]);
    const auto found = place.find(static_cast<std::int64_t>(graph[i]));
    if (found != place.end()) {
      row.net = found->second;
      const std::string& fault = nets.at(found->first).fault;
      if (row.refusal.empty()) row.refusal = fault;
    } else if (row.refusal.empty()) {
      row.refusal = "has no layers";
    }
    made.rows.push_back(std::move(row));
  }
  return made;
}

void read_costs(const Dataset& in, LearnedRows& rows) {
  const Table targets = in.table("targets");
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) row_of[rows.rows[i].workload_id] = i;
  const std::vector<double> id = targets.numbers("workload_id");
  for (LearnedRow& row : rows.rows)
    for (double& cost : row.cost) cost = std::numeric_limits<double>::quiet_NaN();
  bool any = false;
  for (std::size_t c = 0; c < kCosts; ++c) {
    if (!targets.has(kCostNames[c])) continue;
    any = true;
    const std::vector<double> values = targets.numbers(kCostNames[c]);
    for (std::size_t i = 0; i < id.size(); ++i) {
      const auto at = row_of.find(static_cast<std::int64_t>(id[i]));
      if (at != row_of.end() && values[i] > 0) rows.rows[at->second].cost[c] = std::log(values[i]);
    }
  }
  if (!any)
    throw Error(OMEN_INVALID_DATA, "the rows have none of the costs p_core_w, p_bw_w and latency_s",
                "Make a corpus with power.corpus, or name the columns so.");
}

bool measured(const LearnedRow& row) {
  return row.refusal.empty() && std::isfinite(row.cost[0]) && std::isfinite(row.cost[1]) &&
         std::isfinite(row.cost[2]);
}

std::vector<std::size_t> measured_rows(const LearnedRows& rows) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    if (measured(rows.rows[i])) chosen.push_back(i);
  return chosen;
}

}  // namespace omen::power
