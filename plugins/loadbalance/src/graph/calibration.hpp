// SPDX-License-Identifier: Apache-2.0
// What measurements on the user's machine say about predicted times: the file between
// `omen loadbalance calibrate`, which writes it, and loadbalance.cost, which reads it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace omen::loadbalance {

// Predicted times are multiplied by exp(log_cpu) and exp(log_gpu).
struct Calibration {
  std::string cpu, gpu;  // devices that were measured, as their drivers call them
  double log_cpu = 0, log_gpu = 0;
  double launch_ms = 0;  // of the GPU; 0: not measured
  int kernels = 0;       // that it rests on
};

// Times of one kernel in ms: as loadbalance.cost predicts them without calibration, and as
// measured.
struct CalibrationPoint {
  double predicted_cpu = 0, predicted_gpu = 0, measured_cpu = 0, measured_gpu = 0;
};

// Medians of the logarithms of measured over predicted, drawn towards 0 where there are few points.
// Points with a time that is not positive do not count; OMEN_INVALID_DATA where none remains.
Calibration fit_calibration(const std::vector<CalibrationPoint>& points);

// $XDG_CONFIG_HOME/omen/loadbalance-calibration.txt, or the same below ~/.config.
std::filesystem::path calibration_file();
// Lines of a key and a value; put in place in one step.
void write_calibration(const Calibration& calibration, const std::filesystem::path& file);
// Nothing where there is no such file; OMEN_INVALID_DATA with the line where it cannot be read.
std::optional<Calibration> read_calibration(const std::filesystem::path& file);

}  // namespace omen::loadbalance
