// SPDX-License-Identifier: Apache-2.0
// Columns of both jobs side by side.
#include "tables/directed_rows.hpp"

#include <cmath>
#include <omen/error.hpp>

namespace omen::interference {
namespace {

using Texts = std::vector<std::string>;

void put_job(TableBuilder& table, const std::vector<DirectedRow>& rows, const std::string& prefix,
             const char* name_column, JobFacts DirectedRow::*which) {
  Texts names, families;
  for (const DirectedRow& row : rows) {
    names.push_back((row.*which).name);
    families.push_back((row.*which).family);
  }
  table.add_categories(name_column, names).add_categories(prefix + "family", families);
  for (std::size_t c = 0; c < rows[0].victim.numbers.size(); ++c) {
    std::vector<double> values;
    std::vector<bool> known;
    for (const DirectedRow& row : rows) {
      const double value = (row.*which).numbers[c].second;
      known.push_back(std::isfinite(value));
      values.push_back(known.back() ? value : 0);
    }
    table.add(prefix + rows[0].victim.numbers[c].first, std::move(values)).valid(known);
  }
}

}  // namespace

DirectedTables to_tables(const std::vector<DirectedRow>& rows) {
  if (rows.empty()) throw Error(OMEN_INVALID_DATA, "no pair of jobs ran together in this file");
  std::vector<std::int64_t> id;
  Texts name, group, device, mode, slice;
  std::vector<double> rho;
  bool divided = false;
  for (const DirectedRow& row : rows) {
    id.push_back(static_cast<std::int64_t>(id.size()));
    name.push_back(row.victim.name + " beside " + row.partner.name);
    const auto [first, second] = std::minmax(row.victim.name, row.partner.name);
    group.push_back(row.group.empty() ? first + " | " + second : row.group);
    device.push_back(row.device);
    mode.push_back(row.mode);
    slice.push_back(row.slice);
    divided |= !row.slice.empty();
    rho.push_back(row.rho);
  }
  TableBuilder workloads;
  workloads.add("workload_id", id).add_categories("group", group).add_strings("name", name);
  workloads.add_categories("device", device).add_categories("mode", mode);
  if (divided) workloads.add_categories("slice", slice);
  put_job(workloads, rows, "", "job", &DirectedRow::victim);
  put_job(workloads, rows, "partner_", "partner", &DirectedRow::partner);
  TableBuilder targets;
  targets.add("workload_id", std::move(id)).add("rho", std::move(rho), {{"omen.unit", "1"}});
  return {workloads.finish(), targets.finish()};
}

}  // namespace omen::interference
