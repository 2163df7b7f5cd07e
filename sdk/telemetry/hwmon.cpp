// SPDX-License-Identifier: Apache-2.0
// Sensors of /sys/class/hwmon: temperatures, power and voltage rails, fans.
#include <algorithm>
#include <array>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::string_view prefix, suffix, metric;
  double scale;  // the kernel's unit to ours
};
constexpr std::array<Kind, 6> kKinds = {{{"temp", "_input", "hwmon.temperature_c", 1e-3},
                                         {"power", "_input", "hwmon.power_w", 1e-6},
                                         {"power", "_average", "hwmon.power_w", 1e-6},
                                         {"in", "_input", "hwmon.voltage_v", 1e-3},
                                         {"curr", "_input", "hwmon.current_a", 1e-3},
                                         {"fan", "_input", "hwmon.fan_rpm", 1}}};

// "temp12_input" is of kind "temp" and has the stem "temp12".
const Kind* kind_of(std::string_view file) {
  for (const Kind& kind : kKinds) {
    if (file.size() <= kind.prefix.size() + kind.suffix.size()) continue;
    if (file.substr(0, kind.prefix.size()) != kind.prefix) continue;
    if (file.substr(file.size() - kind.suffix.size()) != kind.suffix) continue;
    const auto digits =
        file.substr(kind.prefix.size(), file.size() - kind.prefix.size() - kind.suffix.size());
    if (digits.find_first_not_of("0123456789") == std::string_view::npos) return &kind;
  }
  return nullptr;
}

class Hwmon final : public Source {
 public:
  explicit Hwmon(const Context& context) {
    const fs::path root = context.roots.sys / "class" / "hwmon";
    std::error_code error;
    std::vector<fs::path> chips;
    for (const auto& entry : fs::directory_iterator(root, error)) chips.push_back(entry.path());
    std::sort(chips.begin(), chips.end());
    for (const fs::path& chip : chips) add_chip(chip, context.metrics);
    if (sensors_.empty())
      throw Error(OMEN_UNAVAILABLE, "no sensors in " + root.string(),
                  "Load the board's driver (sensors-detect); virtual machines have no sensors.");
  }

  std::string_view name() const override { return "hwmon"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      Sensor& sensor = sensors_[i];
      const auto raw = sensor.file.read_integer();
      if (!raw) continue;
      rows.push_back({t_ns, static_cast<double>(*raw) * sensor.scale, sensor.metric,
                      static_cast<std::int32_t>(i), 0});
    }
  }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> found;
    for (std::size_t i = 0; i < sensors_.size(); ++i)
      found.push_back({"hwmon", static_cast<std::int32_t>(i), sensors_[i].name, {}});
    return found;
  }

 private:
  struct Sensor {
    std::string name;
    KernelFile file;
    std::int32_t metric;
    double scale;
  };

  void add_chip(const fs::path& chip, MetricTable& metrics) {
    const std::string chip_name(trim(read_small_file(chip / "name").value_or(chip.filename())));
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(chip, error))
      files.push_back(entry.path().filename());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      const Kind* kind = kind_of(file);
      if (!kind) continue;
      KernelFile reader(chip / file);
      if (!reader.read_integer()) continue;  // listed, but nothing is connected
      const std::string stem = file.substr(0, file.size() - kind->suffix.size());
      const auto label = read_small_file(chip / (stem + "_label"));
      sensors_.push_back({chip_name + "/" + std::string(label ? trim(*label) : stem),
                          std::move(reader), metrics.id(kind->metric), kind->scale});
    }
  }

  std::vector<Sensor> sensors_;
};

}  // namespace

SourcePtr make_hwmon(const Context& context) {
  return std::make_unique<Hwmon>(context);
}

}  // namespace omen::telemetry
