// SPDX-License-Identifier: Apache-2.0
// Learns the name of the target and nothing else.
#include "column.hpp"

#include <omen/tables.h>
#include <cmath>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>

namespace omen::baseline {
namespace {

constexpr const char* kId = "baseline.column";
constexpr const char* kUnit = "omen.unit";

// OMEN_INVALID_DATA unless the workloads have it, as numbers.
std::size_t column_place(const Table& workloads, const std::string& name) {
  const auto at = workloads.find(name);
  if (!at || !is_number(workloads.type(*at)))
    throw Error(OMEN_INVALID_DATA, "the workloads have no column '" + name + "' with numbers",
                "Name one of their columns: baseline.column@column=NAME.");
  return *at;
}

}  // namespace

void ColumnPredictor::fit(const Dataset& train, const Dataset&, const Run&) {
  if (column_.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "baseline.column has no column to answer with",
                "Name one: baseline.column@column=NAME.");
  column_place(train.table(OMEN_TABLE_WORKLOADS), column_);
  const std::vector<std::string> names = learn::target_names(train);
  if (names.size() != 1)
    throw Error(OMEN_INVALID_DATA,
                "a column answers one target, and there are " + std::to_string(names.size()),
                "Choose one with --target.");
  const Table targets = train.table(OMEN_TABLE_TARGETS);
  unit_ = targets.metadata(targets.find(names[0]).value(), kUnit);
  target_ = names[0];
}

TableStream ColumnPredictor::predict(const Dataset& in, const Run&) {
  if (target_.empty()) learn::throw_no_model(kId);
  const Table workloads = in.table(OMEN_TABLE_WORKLOADS);
  std::vector<double> values = workloads.numbers(column_place(workloads, column_));
  std::vector<bool> known(values.size());
  std::vector<std::string> status(values.size(), "ok");
  for (std::size_t row = 0; row < values.size(); ++row) {
    known[row] = std::isfinite(values[row]);
    if (known[row]) continue;
    values[row] = 0;
    status[row] = "the column " + column_ + " is empty";
  }
  TableBuilder table;
  const auto ids = workloads.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  std::vector<std::int64_t> id(values.size());
  for (std::size_t row = 0; row < id.size(); ++row) id[row] = ids[static_cast<std::int64_t>(row)];
  table.add(OMEN_COLUMN_WORKLOAD_ID, std::move(id));
  table.add(target_, std::move(values), unit_.empty() ? Metadata{} : Metadata{{kUnit, unit_}})
      .valid(known);
  return table.add_strings("status", status).finish();
}

void ColumnPredictor::save(ArtifactWriter& out) const {
  if (target_.empty()) learn::throw_no_model(kId);
  out.put_meta("baseline.component", kId);
  out.put_meta("baseline.column", column_);
  out.put_meta("baseline.target", target_);
  out.put_meta("baseline.unit", unit_);
}

void ColumnPredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta("baseline.component"), kId);
  column_ = in.meta("baseline.column");
  target_ = in.meta("baseline.target");
  unit_ = in.meta("baseline.unit");
}

}  // namespace omen::baseline
