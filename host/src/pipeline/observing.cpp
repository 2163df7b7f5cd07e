// SPDX-License-Identifier: Apache-2.0
// Corrects a fitted predictor by rows that were measured later.
#include "pipeline/ready.hpp"

namespace omen::host {

Observation observe(const Components& components, const ObservePlan& plan,
                    const std::filesystem::path& output) {
  ReadyPredictor predictor(components, plan.choice, plan.options, plan.measured, plan.task);
  Observation result;
  const auto start = std::chrono::steady_clock::now();
  predictor.observe(plan.measured);
  result.seconds = seconds_since(start);
  TrainingFacts facts = training_facts(plan.choice.model.card());
  facts.observed_rows += plan.measured.at("workloads").rows();
  if (!plan.summary.empty()) facts.summary = plan.summary;
  predictor.save(facts, output);
  result.peak_memory = predictor.peak_memory();
  return result;
}

}  // namespace omen::host
