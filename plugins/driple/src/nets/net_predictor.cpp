// SPDX-License-Identifier: Apache-2.0
// Options, tables in and tables out of the published networks.
#include "nets/net_predictor.hpp"

#include <ATen/Context.h>

#include <sstream>

#include "nets/net_training.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/learn/errors.hpp"
#include "omen/learn/intervals.hpp"
#include "omen/torch/device.hpp"

namespace omen::driple {
namespace {

constexpr double kWider = 2;  // times, where a row is beyond what training saw

enum Status : std::int32_t { kOk, kExtrapolating, kNoGraph };
const std::vector<std::string>& status_words() {
  static const std::vector<std::string> words = {
      "ok", "extrapolating", "no graph with joined operations for this workload"};
  return words;
}

// A member of the common options as one of those that extend them.
template <class O, class Value>
Value O::*in(Value NetOptions::*place) {
  return place;
}

template <class O>
auto common_options() {
  return std::vector<Option<O>>{
      opt(in<O>(&NetOptions::groups), "groups",
          "communities that a graph is cut into; smaller graphs keep theirs")
          .range(2, 10000),
      opt(in<O>(&NetOptions::grouping_seed), "grouping_seed", "seed of the communities")
          .range(0, 1 << 30)
          .advanced(),
      opt(in<O>(&NetOptions::hidden), "hidden", "width of states; a multiple of 4").range(4, 1024),
      opt(in<O>(&NetOptions::epochs), "epochs", "passes over the data at most; published: 100000")
          .range(1, 1000000),
      opt(in<O>(&NetOptions::patience), "patience",
          "epochs without a better validation error before stopping; published: 1000")
          .range(0, 1000000),
      opt(in<O>(&NetOptions::batch), "batch", "graphs in one step").range(1, 4096),
      opt(in<O>(&NetOptions::rate), "rate", "learning rate of Adam").range(1e-7, 1),
      opt(in<O>(&NetOptions::decay), "decay", "L2 decay of weights").range(0, 1).advanced(),
      opt(in<O>(&NetOptions::clip), "clip", "largest norm of gradients; 0, as published: no limit")
          .range(0, 1e6),
      opt(in<O>(&NetOptions::log_features), "log_features",
          "standardised logarithms of features in place of the published raw values"),
      opt(in<O>(&NetOptions::identity_start), "identity_start",
          "tied rounds start as averages over neighbours in place of the published draw, from "
          "which little is learnt in hundreds of epochs"),
      opt(in<O>(&NetOptions::pretrained), "pretrained",
          "model whose early half stays as it is; the late half and the dense layers are retrained")
          .path()};
}

NetTrainingOptions training_options(const NetOptions& o, const LayerOptions& layer,
                                    const Dataset& train) {
  NetTrainingOptions out{.epochs = o.epochs,
                         .patience = o.patience,
                         .batch = o.batch,
                         .rate = o.rate,
                         .decay = o.decay,
                         .clip = o.clip,
                         .transfer = !o.pretrained.empty(),
                         .fingerprint = {}};
  std::ostringstream text;
  text << train.task_hash() << ' ' << word(layer.kind) << ' ' << o.groups << ' ' << o.grouping_seed
       << ' ' << o.hidden << ' ' << o.log_features << ' ' << o.identity_start << ' '
       << o.pretrained;
  out.fingerprint = text.str();
  return out;
}

NetModel read_model(const std::string& path) {
  const container::Reader file = container::Reader::open(path);
  return NetModel::load(ArtifactReader(file.source()));
}

}  // namespace

std::vector<Option<NetOptions>> NetOptions::spec() {
  return common_options<NetOptions>();
}

std::vector<Option<PnaOptions>> PnaOptions::spec() {
  using O = PnaOptions;
  auto all = common_options<O>();
  all.push_back(opt(&O::aggregators, "aggregators",
                    "some of sum, mean, max, min, std, var, with commas; published: sum"));
  all.push_back(opt(&O::scalers, "scalers",
                    "some of identity, amplification, attenuation; published: identity"));
  return all;
}

NetPredictor::NetPredictor(LayerOptions layer, NetOptions options)
    : layer_(std::move(layer)), options_(std::move(options)) {
  layer_.hidden = options_.hidden;
  if (options_.hidden % 4 != 0)
    throw Error(OMEN_INVALID_ARGUMENT,
                "option 'hidden' is " + std::to_string(options_.hidden) + ", not a multiple of 4",
                "Take 64, as published, or 32.");
}

std::string NetPredictor::id() const {
  return std::string("driple.") + word(layer_.kind);
}

const NetModel& NetPredictor::model() const {
  return learn::require_model(model_, id());
}

void NetPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  run.step(0, "read");
  const bool transfer = !options_.pretrained.empty();
  const std::map<std::int64_t, OpRows> graphs = read_op_rows(train);
  NetModel next;
  if (transfer) {
    next = read_model(options_.pretrained);
    learn::require_component(std::string("driple.") + word(next.network->options().layer.kind),
                             id());
  } else {
    next.frequencies = count_frequencies(graphs);
    next.grouping = {static_cast<std::int32_t>(options_.groups),
                     static_cast<std::uint64_t>(options_.grouping_seed)};
  }
  const auto grouped = [&](double done) { run.step(done, "group"); };
  const JobRows rows = read_job_rows(train, graphs, next.frequencies, next.grouping, grouped);
  const std::vector<Label> labels = read_labels(train, rows);
  next.outputs.clear();
  for (const Label& label : labels) next.outputs.push_back(scale_of(label));
  if (!transfer && options_.log_features) next.features = FeatureScale::of(rows);

