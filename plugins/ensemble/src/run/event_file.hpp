// SPDX-License-Identifier: Apache-2.0
// Curves as TensorBoard event files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace omen::ensemble {

struct Curve {
  std::string tag;
  std::vector<double> values;  // one for each step from 0 on; NaN is left out
};

// Records framed as TensorFlow does: length, checksum, event, checksum.
void write_event_file(const std::filesystem::path& path, const std::vector<Curve>& curves,
                      double wall_time);

}  // namespace omen::ensemble
