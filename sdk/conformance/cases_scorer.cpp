// SPDX-License-Identifier: Apache-2.0
// Cases about decisions.
#include <cmath>
#include <limits>
#include <set>

#include "omen/tables.hpp"
#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

using Scorer = Checked<omen_scorer_vt>;

struct Score {
  double score = 0;
  std::int32_t rank = 0;
  bool feasible = false;
};
using Scores = std::map<Answers::Key, Score>;

Scores read_scores(TableStream stream) {
  Scores scores;
  while (const std::optional<Table> batch = stream.next()) {
    batch->validate();
    for (const std::string& column : tables::required_columns(OMEN_TABLE_SCORES))
      require(batch->has(column), "scores have no column '" + column + "'");
    const auto id = batch->column<std::int64_t>("workload_id");
    const auto candidate = batch->column<std::int32_t>("candidate_id");
    const auto score = batch->column<double>("score");
    const auto rank = batch->column<std::int32_t>("rank");
    const auto reason = batch->strings("reason");
    for (std::int64_t i = 0; i < batch->rows(); ++i) {
      const bool feasible = batch->boolean(batch->index("feasible"), i);
      require(feasible || !reason[i].empty(), "an infeasible candidate has no reason");
      scores[{id[i], candidate[i]}] = {score[i], rank[i], feasible};
    }
  }
  return scores;
}

Scores score(Scorer& scorer, const Task& task, const TestRun& run) {
  MemoryDataset in;
  task.fill(in, false);
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(scorer.vt().score(scorer.get(), run.c(), in.c(), &stream, error));
  if (!stream.release) fail("score returned OMEN_OK without a stream");
  return read_scores(TableStream::import(&stream));
}

Scores score_or_skip(Trial& trial, const Task& task) {
  Scorer scorer = trial.create<omen_scorer_vt>();
  try {
    return score(scorer, task, TestRun(trial.seed()));
  } catch (const Error& error) {
    skip(std::string("score failed: ") + error.what() + "; see scorer.scores");
  }
}

void scores(Trial& trial) {
  const Task task = standard_task(trial);
  Scorer scorer = trial.create<omen_scorer_vt>();
  Scores found;
  try {
    found = score(scorer, task, TestRun(trial.seed()));
  } catch (const Error& error) {
    const std::string text = std::string("score failed on the synthetic task: ") + error.what();
    require(declines(error), text);
    trial.warn(text + "; describe its inputs in omen-verify.json");
    return;
  }
  const Table& candidates = task.tables().at("candidates");
  require(static_cast<std::int64_t>(found.size()) == candidates.rows(),
          std::to_string(candidates.rows()) + " candidates got " + std::to_string(found.size()) +
              " scores");
}

void ranks(Trial& trial) {
  std::map<std::int64_t, std::map<std::int32_t, Score>> by_workload;
  for (const auto& [key, one] : score_or_skip(trial, standard_task(trial))) {
    require(std::isfinite(one.score),
            "workload " + std::to_string(key.first) + ": score is not finite");
    const bool fresh = by_workload[key.first].emplace(one.rank, one).second;
    require(fresh, "workload " + std::to_string(key.first) + ": two candidates of rank " +
                       std::to_string(one.rank));
  }
  for (const auto& [workload, ranked] : by_workload) {
    double last = std::numeric_limits<double>::infinity();
    for (const auto& [rank, one] : ranked) {
      if (!one.feasible) continue;
      require(one.score <= last,
              "workload " + std::to_string(workload) + ": a lower rank has the higher score");
      last = one.score;
    }
  }
}

void infeasible_last(Trial& trial) {
  std::map<std::int64_t, std::pair<std::int32_t, bool>> first;  // best rank and its feasibility
  std::set<std::int64_t> has_feasible;
  for (const auto& [key, one] : score_or_skip(trial, standard_task(trial))) {
    if (one.feasible) has_feasible.insert(key.first);
    const auto at = first.find(key.first);
    if (at == first.end() || one.rank < at->second.first)
      first[key.first] = {one.rank, one.feasible};
  }
  for (const auto& [workload, best] : first)
    require(best.second || !has_feasible.count(workload),
            "workload " + std::to_string(workload) + ": an infeasible candidate ranks first");
}

