// SPDX-License-Identifier: Apache-2.0
// Errors and intervals of a learned predictor, against the simulator's answers to the same rows.
//   power_answers unseen|absent|widths TRUE.csv SAID.csv
// With OMEN_SHOW_BREAK=1 every answer is compared with that to another row.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <omen/median.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "omen/testing/show.hpp"

namespace {

namespace test = omen::test;
using Columns = std::map<std::string, std::vector<double>>;

Columns read_columns(const char* path) {
  std::ifstream in(path);
  std::string line, field;
  std::getline(in, line);
  std::vector<std::string> names;
  for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
  Columns columns;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    for (const std::string& name : names) {
      std::getline(fields, field, ',');
      columns[name].push_back(std::strtod(field.c_str(), nullptr));
    }
  }
  return columns;
}

struct Judged {
  const char* cost;
  double most_error;
};
constexpr Judged kJudged[] = {{"p_core_w", 2}, {"p_bw_w", 2.5}, {"latency_s", 3}};

// Networks like those of training are judged by error and coverage or by width; others are printed.
enum class Question : std::uint8_t { unseen, absent, widths };
constexpr const char* kQuestionNames[] = {"unseen", "absent", "widths"};

struct CostFigures {
  double error = 0, median_error = 0, coverage = 0, width_by_error = 0;
};

CostFigures figures_of(const std::string& cost, const Columns& real, const Columns& said) {
  const std::vector<double>&truth = real.at(cost), &value = said.at(cost),
        &low = said.at(cost + ".lo"), &high = said.at(cost + ".hi");
  std::vector<double> errors, widths;
  const std::size_t rows = truth.size(), shift = test::broken() ? rows / 3 : 0;
  const auto part = 100 / static_cast<double>(rows);
  CostFigures made;
  for (std::size_t i = 0; i < rows; ++i) {
    const double t = truth[(i + shift) % rows];
    errors.push_back(100 * std::abs(value[i] / t - 1));
    // A control has errors beyond all measure; narrow intervals must not save it.
    widths.push_back(test::broken() ? 1e9 : 100 * (high[i] - low[i]) / value[i]);
    made.error += errors.back() / static_cast<double>(rows);
    made.coverage += low[i] <= t && t <= high[i] ? part : 0;
  }
  made.median_error = omen::median(errors);
  made.width_by_error = omen::median(widths) / made.median_error;
  return made;
}

int show_cost(const Judged& judged, Question question, const Columns& real, const Columns& said) {
  const CostFigures made = figures_of(judged.cost, real, said);
  const std::string name =
      (question == Question::absent ? "seq_absent_" : "seq_") + std::string(judged.cost);
  if (question == Question::widths)
    return test::show(name + "_width_by_error", made.width_by_error, "1", "<", 4);
  test::show(name + "_median_error", made.median_error, "%");
  if (question == Question::absent) {
    test::show(name + "_error", made.error, "%");
    test::show(name + "_coverage", made.coverage, "%");
    return 0;
  }
  int missed = test::show(name + "_error", made.error, "%", "<=", judged.most_error);
  missed |= test::show(name + "_coverage", made.coverage, "%", ">=", 87);
  return missed | test::show(name + "_coverage_most", made.coverage, "%", "<=", 93);
}

}  // namespace

int main(int argc, char** argv) {
  const auto* asked = std::find(std::begin(kQuestionNames), std::end(kQuestionNames),
                                std::string(argc == 4 ? argv[1] : ""));
  if (asked == std::end(kQuestionNames))
    return std::puts("usage: power_answers unseen|absent|widths TRUE.csv SAID.csv"), 2;
  const Columns real = read_columns(argv[2]), said = read_columns(argv[3]);
  if (real.empty() || real.at("p_core_w").size() != said.at("p_core_w").size())
    return std::puts("the two tables differ in length"), 2;
  int missed = 0;
  for (const Judged& judged : kJudged)
    missed |=
        show_cost(judged, static_cast<Question>(asked - std::begin(kQuestionNames)), real, said);
  return missed;
}
