// SPDX-License-Identifier: Apache-2.0
// Two readers of /proc/stat that share one read a tick: CPU shares, and switches and interrupts.
#ifndef OMEN_TELEMETRY_PROC_STAT_HPP
#define OMEN_TELEMETRY_PROC_STAT_HPP

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "kernel_file.hpp"
#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

class CpuShares {
 public:
  explicit CpuShares(MetricTable& metrics);
  // Takes one line that starts with "cpu"; false for a line that it cannot read.
  bool add_line(std::string_view line, std::int64_t t_ns, std::vector<Sample>& rows);

 private:
  static constexpr std::size_t kStates = 10;
  using Times = std::array<std::int64_t, kStates>;
  void emit(std::int32_t core, const Times& before, const Times& now, std::int64_t t_ns,
            std::vector<Sample>& rows) const;

  std::array<std::int32_t, kStates> metric_;
  std::int32_t busy_;
  std::map<std::int32_t, Times> last_;
};

class SwitchRates {
 public:
  explicit SwitchRates(MetricTable& metrics);
  void add_line(std::string_view line, std::int64_t t_ns, std::vector<Sample>& rows);

 private:
  struct Counter {
    std::string_view key;
    std::int32_t metric;
    bool is_rate;
    RateMeter rate;
  };
  std::vector<Counter> counters_;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_PROC_STAT_HPP
