// SPDX-License-Identifier: Apache-2.0
// Columns with units, classes with probabilities, and a figure.
#include "cost/answer_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cost/share_scale.hpp"
#include "omen/figure.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr std::size_t kMostCurves = 8;

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// A column in which rows without a finite value are null.
void add_numbers(TableBuilder& table, const std::string& name, std::vector<double> values,
                 const Metadata& metadata) {
  std::vector<bool> present;
  for (double& value : values) {
    present.push_back(std::isfinite(value));
    if (!present.back()) value = 0;
  }
  table.add(name, std::move(values), metadata).valid(present);
}

template <std::size_t N>
void add_class(TableBuilder& table, const std::string& name, const std::vector<CostRow>& answers,
               std::array<double, N> CostRow::*probability,
               const std::array<const char*, N>& classes) {
  std::vector<std::int32_t> codes;
  std::vector<bool> present;
  for (const CostRow& row : answers) {
    const std::array<double, N>& p = row.*probability;
    codes.push_back(static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin()));
    present.push_back(row.refusal.empty());
  }
  const std::vector<std::string> names(classes.begin(), classes.end());
  table.add_dictionary(name, codes, names, {{"omen.unit", "1"}}).valid(present);
  for (std::size_t c = 0; c < N; ++c) {
    std::vector<double> values;
    for (const CostRow& row : answers)
      values.push_back(row.refusal.empty() ? (row.*probability)[c] : kUnknown);
    add_numbers(table, name + ".p." + names[c], std::move(values), {});
  }
}

std::vector<double> values_of(const std::vector<CostRow>& answers, double CostRow::*member) {
  std::vector<double> values;
  for (const CostRow& row : answers) values.push_back(row.refusal.empty() ? row.*member : kUnknown);
  return values;
}

// Times are off by half and more, so a third digit would say nothing.
constexpr int kWorthDigits = 2;

double last_digit(double value) {
  return std::pow(10, std::floor(std::log10(value)) - kWorthDigits + 1);
}

// Both times of a row; they stay apart, so that the shorter one still tells the device.
std::pair<double, double> rounded_times(const CostRow& row) {
  if (!(row.t_cpu_ms > 0 && row.t_gpu_ms > 0) || !std::isfinite(row.t_cpu_ms + row.t_gpu_ms))
    return {row.t_cpu_ms, row.t_gpu_ms};
  const auto rounded = [](double value, double unit) { return std::round(value / unit) * unit; };
  double cpu = rounded(row.t_cpu_ms, last_digit(row.t_cpu_ms));
  double gpu = rounded(row.t_gpu_ms, last_digit(row.t_gpu_ms));
  if (cpu == gpu) (row.t_cpu_ms < row.t_gpu_ms ? gpu : cpu) += last_digit(cpu);
  return {cpu, gpu};
}

void add_times(TableBuilder& table, const std::vector<CostRow>& answers) {
  std::vector<double> cpu, gpu;
  for (const CostRow& row : answers) {
    const auto [cpu_ms, gpu_ms] = rounded_times(row);
    cpu.push_back(row.refusal.empty() ? cpu_ms : kUnknown);
    gpu.push_back(row.refusal.empty() ? gpu_ms : kUnknown);
  }
  const Metadata ms = {{"omen.unit", "ms"}, {"omen.direction", "lower"}};
  add_numbers(table, "t_cpu_ms", std::move(cpu), ms);
  add_numbers(table, "t_gpu_ms", std::move(gpu), ms);
}

enum Plan : std::int32_t { kSplit, kCpuOnly, kGpuOnly, kNotDivisible, kNotJudged };

// A split is promised only where somebody judged that it gives the right result.
Plan plan_of(const KernelRow& kernel, const CostRow& row, const SplitCost& best,
             double least_gain) {
  if (kernel.judged() && !kernel.may_be_divided()) return kNotDivisible;
  if (best.gain >= least_gain && best.share > 0 && best.share < 100)
    return kernel.may_be_divided() ? kSplit : kNotJudged;
  return row.t_cpu_ms < row.t_gpu_ms ? kCpuOnly : kGpuOnly;
}

// Why a row has one of the last two plans; empty for the others.
std::string reason_of(const KernelRow& kernel, Plan plan) {
  if (plan == kNotJudged)
    return "whether its work-groups may be divided is judged only from OpenCL sources";
  return plan == kNotDivisible ? kernel.divisible : "";
}

