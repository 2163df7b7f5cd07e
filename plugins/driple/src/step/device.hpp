// SPDX-License-Identifier: Apache-2.0
// What a device can do at most, from its published figures; models see these and never its name.
#pragma once

#include <functional>
#include <omen/opgraph/op_graph.hpp>
#include <optional>
#include <string>

namespace omen::driple {

struct Device {
  double fp32 = 0, matrix32 = 0, tf32 = 0, half = 0, fp8 = 0, fp4 = 0;  // FLOP/s
  double bandwidth = 0;                                                 // B/s
  double memory = 0;                                                    // B
  double multiprocessors = 0;
  double power = 0;         // W
  double link = 0;          // B/s to the host, one direction
  double interconnect = 0;  // B/s to other devices, one direction; the link where there is none
  double launch = 0;        // s between short kernels of one host; 0: not known

  // Of products of matrices; what a device has no units for is done by the next wider ones.
  double matrix_peak(opgraph::Precision precision) const;
};

// A figure by its name in the registry; nothing where it is not known.
using FigureSource = std::function<std::optional<double>(const std::string&)>;

// One chip: figures of modules with several are divided. Nothing where bandwidth, fp32 rate or the
// number of multiprocessors is missing, because no answer can do without them.
std::optional<Device> device_of(const FigureSource& figure);

// Names of the figures that device_of() asks for.
const std::vector<std::string>& device_figures();

}  // namespace omen::driple
