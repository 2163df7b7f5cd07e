// SPDX-License-Identifier: Apache-2.0
// Asks the simulator for each row; fits the one factor.
#include "sim/sim_predictor.hpp"

#include <cmath>
#include <filesystem>
#include <functional>
#include <omen/figure.hpp>
#include <omen/join.hpp>

#include "hardware/hardware_columns.hpp"
#include "nets/net_tables.hpp"
#include "nets/text_file.hpp"
#include "sim/accelergy_tables.hpp"
#include "sim/layer_report.hpp"
#include "sim/profile_artifact.hpp"

namespace omen::power {
namespace {

constexpr const char* kSimId = "power.sim";
constexpr const char* kDefaultProfile = "tetris-65";
// Reports of single layers are for people, who look at a few networks at a time.
constexpr std::int64_t kMostReports = 16;

struct AskedRow {
  std::int64_t workload_id = 0;
  const ArrayNet* net = nullptr;
  const Net* source = nullptr;
  Hardware hardware;
  std::string name, refusal;
};

// The rows of a dataset with their networks, which are prepared once each.
class AskedRows {
 public:
  explicit AskedRows(const Dataset& in) : nets_(read_net_tables(in)) {
    for (const auto& [id, read] : nets_) prepared_.emplace(id, ArrayNet(read.net));
    const Table workloads = in.table("workloads");
    const std::vector<double> id = workloads.numbers("workload_id");
    const std::vector<double> graph =
        workloads.has("graph_id") ? workloads.numbers("graph_id") : id;
    const std::vector<HardwareRow> hardware = read_hardware(workloads, Hardware());
    const bool named = workloads.has("name");
    for (std::size_t i = 0; i < id.size(); ++i) {
      AskedRow row;
      row.workload_id = static_cast<std::int64_t>(id[i]);
      row.hardware = hardware[i].hardware;
      row.refusal = hardware[i].fault;
      if (named) row.name = std::string(workloads.strings("name")[static_cast<std::int64_t>(i)]);
      const auto key = static_cast<std::int64_t>(std::isnan(graph[i]) ? id[i] : graph[i]);
      if (const auto found = prepared_.find(key); found != prepared_.end()) {
        row.net = &found->second;
        row.source = &nets_.at(key).net;
        if (row.refusal.empty()) row.refusal = nets_.at(key).fault;
      } else if (row.refusal.empty()) {
        row.refusal = "has no layers";
      }
      if (row.refusal.empty()) row.refusal = illegal_because(row.hardware);
      rows_.push_back(std::move(row));
    }
  }
  const std::vector<AskedRow>& rows() const { return rows_; }

 private:
  std::map<std::int64_t, ReadNet> nets_;
  std::map<std::int64_t, ArrayNet> prepared_;
  std::vector<AskedRow> rows_;
};

struct CostColumn {
  const char *name, *unit;
  std::function<double(const NetCost&)> of;
};
const std::vector<CostColumn>& cost_columns() {
  static const std::vector<CostColumn> columns = {
      {"p_core_w", "W", [](const NetCost& c) { return c.core_w; }},
      {"p_bw_w", "W", [](const NetCost& c) { return c.memory_w; }},
      {"power_w", "W", [](const NetCost& c) { return c.power_w(); }},
      {"latency_s", "s", [](const NetCost& c) { return c.latency_s; }},
      {"energy_j", "J", [](const NetCost& c) { return c.energy_j(); }},
      {"area_mm2", "mm2", [](const NetCost& c) { return c.area_mm2; }}};
  return columns;
}

// Least squares of measured power of the core on the simulated one.
double fitted_factor(const Dataset& data, const EnergyProfile& profile, const SimOptions& options,
                     const Run& run) {
  const Table targets = data.table("targets");
  if (!targets.has("p_core_w"))
    throw Error(OMEN_INVALID_DATA, "the rows have no measured p_core_w",
                "power.sim fits one factor to the power of the core; name it with --target.");
  std::map<std::int64_t, double> measured;
  const std::vector<double> id = targets.numbers("workload_id"),
                            value = targets.numbers("p_core_w");
  for (std::size_t i = 0; i < id.size(); ++i)
    if (value[i] > 0) measured[static_cast<std::int64_t>(id[i])] = value[i];
  double product = 0, square = 0;
  std::int64_t asked = 0;
  const AskedRows all(data);
  for (const AskedRow& row : all.rows()) {
    if (++asked % 1000 == 0) run.step(-1, "fit");
    const auto found = measured.find(row.workload_id);
    if (found == measured.end() || !row.refusal.empty()) continue;
    const double said = simulate(*row.net, row.hardware, profile, options).core_w;
    // Relative errors count, so small accelerators are heard as much as large ones.
    product += said / found->second;
    square += said / found->second * (said / found->second);
  }
  if (square == 0)
    throw Error(OMEN_INVALID_DATA, "no row has a measured p_core_w above 0 and a legal accelerator",
                "Check the targets and the columns of the accelerator.");
  return product / square;
}

}  // namespace

EnergyProfile chosen_profile(const SimPredictorOptions& options) {
  const std::string name = options.profile.empty() ? kDefaultProfile : options.profile;
  auto made = named_profile(name);
  if (!made) {
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored))
      throw Error(OMEN_NOT_FOUND, "'" + name + "' is neither a profile nor a file",
                  "Profiles are " + join(profile_names()) + ".");
    ReferenceTables tables;
    read_reference_table(read_text_file(name), file_name(name), tables);
    std::string areas = name;
    if (const std::size_t at = areas.rfind("ERT"); at != std::string::npos) {
      areas.replace(at, 3, "ART");
      if (std::filesystem::exists(areas, ignored))
        read_reference_table(read_text_file(areas), file_name(areas), tables);
    }
    made = profile_from(tables, file_name(name), options.buffer_kb, options.buffer_word_bits);
  }
  if (options.voltage_law == "square") made->law = VoltageLaw::square;
  return *made;
}

