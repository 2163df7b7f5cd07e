// SPDX-License-Identifier: Apache-2.0
// The published chip, measured voltages, speed and storage.
//   chip: doi:10.1109/JSSC.2016.2616357, Table V, AlexNet with batch 4: 278 mW, 103.5 ms of
//   processing.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "corpus/corpus.hpp"
#include "figures.hpp"
#include "hardware/design_space.hpp"
#include "nets/block_features.hpp"
#include "nets/mobile_names.hpp"
#include "nets/net_builder.hpp"
#include "omen/median.hpp"
#include "omen/testing/csv_table.hpp"
#include "omen/testing/show.hpp"

namespace omen::power::checks {
namespace {

constexpr double kLayerPower[] = {0.332, 0.288, 0.266, 0.235, 0.236};  // W, in-sample
constexpr double kLayerBytes[] = {5.0, 4.0, 3.0, 2.1, 1.3};            // MB of memory, not gated

Net alexnet() {
  Net net;
  net.input = {3, 227, 227};
  NetBuilder build(net);
  build.begin_block(0, 1, 0);
  ConvShape first = same_conv(96, 11, 4), window = same_conv(1, 3, 2);
  first.pad_h = first.pad_w = window.pad_h = window.pad_w = 0;
  Place at = build.pool(build.conv({-1, net.input}, first), window);
  at = build.pool(build.conv(at, same_conv(256, 5, 1, 2)), window);
  at = build.conv(at, same_conv(384, 3, 1));
  at = build.conv(at, same_conv(384, 3, 1, 2));
  build.conv(at, same_conv(256, 3, 1, 2));
  return net;
}

Hardware chip() {
  Hardware hw;
  hw.rows = 12;
  hw.cols = 14;
  hw.dataflow = Dataflow::rs;
  hw.ifmap_kb = hw.weight_kb = hw.ofmap_kb = 36;
  hw.bw_gbps = 1.6;
  hw.dram = Dram::lpddr;
  hw.freq_mhz = 200;
  hw.vdd = 1;
  hw.node_nm = 65;
  hw.bits_w = hw.bits_a = hw.bits_psum = 16;
  hw.batch = 4;
  return hw;
}

}  // namespace

int show_chip() {
  const Net net = alexnet();
  Hardware hw = chip();
  if (test::broken()) hw.freq_mhz = 250;
  std::vector<LayerCost> all, layers;
  simulate(ArrayNet(net), hw, named_profile("tetris-65").value(), {}, &all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (has_macs(net.layers[i].type)) layers.push_back(all[i]);
  double product = 0, square = 0, seconds = 0, joules = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double time = layers[i].cycles / (hw.freq_mhz * 1e6), watts = layers[i].core_j() / time;
    product += watts * kLayerPower[i];
    square += watts * watts;
    seconds += time;
    joules += layers[i].core_j();
  }
  const double factor = product / square;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "conv" + std::to_string(i + 1);
    const double time = layers[i].cycles / (hw.freq_mhz * 1e6);
    test::show(name + "_power_over_chip", factor * layers[i].core_j() / time / kLayerPower[i], "1");
    test::show(name + "_memory_over_chip", layers[i].dram_bytes / 1e6 / kLayerBytes[i], "1");
  }
  const double watts = factor * joules / seconds;
  test::show("fitted_factor", factor, "1");
  int code =
      test::show("alexnet_power_error_in_sample", 100 * std::abs(watts / 0.278 - 1), "%", "<=", 5);
  code |= test::show("alexnet_latency_error", 100 * std::abs(seconds / 0.1035 - 1), "%", "<=", 5);
  return code;
}

