// SPDX-License-Identifier: Apache-2.0
// Draws truths, predictions and losses from a seed; intervals are normal approximations, which is
// enough for something that only has to look like a result.
#include "support/sample_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "omen/median.hpp"

namespace omen::test {
namespace {

using namespace host;
using stats::Verdict;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kClasses = {"cpu", "gpu", "either"};

double mean(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double v : values)
    if (!std::isnan(v)) sum += v, ++count;
  return count > 0 ? sum / count : kNaN;
}

class Maker {
 public:
  explicit Maker(const SampleShape& shape) : shape_(shape), random_(shape.seed) {}

  Comparison make() {
    result_.id = "2031a7";
    result_.time = "2026-01-15T10:20:30Z";
    result_.command_line = "omen compare driple.gcn driple.gin --task tasks/v100-p1w2.json";
    result_.revision = "1db11ce0a5f1";
    result_.machine_json = R"({"system": "Debian 12", "processor": "Example CPU", "cores": 2})";
    result_.threads = 2;
    result_.seconds = 73.4;
    result_.directory = "runs/2031a7";
    add_contestants();
    for (std::size_t t = 0; t < shape_.tasks.size(); ++t) result_.tasks.push_back(task(t));
    if (shape_.entrants >= 3 && shape_.tasks.size() >= 6) rank();
    if (shape_.hostile) result_.warnings.push_back("<img src=x onerror=alert(1)>");
    return std::move(result_);
  }

 private:
  double normal(double sd) { return std::normal_distribution<double>(0, sd)(random_); }

  void add_contestants() {
    const std::vector<std::string> entrants = {"driple.gcn", "driple.gin", "driple.gat",
                                               "ensemble.stack", "my.model"};
    for (int i = 0; i < shape_.entrants; ++i) {
      const std::string id = entrants[static_cast<std::size_t>(i) % entrants.size()];
      add_contestant(shape_.hostile && i == 1 ? "</script><b>gin" : id, id, false);
    }
    if (!shape_.references) return;
    for (const char* id : {"baseline.constant", "baseline.knn", "baseline.gbt"})
      add_contestant(id, id, true);
  }
  void add_contestant(std::string label, const std::string& id, bool reference) {
    Contestant c;
    c.label = std::move(label);
    c.component = id;
    c.plugin = id.substr(0, id.find('.'));
    c.plugin_version = "0.3.0";
    c.library_sha256 = std::string(56, 'a') + "0123456" + std::to_string(skill_.size() % 10);
    c.options_json =
        id == "driple.gin" ? R"({"hidden": 128, "lr": 0.001})" : R"({"hidden": 64, "lr": 0.001})";
    c.determinism = host::Determinism::kSeeded;
    c.reference = reference;
    result_.contestants.push_back(c);
    const double skills[] = {0.118, 0.091, 0.105, 0.098, 0.13};
    skill_.push_back(reference ? (id == "baseline.constant" ? 0.62
                                  : id == "baseline.knn"    ? 0.24
                                                            : 0.121)
                               : skills[skill_.size() % 5]);
  }

  TaskResult task(std::size_t index) {
    static const char* const kNames[] = {"v100-p1w2",  "v100-p1w4", "t4-p1w2", "a100-p2w2",
                                         "devmap-amd", "pick-gpu",  "rtx-p1w2"};
    TaskResult task;
    task.task = kNames[index % 7];
    task.hash = "sha256:41c0a2b3" + std::string(55, '0') + std::to_string(index);
    task.file = "tasks/driple/" + task.task + ".json";
    task.dataset = "driple";
    task.dataset_digest = "sha256:" + std::string(64, 'd');
    task.split = "grouped-k-fold, 5 folds, seed 1";
    task.workloads = shape_.workloads;
    task.groups = shape_.groups;
    const bool crash = shape_.crashed && index == 0;
    for (int i = 0; i < shape_.targets; ++i)
      task.targets.push_back(target(shape_.tasks[index], i, crash, 1));
    if (shape_.leaking && index == 0) {
      task.leaking_rows = shape_.workloads / 20;
      for (int i = 0; i < shape_.targets; ++i)
        task.grouped_targets.push_back(target(shape_.tasks[index], i, crash, 1.3));
    }
    add_costs(task, crash);
    return task;
  }

