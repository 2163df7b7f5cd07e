// SPDX-License-Identifier: Apache-2.0
// Batches stay as they are from epoch to epoch, so that each is prepared once; with transfer their
// early states are too.
#include "nets/net_training.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "nets/tied_steps.hpp"
#include "omen/error.hpp"
#include "omen/learn/errors.hpp"
#include "omen/torch/training.hpp"

namespace omen::driple {
namespace {

constexpr std::size_t kFewestResiduals = 10;

// Rows that can be learnt from, with their labels over the scales.
struct Examples {
  std::vector<const JobGraph*> graphs;
  at::Tensor labels, known;  // [rows, outputs]; known is 1 where a label counts
};

Examples examples_of(const NetModel& model, const LabelledRows& data) {
  Examples out;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < data.rows->size(); ++row)
    if (const JobGraph* graph = data.rows->find(row)) {
      out.graphs.push_back(graph);
      rows.push_back(row);
    }
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto outputs = static_cast<std::int64_t>(model.outputs.size());
  out.labels = at::zeros({count, outputs});
  out.known = at::zeros({count, outputs});
  auto* label = out.labels.mutable_data_ptr<float>();
  auto* known = out.known.mutable_data_ptr<float>();
  for (const std::size_t row : rows)
    for (std::size_t o = 0; o < model.outputs.size(); ++o, ++label, ++known) {
      const double value = (*data.labels)[o].value[row];
      if (model.outputs[o].masked || !std::isfinite(value)) continue;
      *label = static_cast<float>(value / model.outputs[o].scale);
      *known = 1;
    }
  return out;
}

// Some graphs as batches of one size each, in the order of `labels`.
struct Prepared {
  std::vector<TensorBatch> parts;
  std::vector<at::Tensor> early;  // states after the early half; empty without transfer
  at::Tensor labels, known;
};

Prepared prepare(const NetModel& model, const Examples& all, const std::vector<std::int64_t>& items,
                 bool transfer) {
  std::map<std::int32_t, std::vector<std::int64_t>> by_size;
  for (const std::int64_t item : items)
    by_size[all.graphs[static_cast<std::size_t>(item)]->grouped.size()].push_back(item);
  Prepared out;
  std::vector<at::Tensor> labels, known;
  for (const auto& [size, some] : by_size) {
    std::vector<const JobGraph*> graphs;
    for (const std::int64_t item : some) {
      graphs.push_back(all.graphs[static_cast<std::size_t>(item)]);
      labels.push_back(all.labels.narrow(0, item, 1));
      known.push_back(all.known.narrow(0, item, 1));
    }
    out.parts.push_back(model.batch(graphs));
    if (transfer) {
      const at::NoGradGuard no_graph;
      out.early.push_back(model.network->early_states(out.parts.back()));
    }
  }
  out.labels = at::cat(labels);
  out.known = at::cat(known);
  return out;
}

at::Tensor squared_error(const Network& network, const Prepared& batch) {
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < batch.parts.size(); ++i)
    outputs.push_back(batch.early.empty() ? network.outputs(batch.parts[i])
                                          : network.late_outputs(batch.parts[i], batch.early[i]));
  const at::Tensor apart = (at::cat(outputs) - batch.labels) * batch.known;
  return (apart * apart).sum() / batch.known.sum().clamp_min(1);
}

void set_mean_degree(NetModel& model, const JobRows& rows) {
  double sum = 0, count = 0;
  for (const JobGraph& graph : rows.graphs) {
    const Neighbours around(graph.grouped.size(), graph.grouped.edges);
    for (std::int32_t node = 0; node < around.size(); ++node, count += 1)
      sum += std::log1p(static_cast<double>(around[node].size()));
  }
  if (count > 0 && sum > 0) model.network->mean_log_degree().fill_(sum / count);
}

