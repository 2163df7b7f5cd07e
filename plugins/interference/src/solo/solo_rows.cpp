// SPDX-License-Identifier: Apache-2.0
// Sorts the columns of a dataset into texts, counters and the batch.
#include "solo/solo_rows.hpp"

#include <omen/join.hpp>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>

#include "densify/fill.hpp"

namespace omen::interference {
namespace {

constexpr const char* kBatchColumn = "batch";

const learn::Column* column_of(const learn::Rows& rows, const std::string& name) {
  for (const learn::Column& column : rows.frame.columns)
    if (column.name == name) return &column;
  return nullptr;
}

double count_at(const learn::Column* column, std::size_t row) {
  return column && !column->categorical ? column->numbers[row] : learn::kUnknown;
}

std::string word_at(const learn::Column* column, std::size_t row) {
  if (!column || !column->categorical) return {};
  const std::int32_t code = column->codes[row];
  return code < 0 ? std::string() : column->labels[static_cast<std::size_t>(code)];
}

}  // namespace

std::string SoloRows::curve(std::size_t row) const {
  return join(texts[row], "\x1f");
}

SoloColumns solo_columns(const Dataset& data, const std::function<void()>& check) {
  const learn::Rows read = learn::read_rows(data, {}, check);
  SoloColumns columns;
  for (const learn::Column& column : read.frame.columns) {
    if (column.name == kBatchColumn || column.name == kSyntheticColumn) continue;
    (column.categorical ? columns.texts : columns.counters).push_back(column.name);
  }
  return columns;
}

SoloRows read_solo_rows(const Dataset& data, const SoloColumns& as,
                        const std::function<void()>& check) {
  const learn::Rows read = learn::read_rows(data, {}, check);
  SoloRows rows;
  rows.workload_id = read.workload_id;
  rows.candidate_id = read.candidate_id;
  rows.counters.resize(static_cast<learn::Index>(read.workload_id.size()),
                       static_cast<learn::Index>(as.counters.size()));
  const learn::Column* batch = column_of(read, kBatchColumn);
  const learn::Column* synthetic = column_of(read, kSyntheticColumn);
  for (std::size_t row = 0; row < read.workload_id.size(); ++row) {
    std::vector<std::string> texts;
    for (const std::string& name : as.texts) texts.push_back(word_at(column_of(read, name), row));
    rows.texts.push_back(std::move(texts));
    for (std::size_t c = 0; c < as.counters.size(); ++c)
      rows.counters(static_cast<learn::Index>(row), static_cast<learn::Index>(c)) =
          count_at(column_of(read, as.counters[c]), row);
    rows.batch.push_back(count_at(batch, row));
    rows.synthetic.push_back(count_at(synthetic, row) == 1 || word_at(synthetic, row) == "true");
    if (rows.batch.back() <= 0)
      learn::throw_bad_data("a batch size is " + std::to_string(rows.batch.back()),
                            "Batch sizes are above 0; leave the cell empty where it is not known.");
  }
  return rows;
}

}  // namespace omen::interference
