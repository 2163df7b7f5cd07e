// SPDX-License-Identifier: Apache-2.0
// Layers with mappings in, cycles out.
#include "gemmini/cycle_predictor.hpp"

#include <cmath>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/learn/intervals.hpp>
#include <omen/optional_columns.hpp>

namespace omen::power {
namespace {

constexpr const char* kCycles = "rtl_cycles";
constexpr double kUsualCycleLevel = 0.9;
constexpr const char* kLoopColumns[kLoops] = {"channels", "filters",     "out_rows",
                                              "out_cols", "window_rows", "window_cols"};

struct AskedLayer {
  std::int64_t workload_id = 0;
  std::string group;
  std::optional<TiledWork> work;
};

std::vector<AskedLayer> read_layers(const Dataset& in) {
  const Table workloads = in.table("workloads");
  const TextColumn mapping(workloads, "mapping"), group(workloads, "group");
  const NumberColumn stride(workloads, "stride");
  std::vector<NumberColumn> loops;
  for (const char* name : kLoopColumns) loops.emplace_back(workloads, name);
  const std::vector<double> id = workloads.numbers("workload_id");
  std::vector<AskedLayer> made;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    LoopSizes sizes{};
    for (std::size_t loop = 0; loop < kLoops; ++loop) sizes[loop] = loops[loop].at(at, 1);
    made.push_back({static_cast<std::int64_t>(id[i]), group.at(at),
                    tile(sizes, stride.at(at, 1), mapping.at(at))});
  }
  return made;
}

}  // namespace

void CyclePredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  const Table targets = train.table("targets");
  if (!targets.has(kCycles))
    learn::throw_bad_data("the rows have no column 'rtl_cycles'", "Name the measured cycles so.");
  const std::vector<double> id = targets.numbers("workload_id"), cycles = targets.numbers(kCycles);
  std::map<std::int64_t, double> measured;
  for (std::size_t i = 0; i < id.size(); ++i)
    if (cycles[i] > 0) measured[static_cast<std::int64_t>(id[i])] = cycles[i];
  std::vector<MeasuredCycles> rows;
  for (const AskedLayer& layer : read_layers(train)) {
    const auto at = measured.find(layer.workload_id);
    if (layer.work && at != measured.end()) rows.push_back({*layer.work, at->second, layer.group});
  }
  CycleModel next;
  next.fit(rows, [&] { run.step(0.5, "costs"); });
  misses_ = next.misses();
  model_ = std::move(next);
}

TableStream CyclePredictor::predict(const Dataset& in, const Run& run) {
  if (model_.costs().size() == 0) learn::throw_no_model("power.gemmini");
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualCycleLevel;
  const double factor = std::exp(learn::ResidualQuantiles(misses_).half_width(level));
  std::vector<std::int64_t> id;
  std::vector<double> cycles, low, high;
  std::vector<bool> answered;
  std::vector<std::string> status;
  for (const AskedLayer& layer : read_layers(in)) {
    const double said = layer.work ? model_.cycles(*layer.work) : 0;
    id.push_back(layer.workload_id);
    answered.push_back(layer.work.has_value());
    cycles.push_back(said);
    low.push_back(said / factor);
    high.push_back(said * factor);
    status.emplace_back(layer.work ? "ok" : "its mapping does not cover the layer");
  }
  const Metadata notes = {{"omen.unit", "1"}, {"omen.method", "estimated:power.gemmini"}};
  return TableBuilder()
      .add("workload_id", std::move(id))
      .add(kCycles, std::move(cycles), notes)
      .valid(answered)
      .add("rtl_cycles.lo", std::move(low), notes)
      .valid(answered)
      .add("rtl_cycles.hi", std::move(high), notes)
      .valid(answered)
      .add_strings("status", status)
      .finish();
}

void CyclePredictor::save(ArtifactWriter& out) const {
  if (model_.costs().size() == 0) learn::throw_no_model("power.gemmini");
  out.put("costs", std::vector<double>(model_.costs().begin(), model_.costs().end()));
  out.put("misses", misses_);
}

void CyclePredictor::load(const ArtifactReader& in) {
  const std::vector<double> costs = in.get<double>("costs");
  std::vector<double> misses = in.get<double>("misses");
  if (static_cast<learn::Index>(costs.size()) != CycleModel::cost_count() || misses.empty())
    learn::throw_bad_data("the model holds other costs", "Train it again.");
  CycleModel next;
  next.restore(Eigen::Map<const learn::Vector>(costs.data(), CycleModel::cost_count()));
  model_ = std::move(next);
  misses_ = std::move(misses);
}

Component gemmini_component() {
  return predictor<CyclePredictor>("power.gemmini",
                                   "cycles of convolutions on a Gemmini array, by their mapping")
      .reads("workloads.mapping", "workloads.channels", "workloads.filters", "workloads.out_rows",
             "workloads.out_cols:optional", "workloads.window_rows:optional",
             "workloads.window_cols:optional", "workloads.stride:optional")
      .writes("rtl_cycles:1:lower")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY);
}

}  // namespace omen::power
