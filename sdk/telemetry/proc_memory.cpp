// SPDX-License-Identifier: Apache-2.0
// Memory of the machine from /proc/meminfo.
#include <array>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

constexpr double kBytesPerKib = 1024;

class ProcMemory final : public Source {
 public:
  explicit ProcMemory(const Context& context) : file_(context.roots.proc / "meminfo") {
    const auto text = file_.read();
    if (!text || text->find("MemTotal:") == std::string_view::npos)
      throw Error(OMEN_UNAVAILABLE, "cannot read memory figures from " + file_.path().string(),
                  "Mount /proc in this container, or choose another root with proc_root.");
    constexpr std::array<std::string_view, 8> kNames = {"total",  "available", "free", "buffers",
                                                        "cached", "dirty",     "used", "swap_used"};
    for (std::size_t i = 0; i < kNames.size(); ++i)
      metric_[i] = context.metrics.id("mem." + std::string(kNames[i]) + "_bytes");
  }

  std::string_view name() const override { return "proc_memory"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    const auto text = file_.read();
    if (!text) throw Error(OMEN_IO, "cannot read " + file_.path().string());
    const Fields fields = parse(*text);
    for (std::size_t i = 0; i < kDirect; ++i) put(i, fields.kib[i], t_ns, rows);
    if (fields.kib[kTotal] && fields.kib[kAvailable])
      put(kUsed, *fields.kib[kTotal] - *fields.kib[kAvailable], t_ns, rows);
    if (fields.swap_total && fields.swap_free)
      put(kSwapUsed, *fields.swap_total - *fields.swap_free, t_ns, rows);
  }

 private:
  enum {
    kTotal,
    kAvailable,
    kFree,
    kBuffers,
    kCached,
    kDirty,
    kDirect,
    kUsed = kDirect,
    kSwapUsed
  };
  struct Fields {
    std::array<std::optional<double>, kDirect> kib;
    std::optional<double> swap_total, swap_free;
  };

  static Fields parse(std::string_view text) {
    constexpr std::array<std::string_view, kDirect> kKeys = {
        "MemTotal:", "MemAvailable:", "MemFree:", "Buffers:", "Cached:", "Dirty:"};
    Fields fields;
    Scanner scanner(text);
    while (!scanner.at_end()) {
      Scanner line(scanner.line());
      const std::string_view key = line.word();
      const auto value = line.number<double>();
      if (!value) continue;
      if (key == "SwapTotal:") fields.swap_total = value;
      if (key == "SwapFree:") fields.swap_free = value;
      for (std::size_t i = 0; i < kKeys.size(); ++i)
        if (key == kKeys[i]) fields.kib[i] = value;
    }
    return fields;
  }

  void put(std::size_t which, std::optional<double> kib, std::int64_t t_ns,
           std::vector<Sample>& rows) const {
    if (!kib) return;
    rows.push_back({t_ns, *kib * kBytesPerKib, metric_[which], Sample::kWholeMachine, 0});
  }

  KernelFile file_;
  std::array<std::int32_t, 8> metric_{};
};

}  // namespace

SourcePtr make_proc_memory(const Context& context) {
  return std::make_unique<ProcMemory>(context);
}

}  // namespace omen::telemetry
