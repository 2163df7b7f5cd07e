// SPDX-License-Identifier: Apache-2.0
// Cluster bootstrap of the median: 10,000 draws over 100,000 rows in 1,000 groups.
//   bootstrap_bench                       Google Benchmark figures
//   bootstrap_bench --show PYTHON SCRIPT  acceptance figure against NumPy in the same run;
//                                         OMEN_SHOW_BREAK=1 lays out and selects the drawn rows
#include <benchmark/benchmark.h>
#include <time.h>
#include <unistd.h>
#include <omen/learn/quantile.hpp>
#include <omen/learn/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "omen/testing/show.hpp"
#include "stats/bootstrap.hpp"

namespace omen::host::stats {
namespace {

using learn::median;
using learn::Random;

namespace fs = std::filesystem;

constexpr std::size_t kRows = 100000, kGroups = 1000;
constexpr int kDraws = 10000, kChecked = 20;

struct Rows {
  std::vector<double> values;
  std::vector<std::int32_t> group;
};

Rows make_rows() {
  Random random(1);
  Rows rows;
  std::vector<double> effect;
  for (std::size_t g = 0; g < kGroups; ++g) effect.push_back(random.uniform());
  for (std::size_t i = 0; i < kRows; ++i) {
    rows.group.push_back(static_cast<std::int32_t>(i % kGroups));
    rows.values.push_back(effect[i % kGroups] - std::log(random.uniform()));
  }
  return rows;
}

// What a C++ programmer would write first.
std::vector<double> naive_medians(const Rows& rows) {
  std::vector<std::vector<double>> groups(kGroups);
  for (std::size_t i = 0; i < kRows; ++i)
    groups[static_cast<std::size_t>(rows.group[i])].push_back(rows.values[i]);
  std::vector<std::uint32_t> times(kGroups);
  std::vector<double> medians, drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    draw_groups(1, static_cast<std::uint64_t>(draw), times);
    drawn.clear();
    for (std::size_t g = 0; g < kGroups; ++g)
      for (std::uint32_t t = 0; t < times[g]; ++t)
        drawn.insert(drawn.end(), groups[g].begin(), groups[g].end());
    medians.push_back(median(drawn));
  }
  return medians;
}

std::vector<double> our_medians(const Rows& rows) {
  return GroupedSample(rows.values, rows.group, false, Estimate::kMedian).bootstrap(kDraws, 1);
}

double cpu_s() {
  struct timespec now {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <class Number>
void write_numbers(const fs::path& file, const std::vector<Number>& numbers) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
}

// A directory for the other side, removed at the end.
class Exchange {
 public:
  Exchange(const Rows& rows, const std::vector<double>& medians)
      : path_(fs::temp_directory_path() / ("omen-bootstrap-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    write_numbers(path_ / "values.f64", rows.values);
    write_numbers(path_ / "group.i32", rows.group);
    write_numbers(path_ / "medians.f64",
                  std::vector<double>(medians.begin(), medians.begin() + kChecked));
    std::vector<std::uint32_t> all, times(kGroups);
    for (std::uint64_t draw = 0; draw < kChecked; ++draw) {
      draw_groups(1, draw, times);
      all.insert(all.end(), times.begin(), times.end());
    }
    write_numbers(path_ / "times.u32", all);
  }
  ~Exchange() { fs::remove_all(path_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // CPU seconds of the weighted way and the naive way; false where the script failed.
  bool run(const std::string& python, const std::string& script, double& weighted,
           double& naive) const {
    const std::string command =
        "'" + python + "' '" + script + "' '" + path_.string() + "' " + std::to_string(kDraws);
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return false;
    const int numbers = std::fscanf(pipe, "%lf %lf", &weighted, &naive);
    return ::pclose(pipe) == 0 && numbers == 2;
  }

 private:
  fs::path path_;
};

int show(const std::string& python, const std::string& script) {
  constexpr double kGoal = 10;
  const bool broken = test::broken();
  const Rows rows = make_rows();
  const double before = cpu_s();
  const std::vector<double> medians = broken ? naive_medians(rows) : our_medians(rows);
  const double ours = cpu_s() - before;
  double weighted = 0, naive = 0;
  if (!Exchange(rows, medians).run(python, script, weighted, naive)) {
    std::fputs("error: the script failed\n", stderr);
    return 1;
  }
  const double ratio = std::min(weighted, naive) / ours;
  std::printf("CPU seconds: ours %.3f, NumPy weighted %.2f, naive %s%.2f\n", ours, weighted,
              naive > weighted ? "over " : "", naive);
  return test::show("bootstrap_vs_numpy", ratio, "x", ">=", kGoal);
}

void BM_Medians(benchmark::State& state) {
  const Rows rows = make_rows();
  for (auto _ : state) benchmark::DoNotOptimize(our_medians(rows));
}
void BM_Means(benchmark::State& state) {
  const Rows rows = make_rows();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        GroupedSample(rows.values, rows.group, false, Estimate::kMean).bootstrap(kDraws, 1));
}
// Sizes that differ by one, so that rows of different groups have different weights.
void BM_MediansByGroup(benchmark::State& state) {
  Rows rows = make_rows();
  for (std::size_t i = 0; i < kGroups / 2; ++i)
    rows.group[i] = static_cast<std::int32_t>(kGroups - 1 - i);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        GroupedSample(rows.values, rows.group, true, Estimate::kMedian).bootstrap(kDraws, 1));
}
void BM_Draws(benchmark::State& state) {
  std::vector<std::uint32_t> times(kGroups);
  for (auto _ : state)
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) draw_groups(1, draw, times);
}
BENCHMARK(BM_Medians)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Means)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_MediansByGroup)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Draws)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace omen::host::stats

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--show") == 0)
    return omen::host::stats::show(argv[2], argv[3]);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
