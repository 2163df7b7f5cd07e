// SPDX-License-Identifier: Apache-2.0
// Steps of transformers on GPUs of which nothing, or only operators, were measured, against
// published predictions of the same steps.
//   driple_labels
// With OMEN_SHOW_BREAK=1 every step is taken for its bound.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "calibrated_roofline.hpp"
#include "neusight_labels.hpp"
#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

constexpr std::size_t kRowsOfATable = 1500;
constexpr double kLevel = 0.9;
// A card of 75 W whose operators were measured at a clock that steps do not hold.
constexpr const char* kApart = "P4";

using Chosen = std::function<bool(const OperatorRow&)>;

OperatorModel fit_operators(const std::vector<OperatorRow>& rows, const Chosen& chosen) {
  std::vector<MeasuredOp> train;
  for (const OperatorRow& row : rows)
    if (chosen(row)) train.push_back(row.measured);
  OperatorModel model;
  model.fit(train, {});
  return model;
}

struct Mean {
  double sum = 0, count = 0, inside = 0;
  void add(double said, double truth, double half = 0) {
    sum += std::abs(said / truth - 1), ++count;
    inside += std::abs(std::log(said / truth)) <= half ? 1 : 0;
  }
  double percent() const { return 100 * sum / count; }
  double coverage() const { return 100 * inside / count; }
};

bool counts(const LabelRow& row) {
  return !row.fused && row.neusight > 0;
}

// Labels, with the image networks that the shipped model learns from too.
class Jobs {
 public:
  Jobs(const std::vector<LabelRow>& labels, const std::vector<ProfiledStep>& steps,
       const OperatorModel& operators)
      : labels_(labels), rows_(job_rows(steps, operators)) {
    std::map<std::string, std::int32_t> groups;
    for (const LabelRow& label : labels) {
      JobRow row;
      row.device = device_named(label.gpu);
      row.costs = job_costs(label.job, row.device, operators);
      row.seconds = label.seconds;
      row.group = 1000 + groups.emplace(label.model, groups.size()).first->second;
      asked_.push_back(row);
    }
  }
  const JobRow& row(std::size_t label) const { return asked_[label]; }
  // Answers to the labels that are `held`, by a model that learnt from all others.
  std::vector<StepAnswer> without(const std::function<bool(const LabelRow&)>& held) const {
    std::vector<JobRow> train = rows_, asked;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (held(labels_[i]))
        asked.push_back(asked_[i]);
      else if (!labels_[i].fused)
        train.push_back(asked_[i]);
    StepModel model;
    model.fit(train, {});
    return model.ask(asked, kLevel);
  }

 private:
  const std::vector<LabelRow>& labels_;
  std::vector<JobRow> rows_, asked_;
};

struct Tables {
  std::vector<LabelRow> labels = read_labels();
  std::vector<ProfiledStep> steps = read_steps();
  std::vector<OperatorRow> operators = read_fp32_operators(kRowsOfATable);
};

// Nothing of the GPU was measured, neither operators nor steps.
int unseen_gpus(const Tables& tables) {
  std::set<std::string> gpus;
  for (const LabelRow& row : tables.labels) gpus.insert(row.gpu);
  Mean pooled, pooled_roofline, sums, small_card, covered;
  for (const std::string& gpu : gpus) {
    const Chosen others = [&](const OperatorRow& row) { return row.system != gpu; };
    const Jobs jobs(tables.labels, tables.steps, fit_operators(tables.operators, others));
    const CalibratedRoofline roofline(tables.operators, others);
    const auto held = [&](const LabelRow& row) { return row.gpu == gpu; };
    const std::vector<StepAnswer> answers = jobs.without(held);
    Mean own;
    std::size_t next = 0;
    for (std::size_t i = 0; i < tables.labels.size(); ++i) {
      const LabelRow& row = tables.labels[i];
      if (!held(row)) continue;
      const StepAnswer& answer = answers[next++];
      if (!counts(row)) continue;
      const double said = test::broken() ? jobs.row(i).costs.bound : answer.seconds;
      own.add(said, row.seconds, answer.half_width);
      covered.add(said, row.seconds, answer.half_width);
      if (gpu == kApart) {
        small_card.add(said, row.seconds);
        continue;
      }
      pooled.add(said, row.seconds);
      sums.add(jobs.row(i).costs.total(), row.seconds);
      pooled_roofline.add(roofline.seconds(row.job, jobs.row(i).device), row.seconds);
    }
    test::show("unseen_" + gpu, own.percent(), "%");
    test::show("unseen_coverage_" + gpu, own.coverage(), "%");
  }
  test::show("unseen_gpu_sum_of_operators", sums.percent(), "%");
  test::show("unseen_P4_apart", small_card.percent(), "%");
  int missed = test::show("unseen_gpu", pooled.percent(), "%", "<=", 14);
  missed |= test::show("unseen_gpu_calibrated_roofline", pooled_roofline.percent(), "%",
                       ">=", pooled.percent());
  missed |= test::show("unseen_coverage_low", covered.coverage(), "%", ">=", 85);
  missed |= test::show("unseen_coverage_high", covered.coverage(), "%", "<=", 97);
  return missed;
}

