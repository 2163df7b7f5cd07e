// SPDX-License-Identifier: Apache-2.0
// From rows to columns.
#include "sweep/perf_answer.hpp"

#include <cmath>

namespace omen::driple {
namespace {

// Numbers with nulls where there is none.
void add_numbers(TableBuilder& table, const char* name, const PerfTable& perf,
                 double PerfRow::*place, const char* unit) {
  std::vector<double> values;
  std::vector<bool> present;
  for (const PerfRow& row : perf.rows) {
    present.push_back(std::isfinite(row.*place));
    values.push_back(present.back() ? row.*place : 0);
  }
  table.add(name, std::move(values), {{"omen.unit", unit}}).valid(present);
}

template <class Text>
std::vector<std::string> texts(const PerfTable& perf, const Text& text) {
  std::vector<std::string> out;
  for (const PerfRow& row : perf.rows) out.emplace_back(text(row));
  return out;
}

}  // namespace

void append_rows(PerfTable& table, const std::vector<std::string>& job, const TraceLabels& labels,
                 const std::string& outcome) {
  std::vector<ResourceLabels> resources = labels.resources;
  // A job that ended before the first sample is still a job.
  if (resources.empty()) resources.push_back({Resource::gpu_util, NAN, NAN, NAN, {}});
  for (const ResourceLabels& resource : resources) {
    PerfRow row;
    row.job = job;
    row.resource = resource.resource;
    row.idle = resource.idle;
    row.burst = resource.burst;
    row.peak = resource.peak;
    row.outcome = outcome;
    if (labels.seconds) row.seconds = *labels.seconds;
    if (labels.step_s) row.step_s = *labels.step_s;
    table.rows.push_back(std::move(row));
  }
}

void put_perf(const PerfTable& perf, const TablesOut& out) {
  TableBuilder table;
  table.metadata("driple.least_seconds", std::to_string(perf.least_seconds));
  table.metadata("driple.most_seconds", std::to_string(perf.most_seconds));
  table.metadata("driple.headers_swapped", perf.headers_swapped ? "yes" : "no");
  for (std::size_t column = 0; column < perf.job_columns.size(); ++column)
    table.add_categories(perf.job_columns[column],
                         texts(perf, [&](const PerfRow& row) { return row.job[column]; }));
  table.add_categories("resource", texts(perf, [](const PerfRow& r) { return word(r.resource); }));
  add_numbers(table, "idle", perf, &PerfRow::idle, "1");
  add_numbers(table, "burst", perf, &PerfRow::burst, "1");
  add_numbers(table, "peak", perf, &PerfRow::peak, "1");
  add_numbers(table, "exec_s", perf, &PerfRow::seconds, "s");
  add_numbers(table, "exec_scaled", perf, &PerfRow::scaled_seconds, "1");
  add_numbers(table, "step_s", perf, &PerfRow::step_s, "s");
  table.add_categories("evidence", texts(perf, [](const PerfRow& r) { return word(r.evidence); }));
  table.add_categories("outcome", texts(perf, [](const PerfRow& r) { return r.outcome; }));
  out.put("perf", table.finish());
}

}  // namespace omen::driple
