// SPDX-License-Identifier: Apache-2.0
// Names to jobs, and the grid with the columns that the measurements are joined by.
#include "zoo_frontend.hpp"

#include <omen/tables.h>
#include <algorithm>
#include <omen/opgraph/tables.hpp>
#include <omen/opgraph/words.hpp>
#include <omen/opgraph/zoo.hpp>

#include "graph_sums.hpp"

namespace omen::driple {
namespace {

using namespace omen::opgraph;

struct ProfiledData {
  const char* name;
  std::int64_t classes;  // one more than the set has: the benchmarks count a background
};
constexpr ProfiledData kDatasets[] = {{"cifar10", 11}, {"imagenet", 1001}};
constexpr std::int64_t kBatches[] = {8, 16, 32, 64};
constexpr Optimizer kOptimizers[] = {Optimizer::sgd, Optimizer::adam};

void put_grid(const TablesOut& out, const Run& run) {
  std::vector<Job> jobs;
  std::vector<std::string> models, datasets;
  std::vector<std::int64_t> sizes, classes;
  const std::vector<std::string> names = profiled_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    run.step(double(i) / double(names.size()), "networks");
    for (const std::int64_t batch : kBatches)
      for (const Optimizer optimizer : kOptimizers)
        for (const ProfiledData& data : kDatasets) {
          ZooRun each;
          each.batch = batch;
          each.optimizer = optimizer;
          each.classes = data.classes;
          jobs.push_back(zoo_job(names[i], each));
          jobs.back().name = names[i] + "_" + std::to_string(batch) + "_" +
                             std::string(word(optimizer)) + "_" + data.name;
          models.push_back(names[i]);
          datasets.emplace_back(data.name);
          sizes.push_back(zoo_image_size(names[i]));
          classes.push_back(data.classes);
        }
  }
  TableBuilder workloads = workload_columns(jobs, models);
  workloads.add_categories("model", models)
      .add_categories("dataset", datasets)
      .add("image_size", sizes)
      .add("num_classes", classes);
  add_graph_sums(workloads, jobs);
  out.put(OMEN_TABLE_WORKLOADS, workloads.finish());
  out.put(OMEN_TABLE_NODES, node_columns(jobs).finish());
  out.put(OMEN_TABLE_EDGES, edge_columns(jobs).finish());
}

}  // namespace

int ZooFrontend::sniff(const char* path, std::string_view head) {
  if (head.data() != nullptr || path == nullptr) return 0;
  const auto names = zoo_names();
  return std::find(names.begin(), names.end(), path) != names.end() ? 95 : 0;
}

std::vector<std::string> ZooFrontend::names() {
  return zoo_names();
}

void ZooFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (path == nullptr) return put_grid(out, run);
  ZooRun zoo;
  zoo.mode = options_.train ? Mode::train : *mode_of(options_.mode);
  zoo.batch = options_.batch;
  zoo.image_size = options_.image_size;
  zoo.classes = options_.classes;
  zoo.precision = *precision_of(options_.precision);
  zoo.optimizer = *optimizer_of(options_.optimizer);
  zoo.weight_decay = options_.weight_decay;
  const std::vector<Job> jobs = {zoo_job(path, zoo)};
  put_jobs(jobs, out);
}

}  // namespace omen::driple
