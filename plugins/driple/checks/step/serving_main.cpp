// SPDX-License-Identifier: Apache-2.0
// Time per answered token of language models of which no server was measured, and whether every
// server that ran fits its memory.
//   driple_serving
// With OMEN_SHOW_BREAK=1 every step is taken for its bound.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"
#include "serving_runs.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

struct Errors {
  std::vector<double> off;
  double inside = 0, below_bound = 0;

  double mean() const {
    double sum = 0;
    for (const double each : off) sum += each;
    return 100 * sum / static_cast<double>(off.size());
  }
  double median() const {
    std::vector<double> sorted = off;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(off.size() / 2),
                     sorted.end());
    return 100 * sorted[off.size() / 2];
  }
};

void judge(const std::vector<JobRow>& asked, const std::vector<StepAnswer>& answers, Errors& own,
           std::map<std::string, Errors>& by_system, const std::vector<std::string>& systems) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const double said = test::broken() ? asked[i].costs.bound : answers[i].seconds;
    const double off = std::abs(said / asked[i].seconds - 1);
    const bool inside = std::abs(std::log(said / asked[i].seconds)) <= answers[i].half_width;
    for (Errors* errors : {&own, &by_system[systems[i]]}) {
      errors->off.push_back(off);
      errors->inside += inside ? 1 : 0;
      errors->below_bound += said < asked[i].costs.bound ? 1 : 0;
    }
  }
}

}  // namespace

int main() {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the measured servers are absent");
    return test::kSkipped;
  }
  const OperatorModel operators = shipped_operator_model();
  std::map<std::string, std::vector<JobRow>> shapes;
  std::map<std::string, std::vector<std::string>> systems;
  std::map<std::string, bool> experts;
  std::map<std::string, std::int32_t> groups;
  double refused = 0, waiting = 0;
  for (const ServingRun& run : read_serving()) {
    refused += run.running < 1 ? 1 : 0;
    waiting += run.running < std::ceil(run.requests / run.attention_ranks) ? 1 : 0;
    if (!run.is_plain()) continue;
    JobRow row = serving_row(run, operators);
    experts[run.shape] = run.experts;
    row.group = groups.emplace(run.shape, static_cast<std::int32_t>(groups.size())).first->second;
    shapes[run.shape].push_back(row);
    systems[run.shape].push_back(run.system);
  }
  double dense = 0, mixed = 0, dense_shapes = 0, mixed_shapes = 0;
  std::map<std::string, Errors> by_system;
  Errors every_mixed;
  for (const auto& [held, asked] : shapes) {
    std::vector<JobRow> train;
    for (const auto& [shape, rows] : shapes)
      if (shape != held) train.insert(train.end(), rows.begin(), rows.end());
    StepModel model;
    model.fit(train, {});
    Errors own;
    judge(asked, model.ask(asked, 0.9), own, by_system, systems.at(held));
    test::show("token_" + held, own.mean(), "%");
    test::show("token_median_" + held, own.median(), "%");
    (experts.at(held) ? mixed : dense) += own.mean();
    ++(experts.at(held) ? mixed_shapes : dense_shapes);
    if (experts.at(held))
      every_mixed.off.insert(every_mixed.off.end(), own.off.begin(), own.off.end());
  }
  double inside = 0, rows = 0, below = 0;
  for (const auto& [system, errors] : by_system) {
    const auto count = static_cast<double>(errors.off.size());
    test::show("token_coverage_" + system, 100 * errors.inside / count, "%");
    inside += errors.inside, rows += count, below += errors.below_bound;
  }
  test::show("requests_wait", waiting, "rows");
  int missed = test::show("token_dense", dense / dense_shapes, "%", "<=", 18);
  missed |= test::show("token_experts", mixed / mixed_shapes, "%", "<=", 25);
  missed |= test::show("token_experts_median", every_mixed.median(), "%", "<=", 17);
  missed |= test::show("token_coverage_low", 100 * inside / rows, "%", ">=", 85);
  missed |= test::show("token_coverage_high", 100 * inside / rows, "%", "<=", 97);
  missed |= test::show("token_below_bound", below, "rows", "<=", 0);
  return missed | test::show("measured_but_refused", refused, "rows", "<=", 0);
}
