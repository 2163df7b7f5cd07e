// SPDX-License-Identifier: Apache-2.0
// Operators of GPU families, and sums over the ranks of systems, that were not measured; then with
// ten operators of each system observed as jobs of one operation.
//   driple_operators gemm|prefill|decode|all_reduce
// With OMEN_SHOW_BREAK=1 every operator is taken for as fast as its bound.
#include <cmath>
#include <cstdio>
#include <map>
#include <omen/learn/random.hpp>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_jobs.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace test = omen::test;

constexpr std::size_t kRowsOfASystem = 3000;
constexpr double kLong = 50e-6;

struct Off {
  double sum = 0, count = 0, long_sum = 0, long_count = 0;
  double all() const { return 100 * sum / count; }
  double longer() const { return 100 * long_sum / std::max(long_count, 1.0); }
};

void judge(const OperatorModel& model, const OperatorRow& row, Off& off) {
  const double said = test::broken()
                          ? bound_of(row.measured.op, row.measured.device).seconds()
                          : model.seconds(std::span(&row.measured.op, 1), row.measured.device)[0];
  const double error = std::abs(said / row.measured.seconds - 1);
  off.sum += error, ++off.count;
  if (row.measured.seconds >= kLong) off.long_sum += error, ++off.long_count;
}

constexpr std::size_t kObserved = 10, kDraws = 10, kAsked = 600;

// A kernel by itself: nothing is launched around it.
JobRow single_row(const OperatorRow& row, const OperatorModel& operators) {
  JobRow made;
  omen::opgraph::Job job;
  job.graph.ops = {row.measured.op};
  job.facts.mode = omen::opgraph::Mode::infer;
  made.device = row.measured.device;
  made.device.launch = 1e-12;
  made.costs = job_costs(job, made.device, operators);
  made.seconds = row.measured.seconds;
  return made;
}

// Mean over seeded draws of ten rows of a system, the model of steps corrected by each.
double after_ten(const std::vector<JobRow>& rows, const omen::learn::MemoryState& kept) {
  double sum = 0, count = 0;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const auto order =
        omen::learn::Random(1, draw).permutation(static_cast<std::ptrdiff_t>(rows.size()));
    std::vector<JobRow> seen, asked;
    for (std::size_t i = 0; i < std::min(rows.size(), kObserved + kAsked); ++i)
      (i < kObserved ? seen : asked).push_back(rows[static_cast<std::size_t>(order[i])]);
    StepModel model;
    model.load(kept);
    model.observe(seen);
    const std::vector<StepAnswer> answers = model.ask(asked, 0.9);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const double said = test::broken() ? asked[i].costs.bound : answers[i].seconds;
      sum += std::abs(said / asked[i].seconds - 1), ++count;
    }
  }
  return 100 * sum / count;
}

struct Question {
  std::vector<OperatorRow> rows;
  double goal = 0, long_goal = 0, ten_goal = 0;  // 0: none
};

Question question_of(const std::string& what) {
  Question question;
  if (what == "gemm") question = {read_gemm(kRowsOfASystem), 18, 12, 14};
  if (what == "prefill") question = {read_attention(false, kRowsOfASystem), 38, 0, 28};
  if (what == "decode") question = {read_attention(true, kRowsOfASystem), 30, 0, 22};
  if (what == "all_reduce") question = {read_collectives(), 20, 0, 0};
  std::erase_if(question.rows, [&](const OperatorRow& row) {
    return what == "all_reduce" ? row.measured.op.kind != omen::opgraph::OpClass::all_reduce
                                : !row.bf16;
  });
  return question;
}

}  // namespace

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the operator tables are absent");
    return test::kSkipped;
  }
  const std::string what = argc > 1 ? argv[1] : "gemm";
  const Question question = question_of(what);
  const auto part = [&](const OperatorRow& row) {
    return what == "all_reduce" ? row.system : family_named(row.system);
  };
  std::set<std::string> parts;
  for (const OperatorRow& row : question.rows) parts.insert(part(row));
  const std::vector<ProfiledStep> steps =
      question.ten_goal > 0 ? read_steps() : std::vector<ProfiledStep>();
  double all = 0, longer = 0, ten = 0;
  for (const std::string& held : parts) {
    std::vector<MeasuredOp> train;
    for (const OperatorRow& row : question.rows)
      if (part(row) != held) train.push_back(row.measured);
    OperatorModel model;
    model.fit(train, {});
    Off off;
    for (const OperatorRow& row : question.rows)
      if (part(row) == held) judge(model, row, off);
    test::show(what + "_" + held, off.all(), "%");
    all += off.all() / static_cast<double>(parts.size());
    longer += off.longer() / static_cast<double>(parts.size());
    if (question.ten_goal == 0) continue;
    StepModel jobs;
    jobs.fit(job_rows(steps, model), {});
    omen::learn::MemoryState kept;
    jobs.save(kept);
    std::map<std::string, std::vector<JobRow>> systems;
    for (const OperatorRow& row : question.rows)
      if (part(row) == held) systems[row.system].push_back(single_row(row, model));
    double own = 0;
    for (const auto& [system, rows] : systems)
      own += after_ten(rows, kept) / static_cast<double>(systems.size());
    test::show(what + "_ten_observed_" + held, own, "%");
    ten += own / static_cast<double>(parts.size());
  }
  int missed = test::show(what, all, "%", "<=", question.goal);
  if (question.long_goal > 0)
    missed |= test::show(what + "_from_50_us", longer, "%", "<=", question.long_goal);
  if (question.ten_goal > 0)
    missed |= test::show(what + "_ten_observed", ten, "%", "<=", question.ten_goal);
  return missed;
}