  void add_costs(TaskResult& task, bool crash) {
    for (std::size_t c = 0; c < skill_.size(); ++c) {
      const bool reference = result_.contestants[c].reference;
      const bool lost = crash && c + 1 == static_cast<std::size_t>(shape_.entrants);
      Cost cost;
      cost.load_s = reference ? 0.004 : 0.3 + 0.01 * static_cast<double>(c);
      cost.fit_s = reference ? 0.12 : 8.5 + 2.5 * static_cast<double>(c);
      cost.predict_p50_ms = reference ? 0.02 : 4.1 + static_cast<double>(c);
      cost.predict_p95_ms = cost.predict_p50_ms * 1.6;
      cost.peak_memory = reference ? 31'000'000 : 412'000'000 + 25'000'000 * c;
      task.costs.push_back(cost);
      std::vector<Curve> curves;
      for (int fold = 0; fold < 5; ++fold) {
        JobRecord job{result_.contestants[c].label,
                      task.task,
                      std::to_string(fold),
                      host::Outcome::kOk,
                      "",
                      "sha256:" + std::string(64, 'e'),
                      fold == 0};
        if (lost)
          job.outcome = host::Outcome::kCrashed, job.message = "signal 11 (segmentation fault)",
          job.digest = "";
        result_.jobs.push_back(job);
        if (!reference && !lost) curves.push_back(curve(fold));
      }
      task.curves.push_back(curves);
    }
  }
  Curve curve(int fold) {
    Curve curve{std::to_string(fold), "valid_loss", {}, {}};
    for (int step = 0; step < 60; ++step) {
      curve.steps.push_back(step);
      curve.values.push_back(0.1 + std::exp(-step / 12.0) + std::fabs(normal(0.01)));
    }
    return curve;
  }

  WorkloadRow workload(int i) {
    static const char* const kFamilies[] = {"resnet", "vgg", "bert", "lstm", "mobilenet", "unet"};
    const int group = i % shape_.groups;
    WorkloadRow row;
    row.workload_id = i;
    const std::string family = kFamilies[group % 6];
    row.group = family + (group < 6 ? "" : "-" + std::to_string(group / 6));
    row.name = row.group + " batch " + std::to_string(8 << (i / shape_.groups % 5)) + " #" +
               std::to_string(i);
    if (shape_.hostile && i == 3) row.name = "</script><script>alert(1)</script>";
    if (shape_.hostile && i == 4)
      row.name = "<img src=x onerror=\"document.title='hit'\">, \"quoted\"\n2nd line";
    if (shape_.hostile && i == 5) row.group = "<svg onload=alert(1)>";
    return row;
  }

  void answer(WorkloadRow& row, SampleKind kind, std::size_t c, double error, bool refused) {
    double predicted = kNaN, loss = kNaN;
    std::string predicted_class;
    if (!refused && kind == SampleKind::kClass) {
      const bool wrong = std::fabs(error) > 0.25;
      const auto truth = static_cast<std::size_t>(row.truth);
      predicted = static_cast<double>(wrong ? (truth + 1) % kClasses.size() : truth);
      predicted_class = kClasses[static_cast<std::size_t>(predicted)];
      loss = wrong ? 100 : 0;
    } else if (!refused && kind == SampleKind::kDecision) {
      loss = std::max(0.0, std::fabs(error) - 0.08) * 100;
      predicted = row.truth * (1 + loss / 100);
      predicted_class = loss > 0 ? "t4" : row.truth_class;
    } else if (!refused) {
      predicted = row.truth * (1 + error);
      loss = std::fabs(error) * 100;
    }
    const bool interval = kind == SampleKind::kNumber && c == 1 && !refused;
    row.predicted.push_back(predicted);
    row.predicted_class.push_back(predicted_class);
    row.lo.push_back(interval ? predicted * 0.85 : kNaN);
    row.hi.push_back(interval ? predicted * 1.15 : kNaN);
    row.loss.push_back(loss);
  }