// What others published of the same rows.
void show_rivals(const std::vector<LabelRow>& labels) {
  const std::vector<std::pair<const char*, double LabelRow::*>> rivals = {
      {"neusight", &LabelRow::neusight},
      {"habitat", &LabelRow::habitat},
      {"linear", &LabelRow::linear},
      {"roofline", &LabelRow::roofline}};
  for (const auto& [name, said] : rivals) {
    Mean nvidia, amd;
    for (const LabelRow& row : labels)
      if (counts(row) && row.*said > 0) (row.amd ? amd : nvidia).add(row.*said, row.seconds);
    if (nvidia.count > 0) test::show(std::string(name) + "_nvidia", nvidia.percent(), "%");
    if (amd.count > 0) test::show(std::string(name) + "_amd", amd.percent(), "%");
  }
}

struct Makers {
  Mean nvidia, amd;
};

// Operators of the GPU are known; of the network, no step on any GPU.
Makers seen_gpus(const Tables& tables, bool small, bool show_sums) {
  const Jobs jobs(
      tables.labels, tables.steps,
      fit_operators(tables.operators, [&](const auto& row) { return !small || row.small_shapes; }));
  std::set<std::string> models;
  for (const LabelRow& row : tables.labels) models.insert(row.model);
  Makers steps, sums, trusted;
  for (const std::string& model : models) {
    const auto held = [&](const LabelRow& row) { return row.model == model; };
    const std::vector<StepAnswer> answers = jobs.without(held);
    std::size_t next = 0;
    for (std::size_t i = 0; i < tables.labels.size(); ++i) {
      const LabelRow& row = tables.labels[i];
      if (!held(row)) continue;
      const StepAnswer& answer = answers[next++];
      if (!counts(row)) continue;
      const double said = test::broken() ? jobs.row(i).costs.bound : answer.seconds;
      (row.amd ? steps.amd : steps.nvidia).add(said, row.seconds);
      (row.amd ? sums.amd : sums.nvidia).add(jobs.row(i).costs.total(), row.seconds);
      if (!row.suspect) (row.amd ? trusted.amd : trusted.nvidia).add(said, row.seconds);
    }
  }
  if (show_sums) {
    test::show("seen_nvidia_sum_of_operators", sums.nvidia.percent(), "%");
    test::show("seen_amd_sum_of_operators", sums.amd.percent(), "%");
    test::show("seen_amd_without_suspect_rows", trusted.amd.percent(), "%");
  }
  return steps;
}

}  // namespace

int main() {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the operator tables are absent");
    return test::kSkipped;
  }
  const Tables tables;
  int missed = unseen_gpus(tables);
  show_rivals(tables.labels);
  const Makers small = seen_gpus(tables, true, false);
  test::show("fitted_on_small_shapes_nvidia", small.nvidia.percent(), "%");
  test::show("fitted_on_small_shapes_amd", small.amd.percent(), "%");
  const Makers all = seen_gpus(tables, false, true);
  missed |= test::show("seen_nvidia", all.nvidia.percent(), "%", "<=", 7.5);
  missed |= test::show("seen_amd", all.amd.percent(), "%", "<=", 7.0);
  return missed;
}
