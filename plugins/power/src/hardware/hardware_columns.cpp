// SPDX-License-Identifier: Apache-2.0
// Reads and writes the columns.
#include "hardware/hardware_columns.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <omen/join.hpp>

namespace omen::power {
namespace {

template <class Names>
std::string none_of(const char* column, std::string_view word, const Names& names) {
  return std::string(column) + " '" + std::string(word) + "' is none of " +
         join(std::vector<std::string>(names.begin(), names.end()));
}

// Single precision keeps 12.8 as 12.8000002; seven digits are what was meant.
double as_written(double value) {
  if (static_cast<double>(static_cast<float>(value)) != value) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return std::strtod(text, nullptr);
}

void read_choices(const Table& table, std::vector<HardwareRow>& rows) {
  if (table.has("dataflow")) {
    const StringColumn words = table.strings("dataflow");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string_view word = words[static_cast<std::int64_t>(i)];
      if (word.empty()) continue;
      if (const auto parsed = parse_dataflow(word))
        rows[i].hardware.dataflow = *parsed;
      else
        rows[i].fault = none_of("dataflow", word, kDataflowNames);
    }
  }
  if (table.has("dram")) {
    const StringColumn words = table.strings("dram");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string_view word = words[static_cast<std::int64_t>(i)];
      if (word.empty()) continue;
      if (const auto parsed = parse_dram(word))
        rows[i].hardware.dram = *parsed;
      else
        rows[i].fault = none_of("dram", word, kDramNames);
    }
  }
}

}  // namespace

std::vector<HardwareRow> read_hardware(const Table& workloads, const Hardware& otherwise) {
  std::vector<HardwareRow> rows(static_cast<std::size_t>(workloads.rows()), {otherwise, {}});
  for (const HardwareColumn& column : kHardwareColumns) {
    if (!workloads.has(column.name)) continue;
    const std::vector<double> values = workloads.numbers(column.name);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!std::isnan(values[i])) rows[i].hardware.*column.field = as_written(values[i]);
  }
  if (workloads.has("zero_gate")) {
    const std::vector<double> values = workloads.numbers("zero_gate");
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!std::isnan(values[i])) rows[i].hardware.zero_gate = values[i] > 0;
  }
  read_choices(workloads, rows);
  for (HardwareRow& row : rows)
    if (row.fault.empty()) row.fault = fault_of(row.hardware);
  return rows;
}

void add_hardware(TableBuilder& table, const std::vector<Hardware>& rows,
                  ConstantColumns constant) {
  for (const HardwareColumn& column : kHardwareColumns) {
    std::vector<float> values;
    bool usual = constant == ConstantColumns::left_out;
    for (const Hardware& hw : rows) {
      values.push_back(static_cast<float>(hw.*column.field));
      usual = usual && hw.*column.field == Hardware().*column.field;
    }
    if (usual) continue;
    table.add(column.name, std::move(values), {{"omen.unit", column.unit}});
  }
  std::vector<std::string> dataflow, dram;
  std::vector<std::int8_t> gate;
  bool gated = constant == ConstantColumns::kept;
  for (const Hardware& hw : rows) {
    dataflow.emplace_back(kDataflowNames[static_cast<std::size_t>(hw.dataflow)]);
    dram.emplace_back(kDramNames[static_cast<std::size_t>(hw.dram)]);
    gate.push_back(hw.zero_gate ? 1 : 0);
    gated = gated || hw.zero_gate;
  }
  table.add_categories("dataflow", dataflow).add_categories("dram", dram);
  if (gated) table.add("zero_gate", gate);
}

}  // namespace omen::power
