// SPDX-License-Identifier: Apache-2.0
// The four slots of a predictor over a tabular model.
#include "omen/learn/tabular_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include "omen/learn/artifact_state.hpp"
#include "omen/learn/dataset_reader.hpp"
#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

constexpr std::int32_t kOk = 0, kExtrapolating = 1, kNoGraph = 2;
constexpr double kUsualLevel = 0.9;

Context make_context(const Run& run) {
  Context context;
  context.seed = run.seed();
  context.threads = run.threads() > 0 ? run.threads() : std::thread::hardware_concurrency();
  context.step = [&run](double fraction, const char* stage) { run.step(fraction, stage); };
  context.cancelled = [&run] { return run.cancelled(); };
  return context;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// The part of a component's id before the dot, which its model's metadata begin with.
std::string plugin_of(const std::string& id) {
  return id.substr(0, id.find('.'));
}

std::vector<double> as_list(const Eigen::Ref<const Vector>& values) {
  return {values.data(), values.data() + values.size()};
}

void add_numbers(TableBuilder& table, const std::string& name, const Vector& values,
                 std::vector<bool> present, const Metadata& metadata) {
  for (Index row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row])) present[static_cast<std::size_t>(row)] = false;
  }
  table.add(name, as_list(values), metadata).valid(present);
}

void add_target(TableBuilder& table, const TargetPrediction& target, const Metadata& metadata,
                const std::vector<bool>& present, double level) {
  if (target.classes.empty()) {
    Metadata bounds = metadata;
    bounds.emplace_back("omen.level", short_text(level));
    add_numbers(table, target.name, target.value, present, metadata);
    add_numbers(table, target.name + ".lo", target.lo, present, bounds);
    add_numbers(table, target.name + ".hi", target.hi, present, bounds);
    return;
  }
  table.add_dictionary(target.name, target.codes, target.classes, metadata).valid(present);
  for (std::size_t i = 0; i < target.classes.size(); ++i) {
    const Vector probability = target.probability.col(static_cast<Index>(i));
    add_numbers(table, target.name + ".p." + target.classes[i], probability, present, {});
  }
}

}  // namespace

TabularPredictor::TabularPredictor(std::string id, TabularModel::LearnerFactory factory,
                                   ModelOptions options)
    : id_(std::move(id)), factory_(std::move(factory)), options_(options) {}

std::unique_ptr<TabularPredictor::Fitted> TabularPredictor::blank() const {
  return std::make_unique<Fitted>(Fitted{TabularModel(factory_, options_), {}, false, {}});
}

const TabularPredictor::Fitted& TabularPredictor::fitted() const {
  return require_model(fitted_, id_);
}

void TabularPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  const auto check = [&] { run.step(-1, "read"); };
  const std::vector<std::string> names = target_names(train);
  Rows rows = read_rows(train, names, check);
  std::vector<ReadTarget> read = read_targets(train, rows);
  // Knobs come from inner folds, so the validation rows are free to be learnt from.
  if (valid && valid.has("workloads")) {
    const Rows more = read_rows(valid, names, check);
    append(rows, read, more, read_targets(valid, more));
  }
  std::unique_ptr<Fitted> next = blank();
  std::vector<Target> targets;
  for (ReadTarget& target : read) {
    targets.push_back(std::move(target.target));
    next->metadata.push_back(std::move(target.metadata));
  }
  if (!options_.columns.empty()) keep_columns(rows, options_.columns);
  next->with_graphs = rows.has_graphs;
  next->reports = next->model.fit(rows.frame, targets, rows.group, make_context(run));
  for (const TargetReport& report : next->reports) {
    if (std::isfinite(report.loss)) {
      run.metric((report.loss_name + "." + report.target).c_str(), 0, report.loss);
    }
    log(OMEN_LOG_INFO, id_.c_str(),
        report.target + ": " + report.knobs + ", " + report.loss_name + " " +
            short_text(report.loss));
  }
  fitted_ = std::move(next);
}

TableStream TabularPredictor::predict(const Dataset& in, const Run& run) {
  const Fitted& fitted = this->fitted();
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
  Rows rows = read_rows(in, {}, [&] { run.step(-1, "read"); });
  const Prediction prediction = fitted.model.predict(rows.frame, level, make_context(run));

  std::vector<bool> present(rows.workload_id.size(), true);
  std::vector<std::int32_t> status(rows.workload_id.size(), kOk);
  for (std::size_t row = 0; row < present.size(); ++row) {
    if (prediction.extrapolating[row]) status[row] = kExtrapolating;
    if (fitted.with_graphs && rows.without_graph[row]) {
      status[row] = kNoGraph;
      present[row] = false;
    }
  }
  TableBuilder table;
  table.add("workload_id", rows.workload_id);
  if (!rows.candidate_id.empty()) table.add("candidate_id", rows.candidate_id);
  for (std::size_t i = 0; i < prediction.targets.size(); ++i) {
    add_target(table, prediction.targets[i], fitted.metadata[i], present, level);
  }
  table.add_dictionary("status", status, {"ok", "extrapolating", "no graph for this workload"});
  return table.finish();
}

void TabularPredictor::save(ArtifactWriter& out) const {
  const Fitted& fitted = this->fitted();
  const std::string plugin = plugin_of(id_);
  out.put_meta(plugin + ".component", id_);
  out.put_meta(plugin + ".graphs", fitted.with_graphs ? "yes" : "no");
  for (const TargetReport& report : fitted.reports) {
    out.put_meta(plugin + ".knobs." + report.target, report.knobs);
    out.put_meta(plugin + "." + report.loss_name + "." + report.target, short_text(report.loss));
  }
  ArtifactState state(out);
  for (std::size_t i = 0; i < fitted.metadata.size(); ++i) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : fitted.metadata[i]) {
      pairs.push_back(key);
      pairs.push_back(value);
    }
    state.put_strings("target." + std::to_string(i) + ".metadata", pairs);
  }
  fitted.model.save(state);
}

void TabularPredictor::load(const ArtifactReader& in) {
  const std::string plugin = plugin_of(id_);
  require_component(in.meta(plugin + ".component"), id_);
  std::unique_ptr<Fitted> next = blank();
  next->with_graphs = in.meta(plugin + ".graphs") == "yes";
  const ArtifactSource state(in);
  next->model.load(state);
  for (std::size_t i = 0; i < next->model.targets(); ++i) {
    const std::vector<std::string> pairs =
        state.strings("target." + std::to_string(i) + ".metadata");
    Metadata metadata;
    for (std::size_t k = 0; k + 1 < pairs.size(); k += 2) {
      metadata.emplace_back(pairs[k], pairs[k + 1]);
    }
    next->metadata.push_back(std::move(metadata));
  }
  fitted_ = std::move(next);
}

}  // namespace omen::learn
