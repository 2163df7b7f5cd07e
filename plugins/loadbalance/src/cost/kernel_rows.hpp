// SPDX-License-Identifier: Apache-2.0
// Kernels as the cost models see them: counts of the graph, launch figures, devices, measurements.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <omen/plugin.hpp>
#include <string>
#include <vector>

#include "graph/features.hpp"
#include "opencl/launch.hpp"

namespace omen::loadbalance::cost {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Grewe's static counts, in the order of KernelRow::grewe.
inline constexpr std::array<const char*, 6> kGreweColumns = {"comp",     "rational",  "mem",
                                                             "localmem", "coalesced", "atomic"};
enum Grewe { kComp, kRational, kMem, kLocalmem, kCoalesced, kAtomic };

struct KernelRow {
  std::int64_t workload_id = 0;
  std::int32_t graph = -1;  // of KernelRows::graphs; -1: there is none
  double wgsize = kUnknown, input_size = kUnknown;
  std::array<double, 6> grewe = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  std::int32_t group = -1;  // rows of one program have the same number
  std::string name, cpu, gpu, compiled;
  std::string divisible;  // "yes", why not, or nothing where it was not judged
  double t_cpu_ms = kUnknown, t_gpu_ms = kUnknown, share = kUnknown;  // only where measured

  bool has_both_times() const;
  bool judged() const { return !divisible.empty(); }
  bool may_be_divided() const { return divisible == kDivisible; }
};

struct KernelRows {
  std::vector<FeatureCounts> graphs;  // each once, whatever the number of rows that have it
  std::vector<KernelRow> rows;
  std::vector<std::string> groups;

  const FeatureCounts& counts(const KernelRow& row) const;
  /// Numbers of rows in any type, since folds count as matrices do.
  template <class Row>
  KernelRows subset(const std::vector<Row>& which) const {
    KernelRows part{graphs, {}, groups};
    for (const Row row : which) part.rows.push_back(rows[static_cast<std::size_t>(row)]);
    return part;
  }
};

// Reads workloads, nodes and edges; errors of launch_figures() for sizes that are none; `targets`
// too where `with_targets` is set. Columns that a dataset lacks are unknown. run.step() is called
// between graphs.
KernelRows read_kernels(const Dataset& in, bool with_targets, const Run& run);

// Adds the rows of a second dataset behind the first.
void append(KernelRows& rows, KernelRows more);

}  // namespace omen::loadbalance::cost
