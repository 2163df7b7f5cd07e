// SPDX-License-Identifier: Apache-2.0
// Two trainings behind each other. Rows that share a graph share its states in both.
#include "network/fit.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "omen/error.hpp"
#include "omen/torch/training.hpp"

namespace omen::loadbalance {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr double kWideRatio = 100;  // numbers that span more than this are learnt as logarithms

at::Tensor index_of(const Numbers& values) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

bool measured(const FitData& data, std::size_t row) {
  if (!data.rows.known(row)) return false;
  return std::any_of(data.targets.begin(), data.targets.end(), [row](const TargetColumn& target) {
    return std::isfinite(target.value[row]);
  });
}

// The rows that count, with a plan for each distinct graph.
class Examples {
 public:
  Examples(const NetworkModel& model, const FitData& data, bool training) {
    Numbers kept;
    std::vector<const TokenGraph*> graphs;
    for (std::size_t row = 0; row < data.rows.size(); ++row) {
      if (!measured(data, row)) continue;
      kept.push_back(static_cast<std::int64_t>(row));
      graphs.push_back(data.rows.graph[row]);
    }
    const PlanOptions options = model.network->plan_options(training);
    const DistinctGraphs distinct = distinct_graphs(graphs, options);
    graph_of_row_ = distinct.number;
    rows_of_graph_.resize(distinct.graphs.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
      rows_of_graph_[static_cast<std::size_t>(graph_of_row_[i])].push_back(
          static_cast<std::int64_t>(i));
    for (const TokenGraph* graph : distinct.graphs) plans_.push_back(plan_graphs({graph}, options));
    const at::Tensor index = index_of(kept);
    auxiliary_ = model.auxiliary(data.rows).index_select(0, index);
    for (std::size_t t = 0; t < data.targets.size(); ++t) add_target(model, data, t, index);
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
  at::Tensor loss(const NetworkModel& model, const FitOptions& options, const at::Tensor& pooled,
                  const Numbers& rows, bool training) const {
    const at::Tensor index = index_of(rows);
    const at::Tensor out =
        model.network->read_out(pooled, auxiliary_.index_select(0, index), training);
    at::Tensor total = at::zeros({});
    std::int64_t column = 0;
    for (std::size_t t = 0; t < model.targets.size(); ++t) {
      const std::int64_t width = model.targets[t].outputs();
      const at::Tensor mine = out.narrow(1, column, width);
      const at::Tensor truth = values_[t].index_select(0, index);
      total = total + (model.targets[t].classes.empty()
                           ? number_loss(mine.squeeze(1), truth, options.absolute)
                           : class_loss(mine, truth) * options.class_weight);
      column += width;
    }
    return total;
  }

 private:
  // Numbers are standardised, classes stay as they are.
  void add_target(const NetworkModel& model, const FitData& data, std::size_t target,
                  const at::Tensor& index) {
    const std::vector<double>& from = data.targets[target].value;
    at::Tensor all = at::empty({static_cast<std::int64_t>(from.size())});
    const NetworkTarget& to = model.targets[target];
    std::transform(from.begin(), from.end(), all.mutable_data_ptr<float>(), [&](double v) {
      return static_cast<float>(((to.logarithm ? std::log(v) : v) - to.mean) / to.scale);
    });
    values_.push_back(all.index_select(0, index));
  }

  static at::Tensor number_loss(const at::Tensor& out, const at::Tensor& truth, bool absolute) {
    const at::Tensor known = at::isfinite(truth);
    const at::Tensor error = at::where(known, out - truth, at::zeros_like(out));
    return (absolute ? error.abs() : error.pow(2)).sum() / known.sum().clamp_min(1);
  }

  static at::Tensor class_loss(const at::Tensor& out, const at::Tensor& truth) {
    const at::Tensor known = at::isfinite(truth);
    const at::Tensor code = at::where(known, truth, at::zeros_like(truth) - 1).to(at::kLong);
    const at::Tensor sum =
        at::cross_entropy_loss(out, code, {}, /*reduction=sum*/ 2, /*ignore_index=*/-1);
    return sum / known.sum().clamp_min(1);
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

double whole_loss(const NetworkModel& model, const FitOptions& options, const Examples& examples,
                  const at::Tensor& pooled) {
  const BatchRows all(examples, up_to(examples.graphs()));
  return examples.loss(model, options, pooled.index_select(0, index_of(all.graph)), all.rows, false)
      .item<double>();
}

torch_kit::TrainingOptions loop_options(const FitOptions& options, const Run& run,
                                        const char* part) {
  torch_kit::TrainingOptions loop;
  torch_kit::apply(run, loop);
  loop.adam.decoupled_decay = true;
  loop.adam.weight_decay = options.decay;
  loop.schedule = torch_kit::Schedule::kCosine;
  loop.clip_norm = 5;
  loop.patience = options.patience;
  loop.fingerprint = options.fingerprint + part;
  if (!loop.state_dir.empty()) loop.state_dir = std::filesystem::path(loop.state_dir) / part;
  return loop;
}

// Progress of one part as its share of the whole.
torch_kit::TrainingHooks part_hooks(const Run& run, double begin, double end) {
  torch_kit::TrainingHooks hooks = torch_kit::hooks_of(run);
  hooks.progress = [&run, begin, end](double f, const std::string& stage) {
    run.progress(begin + (end - begin) * f, stage.c_str());
  };
  return hooks;
}

void train_all(NetworkModel& model, const Examples& train, const Examples* valid,
               const FitOptions& options, const Run& run, double share) {
  bool training = true;
  torch_kit::TrainingTask task;
  task.state = model.network->state();
  task.items = train.graphs();
  task.set_training = [&](bool on) { training = on; };
  task.loss = [&](const Numbers& graphs) {
    const BatchRows batch(train, graphs);
    const at::Tensor pooled = train.pool(*model.network, graphs, training);
    return train.loss(model, options, pooled.index_select(0, index_of(batch.graph)), batch.rows,
                      training);
  };
  if (valid)
    task.validate = [&] {
      return whole_loss(model, options, *valid,
                        valid->pool(*model.network, up_to(valid->graphs()), false));
    };
  torch_kit::TrainingOptions loop = loop_options(options, run, "network");
  loop.max_epochs = options.epochs;
  loop.batch_items = options.batch_graphs;
  loop.adam.learning_rate = options.rate;
  torch_kit::train(task, loop, part_hooks(run, 0, share));
}

at::Tensor pooled_states(const NetworkModel& model, const Examples& examples, const Run& run) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> pooled;
  for (std::int64_t graph = 0; graph < examples.graphs(); ++graph) {
    run.step(-1, "states of the graphs");
    pooled.push_back(examples.pool(*model.network, {graph}, false));
  }
  return at::cat(pooled);
}

void train_readout(NetworkModel& model, const Examples& train, const Examples* valid,
                   const FitOptions& options, const Run& run, double share) {
  const at::Tensor pooled = pooled_states(model, train, run);
  const at::Tensor valid_pooled = valid ? pooled_states(model, *valid, run) : at::Tensor();
  bool training = true;
  torch_kit::TrainingTask task;
  task.state = model.network->readout_state();
  task.items = train.rows();
  task.set_training = [&](bool on) { training = on; };
  task.loss = [&](const Numbers& rows) {
    Numbers graph;
    for (const std::int64_t row : rows) graph.push_back(train.graph_of(row));
    return train.loss(model, options, pooled.index_select(0, index_of(graph)), rows, training);
  };
  if (valid) task.validate = [&] { return whole_loss(model, options, *valid, valid_pooled); };
  torch_kit::TrainingOptions loop = loop_options(options, run, "readout");
  loop.max_epochs = options.readout_epochs;
  loop.batch_items = options.batch_rows;
  loop.adam.learning_rate = options.readout_rate;
  torch_kit::train(task, loop, part_hooks(run, share, 1));
}

}  // namespace

void measure_targets(NetworkModel& model, const FitData& train) {
  for (std::size_t t = 0; t < model.targets.size(); ++t) {
    NetworkTarget& target = model.targets[t];
    if (!target.classes.empty()) continue;
    std::vector<double> values;
    for (std::size_t row = 0; row < train.rows.size(); ++row)
      if (std::isfinite(train.targets[t].value[row]) && train.rows.known(row))
        values.push_back(train.targets[t].value[row]);
    if (values.empty()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    target.logarithm = target.name != "share" && *low > 0 && *high / *low > kWideRatio;
    double sum = 0, squares = 0;
    for (const double given : values) {
      const double value = target.logarithm ? std::log(given) : given;
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(values.size());
    target.mean = sum / count;
    const double variance = squares / count - target.mean * target.mean;
    target.scale = variance > 1e-12 ? std::sqrt(variance) : 1;
  }
  std::fill(std::begin(model.least), std::end(model.least), 1e300);
  std::fill(std::begin(model.largest), std::end(model.largest), -1e300);
  for (std::size_t row = 0; row < train.rows.size(); ++row) {
    if (!measured(train, row)) continue;
    const double values[kAuxiliary] = {std::log1p(train.rows.wgsize[row]),
                                       std::log1p(train.rows.input_size[row])};
    for (std::int64_t i = 0; i < kAuxiliary; ++i) {
      model.least[i] = std::min(model.least[i], values[i]);
      model.largest[i] = std::max(model.largest[i], values[i]);
    }
  }
}

void fit_network(NetworkModel& model, const FitData& train, const FitData* valid,
                 const FitOptions& options, const Run& run) {
  run.step(0, "graphs");
  const torch_kit::ThreadBudget threads(run.threads());
  const bool drops = model.network->plan_options(true).refine == false;
  const Examples examples(model, train, true);
  if (examples.rows() == 0)
    throw Error(OMEN_INVALID_DATA,
                "no training row has a graph, wgsize, input_size and a measured target",
                "Look at the tables workloads, nodes and targets of the data.");
  std::optional<Examples> held_out;
  if (valid) held_out.emplace(model, *valid, false);
  if (held_out && held_out->rows() == 0) held_out.reset();
  const Examples* check = held_out ? &*held_out : nullptr;
  const double share = options.readout_epochs > 0 ? 0.9 : 1.0;
  if (options.epochs > 0) train_all(model, examples, check, options, run, share);
  if (options.readout_epochs == 0) return;
  if (!drops) {
    train_readout(model, examples, check, options, run, share);
    return;
  }
  // Without dropout the states of equal nodes are equal again.
  const Examples shared(model, train, false);
  train_readout(model, shared, check, options, run, share);
}

}  // namespace omen::loadbalance
