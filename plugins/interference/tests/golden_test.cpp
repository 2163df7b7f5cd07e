// SPDX-License-Identifier: Apache-2.0
// Against what SciPy, pandas and scikit-learn say about the published tables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "characterise/feature_choice.hpp"
#include "cluster/clusters.hpp"
#include "densify/fill.hpp"
#include "pack/packing.hpp"
#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("OMEN_DATA");
    if (!data || !*data) GTEST_SKIP() << "OMEN_DATA is not set: the public tables are absent";
    root_ = std::filesystem::path(data) / "interference";
    if (!std::filesystem::is_directory(root_)) GTEST_SKIP() << "OMEN_DATA has no interference";
  }
  std::string file(const char* name) const { return (root_ / name).string(); }
  std::filesystem::path root_;
};

TEST_F(Golden, CorrelationsToNineDigits) {
  const JobTable jobs = JobTable::read(file("alnair/futurewei_miniml_dataset.csv"));
  const CsvText golden = CsvText::read(file("golden/correlations.csv"));
  const std::pair<learn::Correlation, const char*> kinds[] = {
      {learn::Correlation::kPearson, "pearson"},
      {learn::Correlation::kSpearman, "spearman"},
      {learn::Correlation::kKendall, "kendall_tau_b"}};
  int compared = 0;
  for (std::size_t row = 0; row < golden.rows(); ++row)
    for (const auto& [kind, column] : kinds) {
      const std::string& feature = golden.text(row, golden.index("feature"));
      const std::string& target = golden.text(row, golden.index("target"));
      const double want = golden.number(row, golden.index(column));
      const double have = learn::correlate(kind, jobs.column(feature), jobs.column(target)).value;
      EXPECT_EQ(std::isnan(have), std::isnan(want)) << feature << " " << column;
      if (std::isfinite(want)) {
        EXPECT_NEAR(have, want, 1e-9) << feature << " " << target;
      }
      ++compared;
    }
  EXPECT_EQ(compared, 118 * 3);
}

// Batch sizes and values of one workload, as measured.
Measurements measured_of(const JobTable& jobs, const std::string& model,
                         const std::string& feature) {
  Measurements made;
  for (std::size_t row = 0; row < jobs.rows(); ++row)
    if (jobs.text("Model", row) == model && jobs.column("BS")[row] <= 1024) {
      made.batch.push_back(jobs.column("BS")[row]);
      made.value.push_back(jobs.column(feature)[row]);
    }
  return made;
}

TEST_F(Golden, InterpolatorsInsideAndOutside) {
  const JobTable jobs = JobTable::read(file("alnair/futurewei_miniml_dataset.csv"));
  const CsvText golden = CsvText::read(file("golden/interpolation.csv"));
  std::map<std::string, std::map<double, double>> place;  // x of each batch, by model and abscissa
  const auto key = [&](std::size_t row) {
    return golden.text(row, golden.index("model")) + golden.text(row, golden.index("abscissa"));
  };
  for (std::size_t row = 0; row < golden.rows(); ++row)
    place[key(row)][golden.number(row, golden.index("batch_size"))] =
        golden.number(row, golden.index("x"));
  double worst_exact = 0, worst_smooth = 0;
  for (std::size_t row = 0; row < golden.rows(); ++row) {
    std::string method = golden.text(row, golden.index("method"));
    const bool smooth = method == "spline2_pandas";
    if (smooth) method = "spline2_smooth";
    const Measurements measured = measured_of(jobs, golden.text(row, golden.index("model")),
                                              golden.text(row, golden.index("feature")));
    std::vector<double> x;
    for (const double batch : measured.batch) x.push_back(place.at(key(row)).at(batch));
    const double want = golden.number(row, golden.index("y"));
    const double have = make_curve(parse_curve_method(method), x, measured.value)
                            ->at(golden.number(row, golden.index("x")));
    double& worst = smooth ? worst_smooth : worst_exact;
    worst = std::max(worst, std::abs(have - want) / (smooth ? 1 : std::max(1.0, std::abs(want))));
  }
  EXPECT_LT(worst_exact, 1e-8);
  EXPECT_LT(worst_smooth, 2e-3);
}

