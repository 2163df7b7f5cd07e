// SPDX-License-Identifier: Apache-2.0
// Small learnable tasks made from what a component says it reads and writes.
#ifndef OMEN_CONFORMANCE_SYNTHETIC_HPP
#define OMEN_CONFORMANCE_SYNTHETIC_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "facts.hpp"
#include "omen/conformance/conformance.hpp"
#include "omen/dataset.hpp"

namespace omen::conformance {

// A target out of `writes`: "cost:ms:lower"; "*" becomes cost in ms.
struct TargetSpec {
  std::string name, unit, direction;
};
std::vector<TargetSpec> targets_of(const ComponentFacts& component);

// What a case changes about the standard task.
struct TaskShape {
  std::int64_t workloads = 24;
  std::int64_t first_id = 0;
  bool edges = true;               // false: graphs of nodes only
  bool null_features = false;      // every third value of every feature is null
  bool unknown_operation = false;  // nodes of an operation that fit never saw
  std::int64_t candidates = 3;     // per workload, where the component reads candidates
};

// The tables of one task; deterministic in `seed`.
class Task {
 public:
  Task(const ComponentFacts& component, const ComponentQuirks& quirks, std::uint64_t seed,
       const TaskShape& shape = {});

  const std::map<std::string, Table>& tables() const noexcept { return tables_; }
  Table& operator[](const std::string& table) { return tables_.at(table); }
  bool has(const std::string& table) const { return tables_.count(table) > 0; }
  std::int64_t workloads() const noexcept { return shape_.workloads; }
  const std::vector<TargetSpec>& targets() const noexcept { return targets_; }
  void drop(const std::string& table) { tables_.erase(table); }
  void put(const std::string& table, Table rows) { tables_[table] = std::move(rows); }

  // Fills a dataset; predict must not see the targets.
  void fill(MemoryDataset& data, bool with_targets) const;
  // The same workloads in another order, numbered anew because ids ascend; graphs keep theirs.
  // `order[i]` is the old place of the workload that now has the i-th id.
  Task shuffled(std::uint64_t seed, std::vector<std::int64_t>* order) const;

 private:
  void make_workloads();
  void make_graphs();
  void make_counters();
  void make_candidates();
  void make_targets();
  bool reads(std::string_view table) const;
  void add_column(TableBuilder& to, const std::string& table, const std::string& name,
                  std::int64_t rows, std::vector<double>* signal);
  double draw();

  const ComponentFacts* component_;
  const ComponentQuirks* quirks_;
  TaskShape shape_;
  std::uint64_t state_;
  std::vector<TargetSpec> targets_;
  std::vector<double> signal_;  // what the targets are made of, per workload
  std::map<std::string, Table> tables_;
};

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_SYNTHETIC_HPP