// GAP9 at 0.65 V and 240 MHz, and 0.8 V and 370 MHz; NDP120 at 0.9 and 1.1 V.
int show_voltage() {
  const char* root = std::getenv("OMEN_DATA");
  const std::filesystem::path path =
      std::filesystem::path(root ? root : "") / "power" / "mlperf_tiny_energy.csv";
  if (!root || !std::filesystem::exists(path)) return test::kSkipped;
  std::ifstream file(path);
  const auto rows =
      test::csv_fields({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  std::map<std::string, std::map<std::string, std::pair<double, double>>> measured;
  for (const auto& row : rows)
    if (row.size() > 6 && row[0] != "round" && !row[6].empty() && row[0] == "1.0")
      measured[row[3]][row[4]] = {std::stod(row[5]), std::stod(row[6])};
  EnergyProfile profile = named_profile("tetris-65").value();
  // The curves of the nodes fit these chips less.
  profile.law = test::broken() ? VoltageLaw::node_curves : VoltageLaw::square;
  const auto said_of = [&](double from, double to) {
    Hardware before, after;
    before.node_nm = after.node_nm = 20;
    before.vdd = from;
    after.vdd = to;
    return energy_scale(profile, after) / energy_scale(profile, before);
  };
  const auto middle = [&](const char* low, const char* high, double from, double to, double clock,
                          bool power) {
    std::vector<double> errors;
    for (const auto& [net, before] : measured[low]) {
      const auto after = measured[high].find(net);
      if (after == measured[high].end()) continue;
      const double said = said_of(from, to) * (power ? clock : 1);
      const double real =
          power ? after->second.second / before.second : after->second.first / before.first;
      errors.push_back(100 * std::abs(said / real - 1));
    }
    return median(errors);
  };
  int code = test::show("gap9_energy_median",
                        middle("gap9_650_240", "gap9_800_370", 0.65, 0.8, 370.0 / 240, false), "%",
                        "<=", 10);
  code |= test::show("gap9_power_median",
                     middle("gap9_650_240", "gap9_800_370", 0.65, 0.8, 370.0 / 240, true), "%",
                     "<=", 10);
  code |= test::show(
      "ndp120_energy_median",
      middle("syntiant_9120_0v9_30mhz", "syntiant_9120_1v1_98mhz", 0.9, 1.1, 98.0 / 30, false), "%",
      "<=", 10);
  return code;
}

int show_speed() {
  const Net net = mobile_net("mobilenet-v2-1.0-224").value();
  const ArrayNet prepared(net);
  const EnergyProfile profile = named_profile("tetris-65").value();
  const double repeats = test::broken() ? 60 : 1;
  double layers = 0, sum = 0;
  const double seconds = test::cpu_seconds_of([&] {
    for (std::uint64_t point = 0; point < 4000; ++point) {
      const Hardware hw = hardware_of(spread_design(point, 1), {});
      for (double i = 0; i < repeats; ++i) sum += simulate(prepared, hw, profile).core_w;
      layers += static_cast<double>(net.layers.size());
    }
  });
  if (!(sum > 0)) return 1;
  return test::show("layer_evaluations_per_s", layers / seconds, "1/s", ">=", 1e6);
}

int show_storage(const std::string& directory) {
  double stored = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory + "/corpus"))
    if (entry.is_regular_file()) stored += static_cast<double>(entry.file_size());
  const std::string rows_file = directory + "/rows.bin";
  {
    const Corpus corpus = make_corpus({}, [](double) {});
    std::ofstream rows(rows_file, std::ios::binary);
    for (const CorpusRow& row : corpus.rows)
      for (const Primitive& layer : corpus.nets[row.net].layers) {
        const auto features = block_features(layer, corpus.nets[row.net].bits);
        rows.write(reinterpret_cast<const char*>(features.data()),
                   static_cast<std::streamsize>(sizeof features));
      }
  }
  const double row_wise = static_cast<double>(std::filesystem::file_size(rows_file));
  if (test::broken()) stored = row_wise;
  return test::show("storage_of_row_wise", 100 * stored / row_wise, "%", "<=", 5);
}

}  // namespace omen::power::checks
