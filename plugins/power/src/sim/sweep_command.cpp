// SPDX-License-Identifier: Apache-2.0
// Every legal value of the swept parameters, and one step of each parameter from where it stands.
#include "sim/sweep_command.hpp"

#include <cmath>
#include <omen/figure.hpp>
#include <omen/join.hpp>
#include <sstream>

#include "hardware/design_space.hpp"
#include "hardware/hardware_columns.hpp"
#include "hardware/hardware_file.hpp"
#include "nets/net_source.hpp"
#include "nets/text_file.hpp"
#include "sim/layer_report.hpp"
#include "sim/sim_predictor.hpp"

namespace omen::power {
namespace {

struct SweptRow {
  std::string net;
  Hardware hardware;
  NetCost cost;
  std::string status;
};

std::vector<const Parameter*> swept_parameters(const std::string& list) {
  std::vector<const Parameter*> chosen;
  std::istringstream words(list);
  std::string word;
  std::vector<std::string> names;
  for (const Parameter& parameter : design_space()) names.push_back(parameter.name);
  while (std::getline(words, word, ',')) {
    const Parameter* found = nullptr;
    for (const Parameter& parameter : design_space())
      if (parameter.name == word) found = &parameter;
    if (!found)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + word + "' is no parameter that can be swept",
                  "Parameters are " + join(names) + ".");
    chosen.push_back(found);
  }
  if (chosen.empty() || chosen.size() > 2)
    throw Error(OMEN_INVALID_ARGUMENT, "a sweep has one or two parameters",
                "Write --parameter rows,cols.");
  return chosen;
}

SweptRow ask_sim(const Net& net, const ArrayNet& prepared, const Hardware& hw,
                 const EnergyProfile& profile) {
  SweptRow row{net.name, hw, {}, illegal_because(hw)};
  if (row.status.empty()) {
    row.cost = simulate(prepared, hw, profile);
    row.status = "ok";
  }
  return row;
}

Table swept_table(const std::vector<SweptRow>& rows) {
  std::vector<std::string> net, status;
  std::vector<Hardware> hardware;
  std::vector<double> core, memory, power, latency, energy, area;
  std::vector<bool> legal;
  for (const SweptRow& row : rows) {
    net.push_back(row.net);
    hardware.push_back(row.hardware);
    status.push_back(row.status);
    legal.push_back(row.status == "ok");
    core.push_back(row.cost.core_w);
    memory.push_back(row.cost.memory_w);
    power.push_back(row.cost.power_w());
    latency.push_back(row.cost.latency_s);
    energy.push_back(row.cost.energy_j());
    area.push_back(row.cost.area_mm2);
  }
  TableBuilder table;
  table.add_categories("net", net);
  add_hardware(table, hardware, ConstantColumns::kept);
  table.add("p_core_w", core, {{"omen.unit", "W"}}).valid(legal);
  table.add("p_bw_w", memory, {{"omen.unit", "W"}}).valid(legal);
  table.add("power_w", power, {{"omen.unit", "W"}}).valid(legal);
  table.add("latency_s", latency, {{"omen.unit", "s"}}).valid(legal);
  table.add("energy_j", energy, {{"omen.unit", "J"}}).valid(legal);
  table.add("area_mm2", area, {{"omen.unit", "mm2"}}).valid(legal);
  return table.add_strings("status", status).finish();
}

void draw_sweep(const Run& run, const Net& net, const std::vector<const Parameter*>& axes,
                const std::vector<SweptRow>& rows) {
  const auto labels = [](const Parameter& axis) {
    std::vector<std::string> texts;
    for (const double value : axis.values) {
      char text[24];
      std::snprintf(text, sizeof text, "%g", value);
      texts.emplace_back(text);
    }
    return texts;
  };
  Figure figure(net.name + ": power over " + axes[0]->name);
  if (axes.size() == 2) {
    std::vector<std::vector<double>> values(axes[0]->values.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      values[i / axes[1]->values.size()].push_back(rows[i].status == "ok" ? rows[i].cost.power_w()
                                                                          : std::nan(""));
    figure.x_axis(FigureAxis(axes[1]->name, axes[1]->unit))
        .y_axis(FigureAxis(axes[0]->name, axes[0]->unit));
    figure.heat_map("W", labels(*axes[1]), labels(*axes[0]), values);
  } else {
    std::vector<double> x, power, latency;
    for (const SweptRow& row : rows) {
      if (row.status != "ok") continue;
      x.push_back(axes[0]->get(row.hardware));
      power.push_back(row.cost.power_w());
      latency.push_back(row.cost.latency_s * 1e3);
    }
    figure.x_axis(FigureAxis(axes[0]->name, axes[0]->unit));
    figure.add_panel(FigureAxis("power", "W").from_zero());
    const std::size_t second = figure.add_panel(FigureAxis("latency", "ms").from_zero());
    figure.lines("power", x, power);
    figure.lines("latency", x, latency).panel(second);
  }
  put_figure(run, "sweep-" + net.name, figure.json(), swept_table(rows));
}

// Change of power and latency when each parameter moves to its next legal value.
void draw_sensitivity(const Run& run, const Net& net, const ArrayNet& prepared, const Hardware& hw,
                      const EnergyProfile& profile) {
  const SweptRow here = ask_sim(net, prepared, hw, profile);
  if (here.status != "ok") return;
  std::vector<std::string> names;
  std::vector<double> power, latency;
  for (const Parameter& parameter : design_space()) {
    const std::size_t at = parameter.nearest(parameter.get(hw));
    if (parameter.kind == ParameterKind::choice || at + 1 >= parameter.values.size()) continue;
    Hardware next = hw;
    parameter.set(next, parameter.values[at + 1]);
    const SweptRow moved = ask_sim(net, prepared, next, profile);
    if (moved.status != "ok") continue;
    names.push_back(parameter.name);
    power.push_back(100 * (moved.cost.power_w() / here.cost.power_w() - 1));
    latency.push_back(100 * (moved.cost.latency_s / here.cost.latency_s - 1));
  }
  Figure figure(net.name + ": one step up of each parameter");
  figure.x_axis(FigureAxis("parameter")).y_axis(FigureAxis("change", "%").from_zero());
  figure.bars("power", names, power);
  figure.bars("latency", names, latency);
  const Table table = TableBuilder()
                          .add_strings("parameter", names)
                          .add("power_percent", power, {{"omen.unit", "%"}})
                          .add("latency_percent", latency, {{"omen.unit", "%"}})
                          .finish();
  put_figure(run, "sensitivity-" + net.name, figure.json(), table);
}

}  // namespace

int SweepCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "sweep needs one network",
                "Use: omen power sweep NET --parameter rows,cols -o DIR.");
  SimPredictorOptions named;
  named.profile = options_.profile;
  const EnergyProfile profile = chosen_profile(named);
  const std::vector<const Parameter*> axes = swept_parameters(options_.parameter);
  std::vector<SweptRow> all;
  for (const Net& net : read_nets(args[0])) {
    const ArrayNet prepared(net);
    Hardware base;
    base.bits_w = net.bits.weight;
    base.bits_a = net.bits.act;
    base.bits_psum = net.bits.psum;
    base.batch = net.batch;
    if (!options_.hardware.empty())
      base = parse_hardware(read_text_file(options_.hardware), file_name(options_.hardware), base);
    std::vector<SweptRow> rows;
    for (const double first : axes[0]->values) {
      run.step(-1, "sweep");
      Hardware hw = base;
      axes[0]->set(hw, first);
      const std::vector<double> inner = axes.size() == 2 ? axes[1]->values : std::vector<double>{0};
      for (const double second : inner) {
        if (axes.size() == 2) axes[1]->set(hw, second);
        rows.push_back(ask_sim(net, prepared, hw, profile));
      }
    }
    if (!run.output_dir().empty()) {
      draw_sweep(run, net, axes, rows);
      draw_sensitivity(run, net, prepared, base, profile);
      std::vector<LayerCost> layers;
      if (illegal_because(base).empty()) {
        simulate(prepared, base, profile, {}, &layers);
        put_layer_report(run, net.id, net.name, net, base, layers);
      }
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  out.put("sweep", swept_table(all));
  return 0;
}

Component sweep_component() {
  return command<SweepCommand, SweepOptions>(
      "power.sweep", "a network over every legal value of one or two parameters of an accelerator");
}

}  // namespace omen::power