void add_plan(TableBuilder& table, const KernelRows& rows, const std::vector<CostRow>& answers,
              double least_gain) {
  std::vector<double> gains;
  std::vector<std::int32_t> plans;
  std::vector<std::string> reasons;
  std::vector<bool> present, explained;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const CostRow& row = answers[i];
    const KernelRow& kernel = rows.rows[i];
    present.push_back(row.refusal.empty());
    const SplitCost best = best_split(row.t_cpu_ms, row.t_gpu_ms, row.launch_ms);
    const Plan plan = plan_of(kernel, row, best, least_gain);
    gains.push_back(!present.back()           ? kUnknown
                    : kernel.may_be_divided() ? std::max(best.gain, 1.0)
                                              : 1);
    plans.push_back(plan);
    reasons.push_back(reason_of(kernel, plan));
    explained.push_back(present.back() && !reasons.back().empty());
  }
  add_numbers(table, "gain", std::move(gains), {{"omen.unit", "1"}, {"omen.direction", "higher"}});
  table
      .add_dictionary("plan", plans,
                      {"split", "CPU only", "GPU only", "not divisible", "not judged"})
      .valid(present);
  table.add_strings("reason", reasons).valid(explained);
}

void add_machine(TableBuilder& table, const std::vector<CostRow>& answers,
                 const ThisMachine& here) {
  std::vector<std::string> names;
  for (const CostRow& row : answers) {
    names.push_back(row.refusal.empty() ? machine_name(row.cpu, row.gpu) : "");
    const bool this_one = row.measured_here || here.has(row.cpu, row.gpu);
    if (!names.back().empty() && !this_one) names.back() += ", not this one";
  }
  table.add_categories("machine", names);
}

// The line of one kernel and the marker of its best split, which lies on the line.
void draw_curve(Figure& figure, const CostRow& row, const SplitCost& best,
                const std::vector<SplitCost>& curve, const std::string& name) {
  std::vector<double> shares, times;
  for (const SplitCost& cost : curve) {
    shares.push_back(cost.share);
    times.push_back(cost.time_ms);
  }
  figure.lines(name, shares, times);
  figure.markers(name + ", best split", {best.share}, {best.time_ms})
      .marker_size(11)
      .error_x({std::max(best.share - row.share_lo, 0.0)},
               {std::max(row.share_hi - best.share, 0.0)});
}

}  // namespace

Table answer_table(const KernelRows& rows, const std::vector<CostRow>& answers,
                   const AnswerColumns& columns) {
  TableBuilder table;
  std::vector<std::int64_t> ids;
  std::vector<std::string> status;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ids.push_back(rows.rows[i].workload_id);
    status.push_back(!answers[i].refusal.empty() ? answers[i].refusal
                     : answers[i].extrapolating  ? "extrapolating"
                                                 : "ok");
  }
  table.add("workload_id", std::move(ids));
  // Neither a larger nor a smaller share is better, whatever a model's card says.
  const Metadata percent = {{"omen.unit", "%"}, {"omen.direction", "none"}};
  add_numbers(table, "share", values_of(answers, &CostRow::share), percent);
  if (columns.intervals) {
    Metadata bound = percent;
    bound.emplace_back("omen.level", short_text(columns.level));
    add_numbers(table, "share.lo", values_of(answers, &CostRow::share_lo), bound);
    add_numbers(table, "share.hi", values_of(answers, &CostRow::share_hi), bound);
  }
  add_class(table, "share_class", answers, &CostRow::classes, kShareClasses);
  add_class(table, "device", answers, &CostRow::devices, kDevices);
  if (columns.times) {
    add_times(table, answers);
    add_plan(table, rows, answers, columns.least_gain);
    add_machine(table, answers, columns.here);
  }
  table.add_categories("status", status);
  return table.finish();
}

void put_share_curves(const Run& run, const KernelRows& rows, const std::vector<CostRow>& answers) {
  Figure figure("predicted time of a split kernel");
  figure.x_axis({"share of the CPU", "%"}).y_axis(FigureAxis("time", "ms").from_zero());
  std::vector<std::string> kernel;
  std::vector<double> share, time;
  for (std::size_t i = 0; i < answers.size() && i < kMostCurves; ++i) {
    const CostRow& row = answers[i];
    if (!row.refusal.empty() || !std::isfinite(row.t_cpu_ms) || !rows.rows[i].may_be_divided())
      continue;
    const SplitCost best = best_split(row.t_cpu_ms, row.t_gpu_ms, row.launch_ms);
    std::vector<SplitCost> curve = split_curve(row.t_cpu_ms, row.t_gpu_ms, row.launch_ms);
    const auto behind = std::find_if(
        curve.begin(), curve.end(), [&](const SplitCost& cost) { return cost.share > best.share; });
    curve.insert(behind, best);
    for (const SplitCost& cost : curve) {
      kernel.push_back(rows.rows[i].name);
      share.push_back(cost.share);
      time.push_back(cost.time_ms);
    }
    draw_curve(figure, row, best, curve, rows.rows[i].name.empty() ? "kernel" : rows.rows[i].name);
  }
  if (figure.empty()) return;
  Table table = TableBuilder()
                    .add_categories("kernel", kernel)
                    .add("share", share)
                    .add("time_ms", time)
                    .finish();
  put_figure(run, "share-curve", figure.json(), std::move(table));
}

}  // namespace omen::loadbalance::cost
