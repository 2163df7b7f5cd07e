// SPDX-License-Identifier: Apache-2.0
// What must hold of every layer and accelerator, row stationary, layers without products, profiles.
#include "sim/simulate.hpp"

#include <gtest/gtest.h>

#include "hardware/design_space.hpp"
#include "nets/mobile_names.hpp"
#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

EnergyProfile usual_profile() {
  return named_profile("tetris-65").value();
}

TEST(Simulate, NothingMovesLessThanItMust) {
  const Net net = mobile_net("mobilenet-v2-0.5-96").value();
  for (std::uint64_t point = 0; point < 200; ++point) {
    const Hardware hw = hardware_of(spread_design(point, 3), {});
    for (const Primitive& layer : net.layers) {
      if (!has_macs(layer.type)) continue;
      const DramTraffic traffic = dram_traffic(array_layer(layer), hw);
      EXPECT_GE(traffic.bytes, traffic.weights + traffic.inputs + traffic.outputs);
    }
  }
}

TEST(Simulate, SumsAgree) {
  const ArrayNet net(mobile_net("mobilenet-v1-0.5-128").value());
  std::vector<LayerCost> layers;
  const Hardware hw;
  const NetCost cost = simulate(net, hw, usual_profile(), {}, &layers);
  double cycles = 0, joules = 0;
  for (const LayerCost& layer : layers) {
    cycles += layer.cycles;
    joules += layer.core_j();
  }
  EXPECT_DOUBLE_EQ(cost.latency_s, cycles / 700e6);
  EXPECT_NEAR(cost.core_w, joules / cost.latency_s + cost.leak_w, 1e-12);
  EXPECT_DOUBLE_EQ(cost.energy_j(), cost.power_w() * cost.latency_s);
}

// By hand: 3x3, 8 to 16 channels of 13 x 13 on 12 x 14 elements with 520 B each, 16 bits.
TEST(Simulate, RowStationaryCounts) {
  ArrayLayer layer;
  layer.kh = layer.kw = 3;
  layer.channels = 8;
  layer.n = 16;
  layer.k = 72;
  layer.m = 169;
  layer.rows = layer.out_rows = 13;
  layer.inputs = 8 * 169;
  layer.outputs = 16 * 169;
  layer.macs = 169.0 * 72 * 16;
  Hardware hw;
  hw.rows = 12;
  hw.cols = 14;
  hw.dataflow = Dataflow::rs;
  hw.bits_a = hw.bits_w = 16;
  const RowStationaryFit fit = fit_rows(layer, hw);
  EXPECT_EQ(fit.active, 156);       // four sets of 3 x 13
  EXPECT_EQ(fit.filters_held, 16);  // up to 24 sums
  EXPECT_EQ(fit.channels_held, 4);  // 12 inputs of rows of 3; 224 weights would allow 4.67
  const ArrayCounts counts = count_array(layer, hw);
  EXPECT_DOUBLE_EQ(counts.cycles, layer.macs / 156 / 0.87);
  EXPECT_EQ(counts.filter_reads, 72 * 16);
  EXPECT_EQ(counts.ifmap_reads, 8 * 169);
  EXPECT_EQ(counts.ofmap_writes, 16 * 169 * 3);  // two passes over channels, one return
}

TEST(Simulate, OtherLayersRunOnTheWayUnlessAsked) {
  Net net;
  NetBuilder build(net);
  build.begin_block(0, 1, 0);
  build.elementwise({-1, {8, 4, 4}}, BlockType::act, 1);
  const Hardware hw;
  EXPECT_EQ(simulate(ArrayNet(net), hw, usual_profile()).latency_s, 0);
  const NetCost apart = simulate(ArrayNet(net), hw, usual_profile(), {false, false});
  EXPECT_DOUBLE_EQ(apart.dram_bytes, 256);
  EXPECT_DOUBLE_EQ(apart.latency_s, 256 / 12.8e9);  // 4 cycles of 32 lanes are hidden by memory
}

TEST(Simulate, FusedLayersMoveLess) {
  const ArrayNet net(mobile_net("mobilenet-v1-0.25-64").value());
  const Hardware hw;
  EXPECT_LT(simulate(net, hw, usual_profile(), {true, true}).dram_bytes,
            simulate(net, hw, usual_profile()).dram_bytes);
}

TEST(Profiles, VoltageAndNode) {
  Hardware low, high;
  low.vdd = 0.65;
  high.vdd = 0.8;
  EnergyProfile square = usual_profile();
  square.law = VoltageLaw::square;
  EXPECT_NEAR(energy_scale(square, high) / energy_scale(square, low), 1.515, 0.001);
  EXPECT_DOUBLE_EQ(fastest_mhz(16, 0.8), 1000);
  EXPECT_GT(switching_energy(45, 0.9), switching_energy(16, 0.9));
  Hardware fast;
  fast.vdd = 0.55;
  fast.freq_mhz = 900;
  EXPECT_NE(illegal_because(fast).find("reaches"), std::string::npos);
  fast.node_nm = 28;
  EXPECT_NE(illegal_because(fast).find("node_nm is 28"), std::string::npos);
}

TEST(DesignSpace, RoundTripsAndSpreads) {
  for (std::uint64_t point = 0; point < 64; ++point) {
    const Design design = spread_design(point, 5);
    EXPECT_EQ(nearest_design(hardware_of(design, {})), design);
  }
  EXPECT_NE(spread_design(0, 1), spread_design(1, 1));
  EXPECT_EQ(spread_design(9, 4), spread_design(9, 4));
}

}  // namespace
}  // namespace omen::power
