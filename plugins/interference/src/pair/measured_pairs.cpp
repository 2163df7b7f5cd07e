// SPDX-License-Identifier: Apache-2.0
// Reads co-runs, and hides some of them.
#include "pair/measured_pairs.hpp"

#include <cmath>
#include <map>
#include <omen/error.hpp>
#include <omen/learn/random.hpp>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

Measured measured_in(const Table& workloads, const Table& targets) {
  MemoryDataset data;
  data.put("workloads", workloads);
  data.put("targets", targets);
  Measured all{read_pair_rows(data.view(), nullptr, [] {}), {}};
  all.rho = read_rho(data.view(), all.rows);
  return all;
}

}  // namespace

Measured measured_of(const std::vector<DirectedRow>& rows) {
  const DirectedTables tables = to_tables(rows);
  return measured_in(tables.workloads, tables.targets);
}

Measured read_coruns(const std::string& path) {
  const CsvText table = CsvText::read(path);
  const std::size_t job = table.index("job"), partner = table.index("partner"),
                    rho = table.index(kRhoColumn);
  std::vector<std::int64_t> id;
  std::vector<std::string> pair;
  std::vector<double> speeds;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    id.push_back(static_cast<std::int64_t>(row));
    const auto both = std::minmax(table.text(row, job), table.text(row, partner));
    pair.push_back(both.first + "+" + both.second);
    speeds.push_back(table.number(row, rho));
  }
  TableBuilder workloads;
  workloads.add("workload_id", id).add_strings("group", pair);
  for (std::size_t column = 0; column < table.header().size(); ++column) {
    const std::string& name = table.header()[column];
    if (column == rho || name == "group" || name == "pair" || name == "workload_id") continue;
    if (column != job && column != partner && table.holds_numbers(column)) {
      std::vector<double> numbers;
      for (std::size_t row = 0; row < table.rows(); ++row)
        numbers.push_back(table.number(row, column));
      workloads.add(name, std::move(numbers));
      continue;
    }
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < table.rows(); ++row) texts.push_back(table.text(row, column));
    workloads.add_strings(name, texts);
  }
  return measured_in(workloads.finish(),
                     TableBuilder().add("workload_id", id).add(kRhoColumn, speeds).finish());
}

std::vector<bool> seen_pairs(const Measured& all, double share, std::uint64_t seed) {
  std::int32_t groups = 0;
  for (const PairRow& row : all.rows.rows) groups = std::max(groups, row.group + 1);
  const std::vector<std::ptrdiff_t> order = learn::Random(seed, 15).permutation(groups);
  std::vector<bool> seen_group(static_cast<std::size_t>(groups), false);
  const auto count = static_cast<std::size_t>(std::lround(share * groups));
  for (std::size_t i = 0; i < count; ++i) seen_group[static_cast<std::size_t>(order[i])] = true;
  std::vector<bool> seen;
  for (const PairRow& row : all.rows.rows)
    seen.push_back(seen_group[static_cast<std::size_t>(row.group)]);
  return seen;
}

Measured taken(const Measured& all, const std::vector<bool>& which, bool wanted) {
  Measured some{all.rows, {}};
  some.rows.rows.clear();
  for (std::size_t row = 0; row < all.rho.size(); ++row) {
    if (which[row] != wanted) continue;
    some.rows.rows.push_back(all.rows.rows[row]);
    some.rho.push_back(all.rho[row]);
  }
  return some;
}

}  // namespace omen::interference
