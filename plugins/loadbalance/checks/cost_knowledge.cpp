// SPDX-License-Identifier: Apache-2.0
// Whether loadbalance.cost knows when it does not know: rows that it flags, intervals that depend
// on the kernel, times with their errors, twins of kernels in other programs, and what measurements
// of strangers repair.
//   loadbalance_cost_knowledge TABLES SPLIT.csv PLATFORM novelty|intervals|twins|observe
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "cost/cost_model.hpp"
#include "cost/share_scale.hpp"
#include "cost_rows.hpp"
#include "omen/learn/folds.hpp"
#include "omen/learn/random.hpp"
#include "omen/median.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr double kCovered = 0.8;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

KernelRows without_answers(KernelRows rows) {
  for (KernelRow& row : rows.rows) row.share = row.t_cpu_ms = row.t_gpu_ms = kUnknown;
  return rows;
}

bool faster_on_gpu(const KernelRow& row) {
  return row.t_gpu_ms < row.t_cpu_ms;
}

// Answers about every row by a model that did not see its fold.
std::vector<CostRow> held_out(const KernelRows& rows, const std::vector<std::string>& fold,
                              const CostOptions& options) {
  std::vector<CostRow> answers(rows.rows.size());
  for (const std::string& held : std::set<std::string>(fold.begin(), fold.end())) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == held ? out : in).push_back(i);
    CostModel model;
    model.fit(rows.subset(in), options, 1, quiet_run());
    const std::vector<CostRow> said =
        model.predict(without_answers(rows.subset(out)), kCovered, std::nullopt);
    for (std::size_t i = 0; i < out.size(); ++i) answers[out[i]] = said[i];
  }
  return answers;
}

CostOptions without_intervals() {
  CostOptions options;
  options.inner_folds = 1;
  return options;
}

double share_error(const KernelRow& row, const CostRow& answer) {
  return std::abs(row.share - answer.share);
}

// Suites as strangers: how many rows are flagged, and whether the others are better answered. In
// the control flags are drawn by lot.
int novelty(const CostData& data, const std::string& platform) {
  const std::vector<CostRow> answers = held_out(data.kernels, data.fold[0], without_intervals());
  std::map<std::string, std::array<std::vector<double>, 2>> errors;  // by suite: known, flagged
  learn::Random lot(3);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool flagged = test::broken() ? lot.uniform() < 0.1 : answers[i].extrapolating;
    errors[data.fold[0][i]][flagged].push_back(share_error(data.kernels.rows[i], answers[i]));
  }
  std::vector<double> shares;
  int better = 0;
  for (const auto& [suite, parts] : errors) {
    const double known = mean_of(parts[0]), flagged = mean_of(parts[1]);
    const auto count = static_cast<double>(parts[0].size() + parts[1].size());
    shares.push_back(100 * static_cast<double>(parts[1].size()) / count);
    better += !parts[0].empty() && !parts[1].empty() && known < flagged;
    std::printf("%-14s flagged %5.1f %% of %3.0f rows, MAE of the others %5.2f, of these %5.2f\n",
                suite.c_str(), shares.back(), count, known, flagged);
  }
  const std::string name = "suite_" + platform;
  return test::show(name + "_flagged", mean_of(shares), "%", ">=", 60) +
         test::show(name + "_unflagged_better", better, "suites", ">=", 5);
}

double relative_error(double said, double measured) {
  return 100 * std::abs(said - measured) / measured;
}

void show_times(const std::string& name, const KernelRows& rows,
                const std::vector<CostRow>& answers) {
  std::vector<double> cpu, gpu;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    cpu.push_back(relative_error(answers[i].t_cpu_ms, rows.rows[i].t_cpu_ms));
    gpu.push_back(relative_error(answers[i].t_gpu_ms, rows.rows[i].t_gpu_ms));
  }
  test::show(name + "_t_cpu_median_error", median(cpu), "%");
  test::show(name + "_t_gpu_median_error", median(gpu), "%");
  test::show(name + "_t_cpu_mean_error", mean_of(cpu), "%");
  test::show(name + "_t_gpu_mean_error", mean_of(gpu), "%");
}

