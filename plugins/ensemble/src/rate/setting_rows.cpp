// SPDX-License-Identifier: Apache-2.0
// Reads columns that may be absent, null or of another type.
#include "rate/setting_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/join.hpp>
#include <unordered_map>

#include "rate/columns.hpp"

namespace omen::ensemble {
namespace {

constexpr double kMostSharingGroups = 1000;

using TrainRates = std::unordered_map<std::int64_t, std::vector<double>>;

// Rates of the trainers of each graph.
TrainRates train_rates_by_graph(const Dataset& in) {
  TrainRates rates;
  if (!in.has("nodes")) return rates;
  const Table nodes = in.table("nodes");
  const NumberColumn rate(nodes, "images_per_s"), graph(nodes, "graph_id");
  const TextColumn op(nodes, "op");
  for (std::int64_t row = 0; row < nodes.rows(); ++row)
    if (const double value = rate.at(row); value > 0 && op.at(row) == kTrainOp)
      rates[static_cast<std::int64_t>(graph.at(row, 0))].push_back(value);
  return rates;
}

struct Columns {
  explicit Columns(const Table& t)
      : pipeline(t, "pipeline"),
        pace(t, "pace"),
        group(t, "group"),
        id(t, "workload_id"),
        graph(t, "graph_id"),
        ranks(t, "n_nodes"),
        cores(t, "cores_per_node"),
        preprocessors(t, "preprocessors"),
        ranks_per_node(t, "ranks_per_node"),
        groups(t, "groups"),
        sample_bytes(t, "sample_bytes"),
        images(t, "images"),
        train_rate(t, "train_rate") {}
  TextColumn pipeline, pace, group;
  NumberColumn id, graph, ranks, cores, preprocessors, ranks_per_node, groups, sample_bytes, images,
      train_rate;
};

std::string refusal_of(const Columns& columns, std::int64_t row) {
  if (columns.pipeline.at(row).empty()) return "no pipeline is named";
  if (!parse_design(columns.pipeline.at(row)))
    return "pipeline '" + columns.pipeline.at(row) + "' is none of " + join(design_names());
  if (!(columns.ranks.at(row) >= 1)) return "n_nodes is not at least 1";
  if (!(columns.cores.at(row) > 0)) return "cores_per_node is not above 0";
  for (const NumberColumn* positive :
       {&columns.preprocessors, &columns.ranks_per_node, &columns.groups, &columns.sample_bytes,
        &columns.images, &columns.train_rate})
    if (positive->at(row, 1) <= 0) return "a count, a size or a rate is not above 0";
  if (const std::string pace = columns.pace.at(row); !pace.empty() && !parse_pace(pace))
    return "pace '" + pace + "' is neither coupled nor decoupled";
  return {};
}

Setting setting_of(const Columns& columns, std::int64_t row, const TrainRates& trainers) {
  const NamedDesign named = *parse_design(columns.pipeline.at(row));
  Setting setting;
  setting.design = named.design;
  setting.ranks = columns.ranks.at(row);
  setting.cores = columns.cores.at(row);
  const bool one_host = named.design == Design::kSharedMemory;
  setting.ranks_per_node = columns.ranks_per_node.at(row, one_host ? setting.ranks : 1);
  // Without a number every core of a host, or every rank, preprocesses.
  const double usual = one_host ? setting.cores : setting.ranks;
  setting.preprocessors = named.preprocessors.value_or(columns.preprocessors.at(row, usual));
  setting.groups = static_cast<int>(std::clamp(columns.groups.at(row, 1), 1.0, kMostSharingGroups));
  setting.sample_bytes = columns.sample_bytes.at(row, kUsualSampleBytes);
  setting.images = columns.images.at(row, kUsualImages);
  setting.coupled = parse_pace(columns.pace.at(row)).value_or(is_coupled(named.design));
  const auto own =
      trainers.find(static_cast<std::int64_t>(columns.graph.at(row, columns.id.at(row, 0))));
  if (own != trainers.end())
    setting.train_rates = own->second;
  else if (const double rate = columns.train_rate.at(row); rate > 0)
    setting.train_rates = {rate};
  return setting;
}

}  // namespace

std::vector<SettingRow> read_settings(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const Columns columns(workloads);
  const TrainRates trainers = train_rates_by_graph(in);
  std::map<std::string, std::int32_t> groups;
  std::vector<SettingRow> rows;
  for (std::int64_t row = 0; row < workloads.rows(); ++row) {
    if (row % 1024 == 0) run.step(-1, "read");
    SettingRow made;
    made.workload_id = static_cast<std::int64_t>(columns.id.at(row, static_cast<double>(row)));
    made.group = groups.emplace(columns.group.at(row), static_cast<std::int32_t>(groups.size()))
                     .first->second;
    made.refusal = refusal_of(columns, row);
    if (made.refusal.empty()) made.setting = setting_of(columns, row, trainers);
    rows.push_back(std::move(made));
  }
  return rows;
}

std::vector<Measured> read_measured(const Dataset& in, const Run& run) {
  const Table targets = in.table("targets");
  const NumberColumn id(targets, "workload_id"), rate(targets, "images_per_s"),
      cpu(targets, "cpu_s_per_image"), power(targets, "power_w"),
      prepare(targets, "prepare_cpu_s_per_image"), train(targets, "train_cpu_s_per_image");
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  for (std::int64_t row = 0; row < targets.rows(); ++row)
    row_of[static_cast<std::int64_t>(id.at(row, static_cast<double>(row)))] = row;
  std::vector<Measured> measured;
  for (SettingRow& one : read_settings(in, run)) {
    const auto found = row_of.find(one.workload_id);
    if (!one.refusal.empty() || found == row_of.end()) continue;
    measured.push_back({std::move(one.setting), one.group, rate.at(found->second),
                        cpu.at(found->second), power.at(found->second), prepare.at(found->second),
                        train.at(found->second)});
  }
  return measured;
}

}  // namespace omen::ensemble
