// SPDX-License-Identifier: Apache-2.0
// Usage and limits of a control group, version 2: what a container or a Slurm step may use.
#include <unistd.h>

#include <algorithm>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

std::optional<double> keyed_number(std::string_view text, std::string_view key) {
  Scanner scanner(text);
  while (!scanner.at_end()) {
    Scanner line(scanner.line());
    if (line.word() == key) return line.number<double>();
  }
  return std::nullopt;
}

// "some avg10=1.25 avg60=..." gives 1.25.
std::optional<double> pressure(std::string_view text) {
  constexpr std::string_view kKey = "some avg10=";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  return Scanner(text.substr(at + kKey.size())).number<double>();
}

// The mount point is below unified/ where version 1 controllers are mounted as well.
std::optional<fs::path> find_mount(const Roots& roots) {
  for (const char* place : {"fs/cgroup", "fs/cgroup/unified"})
    if (fs::exists(roots.sys / place / "cgroup.controllers")) return roots.sys / place;
  return std::nullopt;
}

fs::path find_group(const Roots& roots, pid_t pid) {
  const auto mount = find_mount(roots);
  if (!mount)
    throw Error(OMEN_UNAVAILABLE, "no control groups of version 2",
                "Boot with systemd.unified_cgroup_hierarchy=1, or mount cgroup2 in the container.");
  const fs::path file =
      roots.proc / (pid == 0 ? std::string("self") : std::to_string(pid)) / "cgroup";
  const auto text = read_small_file(file);
  if (!text) throw Error(OMEN_UNAVAILABLE, "cannot read " + file.string(), "Mount /proc.");
  Scanner scanner(*text);
  while (!scanner.at_end()) {
    const std::string_view line = scanner.line();
    if (line.substr(0, 3) == "0::") return *mount / fs::path(line.substr(3)).relative_path();
  }
  throw Error(OMEN_UNAVAILABLE, "the process is in no control group of version 2",
              "Boot with systemd.unified_cgroup_hierarchy=1.");
}

class Cgroup final : public Source {
 public:
  Cgroup(const Context& context, pid_t pid) : metrics_(context.metrics) {
    mount_ = find_mount(context.roots).value_or(fs::path());
    group_ = find_group(context.roots, pid);
    open_file(cpu_stat_, "cpu.stat");
    open_file(memory_, "memory.current");
    open_file(events_, "memory.events");
    add_level("memory.peak", "memory_peak_bytes");
    add_level("memory.swap.current", "swap_bytes");
    add_level("pids.current", "pids");
    for (const char* what : {"cpu", "memory", "io"}) add_pressure(what);
    // cpu.stat exists for the root as well, where it says nothing about limits or memory.
    if (!fs::exists(group_ / "memory.current") && !fs::exists(group_ / "cpu.max"))
      throw Error(OMEN_UNAVAILABLE,
                  "the control group " + group_.string() + " has no memory or cpu controller",
                  "Run the job in a slice of its own: systemd-run --user --scope COMMAND.");
    cpu_percent_ = metrics_.id("cgroup.cpu_percent");
    throttled_ = metrics_.id("cgroup.throttled_percent");
    cpu_limit_ = metrics_.id("cgroup.cpu_limit_cores");
    memory_bytes_ = metrics_.id("cgroup.memory_bytes");
    memory_limit_ = metrics_.id("cgroup.memory_limit_bytes");
    oom_kills_ = metrics_.id("cgroup.oom_kills");
  }

  std::string_view name() const override { return "cgroup"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    const auto put = [&](std::int32_t metric, std::optional<double> value) {
      if (value) rows.push_back({t_ns, *value, metric, Sample::kWholeMachine, 0});
    };
    if (const auto text = cpu_stat_.read()) {
      const auto percent = [&](std::string_view key, RateMeter& meter) -> std::optional<double> {
        const auto usec = keyed_number(*text, key);
        const auto rate = usec ? meter.per_second(t_ns, *usec) : std::nullopt;
        return rate ? std::optional(*rate / 1e4) : std::nullopt;
      };
      put(cpu_percent_, percent("usage_usec", cpu_rate_));
      put(throttled_, percent("throttled_usec", throttled_rate_));
    }
    if (const auto bytes = memory_.read_integer()) put(memory_bytes_, static_cast<double>(*bytes));
    if (const auto text = events_.read()) put(oom_kills_, keyed_number(*text, "oom_kill"));
    for (File& level : levels_)
      if (const auto value = level.file.read_integer())
        put(level.metric, static_cast<double>(*value));
    for (File& stall : pressures_)
      if (const auto text = stall.file.read()) put(stall.metric, pressure(*text));
    read_limits(t_ns);
    put(cpu_limit_, cpu_cores_);
    put(memory_limit_, memory_max_);
  }

  std::vector<DeviceInfo> devices() const override {
    return {
        {"cgroup", Sample::kWholeMachine, "/" + group_.lexically_relative(mount_).string(), {}}};
  }

 private:
  struct File {
    KernelFile file;
    std::int32_t metric;
  };

  void open_file(KernelFile& file, const char* name) { file = KernelFile(group_ / name); }
  void add_level(const char* name, const char* metric) {
    if (fs::exists(group_ / name))
      levels_.push_back({KernelFile(group_ / name), metrics_.id("cgroup." + std::string(metric))});
  }
  void add_pressure(const std::string& what) {
    if (fs::exists(group_ / (what + ".pressure")))
      pressures_.push_back({KernelFile(group_ / (what + ".pressure")),
                            metrics_.id("cgroup." + what + "_pressure_percent")});
  }

  // A limit holds for everything below it, so the tightest one up to the root counts. Limits change
  // rarely: once a second is enough.
  void read_limits(std::int64_t t_ns) {
    if (t_ns < next_limits_ns_) return;
    next_limits_ns_ = t_ns + 1'000'000'000;
    cpu_cores_.reset();
    memory_max_.reset();
    for (fs::path at = group_; at != mount_ && at.has_relative_path(); at = at.parent_path()) {
      if (const auto text = read_small_file(at / "cpu.max")) {
        Scanner scanner(*text);
        const auto quota = scanner.number<double>();
        const auto period = quota ? scanner.number<double>() : std::nullopt;
        if (period && *period > 0) tighten(cpu_cores_, *quota / *period);
      }
      if (const auto text = read_small_file(at / "memory.max"))
        if (const auto bytes = Scanner(*text).number<double>()) tighten(memory_max_, *bytes);
    }
  }
  static void tighten(std::optional<double>& limit, double value) {
    limit = limit ? std::min(*limit, value) : value;
  }

  MetricTable& metrics_;
  fs::path mount_, group_;
  KernelFile cpu_stat_, memory_, events_;
  std::vector<File> levels_, pressures_;
  std::int32_t cpu_percent_, throttled_, cpu_limit_, memory_bytes_, memory_limit_, oom_kills_;
  RateMeter cpu_rate_, throttled_rate_;
  std::optional<double> cpu_cores_, memory_max_;
  std::int64_t next_limits_ns_ = 0;
};

}  // namespace

SourcePtr make_cgroup(const Context& context, pid_t pid) {
  return std::make_unique<Cgroup>(context, pid);
}

}  // namespace omen::telemetry
