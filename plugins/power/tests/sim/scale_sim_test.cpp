// SPDX-License-Identifier: Apache-2.0
// Cycles, utilisation and buffer accesses against what SCALE-Sim wrote.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "data_files.hpp"
#include "omen/testing/csv_table.hpp"
#include "sim/array_counts.hpp"

namespace omen::power {
namespace {

using CsvRow = std::map<std::string, std::string>;

std::vector<CsvRow> rows_of(const std::string& path) {
  const auto fields = test::csv_fields(slurp(path));
  std::vector<CsvRow> rows;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    CsvRow row;
    for (std::size_t c = 0; c < fields[i].size() && c < fields[0].size(); ++c) {
      const std::string& name = fields[0][c];
      const std::size_t first = name.find_first_not_of(' ');
      if (first != std::string::npos) row[name.substr(first)] = fields[i][c];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

double value_of(const CsvRow& row, const std::string& column) {
  return std::stod(row.at(column));
}

// Inputs are padded already there, and a window that does not divide them is completed.
ArrayLayer padded_layer(double h, double w, double kh, double kw, double channels, double filters,
                        double stride) {
  ArrayLayer layer;
  layer.m = std::ceil((h - kh + stride) / stride) * std::ceil((w - kw + stride) / stride);
  layer.k = kh * kw * channels;
  layer.n = filters;
  return layer;
}

TEST(ScaleSim, EveryRowOfTheSecondVersion) {
  const std::string path = data_file("scalesim/golden_v2_calc.csv");
  if (path.empty()) GTEST_SKIP() << "OMEN_DATA does not hold power/scalesim";
  const auto rows = rows_of(path);
  EXPECT_EQ(rows.size(), 218u);
  for (const CsvRow& row : rows) {
    Hardware hw;
    hw.rows = value_of(row, "rows");
    hw.cols = value_of(row, "cols");
    hw.dataflow = parse_dataflow(row.at("dataflow")).value();
    const ArrayLayer layer =
        padded_layer(value_of(row, "ifmap_h"), value_of(row, "ifmap_w"), value_of(row, "filter_h"),
                     value_of(row, "filter_w"), value_of(row, "channels"),
                     value_of(row, "num_filters"), value_of(row, "stride"));
    const ArrayCounts counts = count_array(layer, hw, Counting::scale_sim);
    EXPECT_EQ(counts.cycles, value_of(row, "total_cycles")) << row.at("layer");
    EXPECT_EQ(counts.ifmap_reads, value_of(row, "sram_ifmap_reads")) << row.at("layer");
    EXPECT_EQ(counts.filter_reads, value_of(row, "sram_filter_reads")) << row.at("layer");
    EXPECT_EQ(counts.ofmap_writes, value_of(row, "sram_ofmap_writes")) << row.at("layer");
    EXPECT_NEAR(100 * counts.mapping_efficiency, value_of(row, "mapping_eff_pct"), 1e-5);
    EXPECT_NEAR(100 * counts.compute_utilisation, value_of(row, "compute_util_pct"), 1e-5);
  }
}

TEST(ScaleSim, ComputeCyclesOfTheThirdVersion) {
  if (data_file("scalesim/golden_v3").empty())
    GTEST_SKIP() << "OMEN_DATA does not hold power/scalesim";
  ArrayLayer product;
  product.m = 256;
  product.n = 128;
  product.k = 256;
  const std::pair<const char*, Dataflow> cases[] = {{"user_os", Dataflow::os},
                                                    {"user_ws", Dataflow::ws},
                                                    {"user_is", Dataflow::is},
                                                    {"calc", Dataflow::ws}};
  for (const auto& [name, dataflow] : cases) {
    const std::string directory = data_file("scalesim/golden_v3") + "/" + name;
    const CsvRow compute = rows_of(directory + "/COMPUTE_REPORT.csv").at(0);
    const CsvRow access = rows_of(directory + "/DETAILED_ACCESS_REPORT.csv").at(0);
    Hardware hw;
    hw.dataflow = dataflow;
    const bool alexnet = std::string(name) == "calc";
    const ArrayLayer layer = alexnet ? padded_layer(227, 227, 11, 11, 3, 96, 4) : product;
    const ArrayCounts counts = count_array(layer, hw, Counting::scale_sim);
    EXPECT_EQ(counts.cycles, value_of(compute, "Total Cycles") - value_of(compute, "Stall Cycles"));
    EXPECT_NEAR(100 * counts.mapping_efficiency, value_of(compute, "Mapping Efficiency %"), 1e-9);
    EXPECT_NEAR(100 * counts.compute_utilisation, value_of(compute, "Compute Util %"), 1e-9);
    EXPECT_EQ(counts.ifmap_reads, value_of(access, "SRAM IFMAP Reads"));
    EXPECT_EQ(counts.filter_reads, value_of(access, "SRAM Filter Reads"));
    EXPECT_EQ(counts.ofmap_writes, value_of(access, "SRAM OFMAP Writes"));
  }
}

// The published chip, 12 x 14 elements; layers 2 to 5 as in its table.
TEST(RowStationary, UsesTheElementsOfThePublishedChip) {
  struct Case {
    double kernel, rows, active;
  };
  for (const Case& one : {Case{11, 55, 151.25}, Case{5, 27, 135}, Case{3, 13, 156}}) {
    ArrayLayer layer;
    layer.kh = layer.kw = one.kernel;
    layer.out_rows = one.rows;
    layer.n = 96;
    layer.channels = 48;
    Hardware hw;
    hw.rows = 12;
    hw.cols = 14;
    EXPECT_DOUBLE_EQ(fit_rows(layer, hw).active, one.active);
  }
}

}  // namespace
}  // namespace omen::power
