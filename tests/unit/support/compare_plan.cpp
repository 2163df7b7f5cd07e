// SPDX-License-Identifier: Apache-2.0
// Small plans in memory.
#include "support/compare_plan.hpp"

#include <cmath>

#include "fixtures/contender/snoop.hpp"

namespace omen::test {

host::PlannedTask small_task(const SmallTask& wanted) {
  std::vector<std::int64_t> ids;
  std::vector<double> x, cost;
  std::vector<std::string> groups, names;
  for (std::int64_t i = 0; i < wanted.rows; ++i) {
    ids.push_back(i);
    x.push_back(1 + static_cast<double>(i) / 4);
    groups.push_back("g" + std::to_string(i % wanted.groups));
    names.push_back("w" + std::to_string(i));
    cost.push_back(wanted.secret ? contender::kBase + static_cast<double>(contender::key(i))
                                 : 3 * x.back() * (1 + 0.1 * std::sin(static_cast<double>(i))));
  }
  host::PlannedTask planned;
  planned.task.name = "small";
  planned.task.hash = "sha-of-small";
  planned.task.targets = {{"cost", "ms", host::Direction::kLower, host::TargetKind::kNumber,
                           host::Loss::kAbsolutePercent}};
  planned.task.split.kind = host::SplitKind::kKFold;
  planned.tables["workloads"] = TableBuilder()
                                    .add("workload_id", ids)
                                    .add_categories("group", groups)
                                    .add_strings("name", names)
                                    .add("x", x)
                                    .finish();
  planned.tables["targets"] =
      TableBuilder().add("workload_id", ids).add("cost", cost, {{"omen.unit", "ms"}}).finish();
  for (int f = 0; f < wanted.folds; ++f) {
    host::Fold fold;
    fold.name = std::to_string(f);
    for (std::int64_t i = 0; i < wanted.rows; ++i)
      (i % wanted.folds == f ? fold.test : fold.train).push_back(i);
    planned.folds.push_back(std::move(fold));
  }
  return planned;
}

const host::Registry& fixtures() {
  static const host::Registry registry =
      host::Registry::discover({std::string(OMEN_TEST_BUILD_DIR) + "/fixtures",
                                std::string(OMEN_TEST_BUILD_DIR) + "/plugins"});
  return registry;
}

host::PlannedContestant contestant(
    const std::string& component, const std::vector<std::pair<std::string, std::string>>& options) {
  host::PlannedContestant planned;
  planned.component = fixtures().component(OMEN_PREDICTOR, component);
  host::OptionSources sources;
  sources.flags = options;
  sources.use_environment = false;
  planned.options = host::resolve_options(*planned.component.info, sources);
  planned.facts.label = planned.facts.component = component;
  for (const auto& [key, value] : options) planned.facts.label += "@" + key + "=" + value;
  planned.facts.library_sha256 = planned.component.plugin->manifest.sha256;
  planned.facts.options_json = planned.options.canonical_json();
  return planned;
}

host::ComparePlan small_plan(std::vector<host::PlannedContestant> contestants,
                             const SmallTask& wanted) {
  host::ComparePlan plan;
  plan.contestants = std::move(contestants);
  plan.tasks.push_back(small_task(wanted));
  plan.limits.executable = std::string(OMEN_TEST_BUILD_DIR) + "/bin/omen";
  return plan;
}

}  // namespace omen::test
