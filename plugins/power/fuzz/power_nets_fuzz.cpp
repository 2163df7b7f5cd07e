// SPDX-License-Identifier: Apache-2.0
// Networks, layer tables, accelerators and energy tables of any kind: a complaint with a hint, or
// something that can be simulated.
// needs: power_sim
// covers: plugins/power/src/nets/nets_json.cpp
// covers: plugins/power/src/nets/topology_csv.cpp
// covers: plugins/power/src/hardware/hardware_file.cpp
// covers: plugins/power/src/sim/accelergy_tables.cpp
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "hardware/hardware_file.hpp"
#include "nets/nets_json.hpp"
#include "nets/topology_csv.hpp"
#include "omen/error.hpp"
#include "sim/accelergy_tables.hpp"
#include "sim/simulate.hpp"

namespace {

using namespace omen;
using namespace omen::power;

void guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.hint().empty()) std::abort();
  }
}

void simulate_one(const Net& net) {
  const NetCost cost = simulate(ArrayNet(net), Hardware(), named_profile("tetris-65").value());
  if (std::isnan(cost.power_w()) || cost.latency_s < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  guarded([&] {
    for (const Net& net : parse_nets(text, "fuzz.json")) simulate_one(net);
  });
  guarded([&] { simulate_one(parse_topology(text, "fuzz.csv")); });
  guarded([&] {
    if (!fault_of(parse_hardware(text, "fuzz.cfg", Hardware())).empty()) std::abort();
  });
  guarded([&] {
    ReferenceTables tables;
    read_reference_table(text, "fuzz.yaml", tables);
    profile_from(tables, "fuzz", 128, 64);
  });
  return 0;
}
