// SPDX-License-Identifier: Apache-2.0
// Workloads, and the trainers in their graphs, as settings of the closed form.
#pragma once

#include <cstdint>
#include <omen/dataset.hpp>
#include <omen/run.hpp>
#include <string>
#include <vector>

#include "rate/calibration.hpp"

namespace omen::ensemble {

// The dialect of the graphs of ensemble.spec, and its nodes that train.
inline constexpr const char* kDialect = "ensemble/1";
inline constexpr const char* kTrainOp = "train";

struct SettingRow {
  std::int64_t workload_id = 0;
  std::int32_t group = 0;
  Setting setting;
  std::string refusal;  // why the row cannot be answered; empty: it can
};

std::vector<SettingRow> read_settings(const Dataset& in, const Run& run);

// The rows that can be answered, with what was measured of them.
std::vector<Measured> read_measured(const Dataset& in, const Run& run);

}  // namespace omen::ensemble
