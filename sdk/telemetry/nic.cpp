// SPDX-License-Identifier: Apache-2.0
// Traffic of network interfaces from /proc/net/dev.
#include <array>
#include <map>

#include "kernel_file.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

class Nic final : public Source {
 public:
  explicit Nic(const Context& context)
      // The thread's own view: /proc/net follows the network namespace of the reader.
      : file_(context.roots.proc / "net" / "dev"), metrics_(context.metrics) {
    const auto text = file_.read();
    if (!text)
      throw Error(OMEN_UNAVAILABLE, "cannot read " + file_.path().string(),
                  "Mount /proc in this container, or choose another root with proc_root.");
    constexpr std::array<std::string_view, kValues> kNames = {"rx_bytes_per_s", "rx_packets_per_s",
                                                              "tx_bytes_per_s", "tx_packets_per_s",
                                                              "errors_per_s",   "drops_per_s"};
    for (std::size_t i = 0; i < kNames.size(); ++i)
      metric_[i] = metrics_.id("nic." + std::string(kNames[i]));
    for_each_interface(*text, [&](std::string_view name, const Counters&) {
      interfaces_.try_emplace(std::string(name)).first->second.index = next_index_++;
    });
    if (interfaces_.empty())
      throw Error(OMEN_UNAVAILABLE, "no network interface but loopback",
                  "Nothing to do: this machine or container has no network.");
  }

  std::string_view name() const override { return "nic"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    const auto text = file_.read();
    if (!text) throw Error(OMEN_IO, "cannot read " + file_.path().string());
    for_each_interface(*text, [&](std::string_view name, const Counters& counters) {
      auto at = interfaces_.find(name);
      if (at == interfaces_.end()) return;
      for (std::size_t i = 0; i < kValues; ++i) {
        const auto rate = at->second.rates[i].per_second(t_ns, counters[i]);
        if (rate) rows.push_back({t_ns, *rate, metric_[i], at->second.index, 0});
      }
    });
  }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> found;
    for (const auto& [name, nic] : interfaces_) found.push_back({"nic", nic.index, name, {}});
    return found;
  }

 private:
  static constexpr std::size_t kValues = 6;
  using Counters = std::array<double, kValues>;
  struct State {
    std::int32_t index = 0;
    std::array<RateMeter, kValues> rates;
  };

  template <class Visit>
  static void for_each_interface(std::string_view text, Visit&& visit) {
    Scanner scanner(text);
    while (!scanner.at_end()) {
      const std::string_view line = scanner.line();
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view name = trim(line.substr(0, colon));
      if (name == "lo") continue;
      std::array<double, 16> field{};
      Scanner numbers(line.substr(colon + 1));
      bool complete = true;
      for (double& value : field) {
        const auto number = numbers.number<double>();
        complete = complete && number.has_value();
        value = number.value_or(0);
      }
      if (!complete) continue;
      visit(name, Counters{field[0], field[1], field[8], field[9], field[2] + field[10],
                           field[3] + field[11]});
    }
  }

  KernelFile file_;
  MetricTable& metrics_;
  std::map<std::string, State, std::less<>> interfaces_;
  std::array<std::int32_t, kValues> metric_{};
  std::int32_t next_index_ = 0;
};

}  // namespace

SourcePtr make_nic(const Context& context) {
  return std::make_unique<Nic>(context);
}

}  // namespace omen::telemetry
