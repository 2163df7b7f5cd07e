// SPDX-License-Identifier: Apache-2.0
// Looks devices up in the registry, and turns rows into candidates.
#include "data/recipe_steps.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/registry_services.hpp"

namespace omen::host {
namespace {

using Names = std::vector<std::string>;

}  // namespace

std::size_t column_index(const Table& table, const std::string& name, const std::string& why) {
  if (const auto at = table.find(name)) return *at;
  throw Error(OMEN_INVALID_DATA, why + " needs column '" + name + "', which is not there");
}

Names row_keys(const Table& table, const Names& columns, const std::string& why) {
  Names keys(static_cast<std::size_t>(table.rows()));
  for (const std::string& name : columns) {
    const Names texts = column_texts(table, column_index(table, name, why));
    for (std::size_t row = 0; row < keys.size(); ++row) keys[row] += texts[row] + '\x1f';
  }
  return keys;
}

Table join_devices(Table table, const DeviceStep& step) {
  const Names names = column_texts(table, column_index(table, step.on, "'devices'"));
  std::vector<const telemetry::PublishedDevice*> devices;
  for (const std::string& name : names) devices.push_back(&registered_device(name));
  for (const auto& [column, figure] : step.take) {
    std::vector<double> values;
    std::vector<bool> known;
    for (const auto* device : devices) {
      const std::optional<double> value = device->figure(figure);
      known.push_back(value.has_value());
      values.push_back(value.value_or(0));
    }
    if (std::none_of(known.begin(), known.end(), [](bool there) { return there; }))
      throw Error(OMEN_INVALID_DATA,
                  "no device of column '" + step.on + "' has a figure '" + figure + "'",
                  "See omen/telemetry/device_registry.hpp for their names.");
    TableBuilder builder;
    builder.add(column, std::move(values)).valid(known);
    table = with_column(table, builder.finish(), 0);
  }
  return table;
}

void make_row_candidates(const CandidateSteps& steps, Tables& tables) {
  const Table rows = tables.at("workloads");
  const Names keys = row_keys(rows, steps.by, "'candidates'");
  std::unordered_map<std::string, std::int64_t> workload_of;
  std::unordered_map<std::int64_t, std::int32_t> count;
  std::vector<std::int64_t> firsts, owner;
  std::vector<std::int32_t> number;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const auto [at, fresh] =
        workload_of.emplace(keys[row], static_cast<std::int64_t>(firsts.size()));
    if (fresh) firsts.push_back(static_cast<std::int64_t>(row));
    owner.push_back(at->second);
    number.push_back(count[at->second]++);
  }
  const std::vector<double> cost = rows.numbers(column_index(rows, steps.cost, "'candidates'"));
  std::vector<bool> known;
  for (const double value : cost) known.push_back(std::isfinite(value));
  Names own = steps.columns;
  if (std::find(own.begin(), own.end(), steps.name) == own.end()) own.push_back(steps.name);

  TableBuilder candidates, costs;
  candidates.add("workload_id", owner).add("candidate_id", number);
  candidates.add_categories("name",
                            column_texts(rows, column_index(rows, steps.name, "'candidates'")));
  for (const std::string& name : own)
    if (name != "name") candidates.add_column(rows, column_index(rows, name, "'candidates'"));
  costs.add("workload_id", owner).add("candidate_id", number).add(steps.cost, cost).valid(known);
  tables["candidates"] = candidates.finish();
  tables["candidate_costs"] = costs.finish();
  own.push_back(steps.cost);
  own.emplace_back("workload_id");
  tables["workloads"] = without_columns(take(rows, firsts), own);
  complete_workloads(tables);
}

}  // namespace omen::host
