// SPDX-License-Identifier: Apache-2.0
// power_figures chip | voltage | speed | recover | storage DIR | gradient OMEN DIR
#include <cstdio>
#include <exception>
#include <string>

#include "figures.hpp"

int main(int argc, char** argv) {
  using namespace omen::power::checks;
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "chip") return show_chip();
    if (what == "voltage") return show_voltage();
    if (what == "speed") return show_speed();
    if (what == "recover") return show_recover();
    if (what == "storage" && argc > 2) return show_storage(argv[2]);
    if (what == "gradient" && argc > 3) return show_recover_gradient(argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "power_figures: %s\n", error.what());
    return 2;
  }
  std::fprintf(
      stderr,
      "usage: power_figures chip | voltage | speed | recover | storage DIR | gradient OMEN DIR\n");
  return 2;
}