  JobRows held_out;
  std::vector<Label> held_out_labels;
  if (valid && valid.has("workloads")) {
    held_out = read_job_rows(valid, read_op_rows(valid), next.frequencies, next.grouping, grouped);
    held_out_labels = read_labels(valid, held_out);
  }
  at::manual_seed(run.seed());
  const auto outputs = static_cast<std::int64_t>(labels.size());
  next.network = transfer ? with_late_layer(*next.network, outputs)
                          : std::make_unique<Network>(
                                NetworkOptions{layer_, outputs, false, options_.identity_start});
  train_network(
      next, {&rows, &labels},
      held_out_labels.empty() ? LabelledRows{} : LabelledRows{&held_out, &held_out_labels},
      training_options(options_, layer_, train), run);
  model_ = std::move(next);
}

TableStream NetPredictor::predict(const Dataset& in, const Run& run) {
  const NetModel& model = this->model();
  const torch_kit::ThreadBudget threads(run.threads());
  const JobRows rows = read_job_rows(in, read_op_rows(in), model.frequencies, model.grouping,
                                     [&](double done) { run.step(done / 2, "group"); });
  std::vector<const JobGraph*> graphs;
  std::vector<bool> present;
  std::vector<std::int32_t> status;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const JobGraph* graph = rows.find(row);
    present.push_back(graph != nullptr);
    status.push_back(!graph ? kNoGraph : model.extrapolates(*graph) ? kExtrapolating : kOk);
    if (graph) graphs.push_back(graph);
  }
  const at::Tensor outputs =
      model.run(graphs, [&](double done) { run.step(0.5 + done / 2, "predict"); });

  TableBuilder table;
  table.add("workload_id", rows.workload_id);
  for (std::size_t o = 0; o < model.outputs.size(); ++o) {
    const OutputScale& output = model.outputs[o];
    const bool bounded = !output.residuals.empty();
    const double width =
        bounded ? learn::ResidualQuantiles(output.residuals).half_width(run.interval_level()) : 0;
    std::vector<double> value, low, high;
    std::int64_t next = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double answer =
          present[row] ? output.answer(outputs[next++][static_cast<std::int64_t>(o)].item<double>())
                       : 0;
      const double half = width * (status[row] == kExtrapolating ? kWider : 1);
      value.push_back(answer);
      low.push_back(answer - half);
      high.push_back(answer + half);
    }
    table.add(output.name, std::move(value), output.metadata).valid(present);
    if (!bounded) continue;
    table.add(output.name + ".lo", std::move(low), output.metadata).valid(present);
    table.add(output.name + ".hi", std::move(high), output.metadata).valid(present);
  }
  table.add_dictionary("status", std::move(status), status_words());
  return table.finish();
}

void NetPredictor::save(ArtifactWriter& out) const {
  model().save(out);
}

void NetPredictor::load(const ArtifactReader& in) {
  NetModel loaded = NetModel::load(in);
  learn::require_component(std::string("driple.") + word(loaded.network->options().layer.kind),
                           id());
  model_ = std::move(loaded);
}

GcnPredictor::GcnPredictor(NetOptions options)
    : NetPredictor({.kind = LayerKind::gcn}, std::move(options)) {}
GatPredictor::GatPredictor(NetOptions options)
    : NetPredictor({.kind = LayerKind::gat}, std::move(options)) {}
GinPredictor::GinPredictor(NetOptions options)
    : NetPredictor({.kind = LayerKind::gin}, std::move(options)) {}
PnaPredictor::PnaPredictor(const PnaOptions& options)
    : NetPredictor({.kind = LayerKind::pna,
                    .aggregators = aggregators_named(options.aggregators),
                    .scalers = scalers_named(options.scalers)},
                   options) {}

}  // namespace omen::driple
