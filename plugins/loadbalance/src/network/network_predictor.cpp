// SPDX-License-Identifier: Apache-2.0
// Options, tables in and tables out of the graph networks.
#include "network/network_predictor.hpp"

#include <ATen/Context.h>

#include <sstream>

#include "omen/error.hpp"
#include "omen/learn/errors.hpp"
#include "omen/torch/device.hpp"

namespace omen::loadbalance {
namespace {

enum Status : std::int32_t { kOk, kExtrapolating, kNoGraph, kNoSizes };
const std::vector<std::string>& status_names() {
  static const std::vector<std::string> names = {
      "ok", "extrapolating", "no graph for this workload", "wgsize or input_size is not known"};
  return names;
}

Vocabulary base_vocabulary(const NetworkPredictorOptions& options) {
  return options.vocabulary.empty() ? Vocabulary::own() : Vocabulary::read(options.vocabulary);
}

nn::NetworkOptions network_options(const NetworkPredictorOptions& o) {
  nn::NetworkOptions network;
  network.body.kind = o.body;
  network.body.width = o.width;
  network.body.steps = o.steps;
  network.body.backward_edges = o.backward_edges;
  network.body.gates = o.gates;
  network.body.message_dropout = o.dropout;
  network.body.state_dropout = o.dropout;
  network.pooling = o.pooling;
  network.extended = o.readout == "extended";
  network.hidden = o.hidden;
  network.readout_dropout = o.readout_dropout;
  return network;
}

nn::FitOptions fit_options(const NetworkPredictorOptions& o, const Dataset& train) {
  nn::FitOptions fit;
  fit.epochs = o.epochs;
  fit.readout_epochs = o.readout_epochs;
  fit.batch_graphs = o.batch;
  fit.batch_rows = 2 * o.batch;
  fit.rate = o.rate;
  fit.readout_rate = o.readout_rate;
  fit.decay = o.decay;
  fit.loss.absolute = o.loss == "absolute";
  fit.patience = o.patience;
  std::ostringstream text;
  text << train.task_hash() << ' ' << o.body << ' ' << o.pooling << ' ' << o.readout << ' '
       << o.dropout << ' ' << o.readout_dropout << ' ' << o.loss << ' ' << o.bytes << ' '
       << o.validation << ' ' << o.vocabulary << ' ';
  fit.fingerprint = text.str();
  return fit;
}

// Rows of the second set behind those of the first; graphs stay where they are.
void append(KernelRows& rows, std::vector<TargetColumn>& targets, const KernelRows& more,
            const std::vector<TargetColumn>& more_targets) {
  const auto join = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
  join(rows.workload_id, more.workload_id);
  join(rows.graph, more.graph);
  join(rows.wgsize, more.wgsize);
  join(rows.input_size, more.input_size);
  for (std::size_t t = 0; t < targets.size(); ++t) join(targets[t].value, more_targets[t].value);
}

std::string differing_settings(const std::set<std::string>& trained,
                               const std::set<std::string>& given) {
  std::string text;
  for (const std::string& setting : given)
    if (!trained.count(setting)) text += (text.empty() ? "" : ", ") + setting;
  return text;
}

}  // namespace

std::vector<Option<NetworkPredictorOptions>> NetworkPredictorOptions::spec() {
  using O = NetworkPredictorOptions;
  return options(
      opt(&O::body, "body", "what passes messages along edges; mlp: nothing does")
          .choices("programl", "gcn", "gat", "mlp"),
      opt(&O::pooling, "pooling", "how node states become one row for a graph")
          .choices("skips", "mean", "gated", "topk", "diff"),
      opt(&O::readout, "readout", "hidden layers behind the pooling: one, or two")
          .choices("extended", "plain"),
      opt(&O::width, "width", "numbers in a node state").range(2, 1024),
      opt(&O::steps, "steps", "rounds of messages").range(1, 200),
      opt(&O::hidden, "hidden", "width of the first hidden layer").range(1, 4096).advanced(),
      opt(&O::backward_edges, "backward_edges", "messages also run against the edges"),
      opt(&O::gates, "gates", "messages are scaled by the position of their edge").advanced(),
      opt(&O::bytes, "bytes", "use workloads.input_size; otherwise only the work-group size"),
      opt(&O::dropout, "dropout",
          "of messages and states; 0 lets equal nodes share their states, which is much faster")
          .range(0, 0.9),
      opt(&O::readout_dropout, "readout_dropout", "of the hidden layers").range(0, 0.9),
      opt(&O::epochs, "epochs",
          "passes over the graphs that train all weights; 0 leaves messages as they were drawn")
          .range(0, 100000),
      opt(&O::readout_epochs, "readout_epochs",
          "passes over the rows afterwards that train the readout alone")
          .range(0, 100000),
      opt(&O::batch, "batch", "graphs in one step; rows in a step of the readout are twice as many")
          .range(1, 100000),
      opt(&O::rate, "rate", "learning rate at the start; it falls along a cosine").range(1e-7, 1),
      opt(&O::readout_rate, "readout_rate", "the same for the readout alone").range(1e-7, 1),
      opt(&O::decay, "decay", "decay of the weights").range(0, 1).advanced(),
      opt(&O::loss, "loss", "errors of numbers that are made small").choices("absolute", "squared"),
      opt(&O::validation, "validation",
          "learn: also train on the validation rows; stop: keep the best epoch on them")
          .choices("learn", "stop"),
      opt(&O::patience, "patience", "epochs without progress before stopping; 0: all epochs")
          .range(0, 100000)
          .advanced(),
      opt(&O::vocabulary, "vocabulary", "ProGraML's vocabulary file; otherwise that of the plugin")
          .path(),
      opt(&O::precision, "precision", "of the numbers in a saved model")
          .choices("half", "byte", "single")
          .advanced());
}

NetworkPredictor::NetworkPredictor(NetworkPredictorOptions options)
    : options_(std::move(options)) {}

const NetworkModel& NetworkPredictor::model() const {
  return learn::require_model(model_, kNetworkId);
}

void NetworkPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  run.step(0, "read");
  NetworkModel next;
  next.options = network_options(options_);
  next.uses_bytes = options_.bytes;
  next.words = occurring_words(train.table("nodes"), base_vocabulary(options_));
  KernelRows rows = read_kernel_rows(train, next.words);
  std::vector<TargetColumn> targets = read_targets(train, rows.workload_id);
  next.compiled = rows.compiled;
  for (const TargetColumn& target : targets)
    next.targets.push_back(
        {.name = target.name, .metadata = target.metadata, .classes = target.classes});

