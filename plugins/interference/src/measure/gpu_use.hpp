// SPDX-License-Identifier: Apache-2.0
// The first NVIDIA GPU of this machine: what it is called, and how busy it is.
#pragma once

#include <memory>
#include <omen/telemetry/nvml.hpp>
#include <string>

namespace omen::interference {

class GpuUse {
 public:
  // Nothing where there is no GPU or no driver.
  static std::unique_ptr<GpuUse> open(const std::string& library = telemetry::kNvmlLibrary);

  const std::string& name() const { return name_; }
  // Of the driver's last period; NaN where it does not say.
  double util_percent();

 private:
  GpuUse() = default;

  telemetry::MetricTable metrics_;
  telemetry::Notes notes_;
  telemetry::SourcePtr source_;
  std::vector<telemetry::Sample> rows_;
  std::string name_;
};

}  // namespace omen::interference
