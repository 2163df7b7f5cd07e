// SPDX-License-Identifier: Apache-2.0
// Layer evaluations a CPU second: the simulator, the same formulas in NumPy, and SCALE-Sim.
//   power_layer_speed PYTHON SCRIPT
// With OMEN_SHOW_BREAK=1 the script gets the accelerators in another order.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hardware/design_space.hpp"
#include "nets/mobile_names.hpp"
#include "omen/testing/peer.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"
#include "sim/simulate.hpp"

namespace {

using namespace omen::power;
namespace test = omen::test;
using Numbers = std::vector<double>;

constexpr std::size_t kDesigns = 20'000;

// Layers that multiply; what runs beside the array has no formula worth timing.
Net multiplying_layers() {
  Net net = mobile_net("mobilenet-v2-1.0-224").value();
  std::erase_if(net.layers, [](const Primitive& layer) { return !has_macs(layer.type); });
  net.edges.clear();
  return net;
}

// Systolic dataflows only, which SCALE-Sim knows as well.
std::vector<Hardware> spread_designs() {
  std::vector<Hardware> made;
  for (std::uint64_t point = 0; made.size() < kDesigns; ++point) {
    Hardware hw = hardware_of(spread_design(point, 1), {});
    hw.zero_gate = false;
    if (hw.dataflow != Dataflow::rs) made.push_back(hw);
  }
  return made;
}

void write_numbers(const std::filesystem::path& file, const Numbers& numbers) {
  test::write_numbers(file, numbers.data(), numbers.size());
}

Numbers numbers_of(const ArrayNet& net) {
  Numbers made;
  for (const ArrayLayer& l : net.layers())
    made.insert(made.end(), {l.m, l.k, l.n, l.groups, l.kh, l.stride, l.rows, l.row_elements,
                             l.weights, l.inputs, l.outputs, l.macs});
  return made;
}

Numbers numbers_of(const std::vector<Hardware>& designs, const EnergyProfile& profile) {
  Numbers made;
  for (const Hardware& hw : designs)
    made.insert(made.end(), {hw.rows, hw.cols, static_cast<double>(hw.dataflow), hw.ifmap_kb,
                             hw.weight_kb, hw.ofmap_kb, hw.bw_gbps, hw.freq_mhz, hw.vdd,
                             energy_scale(profile, hw) * profile.factor,
                             profile.dram_pj_per_bit[static_cast<std::size_t>(hw.dram)]});
  return made;
}

int compare(const std::string& python, const std::string& script, const std::string& directory,
            double ours) {
  const std::string command = "'" + python + "' '" + script + "' '" + directory + "'";
  const std::map<std::string, test::PeerFigure> theirs = test::peer_figures(command);
  if (theirs.size() != 2) return 1;
  test::show("layers_per_s", ours, "1/s");
  test::show("numpy_layers_per_s", theirs.at("numpy").value, "1/s");
  test::show("scale_sim_layers_per_s", theirs.at("scale-sim").value, "1/s");
  int failed = test::show("layers_differ_numpy", theirs.at("numpy").apart, "1", "<=", 1e-9);
  failed |= test::show("cycles_differ_scale_sim", theirs.at("scale-sim").apart, "1", "<=", 0);
  failed |= test::show("layers_over_numpy", ours / theirs.at("numpy").value, "x", ">=", 1);
  failed |= test::show("layers_over_scale_sim", ours / theirs.at("scale-sim").value, "x", ">=", 1);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: power_layer_speed PYTHON SCRIPT\n", stderr);
    return 2;
  }
  const ArrayNet net(multiplying_layers());
  std::vector<Hardware> designs = spread_designs();
  const EnergyProfile profile = named_profile("tetris-65").value();
  std::vector<NetCost> costs;
  costs.reserve(designs.size());
  const double seconds = test::cpu_seconds_of([&] {
    for (const Hardware& hw : designs) costs.push_back(simulate(net, hw, profile));
  });
  Numbers answers;
  for (const NetCost& cost : costs)
    answers.insert(answers.end(), {cost.core_w, cost.memory_w, cost.latency_s});
  if (test::broken()) std::reverse(designs.begin(), designs.end());
  const test::TempDir place;
  write_numbers(place.path() / "layers.f64", numbers_of(net));
  write_numbers(place.path() / "designs.f64", numbers_of(designs, profile));
  write_numbers(place.path() / "answers.f64", answers);
  return compare(argv[1], argv[2], place.path().string(),
                 static_cast<double>(net.layers().size() * designs.size()) / seconds);
}
