// SPDX-License-Identifier: Apache-2.0
// One row for each layer, bars of where the energy goes, and attained against attainable rates.
#include "sim/layer_report.hpp"

#include <algorithm>
#include <cmath>
#include <omen/figure.hpp>
#include <omen/host.hpp>

namespace omen::power {
namespace {

constexpr std::size_t kMostBars = 200, kRooflinePoints = 25;

std::string layer_label(const Net& net, std::size_t i) {
  return std::to_string(i) + " " + type_name(net.layers[i].type);
}

void put_energy_bars(const Run& run, const std::string& file, const std::string& title,
                     const Net& net, const std::vector<LayerCost>& layers, const Table& table) {
  const std::pair<const char*, double LayerCost::*> parts[] = {
      {"arithmetic", &LayerCost::mac_j}, {"registers", &LayerCost::register_j},
      {"array", &LayerCost::network_j},  {"buffers", &LayerCost::buffer_j},
      {"clock", &LayerCost::clock_j},    {"memory", &LayerCost::dram_j}};
  const std::size_t shown = std::min(layers.size(), kMostBars);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < shown; ++i) labels.push_back(layer_label(net, i));
  Figure figure(title);
  figure.x_axis(FigureAxis("layer")).y_axis(FigureAxis("energy", "uJ").from_zero());
  for (const auto& [name, field] : parts) {
    std::vector<double> values;
    for (std::size_t i = 0; i < shown; ++i) values.push_back(layers[i].*field * 1e6);
    figure.bars(name, labels, values);
  }
  put_figure(run, file, figure.json(), table);
}

void put_roofline(const Run& run, const std::string& file, const std::string& title, const Net& net,
                  const Hardware& hw, const std::vector<LayerCost>& layers, const Table& table) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double macs = amounts_of(net.layers[i]).macs * hw.batch;
    if (macs == 0 || layers[i].dram_bytes == 0 || layers[i].cycles == 0) continue;
    x.push_back(macs / layers[i].dram_bytes);
    y.push_back(macs / layers[i].cycles * hw.freq_mhz / 1e3);
  }
  if (x.empty()) return;
  const double peak = hw.rows * hw.cols * hw.freq_mhz / 1e3;
  const double low = *std::min_element(x.begin(), x.end()) / 2,
               high = std::max(*std::max_element(x.begin(), x.end()), peak / hw.bw_gbps) * 2;
  std::vector<double> at, roof;
  for (std::size_t i = 0; i <= kRooflinePoints; ++i) {
    at.push_back(low * std::pow(high / low, static_cast<double>(i) / kRooflinePoints));
    roof.push_back(std::min(peak, at.back() * hw.bw_gbps));
  }
  Figure figure(title);
  figure.x_axis(FigureAxis("MACs for each byte of memory", "1/B").logarithmic())
      .y_axis(FigureAxis("rate", "GMAC/s").logarithmic());
  figure.lines("attainable", at, roof);
  figure.markers("layers", x, y);
  put_figure(run, file, figure.json(), table);
}

}  // namespace

Table layer_table(const Net& net, const Hardware& hw, const std::vector<LayerCost>& layers) {
  std::vector<std::string> layer, bound;
  std::vector<double> macs, ms, busy, bytes, core, memory;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerCost& cost = layers[i];
    layer.push_back(layer_label(net, i));
    bound.emplace_back(cost.bound == Bound::memory ? "memory" : "compute");
    macs.push_back(amounts_of(net.layers[i]).macs * hw.batch);
    ms.push_back(cost.cycles / hw.freq_mhz / 1e3);
    busy.push_back(cost.array.compute_utilisation);
    bytes.push_back(cost.dram_bytes);
    core.push_back(cost.core_j() * 1e6);
    memory.push_back(cost.dram_j * 1e6);
  }
  return TableBuilder()
      .add_strings("layer", layer)
      .add("macs", std::move(macs))
      .add("time_ms", std::move(ms), {{"omen.unit", "ms"}})
      .add_categories("bound", bound)
      .add("utilisation", std::move(busy))
      .add("dram_bytes", std::move(bytes), {{"omen.unit", "B"}})
      .add("core_uj", std::move(core), {{"omen.unit", "uJ"}})
      .add("memory_uj", std::move(memory), {{"omen.unit", "uJ"}})
      .finish();
}

void put_layer_report(const Run& run, std::int64_t id, const std::string& name, const Net& net,
                      const Hardware& hw, const std::vector<LayerCost>& layers) {
  if (run.output_dir().empty()) return;
  const std::string suffix = std::to_string(id);
  const Table table = layer_table(net, hw, layers);
  put_energy_bars(run, "layers-" + suffix, name + ": energy of each layer", net, layers, table);
  put_roofline(run, "roofline-" + suffix, name + ": roofline", net, hw, layers, table);
}

}  // namespace omen::power
