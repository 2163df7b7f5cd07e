// SPDX-License-Identifier: Apache-2.0
// Peak memory of training and answering on a stream of generated programs, and on eight times as
// many of them.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "graph/program_graph.hpp"
#include "network/dataflow_predictor.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::int64_t kFew = 1500, kTimes = 8;
constexpr std::int64_t kBatchGraphs = 50;
constexpr std::int32_t kInstructions = 100;

// A chain with a branch back now and then, each instruction using the result of the one before.
ProgramGraph program(std::int64_t number) {
  ProgramGraph graph;
  graph.name = "program " + std::to_string(number);
  graph.functions = {"f"};
  TextTable texts(graph);
  const std::int32_t outside = texts.code("[external]"), add = texts.code("add");
  const std::int32_t branch = texts.code("br"), type = texts.code("i32");
  graph.nodes.push_back({NodeType::kInstruction, outside, -1, 0});
  for (std::int32_t i = 1; i <= kInstructions; ++i)
    graph.nodes.push_back({NodeType::kInstruction, i % 7 ? add : branch, 0, i / 7});
  graph.edges.push_back({0, 1, 0, Flow::kCall});
  for (std::int32_t i = 1; i < kInstructions; ++i) {
    graph.edges.push_back({i, i + 1, 0, Flow::kControl});
    if (i % 7 == 0 && (number + i) % 3 == 0) graph.edges.push_back({i, i - 5, 1, Flow::kControl});
    const auto value = static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back({NodeType::kVariable, type, 0, i / 7});
    graph.edges.push_back({i, value, 0, Flow::kData});
    graph.edges.push_back({value, i + 1, 0, Flow::kData});
  }
  return graph;
}

// Programs that exist only while they are read.
class Corpus {
 public:
  explicit Corpus(std::int64_t programs) : programs_(programs) {
    view_.struct_size = sizeof view_;
    view_.data = this;
    view_.rows = [](const omen_dataset*, const char* table) -> std::int64_t {
      const std::string name = table;
      return name == "nodes" || name == "edges" || name == "workloads" ? -1 : 0;
    };
    view_.open = [](const omen_dataset* d, const char* table, ArrowArrayStream* out,
                    omen_error* error) -> omen_status {
      return detail::guard(
          error, [&] { static_cast<const Corpus*>(d->data)->stream(table).export_to(out); });
    };
  }
  Dataset view() const { return Dataset(&view_); }

  TableStream stream(const std::string& table) const {
    return TableStream(batch(table, 0, 0), [this, table, next = std::int64_t{0}]() mutable {
      const std::int64_t first = next;
      next = std::min(programs_, first + kBatchGraphs);
      return first < next ? std::optional(batch(table, first, next)) : std::nullopt;
    });
  }

 private:
  static Table batch(const std::string& table, std::int64_t first, std::int64_t last) {
    if (table == "workloads") {
      std::vector<std::int64_t> id, root;
      for (std::int64_t i = first; i < last; ++i) {
        id.push_back(i);
        root.push_back(1 + i % kInstructions);
      }
      return TableBuilder().add("workload_id", id).add("graph_id", id).add("root", root).finish();
    }
    std::vector<ProgramGraph> graphs;
    for (std::int64_t i = first; i < last; ++i) graphs.push_back(program(i));
    GraphTables tables = to_tables(graphs, kDialect, first);
    return table == "nodes" ? tables.nodes : tables.edges;
  }

  std::int64_t programs_;
  omen_dataset view_{};
};

// Trains on and answers about all programs; with `hold` tables are read as a whole before.
void work(std::int64_t programs, bool hold) {
  const Corpus corpus(programs);
  MemoryDataset held;
  if (hold)
    for (const char* table : {"workloads", "nodes", "edges"})
      held.put(table, corpus.view().table(table));
  const Dataset data = hold ? held.view() : corpus.view();
  const test::ReadyRun run;
  DataflowOptions options;
  options.updates = 20;
  options.steps = 10;
  options.roots = 2;
  options.task = "datadep";
  options.pool_nodes = 100000;
  DataflowPredictor predictor(options);
  predictor.fit(data, Dataset(nullptr), run);
  TableStream answers = predictor.predict(data, run);
  std::int64_t rows = 0;
  while (const auto some = answers.next()) rows += some->rows();
  if (rows != programs * 2 * kInstructions) throw std::runtime_error("answers are missing");
}

// In a process of its own; MB.
double peak(std::int64_t programs, bool hold) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work(programs, hold);
      _exit(0);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: %s\n", e.what());
      _exit(1);
    }
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) < 0 || status != 0)
    throw std::runtime_error("the measured process failed");
  return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace
}  // namespace omen::loadbalance

int main() {
  using namespace omen::loadbalance;
  try {
    const bool hold = omen::test::broken();
    const double few = peak(kFew, hold), many = peak(kFew * kTimes, hold);
    const double ratio = many / few;
    std::printf("%lld programs: %.0f MB, %lld programs: %.0f MB\n", static_cast<long long>(kFew),
                few, static_cast<long long>(kFew * kTimes), many);
    return omen::test::show("dataflow_memory_of_8x_data", ratio, "ratio", "<=", 1.20);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
