// SPDX-License-Identifier: Apache-2.0
// Fills, reads and updates of four published mappings, and of a small one by hand.
#include "sim/loop_nest.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "data_files.hpp"
#include "sim/accelergy_tables.hpp"

namespace omen::power {
namespace {

constexpr const char* kTensorNames[] = {"Weights", "Inputs", "Outputs"};

// The nest that a `map.txt` draws.
LoopNest drawn_nest(const std::string& text) {
  LoopNest nest;
  nest.stride_h = nest.stride_w = 2;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t loop = line.find("for "), bracket = line.find(" [ ");
    if (loop != std::string::npos) {
      Loop one;
      one.dim = static_cast<LoopDim>(std::string("RSPQCMN").find(line[loop + 4]));
      one.bound = std::stod(line.substr(line.find("[0:") + 3));
      one.spatial = line.find("Spatial") != std::string::npos;
      nest.levels.back().loops.push_back(one);
    } else if (bracket != std::string::npos) {
      NestLevel level;
      level.name = line.substr(0, bracket);
      for (std::size_t t = 0; t < kTensors; ++t)
        level.keeps[t] = line.find(std::string(kTensorNames[t]) + ":") != std::string::npos;
      nest.levels.push_back(level);
    }
  }
  return nest;
}

// Statistics by level, tensor and what is counted.
using Statistics = std::map<std::string, std::map<std::string, std::map<std::string, double>>>;

Statistics written_statistics(const std::string& text) {
  Statistics all;
  std::istringstream lines(text);
  std::string line, level, tensor;
  while (std::getline(lines, line)) {
    if (line.rfind("Operational", 0) == 0) break;
    if (line.rfind("=== ", 0) == 0) {
      level = line.substr(4, line.find(' ', 4) - 4);
      tensor.clear();
      continue;
    }
    for (const char* name : kTensorNames)
      if (line == std::string("    ") + name + ":") tensor = name;
    const std::size_t colon = line.find(" : ");
    if (colon == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(' ');
    const std::string key = line.substr(first, line.find_last_not_of(' ', colon) - first + 1);
    if (tensor.empty() && key != "Cycles" && key != "Block size") continue;
    all[level][tensor][key] = std::strtod(line.c_str() + colon + 3, nullptr);
  }
  return all;
}

struct PublishedDesign {
  LoopNest nest;
  Statistics statistics;
  NestCounts counts;
  ReferenceTables tables;
};

PublishedDesign read_design(const std::string& name) {
  const std::string stem = data_file("timeloop_ref/" + name) + "/timeloop-mapper.";
  PublishedDesign design{
      drawn_nest(slurp(stem + "map.txt")), written_statistics(slurp(stem + "stats.txt")), {}, {}};
  design.counts = analyse(design.nest);
  for (const char* table : {"ERT.yaml", "ART.yaml"})
    read_reference_table(slurp(stem + table), table, design.tables);
  return design;
}

constexpr const char* kDesigns[] = {"eyeriss_like", "simba_like", "simple_weight_stationary",
                                    "simple_output_stationary"};

TEST(LoopNest, CountsOfFourPublishedMappings) {
  if (data_file("timeloop_ref").empty())
    GTEST_SKIP() << "OMEN_DATA does not hold power/timeloop_ref";
  int compared = 0;
  for (const char* name : kDesigns) {
    PublishedDesign design = read_design(name);
    EXPECT_EQ(design.counts.cycles, design.statistics["DRAM"][""]["Cycles"]) << name;
    for (std::size_t level = 0; level < design.nest.levels.size(); ++level)
      for (std::size_t t = 0; t < kTensors; ++t) {
        if (!design.nest.levels[level].keeps[t]) continue;
        auto& wanted = design.statistics[design.nest.levels[level].name][kTensorNames[t]];
        const Accesses& got = design.counts.levels[level][t];
        const std::string where =
            std::string(name) + " " + design.nest.levels[level].name + " " + kTensorNames[t];
        EXPECT_EQ(got.tile, wanted["Utilized capacity"]) << where;
        EXPECT_EQ(got.reads, wanted["Scalar reads (per-instance)"]) << where;
        EXPECT_EQ(got.fills, wanted["Scalar fills (per-instance)"]) << where;
        EXPECT_EQ(got.updates, wanted["Scalar updates (per-instance)"]) << where;
        EXPECT_EQ(got.instances, wanted["Utilized instances (max)"]) << where;
        ++compared;
      }
  }
  EXPECT_EQ(compared, 36);
}

TEST(LoopNest, EnergiesFromTheReferenceTables) {
  if (data_file("timeloop_ref").empty())
    GTEST_SKIP() << "OMEN_DATA does not hold power/timeloop_ref";
  PublishedDesign design = read_design("eyeriss_like");
  double total = design.counts.computes * design.tables.energy_pj.at("mac").at("compute");
  for (std::size_t level = 0; level < design.nest.levels.size(); ++level)
    for (std::size_t t = 0; t < kTensors; ++t) {
      if (!design.nest.levels[level].keeps[t]) continue;
      const std::string& component = design.nest.levels[level].name;
      const Accesses& at = design.counts.levels[level][t];
      auto& cost = design.tables.energy_pj.at(component);
      const double block = design.statistics[component][""]["Block size"];
      const double energy =
          at.instances / block *
          (at.reads * cost["read"] + at.fills * cost["write"] + at.updates * cost["update"]);
      const double wanted = design.statistics[component][kTensorNames[t]]["Energy (total)"];
      EXPECT_NEAR(energy, wanted, 0.005 * wanted) << component;
      total += energy;
    }
  EXPECT_NEAR(total * 1e-6, 59.28, 0.005 * 59.28);  // uJ
}

// Four output pixels of a filter of three: sums stay, weights return for each pixel.
TEST(LoopNest, KeepsWhatDoesNotChange) {
  LoopNest nest;
  nest.levels = {{"memory", {true, true, true}, {{LoopDim::q, 4, false}, {LoopDim::s, 3, false}}},
                 {"register", {true, false, true}, {}}};
  const NestCounts counts = analyse(nest);
  EXPECT_EQ(counts.computes, 12);
  EXPECT_EQ(counts.levels[1][static_cast<std::size_t>(Tensor::weights)].fills, 12);
  EXPECT_EQ(counts.levels[1][static_cast<std::size_t>(Tensor::outputs)].fills, 0);
  EXPECT_EQ(counts.levels[0][static_cast<std::size_t>(Tensor::outputs)].updates, 4);
  EXPECT_EQ(counts.levels[0][static_cast<std::size_t>(Tensor::inputs)].reads, 12);
  EXPECT_EQ(counts.levels[0][static_cast<std::size_t>(Tensor::inputs)].tile, 6);
}

}  // namespace
}  // namespace omen::power
