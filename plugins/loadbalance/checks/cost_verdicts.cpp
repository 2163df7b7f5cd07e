// SPDX-License-Identifier: Apache-2.0
// Verdicts on loadbalance.cost for programs that were not seen, as `omen compare` gives them in
// this run, with the constant, 5-NN and boosted trees on the same folds.
//   loadbalance_cost_verdicts OMEN PLATFORM
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kCost = "loadbalance.cost";
constexpr const char* kOwnTrees = "loadbalance.cost@members=trees";  // on the same columns
// As in the spec: five neighbours by the two numbers of a launch.
constexpr const char* kLaunchNeighbours =
    "baseline.knn@k=5,weights=uniform,columns=wgsize,columns=input_size";
constexpr const char* kTargets[] = {"share", "share_class", "device"};

using omen::test::broken;
using omen::test::show;

std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

// Broken: everybody learns from the answers of other rows.
json compared(const std::string& omen, const std::string& task) {
  const omen::test::TempDir runs;  // until its files were read
  std::string command =
      quoted(omen) + " compare " + kCost + " " + kOwnTrees + " " + kLaunchNeighbours;
  command +=
      " --task " + task + " --level 0.8 -q --json --runs-dir " + quoted(runs.path().string());
  if (broken()) command += " --shuffle-labels";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start " + command);
  std::string text;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, got);
  if (pclose(pipe) != 0) throw std::runtime_error("this failed: " + command);
  return json::parse(text);
}

class Report {
 public:
  explicit Report(json report) : report_(std::move(report)) {}

  // Mean loss by the task's own rule: over rows, or over programs.
  double loss(const std::string& target, const std::string& who) const {
    for (const json& pair : report_.at("pairs"))
      if (is(pair, target)) {
        if (who == kCost) return pair.at("baseline_loss");
        if (label(pair) == who) return pair.at("loss");
      }
    throw std::runtime_error("no loss of " + who + " for " + target);
  }

  const json& pair(const std::string& target, const std::string& who) const {
    for (const json& pair : report_.at("pairs"))
      if (is(pair, target) && label(pair) == who) return pair;
    throw std::runtime_error("no pair with " + who + " for " + target);
  }

  // Of the intervals of the share, in percent.
  double coverage() const {
    for (const json& target : report_.at("tasks").at(0).at("targets")) {
      if (target.at("target") != "share") continue;
      for (const json& result : target.at("results"))
        for (const json& metric : result.at("metrics"))
          if (result.at("contestant") == kCost && metric.at("name") == "coverage")
            return metric.at("value");
    }
    throw std::runtime_error("no coverage was reported");
  }

  std::vector<std::string> others() const {
    std::vector<std::string> labels;
    for (const json& contestant : report_.at("contestants"))
      if (contestant.at("label") != kCost) labels.push_back(contestant.at("label"));
    return labels;
  }

  // The label of a component that was asked for here, or that compare adds by itself.
  std::string labelled(const std::string& component, bool reference) const {
    for (const json& contestant : report_.at("contestants"))
      if (contestant.at("component") == component && contestant.at("reference") == reference)
        return contestant.at("label");
    throw std::runtime_error("no contestant is " + component);
  }

  void print() const {
    std::printf("%-44s %8s %8s %8s\n", "", "MAE", "class", "device");
    std::vector<std::string> all = others();
    all.insert(all.begin(), kCost);
    for (const std::string& who : all)
      std::printf("%-44s %8.2f %8.3f %8.3f\n", who.c_str(), loss("share", who),
                  1 - loss("share_class", who), 1 - loss("device", who));
    for (const char* target : kTargets)
      for (const std::string& who : others()) {
        const json& p = pair(target, who);
        // The report tells how others differ from cost; here cost is told by others.
        std::printf("%s: cost minus %s %.3f [%.3f, %.3f], %s\n", target, who.c_str(),
                    -p.at("difference").get<double>(), -p.at("hi").get<double>(),
                    -p.at("lo").get<double>(), turned(p.at("verdict")).c_str());
      }
    std::fflush(stdout);
  }

  static std::string turned(const std::string& verdict) {
    return verdict == "WORSE" ? "BETTER" : verdict == "BETTER" ? "WORSE" : verdict;
  }

 private:
  static std::string label(const json& pair) { return pair.at("contestant"); }
  static bool is(const json& pair, const std::string& target) {
    return pair.at("target") == target && pair.at("folds") == "as-split";
  }

  json report_;
};

// Better than the constant and 5-NN by launch, not worse than 5-NN by all counts and than boosted
// trees, and intervals that hold.
int judge(const Report& report, const std::string& platform) {
  int missed = 0;
  const std::string name = "grouped_" + platform;
  const auto verdict = [&](const std::string& label) {
    return Report::turned(report.pair("share", label).at("verdict"));
  };
  const auto better = [&](const char* what, const std::string& label) {
    return show(name + "_better_than_" + what, verdict(label) == "BETTER", "verdicts", "==", 1);
  };
  const auto worse = [&](const char* what, const std::string& label) {
    return show(name + "_worse_than_" + what, verdict(label) == "WORSE", "verdicts", "==", 0);
  };
  missed += better("constant", report.labelled("baseline.mean", true));
  missed += better("knn", report.labelled("baseline.knn", false));
  missed += worse("knn_of_all_columns", report.labelled("baseline.knn", true));
  missed += worse("trees", report.labelled("baseline.gbt", true)) + worse("own_trees", kOwnTrees);
  missed += show(name + "_coverage_low", report.coverage(), "%", ">=", 70);
  missed += show(name + "_coverage_high", report.coverage(), "%", "<=", 90);
  show(name + "_mae", report.loss("share", kCost), "points");
  show(name + "_constant_mae", report.loss("share", report.labelled("baseline.mean", true)),
       "points");
  show(name + "_trees_mae", report.loss("share", report.labelled("baseline.gbt", true)), "points");
  show(name + "_device_accuracy", 1 - report.loss("device", kCost), "share");
  return missed;
}

int check(int count, char** values) {
  if (count != 3) {
    std::cerr << "usage: " << values[0] << " OMEN PLATFORM\n";
    return 2;
  }
  const std::string platform = values[2];
  const Report report(compared(values[1], "devmap-" + platform + "-grouped"));
  report.print();
  return judge(report, platform) > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    return check(count, values);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
