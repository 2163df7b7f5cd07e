// SPDX-License-Identifier: Apache-2.0
// The public operator tables as measured operations.
#pragma once

#include <functional>
#include <omen/telemetry/device_registry.hpp>
#include <string>
#include <vector>

#include "step/operator_model.hpp"

namespace omen::driple::checks {

// Empty where OMEN_DATA is not set or the tables are not there.
std::string data_directory();

using TextRow = std::vector<std::string>;
// Rows of a table, which may be packed by xz; columns as in `names`, in that order.
void for_each_row(const std::string& file, const std::vector<std::string>& names,
                  const std::function<void(const TextRow&)>& row);

struct OperatorRow {
  MeasuredOp measured;
  std::string system;
  bool small_shapes = false;  // of the shapes that NeuSight was trained on
  bool bf16 = false;
};

// `most`: rows of one system and kind that are kept, at even distances.
std::vector<OperatorRow> read_fp32_operators(std::size_t most);
std::vector<OperatorRow> read_gemm(std::size_t most);
std::vector<OperatorRow> read_attention(bool decode, std::size_t most);
std::vector<OperatorRow> read_collectives();

// Published figures by the names that the tables use.
const telemetry::PublishedDevice& registered(const std::string& system);
Device device_named(const std::string& system);
std::string family_named(const std::string& system);

}  // namespace omen::driple::checks