// Tensors that training changes; with transfer the others lose their gradients.
torch_kit::StateDict trained_tensors(const Network& network, bool transfer) {
  torch_kit::StateDict state;
  for (const torch_kit::NamedTensor& entry : network.state().entries()) {
    const bool trained = entry.trainable && (!transfer || Network::is_late(entry.name));
    if (trained)
      state.add_parameter(entry.name, entry.tensor);
    else if (entry.trainable)
      at::Tensor(entry.tensor).set_requires_grad(false);
  }
  return state;
}

// What held-out rows were missed by, in the units of the labels.
void keep_residuals(NetModel& model, const Examples& held_out,
                    const std::function<void(double)>& progress) {
  if (held_out.graphs.size() < kFewestResiduals) return;
  const at::Tensor apart = (model.run(held_out.graphs, progress) - held_out.labels).abs();
  for (std::size_t o = 0; o < model.outputs.size(); ++o) {
    const auto column = static_cast<std::int64_t>(o);
    std::vector<double> residuals;
    for (std::int64_t row = 0; row < apart.size(0); ++row)
      if (held_out.known[row][column].item<float>() > 0)
        residuals.push_back(apart[row][column].item<double>() * model.outputs[o].scale);
    if (residuals.size() < kFewestResiduals) continue;
    std::sort(residuals.begin(), residuals.end());
    model.outputs[o].residuals = std::move(residuals);
  }
}

}  // namespace

double scaled_error(const NetModel& model, const LabelledRows& data,
                    const std::function<void(double)>& progress) {
  const Examples examples = examples_of(model, data);
  const at::Tensor apart =
      (model.run(examples.graphs, progress) - examples.labels) * examples.known;
  return ((apart * apart).sum() / examples.known.sum()).item<double>();
}

void train_network(NetModel& model, const LabelledRows& learnt, const LabelledRows& held_out,
                   const NetTrainingOptions& options, const Run& run) {
  const Examples train = examples_of(model, learnt);
  if (train.graphs.empty())
    learn::throw_bad_data("no row has a graph and a label",
                          "Give jobs with nodes and edges, such as those of driple.zoo.");
  const Examples valid = held_out.rows ? examples_of(model, held_out) : Examples();
  for (const JobGraph* graph : train.graphs) model.seen.include(*graph);
  if (!options.transfer) set_mean_degree(model, *learnt.rows);

  std::map<std::vector<std::int64_t>, Prepared> prepared;
  std::vector<Prepared> checks;
  std::vector<std::int64_t> all(valid.graphs.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  for (const auto& items : torch_kit::plan_batches(all, {}, options.batch, 0))
    checks.push_back(prepare(model, valid, items, options.transfer));

  torch_kit::TrainingTask task;
  task.state = trained_tensors(*model.network, options.transfer);
  task.items = static_cast<std::int64_t>(train.graphs.size());
  task.loss = [&](const std::vector<std::int64_t>& items) {
    auto at = prepared.find(items);
    if (at == prepared.end())
      at = prepared.emplace(items, prepare(model, train, items, options.transfer)).first;
    return squared_error(*model.network, at->second);
  };
  if (!checks.empty())
    task.validate = [&] {
      const at::NoGradGuard no_graph;
      double sum = 0, count = 0;
      for (const Prepared& batch : checks) {
        const double weight = batch.known.sum().item<double>();
        sum += squared_error(*model.network, batch).item<double>() * weight;
        count += weight;
      }
      return count > 0 ? sum / count : 0;
    };
  torch_kit::TrainingOptions training;
  torch_kit::apply(run, training);
  training.max_epochs = options.epochs;
  training.batch_items = options.batch;
  training.shuffle = false;
  training.adam.learning_rate = options.rate;
  training.adam.weight_decay = options.decay;
  training.clip_norm = options.clip;
  training.patience = options.patience;
  training.fingerprint = options.fingerprint;
  {
    const KeptMemory memory;
    torch_kit::train(task, training, torch_kit::hooks_of(run));
  }
  keep_residuals(model, valid, [&](double done) { run.step(done, "intervals"); });
}

}  // namespace omen::driple
