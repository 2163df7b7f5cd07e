// SPDX-License-Identifier: Apache-2.0
// What a recording says of power: the sources that together are the machine, and when the job ran.
#pragma once

#include <omen/telemetry/rows.hpp>
#include <omen/telemetry/trace_energy.hpp>
#include <optional>
#include <string>
#include <vector>

namespace omen::power {

// One counter or sensor. `kind` as telemetry calls it: meter, gpu, rapl, hwmon or estimate.
struct PowerSource {
  std::string kind;
  std::int32_t device = 0;
  std::string name;
  telemetry::TraceSeries watts, joules;  // a series without points was not recorded
};

struct PowerTrace {
  std::vector<PowerSource> sources;  // of the whole recording; choose_sources takes some of them
  std::vector<std::int64_t> throttled_ns;
  std::vector<std::pair<std::int64_t, std::string>> marks;
  std::optional<telemetry::Window> job;  // where the recording ran one
  std::optional<int> exit_code;          // of the job, 128 and the signal where one ended it
};

// The traces of all repetitions. `tdp_w` above 0 adds an estimate from the load of the processor.
std::vector<PowerTrace> read_power(telemetry::RowReader& rows, double tdp_w);

// Leaves those that do not count a watt twice: a meter alone; or the GPUs with the packages and the
// memory of the processor, or its whole-platform counter; or the largest rail; or the estimate.
// `kind`: of these only. False where nothing is left.
bool choose_sources(PowerTrace& trace, const std::string& kind = {});

// What all chosen sources give together.
struct Drawn {
  double joules = 0, seconds = 0;
  std::string method;  // counter, trapezoid or estimated
  std::string remark;  // why the figure is doubtful; empty where it is not
  double watts() const { return seconds > 0 ? joules / seconds : 0; }
};
Drawn drawn_in(const PowerTrace& trace, const telemetry::Window& window);

}  // namespace omen::power
