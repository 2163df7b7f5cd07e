// SPDX-License-Identifier: Apache-2.0
// CPU time of SciPy, scikit-learn and NumPy over ours, on the same data with the same answers.
//   interference_statistics_speed PYTHON SCRIPT
// With OMEN_SHOW_BREAK=1 every correlation is found pair by pair and the others are done five
// times.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <omen/learn/correlation.hpp>
#include <omen/learn/kmeans.hpp>
#include <omen/learn/random.hpp>

#include "densify/curve.hpp"
#include "omen/testing/peer.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

using namespace omen::interference;
namespace learn = omen::learn;
namespace test = omen::test;
using Numbers = std::vector<double>;

constexpr std::size_t kColumns = 100, kRows = 100'000, kPoints = 1'000'000;
constexpr int kFeatures = 8, kClusters = 16, kIterations = 30, kKendallPairs = 60;
constexpr unsigned kThreads = 2;

struct PeerGoal {
  const char* name;
  double ratio, apart;
};
constexpr PeerGoal kPeerGoals[] = {{"kendall", 5, 1e-9},
                                   {"spearman", 3, 1e-9},
                                   {"pearson", 1, 1e-9},
                                   {"kmeans", 2, 1e-6},
                                   {"pchip", 3, 1e-9}};

class Comparison {
 public:
  explicit Comparison(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void correlations() {
    learn::Random random(1);
    std::vector<Numbers> columns(kColumns, Numbers(kRows));
    Numbers common(kRows), all;
    for (double& value : common) value = random.uniform();
    for (Numbers& column : columns) {
      const double share = random.uniform();
      for (std::size_t row = 0; row < kRows; ++row)
        column[row] = share * common[row] + random.uniform();
      all.insert(all.end(), column.begin(), column.end());
    }
    put("columns", all);
    using learn::Correlation;
    for (const auto& [name, kind] : {std::pair{"pearson", Correlation::kPearson},
                                     std::pair{"spearman", Correlation::kSpearman},
                                     std::pair{"kendall", Correlation::kKendall}}) {
      Numbers matrix;
      ours_[name] = test::cpu_seconds_of([&, of = kind] {
        matrix = test::broken() ? pair_by_pair(of, columns)
                                : learn::correlation_matrix(of, columns, kThreads);
      });
      put(name, matrix);
    }
  }

  // Overlapping clouds, so that rows change their clusters until the end.
  void clusters() {
    learn::Random random(2);
    learn::Matrix middles(kClusters, kFeatures), points(kPoints, kFeatures);
    for (learn::Index i = 0; i < middles.size(); ++i) middles.data()[i] = random.uniform();
    for (learn::Index row = 0; row < points.rows(); ++row)
      for (learn::Index column = 0; column < kFeatures; ++column)
        points(row, column) =
            middles(row % kClusters, column) + random.uniform() + random.uniform() - 1;
    learn::KMeansOptions options;
    options.clusters = kClusters;
    options.most_iterations = kIterations;
    options.threads = kThreads;
    options.start = points.topRows(kClusters);
    learn::KMeans found;
    ours_["kmeans"] = test::cpu_seconds_of([&] {
      for (int i = 0; i < times(); ++i) found = learn::kmeans(points, options);
    });
    test::write_numbers(directory_ / "points.f64", points.data(),
                        static_cast<std::size_t>(points.size()));
    test::write_numbers(directory_ / "start.f64", options.start.data(),
                        static_cast<std::size_t>(options.start.size()));
    put("inertia", {found.inertia});
    std::printf("k-means ended after %d iterations\n", found.iterations);
  }

  void curves() {
    learn::Random random(3);
    Numbers nodes, values, queries, filled;
    double at = 0;
    for (std::size_t i = 0; i < kPoints; ++i) {
      at += 0.1 + random.uniform();
      nodes.push_back(at);
      values.push_back(random.uniform());
    }
    for (std::size_t i = 0; i < kPoints; ++i)
      queries.push_back(nodes.front() + (at - nodes.front()) * random.uniform());
    ours_["pchip"] = test::cpu_seconds_of([&] {
      for (int i = 0; i < times(); ++i)
        PiecewiseCubic(nodes, values, pchip_slopes(nodes, values)).at(queries, filled);
    });
    put("nodes", nodes);
    put("values", values);
    put("queries", queries);
    put("filled", filled);
  }

  int compare(const std::string& python, const std::string& script) const {
    const std::string command = "'" + python + "' '" + script + "' '" + directory_.string() + "' " +
                                std::to_string(kKendallPairs) + " " + std::to_string(kIterations);
    const std::map<std::string, test::PeerFigure> theirs = test::peer_figures(command);
    if (theirs.size() != std::size(kPeerGoals)) return 1;
    int failed = 0;
    for (const PeerGoal& goal : kPeerGoals) {
      const auto& [took, apart] = theirs.at(goal.name);
      const double own = ours_.at(goal.name);
      std::printf("%s: CPU seconds ours %.4f, theirs %.4f\n", goal.name, own, took);
      const std::string figure = goal.name;
      failed |= test::show(figure + "_differs", apart, "1", "<=", goal.apart);
      failed |= test::show(figure + "_over_peer", took / own, "x", ">=", goal.ratio);
    }
    return failed;
  }

 private:
  static int times() { return test::broken() ? 5 : 1; }
  static Numbers pair_by_pair(learn::Correlation kind, const std::vector<Numbers>& columns) {
    Numbers matrix(kColumns * kColumns, 1);
    for (std::size_t i = 0; i < kColumns; ++i)
      for (std::size_t j = 0; j < i; ++j)
        matrix[i * kColumns + j] = matrix[j * kColumns + i] =
            learn::correlate(kind, columns[i], columns[j]).value;
    return matrix;
  }
  void put(const std::string& name, const Numbers& numbers) const {
    test::write_numbers(directory_ / (name + ".f64"), numbers.data(), numbers.size());
  }

  std::filesystem::path directory_;
  std::map<std::string, double> ours_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const test::TempDir directory;
  Comparison comparison(directory.path());
  comparison.correlations();
  comparison.clusters();
  comparison.curves();
  return comparison.compare(argv[1], argv[2]);
}
