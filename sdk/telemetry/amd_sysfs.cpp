// SPDX-License-Identifier: Apache-2.0
// AMD GPUs from sysfs, without a library: load, memory, power, temperature and clocks.
#include <algorithm>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAmdVendor = "0x1002";

// "card0" is a GPU, "card0-HDMI-A-1" a connector of it.
bool is_card(const std::string& name) {
  return name.rfind("card", 0) == 0 && name.size() > 4 &&
         name.find_first_not_of("0123456789", 4) == std::string::npos;
}

std::optional<fs::path> find_hwmon(const fs::path& device) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(device / "hwmon", error)) return entry.path();
  return std::nullopt;
}

class AmdSysfs final : public Source {
 public:
  AmdSysfs(const Context& context, std::int32_t first_device) {
    const fs::path root = context.roots.sys / "class" / "drm";
    std::vector<fs::path> cards;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error))
      if (is_card(entry.path().filename())) cards.push_back(entry.path());
    std::sort(cards.begin(), cards.end());
    for (const fs::path& card : cards) {
      const auto vendor = read_small_file(card / "device" / "vendor");
      if (!vendor || trim(*vendor) != kAmdVendor) continue;
      add_card(card, first_device++, context.metrics);
    }
    if (devices_.empty())
      throw Error(OMEN_UNAVAILABLE, "no AMD GPU in " + root.string(),
                  "Load the amdgpu kernel driver, and pass /sys through to the container.");
    if (values_.empty())
      throw Error(OMEN_UNAVAILABLE, "the driver of " + devices_[0].name + " gives no figures",
                  "Use the amdgpu kernel driver; radeon has no counters.");
  }

  std::string_view name() const override { return "amd_sysfs"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    for (Value& value : values_) {
      const auto raw = value.file.read_integer();
      if (!raw) continue;
      rows.push_back(
          {t_ns, static_cast<double>(*raw) * value.scale, value.metric, value.device, 0});
    }
  }

  std::vector<DeviceInfo> devices() const override { return devices_; }

 private:
  struct Value {
    KernelFile file;
    std::int32_t metric, device;
    double scale;
  };

  void add_card(const fs::path& card, std::int32_t device, MetricTable& metrics) {
    const fs::path dir = card / "device";
    // Files that are present but do not answer (engine asleep, partition) are left out.
    const auto add = [&](const fs::path& file, const char* metric, double scale) {
      KernelFile reader(file);
      if (!reader.read_integer()) return false;
      values_.push_back({std::move(reader), metrics.id(metric), device, scale});
      return true;
    };
    add(dir / "gpu_busy_percent", "gpu.util_percent", 1);
    add(dir / "mem_busy_percent", "gpu.mem_util_percent", 1);
    add(dir / "mem_info_vram_used", "gpu.mem_used_bytes", 1);
    add(dir / "mem_info_vram_total", "gpu.mem_total_bytes", 1);
    if (const auto hwmon = find_hwmon(dir)) {
      if (!add(*hwmon / "power1_average", "gpu.power_w", 1e-6))
        add(*hwmon / "power1_input", "gpu.power_w", 1e-6);
      add(*hwmon / "temp1_input", "gpu.temperature_c", 1e-3);
      add(*hwmon / "freq1_input", "gpu.clock_sm_mhz", 1e-6);
      add(*hwmon / "freq2_input", "gpu.clock_mem_mhz", 1e-6);
    }
    const auto product = read_small_file(dir / "product_name");
    const std::string name = product && !trim(*product).empty()
                                 ? std::string(trim(*product))
                                 : "AMD GPU " + card.filename().string();
    devices_.push_back({"gpu", device, name, {{"vendor", "AMD"}}});
  }

  std::vector<Value> values_;
  std::vector<DeviceInfo> devices_;
};

}  // namespace

SourcePtr make_amd_sysfs(const Context& context, std::int32_t first_device) {
  return std::make_unique<AmdSysfs>(context, first_device);
}

}  // namespace omen::telemetry
