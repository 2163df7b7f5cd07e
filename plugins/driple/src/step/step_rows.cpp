// SPDX-License-Identifier: Apache-2.0
// Reads rows and looks up devices.
#include "step/step_rows.hpp"

#include <omen/tables.h>
#include <cmath>
#include <cstdio>
#include <map>
#include <omen/learn/matrix.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/registry.hpp>
#include <omen/scaled_number.hpp>

namespace omen::driple {
namespace {

using Columns = std::map<std::string, std::vector<double>>;

Columns figure_columns(const Table& table) {
  Columns found;
  for (const std::string& figure : device_figures())
    found[figure] = numbers_or(table, figure, learn::kUnknown);
  return found;
}

std::optional<Device> described_device(const Columns& columns, std::size_t row) {
  return device_of([&](const std::string& figure) -> std::optional<double> {
    const double value = columns.at(figure)[row];
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  });
}

// Names are looked up once each.
class Lookup {
 public:
  // Fills the device or the reason why there is none.
  void find(const std::string& name, StepRow& row) {
    if (name.empty()) {
      row.refusal = "no device: name one with --gpu, or give its figures";
      return;
    }
    const auto [at, fresh] = known_.emplace(name, Found{});
    if (fresh) at->second = ask(name);
    row.device = at->second.device;
    row.refusal = at->second.refusal;
  }

 private:
  struct Found {
    std::optional<Device> device;
    std::string refusal;
  };
  static Found ask(const std::string& name) {
    try {
      std::optional<Device> device = registered_device(name);
      if (device) return {device, ""};
      return {std::nullopt, "too few figures of " + name + " are published"};
    } catch (const Error& error) {
      return {std::nullopt, error.what()};
    }
  }
  std::map<std::string, Found> known_;
};

std::int64_t ranks_of(double value) {
  return std::isfinite(value) && value >= 1 ? static_cast<std::int64_t>(value) : 1;
}

// A version that is typed as a flag arrives as a number; both spellings mean the same.
std::vector<std::string> versions_of(const Table& table) {
  constexpr const char* kVersion = "framework_version";
  std::vector<std::string> texts = texts_or_empty(table, kVersion);
  const std::vector<double> numbers = numbers_or(table, kVersion, learn::kUnknown);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::optional<double> number =
        std::isfinite(numbers[row]) ? numbers[row] : parse_scaled(texts[row]);
    if (!number) continue;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", *number);
    texts[row] = digits;
  }
  return texts;
}

}  // namespace

double steps_of(const opgraph::StepFacts& facts, double epochs, double samples, double tokens) {
  const double ranks = std::max(facts.data_ranks, 1.0);
  const double micro_batches = std::max(facts.micro_batches, 1.0);
  if (tokens > 0 && facts.tokens > 0)
    return std::ceil(tokens / (facts.tokens * ranks * micro_batches));
  if (samples > 0 && facts.batch > 0)
    return std::ceil(std::max(epochs, 1.0) * samples / (facts.batch * ranks * micro_batches));
  return 0;
}

std::vector<double> numbers_or(const Table& table, const std::string& name, double fallback) {
  std::vector<double> values(static_cast<std::size_t>(table.rows()), fallback);
  const auto at = table.find(name);
  if (!at || !is_number(table.type(*at))) return values;
  const std::vector<double> found = table.numbers(*at);
  for (std::size_t row = 0; row < values.size(); ++row)
    if (std::isfinite(found[row])) values[row] = found[row];
  return values;
}

std::vector<std::string> texts_or_empty(const Table& table, const std::string& name) {
  std::vector<std::string> values(static_cast<std::size_t>(table.rows()));
  const auto at = table.find(name);
  if (!at || !is_text(table.type(*at))) return values;
  const StringColumn found = table.strings(*at);
  for (std::size_t row = 0; row < values.size(); ++row)
    values[row] = found[static_cast<std::int64_t>(row)];
  return values;
}

std::optional<Device> registered_device(const std::string& name) {
  return device_of([&](const std::string& figure) -> std::optional<double> {
    const std::optional<devices::Figure> found = devices::figure(name, figure);
    return found ? std::optional(found->value) : std::nullopt;
  });
}

std::vector<StepRow> read_step_rows(const Dataset& in) {
  std::vector<opgraph::Job> jobs = opgraph::read_jobs(in);
  const Table table = in.table(OMEN_TABLE_WORKLOADS);
  const auto ids = table.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  const Columns figures = figure_columns(table);
  const std::vector<std::string> gpu = texts_or_empty(table, "gpu"),
                                 framework = texts_or_empty(table, "framework"),
                                 version = versions_of(table),
                                 group = texts_or_empty(table, OMEN_COLUMN_GROUP);
  const std::vector<double> tensor = numbers_or(table, "split_tensor", 1),
                            pipeline = numbers_or(table, "split_pipeline", 1),
                            data = numbers_or(table, "split_data", 1),
                            epochs = numbers_or(table, "epochs", 0),
                            samples = numbers_or(table, "samples", 0),
                            tokens = numbers_or(table, "total_tokens", 0);
  std::map<std::string, std::int32_t> groups;
  Lookup lookup;
  std::vector<StepRow> rows(jobs.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    StepRow& row = rows[r];
    row.workload_id = ids[static_cast<std::int64_t>(r)];
    row.device = described_device(figures, r);
    if (!row.device) lookup.find(gpu[r], row);
    row.framework = framework[r] + (version[r].empty() ? "" : " " + version[r]);
    row.group = groups.emplace(group[r], static_cast<std::int32_t>(groups.size())).first->second;
    const Split split{ranks_of(tensor[r]), ranks_of(pipeline[r]), ranks_of(data[r])};
    row.job = divide(std::move(jobs[r]), split);
    row.steps = steps_of(row.job.facts, epochs[r], samples[r], tokens[r]);
  }
  return rows;
}

}  // namespace omen::driple
