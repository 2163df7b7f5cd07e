// SPDX-License-Identifier: Apache-2.0
// Writes the measured steps, with graphs and published figures of their GPUs, as one table file.
//   driple_training_set OUT.omt
// omen train driple.step --data OUT.omt --target step_ms:ms:lower makes the shipped model of it.
#include <cstdio>
#include <omen/container.hpp>
#include <omen/dataset.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/telemetry/device_registry.hpp>

#include "neusight_labels.hpp"
#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;

struct Set {
  std::vector<omen::opgraph::Job> jobs;
  std::vector<std::string> groups, gpus;
  std::vector<double> step_ms;

  void add(omen::opgraph::Job job, const std::string& group, const std::string& gpu,
           double seconds) {
    jobs.push_back(std::move(job));
    groups.push_back(group);
    gpus.push_back(gpu);
    step_ms.push_back(1e3 * seconds);
  }
};

// Figures instead of names: what the model was trained on says nothing of who made a device.
omen::Table workloads_of(const Set& set) {
  omen::TableBuilder table = omen::opgraph::workload_columns(set.jobs, set.groups);
  for (const std::string& figure : device_figures()) {
    std::vector<double> values;
    std::vector<bool> known;
    for (const std::string& gpu : set.gpus) {
      const auto value = registered(gpu).figure(figure);
      values.push_back(value.value_or(0));
      known.push_back(value.has_value());
    }
    table.add(figure, std::move(values)).valid(known);
  }
  table.add("step_ms", set.step_ms, {{"omen.unit", "ms"}});
  return table.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the measured steps are absent");
    return omen::test::kSkipped;
  }
  if (argc != 2) {
    std::puts("usage: driple_training_set OUT.omt");
    return 2;
  }
  Set set;
  for (ProfiledStep& step : read_steps())
    set.add(std::move(step.job), step.model, step.gpu, step.seconds);
  for (LabelRow& row : read_labels())
    if (!row.fused) set.add(std::move(row.job), row.model, row.gpu, row.seconds);
  omen::container::Writer writer;
  omen::container::put_table(writer, "workloads", workloads_of(set));
  omen::container::put_table(writer, "nodes", omen::opgraph::node_columns(set.jobs).finish());
  omen::container::put_table(writer, "edges", omen::opgraph::edge_columns(set.jobs).finish());
  writer.write(argv[1]);
  std::printf("%zu steps\n", set.jobs.size());
  return 0;
}
