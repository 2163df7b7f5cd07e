// SPDX-License-Identifier: Apache-2.0
// How components are fitted and asked; what the verbs and the jobs of a comparison share.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "components/components.hpp"
#include "pipeline/models.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A predictor and the model to load into it.
struct Choice {
  ComponentRef predictor;
  Model model;
};

// What components are told of the task that their data comes from; empty where there is none.
struct TaskFacts {
  std::string hash, json;

  void tell(MemoryDataset& dataset) const {
    if (!hash.empty()) dataset.set_task(hash, json);
  }
};

struct FitPlan {
  ComponentRef predictor;
  const OptionValues& options;
  const Tables& train;
  const Tables& valid;  // empty: none
  TaskFacts task;
  std::string split_id;  // how the data was split, for the model's metadata
  std::string summary;
  std::filesystem::path from;  // a model to continue from
  // Where a training that is killed leaves what it needs to go on; empty: nowhere.
  std::filesystem::path state = {};
  std::string fingerprint =
      {};  // of everything that decides the result; empty: made from the above
};
struct Fit {
  double seconds = 0;
  std::map<std::string, double> last_metrics;
  std::uint64_t peak_memory = 0;  // of its worker; 0: it had none
};
// Fits and writes the model with its provenance. The object and what it was given end with this.
Fit fit(const Components& components, const FitPlan& plan, const std::filesystem::path& output);

struct ObservePlan {
  Choice choice;
  const OptionValues& options;
  const Tables& measured;  // with targets
  TaskFacts task;
  std::string summary;  // empty: that of the model
};
struct Observation {
  double seconds = 0;
  std::uint64_t peak_memory = 0;  // of its worker; 0: it had none
};
// Corrects a model by measured rows and writes it with the provenance of the old one.
Observation observe(const Components& components, const ObservePlan& plan,
                    const std::filesystem::path& output);

struct Answer {
  Table rows;  // workload_id, [candidate_id], targets, status; in the order of the workloads
  double seconds = 0;
  std::optional<Error>
      failure;  // what ended the stream early; the rows that came before it are kept
};

// A predictor with its model in place, for one question after the other.
class ReadyPredictor {
 public:
  // Refuses a model that does not fit `inputs`.
  ReadyPredictor(const Components& components, Choice choice, const OptionValues& options,
                 const Tables& inputs, TaskFacts task = {});

  Answer predict(const Tables& inputs);
  // Corrects the predictor by measured rows, which hold targets. OMEN_UNSUPPORTED where it does not
  // learn so.
  void observe(const Tables& measured);
  // Keeps it as a model.
  void save(const TrainingFacts& facts, const std::filesystem::path& output);
  double load_seconds() const noexcept { return load_seconds_; }
  std::uint64_t peak_memory() const { return components_.peak_memory(choice_.predictor, handle_); }

 private:
  void show(MemoryDataset& dataset, const Tables& inputs) const;

  const Components& components_;
  Choice choice_;
  TaskFacts task_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PredictorHandle handle_;
  double load_seconds_ = 0;
};

// A scorer with its weights in place, where it has any.
class ReadyScorer {
 public:
  ReadyScorer(const Components& components, const ComponentRef& scorer, const OptionValues& options,
              const Model& policy, TaskFacts task = {});

  bool enumerates() const noexcept { return handle_.enumerates(); }
  Table enumerate(const Tables& inputs);
  // One row for each of the candidates in `inputs`, which also holds predictions where the scorer
  // reads them.
  Answer score(const Tables& inputs);

 private:
  void show(MemoryDataset& dataset, const Tables& inputs) const;

  const Components& components_;
  ComponentRef scorer_;
  TaskFacts task_;
  ScorerHandle handle_;
};

// Reads a stream that should hold about `due` rows, until it ends, the run is cancelled, or it
// clearly goes on for ever. Keeps the rows that came before a failure; a stream that fails at once
// is a failure of the call.
Table read_until_failure(TableStream stream, const RunContext& run, std::int64_t due,
                         const std::string& who, std::optional<Error>& failure);
// One row per workload in order, with a status; throws where a row is doubled, missing or was never
// asked for, and where one of `targets` is text instead of a number. Where the stream failed early,
// `failure` is the status of the rows that never came; a row that is called an answer and holds no
// finite number, or an interval upside down, gets its RowFault as status.
Table checked_predictions(const Table& predictions, const Table& workloads, const std::string& who,
                          const std::string& failure = {},
                          const std::vector<TargetFacts>& targets = {});

}  // namespace omen::host
