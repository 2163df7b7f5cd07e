// SPDX-License-Identifier: Apache-2.0
// NAME.json beside the weights of a model, and the vote of all.
#include "run/model_outcome.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <omen/pending_file.hpp>

namespace omen::ensemble {
namespace {

using nlohmann::json;

std::filesystem::path outcome_file(const RunJob& job, const ModelChoice& model) {
  return std::filesystem::path(job.state) / (model.name + ".json");
}

// JSON has no NaN; null stands for it.
std::vector<double> numbers_of(const json& list) {
  std::vector<double> numbers;
  for (const json& each : list)
    numbers.push_back(each.is_number() ? each.get<double>() : std::nan(""));
  return numbers;
}

std::vector<std::int32_t> read_classes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  std::vector<std::int32_t> classes(static_cast<std::size_t>(in.tellg()) / sizeof(std::int32_t));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(classes.data()),
          static_cast<std::streamsize>(classes.size() * sizeof(std::int32_t)));
  return classes;
}

}  // namespace

void write_outcome(const RunJob& job, const ModelChoice& model, const ModelOutcome& outcome) {
  const json out{{"state", outcome.state},
                 {"steps", outcome.steps},
                 {"epochs", outcome.epochs},
                 {"losses", outcome.losses},
                 {"accuracy", outcome.accuracy}};
  replace_file(outcome_file(job, model), out.dump() + "\n");
}

std::optional<ModelOutcome> read_outcome(const RunJob& job, const ModelChoice& model) {
  std::ifstream in(outcome_file(job, model));
  const json from = json::parse(in, nullptr, false);
  if (!from.is_object()) return {};
  return ModelOutcome{from.value("state", ""), from.value("steps", std::int64_t{0}),
                      from.value("epochs", std::int64_t{0}),
                      numbers_of(from.value("losses", json::array())),
                      numbers_of(from.value("accuracy", json::array()))};
}

std::optional<double> vote_accuracy(const RunJob& job) {
  const std::vector<std::int32_t> labels = read_classes(labels_file(job));
  std::vector<std::vector<std::int32_t>> voters;
  for (const ModelChoice& model : job.models) {
    const std::optional<ModelOutcome> outcome = read_outcome(job, model);
    std::vector<std::int32_t> seen = read_classes(predictions_file(job, model));
    if (outcome && outcome->state != "diverged" && seen.size() == labels.size())
      voters.push_back(std::move(seen));
  }
  if (labels.empty() || voters.empty()) return {};
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::map<std::int32_t, int> votes;
    for (const auto& seen : voters) ++votes[seen[i]];
    auto best = votes.begin();
    for (auto at = votes.begin(); at != votes.end(); ++at)
      if (at->second > best->second) best = at;
    right += best->first == labels[i];
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

}  // namespace omen::ensemble