  TargetResult target(SampleKind kind, int index, bool crash, double difficulty) {
    TargetResult target;
    target.kind = kind == SampleKind::kClass      ? host::TargetKind::kClass
                  : kind == SampleKind::kDecision ? host::TargetKind::kDecision
                                                  : host::TargetKind::kNumber;
    target.target = kind == SampleKind::kClass      ? "device"
                    : kind == SampleKind::kDecision ? "decision"
                                                    : "gpu_util_burst_ms";
    if (index > 0) target.target += "_" + std::to_string(index);
    target.unit = kind == SampleKind::kClass ? "" : "ms";
    target.loss = kind == SampleKind::kClass      ? host::Loss::kZeroOne
                  : kind == SampleKind::kDecision ? host::Loss::kRegret
                                                  : host::Loss::kAbsolutePercent;
    target.loss_unit = "%";
    std::vector<double> bias(static_cast<std::size_t>(shape_.groups));
    for (double& b : bias) b = normal(0.03);
    for (int i = 0; i < shape_.workloads; ++i) {
      WorkloadRow row = workload(i);
      row.truth = std::exp(3 + 0.15 * (i % shape_.groups) + normal(0.5));
      if (kind == SampleKind::kClass) {
        row.truth = i % 3;
        row.truth_class = kClasses[static_cast<std::size_t>(i % 3)];
      }
      if (kind == SampleKind::kDecision) row.truth_class = i % 2 ? "v100" : "a100";
      const double shared = normal(0.04);
      for (std::size_t c = 0; c < skill_.size(); ++c) {
        const bool lost = crash && c + 1 == static_cast<std::size_t>(shape_.entrants);
        const bool refused = shape_.refusals && c == 1 && i % 120 == 7;
        const double error = normal(skill_[c] * difficulty) + shared +
                             bias[static_cast<std::size_t>(i % shape_.groups)];
        answer(row, kind, c, std::max(error, -0.95), refused || lost);
        row.status.push_back(lost           ? "CRASHED: signal 11 (segmentation fault)"
                             : refused      ? "op 'CudnnRNN' unknown"
                             : i % 60 == 11 ? "extrapolating"
                                            : "ok");
      }
      target.rows.push_back(std::move(row));
    }
    for (std::size_t c = 0; c < skill_.size(); ++c)
      target.contestants.push_back(summary(target, kind, c));
    return target;
  }

  ContestantResult summary(const TargetResult& target, SampleKind kind, std::size_t c) {
    ContestantResult result;
    std::vector<double> losses;
    for (const WorkloadRow& row : target.rows) {
      losses.push_back(row.loss[c]);
      ++result.coverage.workloads;
      if (!std::isnan(row.loss[c]))
        ++result.coverage.answered;
      else
        ++result.coverage.refusals[row.status[c]];
      if (row.status[c] == "extrapolating") ++result.coverage.extrapolating;
    }
    std::erase_if(losses, [](double loss) { return std::isnan(loss); });
    result.median_loss = median(losses);
    result.mean_loss = mean(losses);
    if (kind == SampleKind::kClass)
      add_class_metrics(target, c, result);
    else if (kind == SampleKind::kDecision)
      result.metrics = {{"regret", result.mean_loss, "%", true},
                        {"top1", 0.9 - skill_[c], "", false},
                        {"infeasible_picks", 0, "", true}};
    else
      result.metrics = {{"mape", result.mean_loss, "%", true},
                        {"median_ape", result.median_loss, "%", true},
                        {"r2", 1 - skill_[c], "", false},
                        {"kendall", c == 2 ? kNaN : 0.9 - skill_[c], "", false}};
    result.versus_baseline = pair(target, kind, c);
    return result;
  }

  void add_class_metrics(const TargetResult& target, std::size_t c, ContestantResult& result) {
    result.confusion.classes = kClasses;
    result.confusion.counts.assign(kClasses.size() * kClasses.size(), 0);
    for (const WorkloadRow& row : target.rows)
      if (!std::isnan(row.predicted[c]))
        ++result.confusion.counts[static_cast<std::size_t>(row.truth) * kClasses.size() +
                                  static_cast<std::size_t>(row.predicted[c])];
    result.metrics = {{"accuracy", 1 - result.mean_loss / 100, "", false},
                      {"f1_macro", 0.97 - result.mean_loss / 100, "", false}};
  }

