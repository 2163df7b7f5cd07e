// SPDX-License-Identifier: Apache-2.0
// Robust factors, and their file.
#include "graph/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "omen/error.hpp"
#include "omen/median.hpp"
#include "omen/pending_file.hpp"

namespace omen::loadbalance {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHead = "omen-loadbalance-calibration 1";

bool positive(double value) {
  return std::isfinite(value) && value > 0;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

double parsed(const std::string& text, const fs::path& file, const std::string& key) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value))
    throw Error(OMEN_INVALID_DATA, file.string() + ": '" + key + "' is '" + text + "', no number",
                "Write the file anew with: omen loadbalance calibrate");
  return value;
}

}  // namespace

Calibration fit_calibration(const std::vector<CalibrationPoint>& points) {
  std::vector<double> cpu, gpu;
  for (const CalibrationPoint& point : points) {
    if (!positive(point.predicted_cpu) || !positive(point.predicted_gpu) ||
        !positive(point.measured_cpu) || !positive(point.measured_gpu))
      continue;
    cpu.push_back(std::log(point.measured_cpu / point.predicted_cpu));
    gpu.push_back(std::log(point.measured_gpu / point.predicted_gpu));
  }
  if (cpu.empty())
    throw Error(OMEN_INVALID_DATA, "no kernel has times on both devices",
                "Calibrate with kernels that run on this machine.");
  Calibration calibration;
  calibration.kernels = static_cast<int>(cpu.size());
  const double trust = static_cast<double>(cpu.size()) / (static_cast<double>(cpu.size()) + 1);
  calibration.log_cpu = trust * median(std::move(cpu));
  calibration.log_gpu = trust * median(std::move(gpu));
  return calibration;
}

fs::path calibration_file() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path base = config && *config ? fs::path(config)
                        : home && *home   ? fs::path(home) / ".config"
                                          : fs::path(".config");
  return base / "omen" / "loadbalance-calibration.txt";
}

void write_calibration(const Calibration& calibration, const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  replace_file(file, std::string(kHead) + "\ncpu " + calibration.cpu + "\ngpu " + calibration.gpu +
                         "\nlog_cpu " + number(calibration.log_cpu) + "\nlog_gpu " +
                         number(calibration.log_gpu) + "\nlaunch_ms " +
                         number(calibration.launch_ms) + "\nkernels " +
                         std::to_string(calibration.kernels) + "\n");
}

std::optional<Calibration> read_calibration(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::string line;
  if (!std::getline(in, line) || line != kHead)
    throw Error(OMEN_INVALID_DATA, file.string() + " is no calibration of this version",
                "Write it anew with: omen loadbalance calibrate");
  std::map<std::string, std::string> values;
  while (std::getline(in, line)) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) values[line.substr(0, space)] = line.substr(space + 1);
  }
  Calibration calibration;
  calibration.cpu = values["cpu"];
  calibration.gpu = values["gpu"];
  calibration.log_cpu = parsed(values["log_cpu"], file, "log_cpu");
  calibration.log_gpu = parsed(values["log_gpu"], file, "log_gpu");
  calibration.launch_ms = parsed(values["launch_ms"], file, "launch_ms");
  calibration.kernels = static_cast<int>(parsed(values["kernels"], file, "kernels"));
  return calibration;
}

}  // namespace omen::loadbalance
