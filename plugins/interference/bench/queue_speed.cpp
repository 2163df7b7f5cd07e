// SPDX-License-Identifier: Apache-2.0
// A queue of 500 jobs: all pairs predicted and the queue matched; and one pair alone.
//   interference_queue_speed [OMEN]
// With OMEN the same queue also goes through `omen score`, which is shown without a goal.
// With OMEN_SHOW_BREAK=1 every pair is asked with its interval, as nobody does for a queue.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <omen/learn/random.hpp>
#include <optional>
#include <string>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"
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

std::pair<PairRows, std::vector<double>> known_pairs() {
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
  return {rows, rho};
}

PairForecast trained() {
  const auto [rows, rho] = known_pairs();
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

// The columns of jobs, with `before` in front of each name.
std::string head_of(const PairRows& rows, const std::string& before, const std::string& name) {
  std::string head = name;
  for (const std::string& column : rows.numbers) head += "," + before + column;
  return head + "," + before + "family";
}
std::string cells_of(const JobProfile& job) {
  std::string cells = job.name;
  for (const double number : job.numbers) cells += "," + std::to_string(number);
  return cells + "," + job.texts[0];
}

// CPU seconds of `omen score --match` on the queue, with a model that `omen train` made of the
// known pairs.
std::optional<double> through_omen(const std::string& omen) {
  const test::TempDir place;
  const auto file = [&](const char* name) { return (place / name).string(); };
  const auto [rows, rho] = known_pairs();
  std::ofstream coruns(file("coruns.csv")), queue(file("queue.csv"));
  coruns << head_of(rows, "", "job") << ',' << head_of(rows, "partner_", "partner") << ",rho\n";
  for (std::size_t i = 0; i < rho.size(); ++i)
    coruns << cells_of(rows.jobs[static_cast<std::size_t>(rows.rows[i].victim)]) << ','
           << cells_of(rows.jobs[static_cast<std::size_t>(rows.rows[i].partners[0])]) << ','
           << rho[i] << '\n';
  queue << head_of(rows, "", "job") << ",solo_s\n";
  for (const JobProfile& job : drawn_jobs(kQueue).jobs) queue << cells_of(job) << ",100\n";
  coruns.close();
  queue.close();
  const auto runs = [](const std::string& line) { return std::system(line.c_str()) == 0; };
  if (!runs(omen + " train interference.pair -q --data " + file("coruns.csv") +
            " --target rho:1:higher -o " + file("speeds.omen")))
    return {};
  const double before = test::cpu_seconds(RUSAGE_CHILDREN);
  if (!runs(omen + " score interference.pack -q --csv " + file("queue.csv") + " -m " +
            file("speeds.omen") + " --match --top 1 > " + file("scores.csv")))
    return {};
  return test::cpu_seconds(RUSAGE_CHILDREN) - before;
}

}  // namespace

int main(int argc, char** argv) {
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
  if (argc > 1 && !test::broken()) {
    const std::optional<double> through = through_omen(argv[1]);
    if (!through) return 1;
    test::show("queue_of_500_through_omen", *through, "s");
  }
  return failed;
}
