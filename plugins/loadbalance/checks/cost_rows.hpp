// SPDX-License-Identifier: Apache-2.0
// Measured kernels of a dataset with the folds of a frozen task.
#pragma once

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "cost/kernel_rows.hpp"
#include "omen/container.hpp"
#include "omen/testing/ready_run.hpp"

namespace omen::loadbalance::cost {

inline Run quiet_run() {
  static const test::ReadyRun run;
  return run;
}

// Every row of the dataset, its program as group, and in which fold of each repeat it is tested.
struct CostData {
  KernelRows kernels;
  std::vector<std::vector<std::string>> fold;  // [repeat][row]

  CostData(const std::string& tables, const std::string& split) {
    const container::Reader file = container::Reader::open(tables);
    const Table all = container::get_table(file, "workloads");
    std::vector<std::int64_t> ids(static_cast<std::size_t>(all.rows()));
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<std::string> programs;
    const StringColumn program = all.strings("program");
    for (std::int64_t row = 0; row < all.rows(); ++row) programs.emplace_back(program[row]);
    TableBuilder workloads, targets;
    workloads.add("workload_id", ids).add_categories("group", programs);
    for (const char* column : {"graph_id", "name", "cpu", "gpu", "wgsize", "input_size", "comp",
                               "rational", "mem", "localmem", "coalesced", "atomic"})
      workloads.add_column(all, all.index(column));
    targets.add("workload_id", ids);
    for (const char* column : {"share", "t_cpu_ms", "t_gpu_ms"})
      targets.add_column(all, all.index(column));
    MemoryDataset data;
    data.put("workloads", workloads.finish());
    data.put("targets", targets.finish());
    data.put("nodes", container::get_table(file, "nodes"));
    data.put("edges", container::get_table(file, "edges"));
    kernels = read_kernels(data.view(), true, test::ReadyRun());
    read_split(split);
  }

 private:
  void read_split(const std::string& split) {
    std::ifstream csv(split);
    std::string line;
    if (!std::getline(csv, line)) throw Error(OMEN_NOT_FOUND, "cannot read " + split);
    fold.resize(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')));
    while (std::getline(csv, line)) {
      std::istringstream cells(line);
      std::string cell;
      std::getline(cells, cell, ',');
      for (std::vector<std::string>& repeat : fold) {
        std::getline(cells, cell, ',');
        repeat.push_back(cell);
      }
    }
    if (fold.empty() || fold[0].size() != kernels.rows.size())
      throw Error(OMEN_INVALID_DATA, split + " does not fit the tables");
  }
};

}  // namespace omen::loadbalance::cost
