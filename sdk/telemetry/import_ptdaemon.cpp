// SPDX-License-Identifier: Apache-2.0
// Logs of a power meter: names and values in turn, "Time,...,Watts,...,Mark,...".
#include <array>

#include "import_text.hpp"

namespace omen::telemetry {
namespace {

constexpr std::array<ColumnName, 4> kPtdaemonNames = {{{"Watts", "meter.power_w"},
                                                       {"Volts", "meter.voltage_v"},
                                                       {"Amps", "meter.current_a"},
                                                       {"PF", "meter.power_factor"}}};

class PtDaemon final : public TextImport {
 public:
  explicit PtDaemon(const std::filesystem::path& path) : TextImport(path, "ptdaemon") {}

 protected:
  bool take(std::string_view line, std::vector<LogRow>& rows) override {
    const std::vector<std::string> fields = split_csv(line);
    if (fields.size() < 4 || fields[0] != "Time") return false;
    const auto moment = parse_moment(fields[1]);
    if (!moment) return false;
    const std::int64_t t_ns = timeline_.since_start(*moment);
    for (std::size_t i = 2; i + 1 < fields.size(); i += 2) {
      if (fields[i] == "Mark") take_mark(fields[i + 1], t_ns, rows);
      const ColumnName* known = find_column(kPtdaemonNames, fields[i]);
      const auto value = parse_number(fields[i + 1]);
      // The daemon writes -1 for a reading that the meter did not give.
      if (known && value && *value >= 0) put(rows, t_ns, known->metric, *value, 0);
    }
    return true;
  }

 private:
  // Every line repeats the mark in force: only a new one is an event.
  void take_mark(const std::string& mark, std::int64_t t_ns, std::vector<LogRow>& rows) {
    if (mark == mark_) return;
    mark_ = mark;
    if (!mark.empty() && mark != "notset") put(rows, t_ns, "mark." + mark, ++marks_);
  }

  Timeline timeline_;
  std::string mark_;
  int marks_ = 0;
};

}  // namespace

RowReaderPtr import_ptdaemon(const std::filesystem::path& path) {
  return std::make_unique<PtDaemon>(path);
}

}  // namespace omen::telemetry
