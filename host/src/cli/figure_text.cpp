// SPDX-License-Identifier: Apache-2.0
// Figures of devices with their units and a prefix.
#include "cli/figure_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/render.hpp"

namespace omen::host::cli {
namespace {

std::string si_text(double value, const char* unit) {
  constexpr const char* kPrefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
  int step = value > 0 ? static_cast<int>(std::floor(std::log10(value) / 3)) : 0;
  step = std::clamp(step, -3, 5);
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s%s", value / std::pow(1000.0, step), kPrefixes[step + 3],
                unit);
  return text;
}

}  // namespace

std::string figure_text(const std::string& figure, double value) {
  const auto has = [&](const char* part) { return figure.find(part) != std::string::npos; };
  if (has("per_cycle")) return format_number(value);
  if (has("_flops")) return si_text(value, "FLOP/s");
  if (has("_ops")) return si_text(value, "OP/s");
  if (has("bytes_per_s")) return si_text(value, "B/s");
  if (has("_bytes")) return format_bytes(value);
  if (has("_hz")) return si_text(value, "Hz");
  if (figure.ends_with("_w")) return si_text(value, "W");
  if (figure.ends_with("_s")) return si_text(value, "s");
  return format_number(value);
}

}  // namespace omen::host::cli