// Median width of intervals that are equally wide for all kernels and cover exactly as many of
// them.
double equal_width(const KernelRows& rows, const std::vector<CostRow>& answers) {
  std::vector<double> errors, widths;
  for (std::size_t i = 0; i < answers.size(); ++i)
    errors.push_back(share_error(rows.rows[i], answers[i]));
  std::sort(errors.begin(), errors.end());
  const double half =
      errors[static_cast<std::size_t>(kCovered * static_cast<double>(errors.size()))];
  for (const CostRow& answer : answers)
    widths.push_back(std::min(answer.share + half, 100.0) - std::max(answer.share - half, 0.0));
  return median(widths);
}

// Programs as strangers. In the control intervals are equally wide.
int intervals(const CostData& data, const std::string& platform) {
  CostOptions options;
  if (test::broken()) options.interval_parts = 1;
  const std::vector<CostRow> answers = held_out(data.kernels, data.fold[0], options);
  std::vector<double> widths, covered, flagged;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const double share = data.kernels.rows[i].share;
    widths.push_back(answers[i].share_hi - answers[i].share_lo);
    covered.push_back(share >= answers[i].share_lo && share <= answers[i].share_hi ? 100 : 0);
    flagged.push_back(answers[i].extrapolating ? 100 : 0);
  }
  const std::string name = "program_" + platform;
  show_times(name, data.kernels, answers);
  const double equal = equal_width(data.kernels, answers), own = median(widths);
  test::show(name + "_interval_width", own, "points");
  test::show(name + "_equal_interval_width", equal, "points");
  return test::show(name + "_flagged", mean_of(flagged), "%", "<=", 10) +
         test::show(name + "_interval_narrower", 100 * (1 - own / equal), "%", ">=", 20) +
         test::show(name + "_interval_coverage", mean_of(covered), "%", ">=", 76);
}

// Programs that share a kernel, whatever its launch, become one.
std::vector<std::int32_t> joined_by_twins(const KernelRows& rows) {
  std::vector<std::int32_t> group(rows.groups.size());
  std::iota(group.begin(), group.end(), 0);
  const std::function<std::int32_t(std::int32_t)> root = [&](std::int32_t g) {
    return group[static_cast<std::size_t>(g)] == g ? g : root(group[static_cast<std::size_t>(g)]);
  };
  std::map<FeatureCounts, std::int32_t> first;
  for (const KernelRow& row : rows.rows) {
    const auto [at, fresh] = first.try_emplace(rows.counts(row), row.group);
    if (!fresh) group[static_cast<std::size_t>(root(row.group))] = root(at->second);
  }
  std::vector<std::int32_t> joined;
  for (const KernelRow& row : rows.rows) joined.push_back(root(row.group));
  return joined;
}

// Measurements of other rows, as a control.
KernelRows with_wrong_answers(const KernelRows& rows) {
  KernelRows wrong = rows;
  const auto order = learn::Random(7).permutation(static_cast<std::ptrdiff_t>(rows.rows.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const KernelRow& other = rows.rows[static_cast<std::size_t>(order[i])];
    wrong.rows[i].share = other.share;
    wrong.rows[i].t_cpu_ms = other.t_cpu_ms;
    wrong.rows[i].t_gpu_ms = other.t_gpu_ms;
  }
  return wrong;
}

// Folds by program, and folds that also keep programs with a kernel in common together; figures are
// means over programs.
int twins(const CostData& data, const std::string& platform) {
  const KernelRows rows = test::broken() ? with_wrong_answers(data.kernels) : data.kernels;
  const std::vector<std::int32_t> joined = joined_by_twins(rows);
  const learn::Folds folds = learn::make_folds(static_cast<Index>(joined.size()), joined, 10, 1);
  std::vector<std::string> together;
  for (const int fold : folds.of_row) together.push_back(std::to_string(fold));
  std::printf("%zu programs, %zu without twins between them\n", rows.groups.size(),
              std::set<std::int32_t>(joined.begin(), joined.end()).size());
  const auto measure = [&](const std::string& what, const std::vector<std::string>& fold) {
    const std::vector<CostRow> answers = held_out(rows, fold, without_intervals());
    std::map<std::int32_t, std::vector<double>> errors, hits;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const KernelRow& row = rows.rows[i];
      errors[row.group].push_back(share_error(row, answers[i]));
      hits[row.group].push_back((answers[i].devices[1] > answers[i].devices[0]) ==
                                faster_on_gpu(row));
    }
    std::vector<double> mae, right;
    for (const auto& [group, values] : errors) mae.push_back(mean_of(values));
    for (const auto& [group, values] : hits) right.push_back(mean_of(values));
    test::show(what + "_device_accuracy", mean_of(right), "share");
    constexpr double kConstant = 21.7;  // what a constant misses on the easier platform
    return test::show(what + "_mae", mean_of(mae), "points", "<=", kConstant);
  };
  return measure("program_" + platform, data.fold[0]) +
         measure("twins_together_" + platform, together);
}

