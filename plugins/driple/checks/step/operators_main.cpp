// SPDX-License-Identifier: Apache-2.0
// Operators of GPU families, and sums over the ranks of systems, that were not measured.
//   driple_operators gemm|prefill|decode|all_reduce
// With OMEN_SHOW_BREAK=1 every operator is taken for as fast as its bound.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"

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

struct Question {
  std::vector<OperatorRow> rows;
  double goal = 0, long_goal = 0;  // 0: none
};

Question question_of(const std::string& what) {
  Question question;
  if (what == "gemm") question = {read_gemm(kRowsOfASystem), 18, 12};
  if (what == "prefill") question = {read_attention(false, kRowsOfASystem), 38, 0};
  if (what == "decode") question = {read_attention(true, kRowsOfASystem), 30, 0};
  if (what == "all_reduce") question = {read_collectives(), 20, 0};
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
  double all = 0, longer = 0;
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
  }
  int missed = test::show(what, all, "%", "<=", question.goal);
  if (question.long_goal > 0)
    missed |= test::show(what + "_from_50_us", longer, "%", "<=", question.long_goal);
  return missed;
}