EnergyProfile SimPredictor::profile() const {
  return model_ && options_.profile.empty() ? *model_ : chosen_profile(options_);
}

void SimPredictor::require_profile() const {
  if (!model_ && options_.profile.empty())
    throw Error(OMEN_INVALID_STATE, "power.sim has no model yet", "Load or train one first.");
}

void SimPredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  EnergyProfile next = chosen_profile(options_);
  next.factor = fitted_factor(train, next, {options_.fuse_other_layers, options_.fuse_layers}, run);
  model_ = std::make_unique<EnergyProfile>(next);
}

void SimPredictor::observe(const Dataset& measured, const Run& run) {
  require_profile();
  EnergyProfile next = profile();
  next.factor *=
      fitted_factor(measured, next, {options_.fuse_other_layers, options_.fuse_layers}, run);
  model_ = std::make_unique<EnergyProfile>(next);
  options_.profile.clear();
}

TableStream SimPredictor::predict(const Dataset& in, const Run& run) {
  require_profile();
  const EnergyProfile profile = this->profile();
  const SimOptions how{options_.fuse_other_layers, options_.fuse_layers};
  const AskedRows all(in);
  std::vector<std::int64_t> id;
  std::vector<bool> answered;
  std::vector<std::string> status;
  std::vector<std::vector<double>> values(cost_columns().size());
  for (const AskedRow& row : all.rows()) {
    if (id.size() % 1000 == 0)
      run.step(static_cast<double>(id.size()) / static_cast<double>(all.rows().size()), "simulate");
    id.push_back(row.workload_id);
    answered.push_back(row.refusal.empty());
    status.push_back(row.refusal.empty() ? "ok" : row.refusal);
    NetCost cost;
    if (row.refusal.empty()) {
      std::vector<LayerCost> layers;
      const bool reported = static_cast<std::int64_t>(all.rows().size()) <= kMostReports;
      cost = simulate(*row.net, row.hardware, profile, how, reported ? &layers : nullptr);
      if (reported)
        put_layer_report(run, row.workload_id, row.name, *row.source, row.hardware, layers);
    }
    for (std::size_t c = 0; c < values.size(); ++c) values[c].push_back(cost_columns()[c].of(cost));
  }
  TableBuilder table;
  table.add("workload_id", std::move(id));
  const std::string method = "simulated:" + profile.name;
  for (std::size_t c = 0; c < values.size(); ++c)
    table
        .add(cost_columns()[c].name, std::move(values[c]),
             {{"omen.unit", cost_columns()[c].unit}, {"omen.method", method}})
        .valid(answered);
  return table.add_strings("status", status).finish();
}

void SimPredictor::save(ArtifactWriter& out) const {
  if (!model_)
    throw Error(OMEN_INVALID_STATE, "power.sim has no model yet", "Load or train one first.");
  out.put_meta("power.component", kSimId);
  save_profile(*model_, out);
}

void SimPredictor::load(const ArtifactReader& in) {
  if (in.meta("power.component") != kSimId)
    throw Error(OMEN_INVALID_DATA, "the model is not one of power.sim",
                "Train one with: omen train power.sim.");
  model_ = std::make_unique<EnergyProfile>(load_profile(in));
}

Component sim_component() {
  return predictor<SimPredictor, SimPredictorOptions>(
             kSimId, "power, latency, energy and area of a network on a described accelerator")
      .reads("nodes@pw-blocks/1", "nodes.cin", "nodes.cout", "nodes.h", "nodes.w", "nodes.kh",
             "nodes.kw", "nodes.stride_h", "nodes.stride_w", "nodes.groups", "nodes.ho", "nodes.wo",
             "workloads.rows:optional", "workloads.cols:optional", "workloads.dataflow:optional",
             "workloads.rf_b:optional", "workloads.ifmap_kb:optional",
             "workloads.weight_kb:optional", "workloads.ofmap_kb:optional",
             "workloads.bw_gbps:optional", "workloads.dram:optional", "workloads.freq_mhz:optional",
             "workloads.vdd:optional", "workloads.node_nm:optional", "workloads.bits_w:optional",
             "workloads.bits_a:optional", "workloads.bits_psum:optional",
             "workloads.batch:optional", "workloads.zero_gate:optional")
      .writes("p_core_w:W:lower", "p_bw_w:W:lower", "power_w:W:lower", "latency_s:s:lower",
              "energy_j:J:lower", "area_mm2:mm2:lower")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_DEFAULT)
      .cite("doi:10.1109/ISPASS48437.2020.00016");
}

}  // namespace omen::power
