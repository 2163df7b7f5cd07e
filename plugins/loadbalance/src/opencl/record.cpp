// SPDX-License-Identifier: Apache-2.0
// Appends to a table file: ids go on where those of the file end.
#include "opencl/record.hpp"

#include <algorithm>
#include <cmath>

#include "omen/container.hpp"

namespace omen::loadbalance {
namespace {

// The table with its id columns moved by `by`.
Table shifted(const Table& table, std::int64_t by) {
  TableBuilder builder;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const bool is_id = table.name(c) == "workload_id" || table.name(c) == "graph_id";
    if (!is_id) {
      builder.add_column(table, c);
      continue;
    }
    const auto old = table.column<std::int64_t>(c);
    std::vector<std::int64_t> ids(old.begin(), old.end());
    for (std::int64_t& id : ids) id += by;
    builder.add(std::string(table.name(c)), std::move(ids), table.metadata(c));
  }
  for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
  return builder.finish();
}

std::int64_t next_id(const Table& workloads) {
  std::int64_t next = 0;
  for (const char* name : {"workload_id", "graph_id"})
    for (const std::int64_t id : workloads.column<std::int64_t>(name))
      next = std::max(next, id + 1);
  return next;
}

std::map<std::string, Table> read_tables(const std::filesystem::path& file) {
  std::map<std::string, Table> tables;
  if (!std::filesystem::exists(file)) return tables;
  const container::Reader reader = container::Reader::open(file);
  for (const std::string& name : container::table_names(reader))
    tables[name] = container::get_table(reader, name);
  if (!tables.count("workloads") || !tables.count("targets") || !tables.count("nodes"))
    throw Error(OMEN_INVALID_DATA, file.string() + " holds other tables than recorded runs",
                "record into a new file");
  return tables;
}

}  // namespace

Table target_row(std::int64_t workload_id, const MeasuredRun& measured) {
  const double first = measured.alone_ms(0), second = measured.alone_ms(1);
  const double best = std::min({first, second, measured.split_ms});
  const int share_class = static_cast<int>(std::lround(measured.best_share / 25)) * 25;
  const Metadata ms = {{"omen.unit", "ms"}, {"omen.direction", "lower"}};
  return TableBuilder()
      .add("workload_id", std::vector<std::int64_t>{workload_id})
      .add("share", std::vector<double>{measured.best_share}, {{"omen.unit", "%"}})
      .add_categories("share_class", {std::to_string(share_class)})
      .add_categories("device", {first <= second ? "CPU" : "GPU"})
      .add("t_cpu_ms", std::vector<double>{first}, ms)
      .add("t_gpu_ms", std::vector<double>{second}, ms)
      .add("split_ms", std::vector<double>{measured.split_ms}, ms)
      .add("gain", std::vector<double>{std::min(first, second) / best})
      .finish();
}

void record_run(const std::filesystem::path& file, const std::map<std::string, Table>& tables,
                const MeasuredRun& measured) {
  std::map<std::string, Table> kept = read_tables(file);
  const std::int64_t id = kept.empty() ? 0 : next_id(kept.at("workloads"));
  std::map<std::string, Table> added = tables;
  added["targets"] = target_row(0, measured);
  container::Writer writer;
  for (const auto& [name, table] : added) {
    const Table rows = shifted(table, id);
    container::put_table(writer, name, kept.count(name) ? concat({kept.at(name), rows}) : rows);
  }
  writer.write(file);
}

}  // namespace omen::loadbalance
