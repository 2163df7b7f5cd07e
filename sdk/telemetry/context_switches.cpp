// SPDX-License-Identifier: Apache-2.0
// Context switches, interrupts, forks and the run queue from /proc/stat.
#include "proc_stat.hpp"

namespace omen::telemetry {

SwitchRates::SwitchRates(MetricTable& metrics) {
  counters_ = {{"ctxt", metrics.id("sys.context_switches_per_s"), true, {}},
               {"intr", metrics.id("sys.interrupts_per_s"), true, {}},
               {"processes", metrics.id("sys.forks_per_s"), true, {}},
               {"procs_running", metrics.id("sys.running_processes"), false, {}},
               {"procs_blocked", metrics.id("sys.blocked_processes"), false, {}}};
}

void SwitchRates::add_line(std::string_view line, std::int64_t t_ns, std::vector<Sample>& rows) {
  Scanner scanner(line);
  const std::string_view key = scanner.word();
  for (Counter& counter : counters_) {
    if (counter.key != key) continue;
    const auto value = scanner.number<std::int64_t>();
    if (!value) return;
    auto shown = std::optional(static_cast<double>(*value));
    if (counter.is_rate) shown = counter.rate.per_second(t_ns, *shown);
    if (shown) rows.push_back({t_ns, *shown, counter.metric, Sample::kWholeMachine, 0});
    return;
  }
}

}  // namespace omen::telemetry
