// SPDX-License-Identifier: Apache-2.0
// Energy of CPU packages, cores and memory from the powercap counters.
#include <algorithm>
#include <cerrno>
#include <cmath>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

constexpr double kJoulesPerMicrojoule = 1e-6;

struct Domain {
  std::string name;
  KernelFile energy;
  std::int64_t range_uj = 0;  // the counter runs from 0 to this
  std::int64_t last_uj = -1;
  double joules = 0;
  RateMeter power;

  // The counter after it passed its end continues at 0; without a known range it is a reset.
  void advance(std::int64_t now_uj) {
    std::int64_t step = last_uj < 0 ? 0 : now_uj - last_uj;
    if (step < 0) step = range_uj > 0 ? step + range_uj + 1 : 0;
    last_uj = now_uj;
    joules += static_cast<double>(step) * kJoulesPerMicrojoule;
  }
};

std::vector<fs::path> find_zones(const fs::path& root) {
  std::vector<fs::path> zones;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find("-rapl:") == std::string::npos) continue;
    // The mmio tree repeats the package counter of the msr tree.
    if (name.rfind("intel-rapl-mmio", 0) == 0) continue;
    if (fs::exists(entry.path() / "energy_uj", error)) zones.push_back(entry.path());
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

std::string zone_name(const fs::path& zone) {
  std::string name = std::string(trim(read_small_file(zone / "name").value_or("unnamed")));
  // Sub-zones "intel-rapl:0:1" are called core or dram on every package: say which.
  const std::string id = zone.filename().string();
  const std::size_t first = id.find(':');
  const std::size_t second = id.find(':', first + 1);
  if (second == std::string::npos) return name;
  return "package-" + id.substr(first + 1, second - first - 1) + "/" + name;
}

class Rapl final : public Source {
 public:
  explicit Rapl(const Context& context) {
    const fs::path root = context.roots.sys / "class" / "powercap";
    const std::vector<fs::path> zones = find_zones(root);
    if (zones.empty())
      throw Error(OMEN_UNAVAILABLE, "no RAPL energy counters in " + root.string(),
                  "Load the kernel module intel_rapl_msr; virtual machines have no counters.");
    int denied = 0;
    for (const fs::path& zone : zones) {
      Domain domain{zone_name(zone), KernelFile(zone / "energy_uj"), 0, -1, 0, {}};
      if (!domain.energy.read_integer()) {
        denied += domain.energy.error() == EACCES || domain.energy.error() == EPERM;
        continue;
      }
      domain.range_uj = KernelFile(zone / "max_energy_range_uj").read_integer().value_or(0);
      domains_.push_back(std::move(domain));
    }
    if (domains_.empty() && denied > 0)
      throw Error(OMEN_UNAVAILABLE, "no permission to read " + (zones[0] / "energy_uj").string(),
                  "Run as root, or once: sudo chmod a+r /sys/class/powercap/*/energy_uj");
    if (domains_.empty())
      throw Error(OMEN_UNAVAILABLE, "no RAPL counter in " + root.string() + " gives a number",
                  "Look into the kernel log: dmesg | grep -i rapl");
    power_ = context.metrics.id("rapl.power_w");
    energy_ = context.metrics.id("rapl.energy_j");
  }

  std::string_view name() const override { return "rapl"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      Domain& domain = domains_[i];
      const auto now = domain.energy.read_integer();
      if (!now) continue;
      domain.advance(*now);
      const auto device = static_cast<std::int32_t>(i);
      rows.push_back({t_ns, domain.joules, energy_, device, 0});
      if (const auto watts = domain.power.per_second(t_ns, domain.joules))
        rows.push_back({t_ns, *watts, power_, device, 0});
    }
  }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> found;
    for (std::size_t i = 0; i < domains_.size(); ++i)
      found.push_back({"rapl", static_cast<std::int32_t>(i), domains_[i].name, {}});
    return found;
  }

 private:
  std::vector<Domain> domains_;
  std::int32_t power_ = 0, energy_ = 0;
};

}  // namespace

SourcePtr make_rapl(const Context& context) {
  return std::make_unique<Rapl>(context);
}

}  // namespace omen::telemetry
