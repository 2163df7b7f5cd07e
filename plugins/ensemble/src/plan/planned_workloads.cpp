// SPDX-License-Identifier: Apache-2.0
// Joins workloads with the trainers of their graphs.
#include "plan/planned_workloads.hpp"

#include <algorithm>
#include <cmath>

#include "rate/closed_form.hpp"
#include "rate/columns.hpp"
#include "rate/setting_rows.hpp"

namespace omen::ensemble {
namespace {

struct Trainer {
  std::string name;
  std::vector<double> rates;
  double epochs = 0;  // 0: not known
};

std::vector<double> scaling_of(const Table& nodes, std::int64_t row, double rate) {
  std::vector<double> rates = {rate};
  const auto at = nodes.find("scaling");
  if (!at || nodes.type(*at) != Type::kFloatList) return rates;
  const ListColumn<float> list = nodes.list<float>(*at);
  for (std::int64_t i = 1; i < list.width(); ++i) {
    if (!(list[row][i] > 0)) break;
    rates.push_back(list[row][i]);
  }
  // A rate that never rises is that of a model that trains on one accelerator.
  if (*std::max_element(rates.begin(), rates.end()) <= rate * (1 + 1e-6)) rates.resize(1);
  return rates;
}

std::map<std::int64_t, std::vector<Trainer>> trainers_by_graph(const Dataset& in) {
  std::map<std::int64_t, std::vector<Trainer>> by_graph;
  if (!in.has("nodes")) return by_graph;
  const Table nodes = in.table("nodes");
  const NumberColumn graph(nodes, "graph_id"), rate(nodes, "images_per_s"), epochs(nodes, "epochs");
  const TextColumn op(nodes, "op"), name(nodes, "name");
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    if (op.at(row) != kTrainOp || !(rate.at(row) > 0)) continue;
    by_graph[static_cast<std::int64_t>(graph.at(row, 0))].push_back(
        {name.at(row), scaling_of(nodes, row, rate.at(row)), std::max(epochs.at(row, 0), 0.0)});
  }
  return by_graph;
}

void add_models(PlannedWorkload& workload, const std::vector<Trainer>& trainers) {
  for (const Trainer& one : trainers) workload.knows_epochs &= one.epochs > 0;
  for (const Trainer& one : trainers) {
    workload.model_names.push_back(one.name);
    workload.models.push_back(
        {RateCurve(one.rates), workload.images * (workload.knows_epochs ? one.epochs : 1)});
  }
}

}  // namespace

double PlannedWorkload::most_epochs() const {
  double most = models.empty() ? images : 0;
  for (const PlannedModel& model : models) most = std::max(most, model.work);
  return most / images;
}

std::map<std::int64_t, PlannedWorkload> read_planned(const Dataset& in) {
  const Table table = in.table("workloads");
  const auto number = [&](const char* name) { return NumberColumn(table, name); };
  const NumberColumn id = number("workload_id"), graph = number("graph_id"),
                     ranks = number("n_nodes"), per_node = number("ranks_per_node"),
                     cores = number("cores_per_node"), nodes = number("nodes"),
                     images = number("images"), accelerators = number("accelerators"),
                     of_node = number("accelerators_per_node"), checkpoint = number("checkpoint_s"),
                     restart = number("restart_s");
  const TextColumn name(table, "name");
  const auto trainers = trainers_by_graph(in);
  const auto whole = [](double value) {
    return static_cast<std::int64_t>(std::clamp(value, 0.0, 1e7));
  };
  std::map<std::int64_t, PlannedWorkload> workloads;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    PlannedWorkload one;
    one.name = name.at(row);
    one.ranks = std::max(ranks.at(row, 1), 1.0);
    one.ranks_per_node = std::max(per_node.at(row, 1), 1e-6);
    one.cores = std::max(cores.at(row, 1), 1e-6);
    one.nodes = nodes.at(row, one.ranks / one.ranks_per_node);
    one.images = std::max(images.at(row, kUsualImages), 1.0);
    one.machine = {whole(accelerators.at(row, 0)),
                   std::max<std::int64_t>(whole(of_node.at(row, 1)), 1)};
    one.costs = {std::max(checkpoint.at(row, 0), 0.0), std::max(restart.at(row, 0), 0.0)};
    const double key = id.at(row, static_cast<double>(row));
    const auto own = trainers.find(static_cast<std::int64_t>(graph.at(row, key)));
    if (own != trainers.end()) add_models(one, own->second);
    workloads.emplace(static_cast<std::int64_t>(key), std::move(one));
  }
  return workloads;
}

}  // namespace omen::ensemble
