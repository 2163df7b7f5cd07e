// SPDX-License-Identifier: Apache-2.0
// Text of mpstat: one block a sample, with a header that names the columns.
#include <algorithm>
#include <array>

#include "import_text.hpp"

namespace omen::telemetry {
namespace {

// Columns by the names that different versions gave them.
constexpr std::array<ColumnName, 13> kMpstatNames = {{{"%usr", "cpu.usr_percent"},
                                                      {"%user", "cpu.usr_percent"},
                                                      {"%nice", "cpu.nice_percent"},
                                                      {"%sys", "cpu.sys_percent"},
                                                      {"%system", "cpu.sys_percent"},
                                                      {"%iowait", "cpu.iowait_percent"},
                                                      {"%irq", "cpu.irq_percent"},
                                                      {"%soft", "cpu.softirq_percent"},
                                                      {"%steal", "cpu.steal_percent"},
                                                      {"%guest", "cpu.guest_percent"},
                                                      {"%gnice", "cpu.guest_nice_percent"},
                                                      {"%idle", "cpu.idle_percent"},
                                                      {"intr/s", "sys.interrupts_per_s"}}};

class Mpstat final : public TextImport {
 public:
  explicit Mpstat(const std::filesystem::path& path) : TextImport(path, "mpstat") {}

 protected:
  bool take(std::string_view line, std::vector<LogRow>& rows) override {
    const std::vector<std::string_view> words = split_blanks(line);
    if (words[0] == "Average:" || words[0] == "Linux") return true;
    const auto cpu = std::find(words.begin(), words.end(), "CPU");
    if (cpu != words.end() && std::find(words.begin(), words.end(), "%idle") != words.end()) {
      columns_.assign(words.begin(), words.end());
      cpu_column_ = static_cast<std::size_t>(cpu - words.begin());
      // A header carries the end of the sample before, which for the first one is the start.
      if (const auto moment = time_of(words)) timeline_.since_start(*moment);
      return true;
    }
    if (words.size() != columns_.size()) return false;
    return take_sample(words, rows);
  }

 private:
  std::optional<Moment> time_of(const std::vector<std::string_view>& words) const {
    std::string text;
    for (std::size_t i = 0; i < cpu_column_; ++i) text += (i ? " " : "") + std::string(words[i]);
    return parse_moment(text);
  }

  bool take_sample(const std::vector<std::string_view>& words, std::vector<LogRow>& rows) {
    const auto moment = time_of(words);
    std::int32_t core = Sample::kWholeMachine;
    if (words[cpu_column_] != "all") {
      const auto number = parse_device(words[cpu_column_]);
      if (!number) return false;
      core = *number;
    }
    if (!moment) return false;
    const std::int64_t t_ns = timeline_.since_start(*moment);
    for (std::size_t i = cpu_column_ + 1; i < words.size(); ++i) {
      const ColumnName* known = find_column(kMpstatNames, columns_[i]);
      const auto value = parse_number(words[i]);
      if (!known || !value) continue;
      put(rows, t_ns, known->metric, *value, core);
      if (known->column == "%idle") put(rows, t_ns, "cpu.busy_percent", 100 - *value, core);
    }
    return true;
  }

  std::vector<std::string> columns_;
  std::size_t cpu_column_ = 0;
  Timeline timeline_;
};

}  // namespace

RowReaderPtr import_mpstat(const std::filesystem::path& path) {
  return std::make_unique<Mpstat>(path);
}

}  // namespace omen::telemetry
