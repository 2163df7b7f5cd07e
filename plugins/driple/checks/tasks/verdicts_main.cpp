// SPDX-License-Identifier: Apache-2.0
// driple.step against boosted trees on one frozen task, or against published predictions on the
// task labels-gpu-out, as `omen compare` judges them in this run.
//   driple_verdicts OMEN TASK
// With OMEN_SHOW_BREAK=1 everybody learns from the answers of other rows.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

using nlohmann::json;
namespace test = omen::test;

constexpr const char *kOurs = "driple.step", *kTrees = "baseline.gbt";

// Goals of the issue for each task; 0: there is none.
struct TaskGoal {
  const char* name;
  double error, least_coverage, most_coverage;
  bool must_be_better;
};
constexpr TaskGoal kGoals[] = {{"shuffled", 2.6, 0, 0, false},
                               {"setting-out", 4.5, 87, 93, false},
                               {"model-out", 15, 80, 97, true},
                               {"gpu-out", 13, 0, 0, false},
                               {"gpu-ten", 8, 0, 0, false}};

json comparison(const std::string& omen, const std::string& task) {
  const test::TempDir place;
  const std::string report = (place.path() / "report.json").string();
  const std::string line = "'" + omen + "' compare " + kOurs + " " + kTrees + " --baseline " +
                           kTrees + " --references none --task steps-" + task +
                           " -q --json --runs-dir '" + place.path().string() + "' > '" + report +
                           "'" + (test::broken() ? " --shuffle-labels" : "");
  if (std::system(line.c_str()) != 0) throw std::runtime_error("this failed: " + line);
  std::ifstream in(report);
  return json::parse(in);
}

// What others published of the same rows, as contestants that answer with a column of the data.
constexpr const char* kPublished[] = {"neusight_ms", "habitat_ms", "linear_ms", "roofline_ms"};
constexpr const char* kColumn = "baseline.column@column=";

int judge_published(const std::string& omen) {
  std::string line = "'" + omen + "' compare " + kOurs;
  for (const char* column : kPublished) line += std::string(" ") + kColumn + column;
  const test::TempDir place;
  const std::string report = (place.path() / "report.json").string();
  line += std::string(" --baseline ") + kColumn + kPublished[0] +
          " --references none --task labels-gpu-out -q --json --runs-dir '" +
          place.path().string() + "' > '" + report + "'" +
          (test::broken() ? " --shuffle-labels" : "");
  if (std::system(line.c_str()) != 0) throw std::runtime_error("this failed: " + line);
  std::ifstream in(report);
  const json results = json::parse(in).at("tasks").at(0).at("targets").at(0).at("results");
  double ours = 0, roofline = 0;
  for (const json& result : results) {
    const std::string who = result.at("contestant");
    const double loss = result.at("mean_loss");
    std::string name = who == kOurs ? "driple_step" : who.substr(who.find('=') + 1);
    if (who == kOurs) ours = loss;
    if (name == "roofline_ms") roofline = loss;
    test::show("task_labels_" + name, loss, "%");
  }
  return test::show("task_labels_below_roofline", ours, "%", "<", roofline);
}

const json& result_of(const json& report, const std::string& who) {
  for (const json& result : report.at("tasks").at(0).at("targets").at(0).at("results"))
    if (result.at("contestant") == who) return result;
  throw std::runtime_error("no result of " + who);
}

double metric_of(const json& result, const std::string& name) {
  for (const json& metric : result.at("metrics"))
    if (metric.at("name") == name) return metric.at("value");
  throw std::runtime_error("no metric " + name);
}

std::string verdict_of(const json& report) {
  for (const json& pair : report.at("pairs"))
    if (pair.at("contestant") == kOurs && pair.at("folds") == "as-split") return pair.at("verdict");
  throw std::runtime_error("no verdict");
}

int judge(const json& report, const TaskGoal& goal) {
  std::string name = goal.name;
  for (char& c : name)
    if (c == '-') c = '_';
  const json &ours = result_of(report, kOurs), &trees = result_of(report, kTrees);
  const std::string verdict = verdict_of(report);
  int missed = test::show("task_" + name, ours.at("mean_loss"), "%", "<=", goal.error);
  test::show("task_" + name + "_trees", trees.at("mean_loss"), "%");
  missed |= test::show("task_" + name + "_worse", verdict == "WORSE", "verdicts", "==", 0);
  if (goal.must_be_better)
    missed |= test::show("task_" + name + "_better", verdict == "BETTER", "verdicts", "==", 1);
  if (goal.least_coverage == 0) return missed;
  const double coverage = metric_of(ours, "coverage");
  missed |= test::show("task_" + name + "_coverage_low", coverage, "%", ">=", goal.least_coverage);
  missed |= test::show("task_" + name + "_coverage_high", coverage, "%", "<=", goal.most_coverage);
  return missed | test::show("task_" + name + "_width_of_trees",
                             metric_of(ours, "width") / metric_of(trees, "width"), "x", "<=", 1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* data = std::getenv("OMEN_DATA");
  if (!data || !*data) {
    std::puts("skipped: OMEN_DATA is not set: the step times are absent");
    return test::kSkipped;
  }
  if (argc == 3 && std::string(argv[2]) == "labels") return judge_published(argv[1]);
  for (const TaskGoal& goal : kGoals)
    if (argc == 3 && std::string(argv[2]) == goal.name)
      return judge(comparison(argv[1], goal.name), goal);
  std::puts("usage: driple_verdicts OMEN shuffled|setting-out|model-out|gpu-out|gpu-ten|labels");
  return 2;
}