  KernelRows held_out;
  std::vector<TargetColumn> held_out_targets;
  bool stops = false;
  if (valid && valid.has("workloads")) {
    held_out = read_kernel_rows(valid, next.words);
    held_out_targets = read_targets(valid, held_out.workload_id, &targets);
    stops = options_.validation == "stop";
    if (!stops) append(rows, targets, held_out, held_out_targets);
  }
  next.measure(rows, targets);
  at::manual_seed(run.seed());
  next.build();
  const nn::FitRows check = stops ? next.fit_rows(held_out, held_out_targets) : nn::FitRows();
  nn::fit(*next.network, next.targets, next.fit_rows(rows, targets), stops ? &check : nullptr,
          fit_options(options_, train), run);
  model_ = std::move(next);
}

TableStream NetworkPredictor::predict(const Dataset& in, const Run& run) {
  const NetworkModel& model = this->model();
  const torch_kit::ThreadBudget threads(run.threads());
  const KernelRows rows = read_kernel_rows(in, model.words);
  const std::string other = differing_settings(model.compiled, rows.compiled);
  if (!model.compiled.empty() && !other.empty())
    log(OMEN_LOG_WARN, kNetworkId,
        "the model learnt from graphs that were compiled otherwise (" + *model.compiled.begin() +
            "), not as " + other);
  const at::Tensor outputs = model.outputs(rows, [&](double done) { run.step(done, "predict"); });

  std::vector<bool> present;
  std::vector<std::int32_t> status;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    present.push_back(rows.known(row));
    status.push_back(!rows.graph[row]                ? kNoGraph
                     : !rows.known(row)              ? kNoSizes
                     : model.extrapolates(rows, row) ? kExtrapolating
                                                     : kOk);
  }
  TableBuilder table;
  table.add("workload_id", rows.workload_id);
  nn::add_answers(table, model.targets, outputs, present);
  table.add_dictionary("status", std::move(status), status_names());
  return table.finish();
}

void NetworkPredictor::save(ArtifactWriter& out) const {
  model().save(out, nn::precision_named(options_.precision));
}

void NetworkPredictor::load(const ArtifactReader& in) {
  model_ = NetworkModel::load(in);
}

}  // namespace omen::loadbalance
