// SPDX-License-Identifier: Apache-2.0
// Traffic of block devices from /proc/diskstats.
#include <array>
#include <map>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

constexpr double kSectorBytes = 512;  // fixed by the kernel, whatever the device's own sector size

class Disk final : public Source {
 public:
  explicit Disk(const Context& context)
      : file_(context.roots.proc / "diskstats"), blocks_(context.roots.sys / "block") {
    const auto text = file_.read();
    if (!text)
      throw Error(OMEN_UNAVAILABLE, "cannot read " + file_.path().string(),
                  "Mount /proc in this container, or choose another root with proc_root.");
    find_disks(*text);
    if (disks_.empty())
      throw Error(OMEN_UNAVAILABLE, "no disk in " + file_.path().string(),
                  "Nothing to do: this machine has only virtual block devices.");
    constexpr std::array<std::string_view, 5> kNames = {
        "reads_per_s", "read_bytes_per_s", "writes_per_s", "write_bytes_per_s", "busy_percent"};
    for (std::size_t i = 0; i < kNames.size(); ++i)
      metric_[i] = context.metrics.id("disk." + std::string(kNames[i]));
  }

  std::string_view name() const override { return "disk"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    const auto text = file_.read();
    if (!text) throw Error(OMEN_IO, "cannot read " + file_.path().string());
    Scanner scanner(*text);
    while (!scanner.at_end()) {
      const auto line = parse(scanner.line());
      const auto at = line ? disks_.find(line->name) : disks_.end();
      if (at == disks_.end()) continue;
      for (std::size_t i = 0; i < kValues; ++i) {
        const auto rate = at->second.rates[i].per_second(t_ns, line->counters[i]);
        if (rate) rows.push_back({t_ns, *rate, metric_[i], at->second.index, 0});
      }
    }
  }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> found;
    for (const auto& [name, disk] : disks_) found.push_back({"disk", disk.index, name, {}});
    return found;
  }

 private:
  static constexpr std::size_t kValues = 5;
  struct Line {
    std::string_view name;
    std::array<double, kValues> counters;
  };
  struct State {
    std::int32_t index = 0;
    std::array<RateMeter, kValues> rates;
  };

  static std::optional<Line> parse(std::string_view text) {
    Scanner scanner(text);
    scanner.word();
    scanner.word();
    Line line;
    line.name = scanner.word();
    std::array<double, 10> field{};
    for (double& value : field) {
      const auto number = scanner.number<double>();
      if (!number) return std::nullopt;
      value = *number;
    }
    // Milliseconds spent doing I/O become percent once they are divided by seconds.
    constexpr double kPercentPerMs = 0.1;
    line.counters = {field[0], field[2] * kSectorBytes, field[4], field[6] * kSectorBytes,
                     field[9] * kPercentPerMs};
    return line;
  }

  // Partitions and memory-backed devices would count the same bytes twice or count no disk at all.
  bool is_disk(std::string_view name) const {
    for (const std::string_view prefix : {"loop", "ram", "zram", "dm-", "md", "sr", "fd"})
      if (name.substr(0, prefix.size()) == prefix) return false;
    return std::filesystem::exists(blocks_ / name);
  }

  void find_disks(std::string_view text) {
    Scanner scanner(text);
    while (!scanner.at_end()) {
      const auto line = parse(scanner.line());
      if (line && is_disk(line->name)) disks_.emplace(line->name, State{});
    }
    std::int32_t index = 0;
    for (auto& [name, disk] : disks_) disk.index = index++;
  }

  KernelFile file_;
  std::filesystem::path blocks_;
  std::map<std::string, State, std::less<>> disks_;
  std::array<std::int32_t, kValues> metric_{};
};

}  // namespace

SourcePtr make_disk(const Context& context) {
  return std::make_unique<Disk>(context);
}

}  // namespace omen::telemetry