// The one cost column that the predictions have, or nothing where the decision has several.
std::optional<std::string> only_cost(const Table& predictions) {
  std::vector<std::string> costs;
  for (std::size_t c = 0; c < predictions.columns(); ++c)
    if (predictions.type(c) == Type::kFloat64) costs.emplace_back(predictions.name(c));
  return costs.size() == 1 ? std::optional(costs[0]) : std::nullopt;
}

void best(Trial& trial) {
  if (!trial.facts().reads_table(OMEN_TABLE_PREDICTIONS)) skip("it reads no predictions");
  const Task task = standard_task(trial);
  const Table& predictions = task.tables().at("predictions");
  const std::optional<std::string> column = only_cost(predictions);
  if (!column) skip("the decision rests on several columns");
  const std::vector<double> cost = predictions.numbers(*column);
  std::map<Answers::Key, double> cost_of;
  for (std::int64_t i = 0; i < predictions.rows(); ++i)
    cost_of[{predictions.column<std::int64_t>("workload_id")[i],
             predictions.column<std::int32_t>("candidate_id")[i]}] =
        cost[static_cast<std::size_t>(i)];
  std::map<std::int64_t, std::pair<std::int32_t, double>> chosen;
  std::map<std::int64_t, double> lowest;
  for (const auto& [key, one] : score_or_skip(trial, task)) {
    if (!one.feasible) continue;
    const double price = cost_of.at(key);
    const auto at = chosen.find(key.first);
    if (at == chosen.end() || one.rank < at->second.first) chosen[key.first] = {one.rank, price};
    const auto low = lowest.emplace(key.first, price).first;
    low->second = std::min(low->second, price);
  }
  for (const auto& [workload, choice] : chosen)
    require(choice.second <= lowest.at(workload) * (1 + 1e-9),
            "workload " + std::to_string(workload) + ": chose a cost of " +
                std::to_string(choice.second) + " where " + std::to_string(lowest.at(workload)) +
                " was feasible");
}

void permutation(Trial& trial) {
  const Task task = standard_task(trial);
  const Scores first = score_or_skip(trial, task);
  std::vector<std::int64_t> order;
  const Task shuffled = task.shuffled(trial.seed() + 5, &order);
  const Scores second = score_or_skip(trial, shuffled);
  for (std::size_t place = 0; place < order.size(); ++place)
    for (const auto& [key, one] : first) {
      if (key.first != order[place]) continue;
      const auto other = second.find({static_cast<std::int64_t>(place), key.second});
      require(other != second.end(), "rows in another order: a candidate has no score");
      require(other->second.rank == one.rank && other->second.feasible == one.feasible,
              "rows in another order: candidate " + std::to_string(key.second) + " of workload " +
                  std::to_string(key.first) + " ranks differently");
    }
}

// As the host asks: there are no candidates yet, and so no predictions.
Table enumerated(Scorer& scorer, Task task, const TestRun& run) {
  task.drop(OMEN_TABLE_CANDIDATES);
  task.drop(OMEN_TABLE_PREDICTIONS);
  MemoryDataset in;
  task.fill(in, false);
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(scorer.vt().enumerate(scorer.get(), run.c(), in.c(), &stream, error));
  require(stream.release != nullptr, "enumerate returned OMEN_OK without a stream");
  Table candidates = TableStream::import(&stream).read_all();
  candidates.validate();
  return candidates;
}