  stats::PairedResult pair(const TargetResult& target, SampleKind kind, std::size_t c) {
    stats::PairedResult pair;
    if (c == 0) {
      pair.verdict = Verdict::kBaseline;
      return pair;
    }
    std::vector<double> base, own, differences;
    for (const WorkloadRow& row : target.rows) {
      const double d = row.loss[c] - row.loss[0];
      if (std::isnan(d)) continue;
      base.push_back(row.loss[0]);
      own.push_back(row.loss[c]);
      differences.push_back(d);
      ++(d < 0 ? pair.wins : d > 0 ? pair.losses : pair.ties);
    }
    pair.rows = static_cast<std::int64_t>(differences.size());
    pair.groups = pair.rows ? shape_.groups : 0;
    const auto centre =
        kind == SampleKind::kNumber ? median : +[](std::vector<double> v) { return mean(v); };
    pair.baseline_loss = centre(base);
    pair.loss = centre(own);
    pair.difference = centre(differences);
    double sum = 0;
    for (const double d : differences) sum += (d - pair.difference) * (d - pair.difference);
    const double half =
        2.2 * std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, pair.rows)) /
                        static_cast<double>(std::max<std::int64_t>(1, pair.rows)));
    pair.lo = pair.difference - half;
    pair.hi = pair.difference + half;
    pair.relative = pair.difference / pair.baseline_loss;
    pair.relative_lo = pair.lo / pair.baseline_loss;
    pair.relative_hi = pair.hi / pair.baseline_loss;
    pair.interval = shape_.groups < 20 ? "bca" : "percentile";
    pair.p = pair.rows == 0 ? kNaN : pair.lo * pair.hi > 0 ? 0.0007 : 0.31;
    pair.p_holm = pair.rows == 0 ? kNaN : std::min(1.0, pair.p * 3);
    pair.effect = static_cast<double>(pair.wins - pair.losses) /
                  static_cast<double>(std::max<std::int64_t>(1, pair.rows));
    pair.verdict = pair.rows == 0 ? Verdict::kDifferencesOnly
                   : pair.hi < 0  ? Verdict::kBetter
                   : pair.lo > 0  ? Verdict::kWorse
                                  : Verdict::kInconclusive;
    if (pair.rows && std::max(std::fabs(pair.relative_lo), std::fabs(pair.relative_hi)) < 0.01)
      pair.verdict = Verdict::kEquivalent;
    if (pair.rows == 0) pair.warning = "no workload in common with the baseline";
    if (pair.rows && shape_.groups < 20)
      pair.warning = std::to_string(shape_.groups) + " groups: the interval is wide for so few";
    return pair;
  }

  void rank() {
    result_.ranking.mean_ranks = {3.17, 1.33, 2.0, 6.0, 5.0, 3.5};
    result_.ranking.mean_ranks.resize(result_.contestants.size(), 6);
    result_.ranking.chi_squared = 18.3;
    result_.ranking.p = 0.0026;
    result_.ranking.indistinguishable = {{1, 2}, {2, 0}};
    if (shape_.references) result_.ranking.indistinguishable[1] = {2, 0, 5};
  }

  SampleShape shape_;
  std::mt19937_64 random_;
  Comparison result_;
  std::vector<double> skill_;
};

}  // namespace

Comparison sample_comparison(const SampleShape& shape) {
  return Maker(shape).make();
}

SampleShape sample_shape(const std::string& name) {
  SampleShape shape;
  if (name == "two") return shape;
  if (name == "class" || name == "decision") {
    shape.tasks = {name == "class" ? SampleKind::kClass : SampleKind::kDecision};
  } else if (name == "many") {
    shape.entrants = 3;
    shape.tasks = {SampleKind::kNumber, SampleKind::kNumber, SampleKind::kNumber,
                   SampleKind::kNumber, SampleKind::kClass,  SampleKind::kDecision};
    shape.crashed = shape.leaking = true;
  } else if (name == "hostile") {
    shape.hostile = true;
  } else if (name == "large") {
    shape.workloads = 30000;
    shape.groups = 300;
  } else {
    throw std::invalid_argument("no sample comparison is called '" + name + "'");
  }
  return shape;
}

}  // namespace omen::test
