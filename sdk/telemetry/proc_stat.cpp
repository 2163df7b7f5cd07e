// SPDX-License-Identifier: Apache-2.0
// CPU shares per core from /proc/stat.
#include "proc_stat.hpp"

#include <algorithm>

#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

enum State { kUser, kNice, kSystem, kIdle, kIoWait, kIrq, kSoftIrq, kSteal, kGuest, kGuestNice };

class ProcStat final : public Source {
 public:
  explicit ProcStat(const Context& context)
      : file_(context.roots.proc / "stat"), cpu_(context.metrics), switches_(context.metrics) {
    const auto text = file_.read();
    if (!text || text->substr(0, 3) != "cpu")
      throw Error(OMEN_UNAVAILABLE, "cannot read CPU times from " + file_.path().string(),
                  "Mount /proc in this container, or choose another root with proc_root.");
    cores_ = count_cores(*text);
  }

  std::string_view name() const override { return "proc_stat"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    const auto text = file_.read();
    if (!text) throw Error(OMEN_IO, "cannot read " + file_.path().string());
    Scanner scanner(*text);
    while (!scanner.at_end()) {
      const std::string_view line = scanner.line();
      if (line.substr(0, 3) == "cpu") {
        cpu_.add_line(line, t_ns, rows);
      } else {
        switches_.add_line(line, t_ns, rows);
      }
    }
  }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> cores;
    for (std::int32_t core : cores_)
      cores.push_back({"cpu", core, "core " + std::to_string(core), {}});
    return cores;
  }

 private:
  static std::vector<std::int32_t> count_cores(std::string_view text) {
    std::vector<std::int32_t> cores;
    Scanner scanner(text);
    while (!scanner.at_end()) {
      const std::string_view line = scanner.line();
      if (line.substr(0, 3) != "cpu" || line.size() < 4 || line[3] == ' ') continue;
      if (const auto core = Scanner(line.substr(3)).number<std::int32_t>()) cores.push_back(*core);
    }
    return cores;
  }

  KernelFile file_;
  CpuShares cpu_;
  SwitchRates switches_;
  std::vector<std::int32_t> cores_;
};

}  // namespace

CpuShares::CpuShares(MetricTable& metrics) {
  constexpr std::string_view kNames[kStates] = {"usr", "nice",    "sys",   "idle",  "iowait",
                                                "irq", "softirq", "steal", "guest", "guest_nice"};
  for (std::size_t i = 0; i < kStates; ++i)
    metric_[i] = metrics.id("cpu." + std::string(kNames[i]) + "_percent");
  busy_ = metrics.id("cpu.busy_percent");
}

bool CpuShares::add_line(std::string_view line, std::int64_t t_ns, std::vector<Sample>& rows) {
  line.remove_prefix(3);
  std::int32_t core = Sample::kWholeMachine;
  Scanner scanner(line);
  if (!line.empty() && line.front() != ' ') {
    const auto number = scanner.number<std::int32_t>();
    if (!number) return false;
    core = *number;
  }
  Times now{};
  std::size_t fields = 0;
  for (; fields < kStates; ++fields) {
    const auto value = scanner.number<std::int64_t>();
    if (!value) break;
    now[fields] = *value;
  }
  if (fields <= kIdle) return false;  // the oldest kernels have four columns
  const auto [at, first] = last_.try_emplace(core, now);
  if (first) return true;
  emit(core, at->second, now, t_ns, rows);
  at->second = now;
  return true;
}

void CpuShares::emit(std::int32_t core, const Times& before, const Times& now, std::int64_t t_ns,
                     std::vector<Sample>& rows) const {
  Times spent{};
  for (std::size_t i = 0; i < kStates; ++i) {
    // The kernel's idle and iowait columns may step back; such a step counts as no time.
    spent[i] = std::max<std::int64_t>(0, now[i] - before[i]);
  }
  // The kernel counts guests in user and nice as well.
  spent[kUser] = std::max<std::int64_t>(0, spent[kUser] - spent[kGuest]);
  spent[kNice] = std::max<std::int64_t>(0, spent[kNice] - spent[kGuestNice]);
  std::int64_t total = 0;
  for (const std::int64_t part : spent) total += part;
  if (total == 0) return;
  const double scale = 100.0 / static_cast<double>(total);
  for (std::size_t i = 0; i < kStates; ++i)
    rows.push_back({t_ns, static_cast<double>(spent[i]) * scale, metric_[i], core, 0});
  rows.push_back({t_ns, static_cast<double>(total - spent[kIdle]) * scale, busy_, core, 0});
}

SourcePtr make_proc_stat(const Context& context) {
  return std::make_unique<ProcStat>(context);
}

}  // namespace omen::telemetry
