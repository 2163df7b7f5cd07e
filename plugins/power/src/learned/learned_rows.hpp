// SPDX-License-Identifier: Apache-2.0
// Workloads as a network reads them: distinct nets as block features, rows as hardware vectors.
#pragma once

#include <cstdint>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "hardware/hardware.hpp"

namespace omen::power {

inline constexpr std::size_t kCosts = 3;
inline constexpr const char* kCostNames[kCosts] = {"p_core_w", "p_bw_w", "latency_s"};

// Numbers of the hardware vector: one for each numeric column, then the choices as one-hot.
std::size_t hardware_numbers();
std::size_t hardware_width();
std::vector<float> hardware_vector(const Hardware& hardware);
// Names of its numbers: `rows`, ..., `dataflow.os`, ...
std::vector<std::string> hardware_input_names();

struct LearnedNet {
  std::vector<float> features;  // kBlockFeatures for each layer
  std::vector<float> log_share;
  std::size_t layers() const { return log_share.size(); }
};

struct LearnedRow {
  std::int64_t workload_id = 0;
  std::int32_t net = -1;       // -1: it has none
  std::string group, refusal;  // why it cannot be answered
  std::vector<float> hardware;
  double cost[kCosts] = {};  // logarithms; NaN where not measured
};

struct LearnedRows {
  std::vector<LearnedNet> nets;
  std::vector<LearnedRow> rows;
};

LearnedRows read_learned_rows(const Dataset& in);
// Fills in the costs of the rows.
void read_costs(const Dataset& in, LearnedRows& rows);
// Rows that can be answered and whose costs are all known.
bool measured(const LearnedRow& row);
std::vector<std::size_t> measured_rows(const LearnedRows& rows);

}  // namespace omen::power