// Every workload has candidates, none twice, and there are none of others.
void check_candidates(const Table& candidates, std::int64_t workloads) {
  require(candidates.has("workload_id") && candidates.has("candidate_id"),
          "candidates lack workload_id or candidate_id");
  const auto id = candidates.column<std::int64_t>("workload_id");
  const auto candidate = candidates.column<std::int32_t>("candidate_id");
  std::set<std::int64_t> seen;
  std::set<Answers::Key> keys;
  for (std::int64_t row = 0; row < candidates.rows(); ++row) {
    const std::string owner = "workload " + std::to_string(id[row]);
    require(id[row] >= 0 && id[row] < workloads, owner + " got candidates but was never asked for");
    require(keys.emplace(id[row], candidate[row]).second,
            owner + " has candidate " + std::to_string(candidate[row]) + " twice");
    seen.insert(id[row]);
  }
  require(static_cast<std::int64_t>(seen.size()) == workloads,
          std::to_string(workloads) + " workloads were given, " + std::to_string(seen.size()) +
              " got candidates");
}

// Costs of these candidates, in the columns that the synthetic predictions have.
Table predictions_for(const Table& candidates, const Table& like) {
  const auto rows = static_cast<std::size_t>(candidates.rows());
  TableBuilder predictions;
  predictions.add_column(candidates, candidates.index("workload_id"))
      .add_column(candidates, candidates.index("candidate_id"));
  std::vector<double> costs(rows);
  for (std::size_t row = 0; row < rows; ++row) costs[row] = 5 + static_cast<double>(row % 17);
  for (std::size_t c = 0; c < like.columns(); ++c)
    if (like.type(c) == Type::kFloat64) predictions.add(std::string(like.name(c)), costs);
  predictions.add_categories("status", std::vector<std::string>(rows, "ok"));
  return predictions.finish();
}

void enumerate(Trial& trial) {
  Scorer scorer = trial.create<omen_scorer_vt>();
  if (!scorer.vt().enumerate) skip("it does not enumerate");
  Task task = standard_task(trial);
  const TestRun run(trial.seed());
  Scores found;
  Table candidates;
  try {
    candidates = enumerated(scorer, task, run);
    check_candidates(candidates, task.workloads());
    task.put(OMEN_TABLE_PREDICTIONS,
             predictions_for(candidates, task.tables().at(OMEN_TABLE_PREDICTIONS)));
    task.put(OMEN_TABLE_CANDIDATES, candidates);
    found = score(scorer, task, run);
  } catch (const Error& e) {
    require(declines(e), std::string("enumerate or score failed: ") + e.what());
    trial.warn(std::string("enumerate declined the synthetic task: ") + e.what());
    return;
  }
  require(static_cast<std::int64_t>(found.size()) == candidates.rows(),
          "it listed " + std::to_string(candidates.rows()) + " candidates and scored " +
              std::to_string(found.size()));
}

}  // namespace

void use_scorer(Trial& trial) {
  Scorer scorer = trial.create<omen_scorer_vt>();
  const Task task = standard_task(trial);
  const TestRun run(trial.seed());
  try {
    if (scorer.vt().enumerate) enumerated(scorer, task, run);
    score(scorer, task, run);
  } catch (const Error&) {
    return;
  }
}

std::vector<Case> scorer_cases() {
  return {
      {"scorer.scores", "every candidate gets one score.", 2, 60, kScorers, nullptr, scores},
      {"scorer.ranks", "ranks are unique, and follow finite scores.", 2, 60, kScorers, nullptr,
       ranks},
      {"scorer.infeasible-last", "an infeasible candidate never ranks first.", 2, 60, kScorers,
       nullptr, infeasible_last},
      {"scorer.best", "fed the true costs it chooses a best candidate.", 2, 60, kScorers, nullptr,
       best},
      {"scorer.permutation", "the order of the rows does not change the decision.", 2, 60, kScorers,
       nullptr, permutation},
      {"scorer.enumerate", "enumerate lists candidates of every workload, and score takes them.", 2,
       60, kScorers, nullptr, enumerate},
  };
}

}  // namespace omen::conformance
