// SPDX-License-Identifier: Apache-2.0
// Two trainings behind each other. Rows that share a graph share its states in both.
#include "omen/torch/nn/fit.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "index_tensor.hpp"
#include "omen/error.hpp"
#include "omen/torch/training.hpp"

namespace omen::torch_kit::nn {
namespace {

using Numbers = std::vector<std::int64_t>;

bool measured(const FitRows& data, std::size_t row) {
  return data.graph[row] &&
         std::any_of(data.values.begin(), data.values.end(),
                     [row](const std::vector<double>& value) { return std::isfinite(value[row]); });
}

// What is fitted to what, and how.
struct Fitting {
  const Network& network;
  const std::vector<Target>& targets;
  const FitOptions& options;
  const Run& run;
};

// The rows that count, with a plan for each distinct graph.
class Examples {
 public:
  Examples(const Fitting& fitting, const FitRows& data, bool training) {
    Numbers kept;
    std::vector<const TokenGraph*> graphs;
    for (std::size_t row = 0; row < data.graph.size(); ++row) {
      if (!measured(data, row)) continue;
      kept.push_back(static_cast<std::int64_t>(row));
      graphs.push_back(data.graph[row]);
    }
    const PlanOptions options = fitting.network.plan_options(training);
    const DistinctGraphs distinct = distinct_graphs(graphs, options);
    graph_of_row_ = distinct.number;
    rows_of_graph_.resize(distinct.graphs.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
      rows_of_graph_[static_cast<std::size_t>(graph_of_row_[i])].push_back(
          static_cast<std::int64_t>(i));
    for (const TokenGraph* graph : distinct.graphs) plans_.push_back(plan_graphs({graph}, options));
    const at::Tensor index = index_tensor(kept);
    auxiliary_ = data.auxiliary.index_select(0, index);
    for (std::size_t t = 0; t < data.values.size(); ++t)
      add_target(fitting.targets[t], data.values[t], index);
  }

  std::int64_t rows() const { return auxiliary_.size(0); }
  std::int64_t graphs() const { return static_cast<std::int64_t>(plans_.size()); }
  const Numbers& rows_of(std::int64_t graph) const {
    return rows_of_graph_[static_cast<std::size_t>(graph)];
  }
  std::int64_t graph_of(std::int64_t row) const {
    return graph_of_row_[static_cast<std::size_t>(row)];
  }

  // Pooled states of some graphs, [graphs, width].
  at::Tensor pool(const Network& network, const Numbers& graphs, bool training) const {
    std::vector<at::Tensor> pooled;
    for (const std::int64_t graph : graphs)
      pooled.push_back(network.pool(plans_[static_cast<std::size_t>(graph)], training));
    return at::cat(pooled);
  }

  // Mean loss of some rows, whose pooled states are given.
  at::Tensor loss(const Fitting& fitting, const at::Tensor& pooled, const Numbers& rows,
                  bool training) const {
    const at::Tensor index = index_tensor(rows);
    const at::Tensor out =
        fitting.network.read_out(pooled, auxiliary_.index_select(0, index), training);
    std::vector<at::Tensor> truth;
    for (const at::Tensor& values : values_) truth.push_back(values.index_select(0, index));
    return target_loss(fitting.targets, out, truth, fitting.options.loss);
  }

 private:
  // Numbers are standardised, classes stay as they are.
  void add_target(const Target& target, const std::vector<double>& from, const at::Tensor& index) {
    at::Tensor all = at::empty({static_cast<std::int64_t>(from.size())});
    std::transform(from.begin(), from.end(), all.mutable_data_ptr<float>(),
                   [&](double v) { return static_cast<float>(target.standardised(v)); });
    values_.push_back(all.index_select(0, index));
  }

  std::vector<GraphPlan> plans_;
  Numbers graph_of_row_;
  std::vector<Numbers> rows_of_graph_;
  at::Tensor auxiliary_;
  std::vector<at::Tensor> values_;
};

Numbers up_to(std::int64_t end) {
  Numbers list(static_cast<std::size_t>(end));
  for (std::int64_t i = 0; i < end; ++i) list[static_cast<std::size_t>(i)] = i;
  return list;
}

// Positions in `graphs` of the graph of each row.
struct BatchRows {
  Numbers rows, graph;
  BatchRows(const Examples& examples, const Numbers& graphs) {
    for (std::size_t i = 0; i < graphs.size(); ++i)
      for (const std::int64_t row : examples.rows_of(graphs[i])) {
        rows.push_back(row);
        graph.push_back(static_cast<std::int64_t>(i));
      }
  }
};

double whole_loss(const Fitting& fitting, const Examples& examples, const at::Tensor& pooled) {
  const BatchRows all(examples, up_to(examples.graphs()));
  return examples
      .loss(fitting, pooled.index_select(0, index_tensor(all.graph)), all.rows, /*training=*/false)
      .item<double>();
}

TrainingOptions loop_options(const Fitting& fitting, const char* part) {
  const FitOptions& options = fitting.options;
  TrainingOptions loop;
  apply(fitting.run, loop);
  loop.adam.decoupled_decay = true;
  loop.adam.weight_decay = options.decay;
  loop.schedule = Schedule::kCosine;
  loop.clip_norm = 5;
  loop.patience = options.patience;
  loop.fingerprint = options.fingerprint + part;
  loop.checkpoint_seconds = 1;
  if (!loop.state_dir.empty()) loop.state_dir = std::filesystem::path(loop.state_dir) / part;
  return loop;
}

// Progress of one part as its share of the whole.
TrainingHooks part_hooks(const Run& run, double begin, double end) {
  TrainingHooks hooks = hooks_of(run);
  hooks.progress = [&run, begin, end](double f, const std::string& stage) {
    run.progress(begin + (end - begin) * f, stage.c_str());
  };
  return hooks;
}

void train_all(const Fitting& fitting, const Examples& train, const Examples* valid, double share) {
  bool training = true;
  TrainingTask task;
  task.state = fitting.network.state();
  task.items = train.graphs();
  task.set_training = [&](bool on) { training = on; };
  task.loss = [&](const Numbers& graphs) {
    const BatchRows batch(train, graphs);
    const at::Tensor pooled = train.pool(fitting.network, graphs, training);
    return train.loss(fitting, pooled.index_select(0, index_tensor(batch.graph)), batch.rows,
                      training);
  };
  if (valid)
    task.validate = [&] {
      return whole_loss(fitting, *valid,
                        valid->pool(fitting.network, up_to(valid->graphs()), false));
    };
  TrainingOptions loop = loop_options(fitting, "network");
  loop.max_epochs = fitting.options.epochs;
  loop.batch_items = fitting.options.batch_graphs;
  loop.adam.learning_rate = fitting.options.rate;
  torch_kit::train(task, loop, part_hooks(fitting.run, 0, share));
}

at::Tensor pooled_states(const Fitting& fitting, const Examples& examples) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> pooled;
  for (std::int64_t graph = 0; graph < examples.graphs(); ++graph) {
    fitting.run.step(-1, "states of the graphs");
    pooled.push_back(examples.pool(fitting.network, {graph}, false));
  }
  return at::cat(pooled);
}

void train_readout(const Fitting& fitting, const Examples& train, const Examples* valid,
                   double share) {
  const at::Tensor pooled = pooled_states(fitting, train);
  const at::Tensor valid_pooled = valid ? pooled_states(fitting, *valid) : at::Tensor();
  bool training = true;
  TrainingTask task;
  task.state = fitting.network.readout_state();
  task.items = train.rows();
  task.set_training = [&](bool on) { training = on; };
  task.loss = [&](const Numbers& rows) {
    Numbers graph;
    for (const std::int64_t row : rows) graph.push_back(train.graph_of(row));
    return train.loss(fitting, pooled.index_select(0, index_tensor(graph)), rows, training);
  };
  if (valid) task.validate = [&] { return whole_loss(fitting, *valid, valid_pooled); };
  TrainingOptions loop = loop_options(fitting, "readout");
  loop.max_epochs = fitting.options.readout_epochs;
  loop.batch_items = fitting.options.batch_rows;
  loop.adam.learning_rate = fitting.options.readout_rate;
  torch_kit::train(task, loop, part_hooks(fitting.run, share, 1));
}

}  // namespace

void fit(Network& network, const std::vector<Target>& targets, const FitRows& train,
         const FitRows* valid, const FitOptions& options, const Run& run) {
  run.step(0, "graphs");
  const ThreadBudget threads(run.threads());
  const Fitting fitting{network, targets, options, run};
  const bool drops = network.plan_options(true).refine == false;
  const Examples examples(fitting, train, true);
  if (examples.rows() == 0)
    throw Error(OMEN_INVALID_DATA, "no training row has a graph and a measured target",
                "Look at the tables workloads, nodes and targets of the data.");
  std::optional<Examples> held_out;
  if (valid) held_out.emplace(fitting, *valid, false);
  if (held_out && held_out->rows() == 0) held_out.reset();
  const Examples* check = held_out ? &*held_out : nullptr;
  const double share = options.readout_epochs > 0 ? 0.9 : 1.0;
  if (options.epochs > 0) train_all(fitting, examples, check, share);
  if (options.readout_epochs == 0) return;
  if (!drops) {
    train_readout(fitting, examples, check, share);
    return;
  }
  // Without dropout the states of equal nodes are equal again.
  const Examples shared(fitting, train, false);
  train_readout(fitting, shared, check, share);
}

}  // namespace omen::torch_kit::nn
