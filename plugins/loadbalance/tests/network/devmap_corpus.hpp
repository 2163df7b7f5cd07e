// SPDX-License-Identifier: Apache-2.0
// The devmap rows with their graphs, made once per build tree by the command line tool: no program
// links both LLVM and LibTorch.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "network/kernel_rows.hpp"
#include "omen/container.hpp"
#include "support/track_data.hpp"

namespace omen::loadbalance::testing {

inline fs::path devmap_tables() {
  const fs::path modules = unpacked(*track_data() / "devmap" / "kernels_ir.tar.bz2");
  const fs::path tables = fs::path(OMEN_TEST_BUILD_DIR) / "loadbalance-data" / "devmap.omt";
  if (fs::exists(tables)) return tables;
  const fs::path fresh = tables.string() + "." + std::to_string(::getpid()) + ".omt";
  const std::string command = std::string(OMEN_CLI) + " graph '" + modules.string() + "' -q -o '" +
                              fresh.string() + "' >/dev/null";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("omen graph failed");
  fs::rename(fresh, tables);
  return tables;
}

// The rows of golden/nvidia_checkpoint_predictions.csv: what the original system answered.
struct DevmapRows {
  KernelRows kernels;
  std::vector<double> label, share;
  std::vector<int> label_class, predicted_class;
};

inline DevmapRows read_devmap(const Vocabulary& words) {
  const container::Reader file = container::Reader::open(devmap_tables());
  const Table workloads = container::get_table(file, "workloads");
  std::map<std::string, std::int64_t> graph_of_name;
  const StringColumn name = workloads.strings("name");
  const Column<std::int64_t> graph = workloads.column<std::int64_t>("graph_id");
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    graph_of_name[std::string(name[row])] = graph[row];
  DevmapRows rows;
  rows.kernels.graphs = read_token_graphs(container::get_table(file, "nodes"),
                                          container::get_table(file, "edges"), words);
  std::ifstream csv(*track_data() / "golden" / "nvidia_checkpoint_predictions.csv");
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    const std::vector<std::string> cell = fields(line);
    const std::string stem = fs::path(cell[2]).stem().string();
    rows.kernels.workload_id.push_back(static_cast<std::int64_t>(rows.label.size()));
    rows.kernels.graph.push_back(rows.kernels.graphs.find(graph_of_name.at(stem)));
    rows.kernels.wgsize.push_back(std::stod(cell[3]));
    rows.kernels.input_size.push_back(std::stod(cell[4]));
    rows.label.push_back(std::stod(cell[5]));
    rows.label_class.push_back(std::stoi(cell[6]));
    rows.share.push_back(std::stod(cell[7]));
    rows.predicted_class.push_back(std::stoi(cell[13]));
  }
  return rows;
}

}  // namespace omen::loadbalance::testing
