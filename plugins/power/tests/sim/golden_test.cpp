// SPDX-License-Identifier: Apache-2.0
// Every field of the reference cases, and the rows of another simulator.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "data_files.hpp"
#include "sim/simulate.hpp"

namespace omen::power {
namespace {

using nlohmann::json;

Primitive golden_layer(const json& row) {
  Primitive layer;
  std::int64_t* const fields[] = {&layer.cin, &layer.cout,     &layer.h,  &layer.w,  &layer.kh,
                                  &layer.kw,  &layer.stride_h, &layer.ho, &layer.wo, &layer.groups};
  for (std::size_t i = 0; i < std::size(fields); ++i) *fields[i] = row[i].get<std::int64_t>();
  layer.stride_w = layer.stride_h;
  layer.act_zero_frac = row[10].get<double>();
  return layer;
}

Hardware golden_hardware(const json& from) {
  Hardware hw;
  const std::pair<const char*, double*> fields[] = {
      {"rows", &hw.rows},           {"cols", &hw.cols},         {"ifmap_kb", &hw.ifmap_kb},
      {"weight_kb", &hw.weight_kb}, {"ofmap_kb", &hw.ofmap_kb}, {"bw_gbps", &hw.bw_gbps},
      {"freq_mhz", &hw.freq_mhz},   {"vdd", &hw.vdd},           {"node_nm", &hw.node_nm},
      {"bits_w", &hw.bits_w},       {"bits_a", &hw.bits_a},     {"bits_psum", &hw.bits_psum},
      {"batch", &hw.batch}};
  for (const auto& [name, at] : fields) *at = from.at(name).get<double>();
  hw.dataflow = parse_dataflow(from.at("dataflow").get<std::string>()).value();
  hw.dram = parse_dram(from.at("dram").get<std::string>()).value();
  hw.zero_gate = from.value("zero_gate", false);
  return hw;
}

void expect_close(double got, double wanted, const std::string& what) {
  EXPECT_LE(std::abs(got - wanted), 1e-9 * std::abs(wanted))
      << what << ": " << got << " for " << wanted;
}

TEST(Golden, TwelveCasesInEveryField) {
  const std::string path = data_file("sim_golden.json");
  if (path.empty()) GTEST_SKIP() << "OMEN_DATA does not hold power/sim_golden.json";
  const json golden = json::parse(slurp(path));
  const EnergyProfile profile = named_profile("tetris-65").value();
  for (const json& one : golden.at("cases")) {
    Net net;
    for (const json& row : golden.at("nets").at(one.at("net").get<std::string>()))
      net.layers.push_back(golden_layer(row));
    const Hardware hw = golden_hardware(golden.at("hws").at(one.at("hw").get<std::string>()));
    std::vector<LayerCost> layers;
    const NetCost cost = simulate(ArrayNet(net), hw, profile, {}, &layers);
    const std::string name =
        one.at("net").get<std::string>() + " " + one.at("hw").get<std::string>();
    const auto total = [&](const char* field, double got) {
      expect_close(got, one.at(field).get<double>(), name + " " + field);
    };
    total("p_core_w", cost.core_w);
    total("p_bw_w", cost.memory_w);
    total("p_w", cost.power_w());
    total("latency_s", cost.latency_s);
    total("energy_j", cost.energy_j());
    total("macs", cost.macs);
    total("weights", cost.weights);
    total("dram_bytes", cost.dram_bytes);
    total("p_leak_w", cost.leak_w);
    total("scale", energy_scale(profile, hw));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerCost& at = layers[i];
      const std::pair<const char*, double> fields[] = {{"cycles", at.cycles},
                                                       {"compute_cycles", at.array.cycles},
                                                       {"sram_if", at.array.ifmap_reads},
                                                       {"sram_w", at.array.filter_reads},
                                                       {"sram_of", at.array.ofmap_writes},
                                                       {"dram_bytes", at.dram_bytes},
                                                       {"e_mac", at.mac_j},
                                                       {"e_rf", at.register_j},
                                                       {"e_noc", at.network_j},
                                                       {"e_sram", at.buffer_j},
                                                       {"e_clk", at.clock_j},
                                                       {"e_dram", at.dram_j}};
      for (const auto& [field, got] : fields)
        expect_close(got, one.at("layers").at(field)[i].get<double>(),
                     name + " layer " + std::to_string(i) + " " + field);
    }
  }
}

}  // namespace
}  // namespace omen::power