TEST_F(Golden, ScoresOfTheOriginalProtocolWithItsSlip) {
  const JobTable jobs = JobTable::read(file("alnair/futurewei_miniml_dataset.csv"));
  const CsvText table = CsvText::read(file("alnair/futurewei_table1_scores.csv"));
  const std::map<std::string, CurveMethod> methods = {{"linear", CurveMethod::kLinear},
                                                      {"pchip", CurveMethod::kPchip},
                                                      {"barycentric", CurveMethod::kBarycentric},
                                                      {"krogh", CurveMethod::kKrogh},
                                                      {"cubicspline", CurveMethod::kCubicSpline}};
  int compared = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto method = methods.find(table.text(row, table.index("method")));
    if (method == methods.end()) continue;
    const Measurements measured = measured_of(jobs, table.text(row, table.index("workload")),
                                              table.text(row, table.index("attribute")));
    if (measured.batch.size() < 4) continue;
    const double least = *std::min_element(measured.batch.begin(), measured.batch.end());
    FillOptions options;
    options.method = method->second;
    options.abscissa = Abscissa::kIndex;
    const std::string& metric = table.text(row, table.index("metric"));
    for (const bool swapped : {true, false}) {
      const FillErrors errors = original_errors(measured, original_grid(least), options, swapped);
      const double have = metric == "MSE"    ? errors.mse
                          : metric == "RMSE" ? errors.rmse
                                             : errors.mae;
      const double want = table.number(
          row, table.index(swapped ? "recomputed_with_swap" : "recomputed_without_swap"));
      EXPECT_NEAR(have, want, 1e-4 * std::max(1.0, want))
          << table.text(row, table.index("method")) << table.text(row, table.index("workload"));
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST_F(Golden, ClustersAndTheirElbows) {
  const JobTable rows = JobTable::read(file("alnair/futurewei_synthetic_plus_real.csv"));
  learn::Matrix x(static_cast<learn::Index>(rows.rows()), 3);
  const char* columns[] = {"MGUP", "MGMAP", "MGTSAMP"};
  for (learn::Index c = 0; c < 3; ++c)
    for (learn::Index row = 0; row < x.rows(); ++row)
      x(row, c) = rows.column(columns[c])[static_cast<std::size_t>(row)];
  const CsvText golden = CsvText::read(file("golden/kmeans_elbow.csv"));
  std::vector<int> ks;
  std::vector<double> distortion;
  for (std::size_t row = 0; row < golden.rows(); ++row) {
    if (golden.text(row, 0) != "synthetic_plus_real_175") continue;
    const int k = static_cast<int>(golden.number(row, golden.index("k")));
    const FittedClusters fitted = fit_clusters(x, k, 50, 1);
    EXPECT_LE(fitted.found.inertia, 1.001 * golden.number(row, golden.index("best_known_sse")));
    ks.push_back(k);
    distortion.push_back(fitted.found.inertia);
  }
  const auto elbow_of = [&](int first, int last) {
    const auto a = static_cast<std::ptrdiff_t>(first - 1), b = static_cast<std::ptrdiff_t>(last);
    return elbow({ks.begin() + a, ks.begin() + b},
                 {distortion.begin() + a, distortion.begin() + b});
  };
  EXPECT_EQ(elbow_of(1, 10), 3);
  EXPECT_EQ(elbow_of(2, 8), 4);
  EXPECT_EQ(elbow_of(2, 10), 5);
  EXPECT_EQ(elbow_of(2, 12), 6);
}

TEST_F(Golden, SlowDownAndSavingOfThePublishedPairs) {
  const CsvText solo = CsvText::read(file("alnair/futurewei_solo_runs.csv"));
  std::map<std::string, double> seconds;
  for (std::size_t row = 0; row < solo.rows(); ++row)
    seconds[solo.text(row, 0)] = solo.number(row, solo.index("solo_time_s"));
  const CsvText pairs = CsvText::read(file("alnair/futurewei_corun_pairs.csv"));
  EXPECT_EQ(pairs.rows(), 34U);
  for (std::size_t row = 0; row < pairs.rows(); ++row) {
    const PairTimes alone{seconds.at(pairs.text(row, 0)), seconds.at(pairs.text(row, 1))};
    const PairTimes together{pairs.number(row, pairs.index("corun_time_1_s")),
                             pairs.number(row, pairs.index("corun_time_2_s"))};
    const Packing direct = packing_of_times(alone, together);
    const Packing closed = pack_pair(alone, speeds_from_times(alone, together));
    EXPECT_NEAR(100 * direct.slowdown_1,
                pairs.number(row, pairs.index("recomputed_slowdown_1_pct")), 0.05);
    EXPECT_NEAR(100 * direct.slowdown_2,
                pairs.number(row, pairs.index("recomputed_slowdown_2_pct")), 0.05);
    EXPECT_NEAR(100 * closed.saving,
                pairs.number(row, pairs.index("recomputed_packing_saving_pct")), 0.05);
    EXPECT_NEAR(closed.saving, direct.saving, 1e-12);
  }
}

// The shipped defaults, fixed before scoring: a line for utilisation, pchip for memory access, both
// over log2 of the batch.
TEST_F(Golden, DefaultsLeaveOneOut) {
  const JobTable jobs = JobTable::read(file("alnair/futurewei_miniml_dataset.csv"));
  const auto left_out = [&](const char* feature, CurveMethod method) {
    double sum = 0, count = 0;
    std::set<std::string> models;
    for (std::size_t row = 0; row < jobs.rows(); ++row) models.insert(jobs.text("Model", row));
    for (const std::string& model : models) {
      Measurements measured;
      for (std::size_t row = 0; row < jobs.rows(); ++row)
        if (jobs.text("Model", row) == model) {
          measured.batch.push_back(jobs.column("BS")[row]);
          measured.value.push_back(jobs.column(feature)[row]);
        }
      if (measured.batch.size() < 4) continue;
      FillOptions options;
      options.method = method;
      for (const double miss : leave_one_out(measured, {}, options)) {
        sum += miss;
        ++count;
      }
    }
    return sum / count;
  };
  EXPECT_LE(left_out("MGUP", CurveMethod::kLinear), 3.0);
  EXPECT_LE(left_out("MaGTSAMP", CurveMethod::kPchip), 3.0);
  EXPECT_LE(left_out("MGMAP", CurveMethod::kPchip), 3.0);
}

}  // namespace
}  // namespace omen::interference
