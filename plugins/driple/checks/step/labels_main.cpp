// SPDX-License-Identifier: Apache-2.0
// Steps of transformers on GPUs that were not measured, against published predictions.
//   driple_labels
// With OMEN_SHOW_BREAK=1 every operator is taken for as fast as its bound.
#include <cmath>
#include <cstdio>
#include <set>

#include "neusight_labels.hpp"
#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "step/job_costs.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

constexpr std::size_t kRowsOfATable = 1500;

OperatorModel fit_without(const std::vector<OperatorRow>& rows, const std::string& gpu,
                          bool small) {
  std::vector<MeasuredOp> train;
  for (const OperatorRow& row : rows)
    if (row.system != gpu && (!small || row.small_shapes)) train.push_back(row.measured);
  OperatorModel model;
  model.fit(train, {});
  return model;
}

struct Mean {
  double sum = 0, count = 0;
  void add(double said, double truth) { sum += std::abs(said / truth - 1), ++count; }
  double percent() const { return 100 * sum / count; }
};

double seconds_of(const OperatorModel& model, const LabelRow& row) {
  const JobCosts costs = job_costs(row.job, device_named(row.gpu), model);
  return test::broken() ? costs.bound : costs.total();
}

bool counts(const LabelRow& row) {
  return !row.fused && row.neusight > 0;
}

}  // namespace

int main() {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the operator tables are absent");
    return test::kSkipped;
  }
  const std::vector<LabelRow> labels = read_labels();
  const std::vector<OperatorRow> operators = read_fp32_operators(kRowsOfATable);
  std::set<std::string> gpus;
  for (const LabelRow& row : labels) gpus.insert(row.gpu);
  Mean left_out, small_card;
  for (const std::string& gpu : gpus) {
    const OperatorModel model = fit_without(operators, gpu, false);
    Mean own;
    for (const LabelRow& row : labels) {
      if (row.gpu != gpu || !counts(row)) continue;
      const double said = seconds_of(model, row);
      own.add(said, row.seconds);
      (gpu == "P4" ? small_card : left_out).add(said, row.seconds);
    }
    if (own.count > 0) test::show("unseen_" + gpu, own.percent(), "%");
  }
  Mean nvidia, amd, neusight_nvidia, neusight_amd, trained_small;
  const OperatorModel all = fit_without(operators, "", false);
  const OperatorModel small = fit_without(operators, "", true);
  for (const LabelRow& row : labels) {
    if (!counts(row)) continue;
    (row.amd ? amd : nvidia).add(seconds_of(all, row), row.seconds);
    (row.amd ? neusight_amd : neusight_nvidia).add(row.neusight, row.seconds);
    trained_small.add(seconds_of(small, row), row.seconds);
  }
  test::show("p4_unseen", small_card.percent(), "%");
  test::show("neusight_nvidia", neusight_nvidia.percent(), "%");
  test::show("neusight_amd", neusight_amd.percent(), "%");
  test::show("fitted_on_small_shapes", trained_small.percent(), "%");
  int missed = test::show("unseen_gpu", left_out.percent(), "%", "<=", 14);
  missed |= test::show("seen_nvidia", nvidia.percent(), "%", "<=", 7.5);
  missed |= test::show("seen_amd", amd.percent(), "%", "<=", 7.0);
  return missed;
}
