// SPDX-License-Identifier: Apache-2.0
// Counts over the tables that omen graph wrote.
#include "sweep/operations_command.hpp"

#include <omen/tables.h>

#include <map>

#include "grouping/job_rows.hpp"
#include "omen/container.hpp"
#include "omen/dataset.hpp"
#include "omen/error.hpp"
#include "omen/pending_file.hpp"

namespace omen::driple {
namespace {

constexpr const char* kOperationsUsage = "Use: omen driple operations GRAPHS.omt ...";

std::map<std::int64_t, OpRows> graphs_in(const std::string& path) {
  const container::Reader file = container::Reader::open(path);
  const std::vector<std::string> names = container::table_names(file);
  MemoryDataset data;
  for (const std::string& name : names)
    if (name == OMEN_TABLE_NODES || name == OMEN_TABLE_EDGES)
      data.put(name, container::get_table(file, name));
  if (!data.find(OMEN_TABLE_NODES))
    throw Error(OMEN_INVALID_DATA, path + " holds no table of nodes",
                "Make one with omen graph JOB -o GRAPHS.omt.");
  return read_op_rows(data.view());
}

}  // namespace

std::vector<Option<OperationsOptions>> OperationsOptions::spec() {
  return options(opt(&OperationsOptions::write, "write",
                     "also write the frequencies as CSV with the published columns")
                     .path());
}

int OperationsCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                           const Run& run) {
  if (args.empty()) throw Error(OMEN_INVALID_ARGUMENT, "operations needs graphs", kOperationsUsage);
  std::map<std::int64_t, OpRows> all;
  std::vector<std::string> files;
  std::vector<std::int64_t> graph, operations;
  for (const std::string& path : args) {
    run.step(static_cast<double>(files.size()) / static_cast<double>(args.size() + 1), "count");
    for (auto& [id, rows] : graphs_in(path)) {
      files.push_back(path);
      graph.push_back(id);
      operations.push_back(static_cast<std::int64_t>(rows.op.size()));
      all.emplace(static_cast<std::int64_t>(all.size()), std::move(rows));
    }
  }
  const OpFrequencies frequencies = count_frequencies(all);
  if (!options_.write.empty()) {
    const std::string csv = frequencies.csv();
    PendingFile file(options_.write);
    file.append(csv.data(), csv.size());
    file.commit();
  }
  std::vector<std::string> kinds;
  std::vector<double> shares;
  for (const auto& [kind, share] : frequencies.shares()) {
    kinds.push_back(kind);
    shares.push_back(share);
  }
  out.put("frequencies",
          TableBuilder().add_strings("Operation", kinds).add("Frequency", shares).finish());
  out.put("counts", TableBuilder()
                        .add_categories("file", files)
                        .add("graph_id", graph)
                        .add("operations", operations)
                        .finish());
  return 0;
}

}  // namespace omen::driple
