// SPDX-License-Identifier: Apache-2.0
// A queue of 500 jobs: all pairs predicted and the queue matched; and one pair alone.
//   interference_queue_speed
// With OMEN_SHOW_BREAK=1 every pair is asked with its interval, as nobody does for a queue.
#include <chrono>
#include <ctime>
#include <omen/learn/random.hpp>

#include "omen/testing/show.hpp"
#include "pack/matching.hpp"
#include "pair/pair_forecast.hpp"

namespace {

using namespace omen::interference;
namespace test = omen::test;

constexpr int kQueue = 500, kKnownJobs = 26;

double cpu_s() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Jobs with four features drawn from a seed; the first few were measured beside each other.
PairRows drawn_jobs(int count) {
  omen::learn::Random random(1, 500);
  PairRows rows;
  rows.numbers = {"batch", "rate_per_s", "step_ms", "util_pct"};
  rows.texts = {"family"};
  for (int job = 0; job < count; ++job) {
    JobProfile made;
    made.name = "job" + std::to_string(job);
    for (int c = 0; c < 4; ++c) made.numbers.push_back(5 + 95 * random.uniform());
    made.texts = {"family" + std::to_string(job % 8)};
    rows.jobs.push_back(made);
  }
  rows.contexts = {{}};
  return rows;
}

PairForecast trained() {
  PairRows rows = drawn_jobs(kKnownJobs);
  std::vector<double> rho;
  for (int a = 0; a < kKnownJobs; ++a)
    for (int b = 0; b < kKnownJobs; ++b) {
      PairRow row;
      row.victim = a;
      row.partners = {b};
      rows.rows.push_back(row);
      const auto util = [&](int job) {
        return rows.jobs[static_cast<std::size_t>(job)].numbers[3] / 100;
      };
      rho.push_back(1 / (1 + util(a) * util(b)));
    }
  return PairForecast::fit(rows, rho, Method::kProcess, {}, {});
}

PairRows all_pairs(int count) {
  PairRows rows = drawn_jobs(count);
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < count; ++b) {
      if (a == b) continue;
      PairRow row;
      row.victim = a;
      row.partners = {b};
      rows.rows.push_back(row);
    }
  return rows;
}

}  // namespace

int main() {
  const PairForecast forecast = trained();
  const PairRows queue = all_pairs(kQueue);
  const double start = cpu_s();
  const Cells cells = forecast.cells_of(queue);
  if (test::broken()) (void)forecast.ask(queue, 0.9);
  const omen::learn::Vector rho = forecast.means(cells);
  omen::learn::Matrix speed = omen::learn::Matrix::Zero(kQueue, kQueue);
  for (std::size_t i = 0; i < cells.cells.size(); ++i)
    speed(cells.cells[i].victim, cells.cells[i].partner) = rho[static_cast<omen::learn::Index>(i)];
  std::vector<WeightedPair> pairs;
  for (int a = 0; a < kQueue; ++a)
    for (int b = a + 1; b < kQueue; ++b) pairs.push_back({a, b, speed(a, b) + speed(b, a) - 1});
  const std::vector<int> partner = best_matching(kQueue, pairs);
  const double took = cpu_s() - start;
  int matched = 0;
  for (const int other : partner) matched += other >= 0 ? 1 : 0;
  test::show("queue_of_500_matched", matched, "jobs");
  int failed = test::show("queue_of_500", took, "s", "<=", 2);

  constexpr int kAsked = 2000;
  PairRows one = all_pairs(2);
  one.rows.resize(1);
  const double before = cpu_s();
  for (int i = 0; i < kAsked; ++i) (void)forecast.means(forecast.cells_of(one));
  failed |= test::show("one_pair", 1e6 * (cpu_s() - before) / kAsked, "us", "<=", 50);
  return failed;
}
