// SPDX-License-Identifier: Apache-2.0
// The table that models/titan.omen is calibrated on, and what the closed form makes of it.
//   ensemble_titan [TABLE.csv]
// Rates: peak curves, and training alone as the training rate over the published speed-up of
// sharing. CPU: the published reductions, scaled by one anchor. Power: Table V, a node's share.
// With OMEN_SHOW_BREAK=1 no core is ever busy.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "figure_data.hpp"
#include "omen/testing/show.hpp"
#include "rate/minimise.hpp"

namespace {

using namespace omen::ensemble;
using namespace omen::ensemble::checks;
namespace test = omen::test;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kCores = 16;
// AlexNet alone keeps 96 % of 16 cores busy at 66 % of its training rate.
constexpr double kBusyShare = 0.96, kRateShare = 0.66;
constexpr double kMeteredNodes = 80;

struct Sources {
  std::vector<PeakPoint> peaks;
  std::map<std::string, double> train_rate;
  std::vector<Row> speedups, reductions, tables;

  explicit Sources(const std::string& directory)
      : peaks(peak_points(directory)),
        speedups(read_csv(directory + "/sc18_fig11_speedup_core_limit.csv")),
        reductions(read_csv(directory + "/sc18_fig10_cpu_reduction.csv")),
        tables(read_csv(directory + "/sc18_tables.csv")) {
    for (const Row& row : read_csv(directory + "/sc18_fig8_demand.csv"))
      train_rate[row.at("model")] = number(row, "rc_images_per_sec");
  }
  double table(const std::string& row, const std::string& metric) const {
    for (const Row& one : tables)
      if (one.at("row") == row && one.at("metric") == metric) return number(one, "value");
    throw std::runtime_error("no " + metric + " of " + row);
  }
};

Setting training(const Sources& sources, const std::string& model, Design design, double ranks,
                 double cores) {
  Setting setting;
  setting.design = design;
  setting.ranks = setting.preprocessors = ranks;
  setting.cores = cores;
  setting.coupled = is_coupled(design);
  setting.train_rates = {sources.train_rate.at(model)};
  return setting;
}

// A row of the table with the name of what it was read off.
struct TitanRow {
  std::string from;
  Measured measured;
};

// Shared training keeps up with the accelerator, but for Table III's slowdown on one core.
void add_rates(const Sources& sources, std::vector<TitanRow>& rows) {
  for (const PeakPoint& point : sources.peaks) {
    rows.push_back({point.curve, point.measured});
    rows.back().measured.cpu = rows.back().measured.power = kUnknown;
  }
  for (const Row& row : sources.speedups) {
    const std::string& model = row.at("model");
    const double cores = number(row, "cores_per_node");
    const double slowdown =
        cores == 1 ? sources.table("as_" + model, "one_core_slowdown_vs_16") : 1;
    Measured alone{training(sources, model, Design::kNone, 1, cores), 100, 0, kUnknown, kUnknown};
    alone.rate = sources.train_rate.at(model) / slowdown / number(row, "speedup_as_vs_baseline");
    rows.push_back({model + " alone", alone});
  }
}

struct Reduction {
  Setting alone, shared;
  double published = 0;
  std::string model;
};

std::vector<Reduction> reductions(const Sources& sources) {
  std::vector<Reduction> list;
  for (const Row& row : sources.reductions)
    list.push_back(
        {training(sources, row.at("model"), Design::kNone, 1, kCores),
         training(sources, row.at("model"), Design::kAllShared, number(row, "n_nodes"), kCores),
         number(row, "cpu_reduction_as_vs_baseline"), row.at("model")});
  return list;
}

double reduction_error(const std::vector<Reduction>& list, const Calibrated& model,
                       const CpuConstants& constants) {
  double sum = 0;
  for (const Reduction& one : list) {
    const double alone = cpu_per_image(cpu_terms(one.alone, model.ask(one.alone)), constants);
    const double shared = cpu_per_image(cpu_terms(one.shared, model.ask(one.shared)), constants);
    sum += std::abs(alone / shared / one.published - 1);
  }
  return sum / static_cast<double>(list.size());
}

// Ratios alone have no unit; the anchor gives it.
CpuConstants fit_reductions(const std::vector<Reduction>& list, const Calibrated& model,
                            double anchor_rate) {
  const auto constants = [&](const std::vector<double>& at) {
    CpuConstants made{1, std::exp(at[0]), std::exp(at[1])};
    const double scale =
        kBusyShare * kCores / anchor_rate / (made.prepare + made.host / anchor_rate);
    return CpuConstants{scale, made.host * scale, made.exchange * scale};
  };
  return constants(minimise(
      [&](const std::vector<double>& at) { return reduction_error(list, model, constants(at)); },
      {std::log(20.0), std::log(0.01)}, 0.5));
}

void add_cpu(const std::vector<Reduction>& list, const Calibrated& model,
             const CpuConstants& constants, std::vector<TitanRow>& rows) {
  for (const Reduction& one : list) {
    const double alone = cpu_per_image(cpu_terms(one.alone, model.ask(one.alone)), constants);
    rows.push_back(
        {one.model + " shared", {one.shared, 101, kUnknown, alone / one.published, kUnknown}});
    if (one.shared.ranks == 2)
      rows.push_back({one.model + " alone", {one.alone, 102, kUnknown, alone, kUnknown}});
  }
}

void add_power(const Sources& sources, std::vector<TitanRow>& rows) {
  const double idle = sources.table("cabinet", "idle_power");
  for (const auto& [model, rate] : sources.train_rate)
    for (const bool shared : {false, true}) {
      const double kilowatts =
          sources.table((shared ? "as_" : "baseline_") + model, "avg_power") - idle;
      rows.push_back({model + (shared ? " shared" : " alone"),
                      {training(sources, model, shared ? Design::kAllShared : Design::kNone,
                                kMeteredNodes, kCores),
                       103, kUnknown, kUnknown, 1e3 * kilowatts / kMeteredNodes}});
    }
}

std::string cell(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::isfinite(value) ? text : "";
}

void write(const std::string& path, const std::vector<TitanRow>& rows) {
  std::ofstream out(path);
  out << "curve,pipeline,preprocessors,n_nodes,cores_per_node,train_rate,images_per_s,"
         "cpu_s_per_image,power_w\n";
  for (const TitanRow& row : rows) {
    const Setting& s = row.measured.setting;
    out << row.from << ',' << design_name(s.design) << ',' << cell(s.preprocessors) << ','
        << cell(s.ranks) << ',' << cell(s.cores) << ','
        << cell(s.train_rates.empty() ? kUnknown : s.train_rates[0]) << ','
        << cell(row.measured.rate) << ',' << cell(row.measured.cpu) << ','
        << cell(row.measured.power) << '\n';
  }
}

double power_error(const Calibrated& model, const std::vector<TitanRow>& rows) {
  double sum = 0, count = 0;
  for (const TitanRow& row : rows) {
    if (!std::isfinite(row.measured.power)) continue;
    const Setting& setting = row.measured.setting;
    const PowerTerms terms = power_terms(setting, model.ask(setting), *model.cpu);
    sum += std::abs(watts(terms, *model.power) / row.measured.power - 1);
    ++count;
  }
  return sum / count;
}

std::vector<Measured> measured_of(const std::vector<TitanRow>& rows) {
  std::vector<Measured> list;
  for (const TitanRow& row : rows) list.push_back(row.measured);
  return list;
}

}  // namespace

int main(int count, char** arguments) {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the digitised figures are absent");
    return test::kSkipped;
  }
  const Sources sources(*directory);
  std::vector<TitanRow> rows;
  add_rates(sources, rows);
  const Calibrated rates = calibrate(measured_of(rows), {});
  const std::vector<Reduction> list = reductions(sources);
  const CpuConstants anchored =
      fit_reductions(list, rates, kRateShare * sources.train_rate.at("alexnet"));
  add_cpu(list, rates, anchored, rows);
  add_power(sources, rows);
  if (count > 1) write(arguments[1], rows);
  Calibrated model = calibrate(measured_of(rows), {});
  if (test::broken()) model.cpu = CpuConstants{1e-6, 1e-6, 1e-6};
  test::show("titan_rate_error", 100 * mean_rate_error(model, measured_of(rows)), "%");
  int failed = test::show("titan_cpu_reduction_error",
                          100 * reduction_error(list, model, *model.cpu), "%", "<=", 8);
  failed |= test::show("titan_power_error", 100 * power_error(model, rows), "%", "<=", 5);
  return failed;
}