// MAE on each suite by a model that saw the others and `k` of its rows, in percent of the MAE
// without them. In the control measurements of other rows are observed.
int observing(const CostData& data, const std::string& platform) {
  const std::vector<int> counts = {0, 2, 4, 8};
  std::map<int, std::vector<double>> errors;  // by k, a value a suite
  const std::vector<std::string>& fold = data.fold[0];
  for (const std::string& suite : std::set<std::string>(fold.begin(), fold.end())) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == suite ? out : in).push_back(i);
    CostModel trained;
    trained.fit(data.kernels.subset(in), without_intervals(), 1, quiet_run());
    test::MemoryArtifact kept;
    const omen_sink sink = kept.sink();
    ArtifactWriter writer(&sink);
    trained.save(writer);
    const omen_source source = kept.source();
    std::vector<std::size_t> order;
    for (const std::ptrdiff_t at :
         learn::Random(11).permutation(static_cast<std::ptrdiff_t>(out.size())))
      order.push_back(out[static_cast<std::size_t>(at)]);
    const std::vector<std::size_t> asked(order.begin() + counts.back(), order.end());
    const KernelRows truth = data.kernels.subset(asked);
    for (const int k : counts) {
      CostModel model;
      model.load(ArtifactReader(&source));
      KernelRows measured =
          data.kernels.subset(std::vector<std::size_t>(order.begin(), order.begin() + k));
      if (test::broken())
        for (KernelRow& row : measured.rows) {
          std::swap(row.t_cpu_ms, row.t_gpu_ms);
          row.share = 100 - row.share;
        }
      if (k > 0) model.observe(measured);
      const std::vector<CostRow> said =
          model.predict(without_answers(truth), kCovered, std::nullopt);
      std::vector<double> own;
      for (std::size_t i = 0; i < said.size(); ++i)
        own.push_back(share_error(truth.rows[i], said[i]));
      errors[k].push_back(mean_of(own));
    }
  }
  for (const int k : counts) {
    std::printf("%2d observed:", k);
    for (const double error : errors[k]) std::printf(" %6.2f", error);
    std::printf("  mean %.2f\n", mean_of(errors[k]));
    test::show("observe_" + platform + "_" + std::to_string(k) + "_mae", mean_of(errors[k]),
               "points");
  }
  return test::show("observe_" + platform + "_gain",
                    100 * (1 - mean_of(errors[counts.back()]) / mean_of(errors[0])), "%", ">=", 10);
}

int knowledge_main(int count, char** values) {
  if (count != 5) {
    std::fprintf(stderr, "usage: %s TABLES SPLIT.csv PLATFORM novelty|intervals|twins|observe\n",
                 values[0]);
    return 2;
  }
  const CostData data(values[1], values[2]);
  const std::string platform = values[3], mode = values[4];
  const std::map<std::string, int (*)(const CostData&, const std::string&)> modes = {
      {"novelty", novelty}, {"intervals", intervals}, {"twins", twins}, {"observe", observing}};
  return modes.at(mode)(data, platform) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace omen::loadbalance::cost

int main(int count, char** values) {
  try {
    return omen::loadbalance::cost::knowledge_main(count, values);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
