// SPDX-License-Identifier: Apache-2.0
// CSV traces with one row a sample (Weights & Biases, psutil, utilisation traces), or in long form.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "import_text.hpp"
#include "omen/telemetry/clock.hpp"

namespace omen::telemetry {
namespace {

constexpr double kMostNs = 9e18;

// Columns of the whole machine or process.
constexpr std::array<ColumnName, 16> kCsvNames = {
    {{"cpu_percent", "cpu.busy_percent", 1},
     {"cpu util%", "cpu.busy_percent", 1},
     {"cpu", "proc.cpu_share_percent", 1},
     {"memory", "mem.used_percent", 1},
     {"memory_percent", "mem.used_percent", 1},
     {"virtual_memory.percent", "mem.used_percent", 1},
     {"virtual_memory.used", "mem.used_bytes", 1},
     {"virtual_memory.available", "mem.available_bytes", 1},
     {"proc.memory.rssmb", "proc.rss_bytes", kMiB},
     {"proc.memory.percent", "proc.mem_percent", 1},
     {"proc.cpu.threads", "proc.threads", 1},
     {"rss", "proc.rss_bytes", 1},
     {"num_threads", "proc.threads", 1},
     {"gpu util%", "gpu.util_percent", 1},
     {"gpu mem util%", "gpu.mem_util_percent", 1},
     {"gpu memory", "gpu.mem_used_bytes", kMiB}}};
// The part behind "gpu.N." or "cpu.N.".
constexpr std::array<ColumnName, 11> kDeviceNames = {
    {{"gpu.gpu", "gpu.util_percent", 1},
     {"gpu.memory", "gpu.mem_util_percent", 1},
     {"gpu.memoryallocated", "gpu.mem_used_percent", 1},
     {"gpu.memoryallocatedbytes", "gpu.mem_used_bytes", 1},
     {"gpu.temp", "gpu.temperature_c", 1},
     {"gpu.powerwatts", "gpu.power_w", 1},
     {"gpu.powerpercent", "gpu.power_percent", 1},
     {"gpu.smclock", "gpu.clock_sm_mhz", 1},
     {"gpu.memoryclock", "gpu.clock_mem_mhz", 1},
     {"gpu.enforcedpowerlimitwatts", "gpu.power_limit_w", 1},
     {"cpu.cpu_percent", "cpu.busy_percent", 1}}};
constexpr std::array<std::string_view, 9> kTimeColumns = {"_timestamp",
                                                          "timestamp",
                                                          "time",
                                                          "datetime",
                                                          "_runtime",
                                                          "t",
                                                          "elapsed",
                                                          "relative time (process)",
                                                          "relative time (wall)"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "run 7 - system/gpu.0.temp" is system.gpu.0.temp of run 7; the prefix "system." says nothing
// here.
std::string plain_name(const std::string& header) {
  std::string name = lower(header);
  if (const std::size_t dash = name.rfind(" - "); dash != std::string::npos)
    name.erase(0, dash + 3);
  std::replace(name.begin(), name.end(), '/', '.');
  if (name.rfind("system.", 0) == 0) name.erase(0, 7);
  return name;
}

struct Target {
  std::string metric;  // empty: not a measurement
  std::int32_t device = Sample::kWholeMachine;
  double scale = 1;
};

Target target_of(const std::string& header) {
  const std::string name = plain_name(header);
  if (const ColumnName* known = find_column(kCsvNames, name)) {
    const bool is_gpu = name.rfind("gpu ", 0) == 0;
    return {known->metric, is_gpu ? 0 : Sample::kWholeMachine, known->scale};
  }
  // gpu.1.temp: the device stands in the middle.
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string::npos ? first : name.find('.', first + 1);
  if (second != std::string::npos) {
    const std::string middle = name.substr(first + 1, second - first - 1);
    const bool is_number = !middle.empty() && middle.size() < 6 &&
                           middle.find_first_not_of("0123456789") == std::string::npos;
    const ColumnName* known =
        find_column(kDeviceNames, name.substr(0, first) + name.substr(second));
    if (is_number && known) return {known->metric, std::stoi(middle), known->scale};
  }
  return {"import." + header, Sample::kWholeMachine, 1};
}

class Csv final : public TextImport {
 public:
  Csv(const std::filesystem::path& path, double period_s)
      : TextImport(path, "csv"), period_ns_(std::llround(period_s * 1e9)) {}

 protected:
  bool take(std::string_view line, std::vector<LogRow>& rows) override {
    const std::vector<std::string> fields = split_csv(line);
    if (targets_.empty()) return take_header(fields);
    if (fields.size() != targets_.size()) return false;
    return metric_column_ ? take_long(fields, rows) : take_wide(fields, rows);
  }

 private:
  bool take_header(std::vector<std::string> fields) {
    if (fields[0].rfind("\xEF\xBB\xBF", 0) == 0) fields[0].erase(0, 3);
    std::size_t best = kTimeColumns.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string name = plain_name(fields[i]);
      if (name == "metric") metric_column_ = i;
      if (name == "value") value_column_ = i;
      if (name == "device") device_column_ = i;
      if (name == "pid") pid_column_ = i;
      if (name == "workload_id") workload_column_ = i;
      if (name == "t_ns") ns_column_ = i;
      for (std::size_t k = 0; k < best; ++k)
        if (name == kTimeColumns[k]) {
          best = k;
          time_column_ = i;
        }
      targets_.push_back(fields[i].empty() ? Target{} : target_of(fields[i]));
    }
    if (metric_column_ && value_column_) return true;
    metric_column_.reset();
    if (!time_column_ && !ns_column_ && period_ns_ <= 0)
      fail("has no column with a time",
           "Say how many seconds lie between its rows, for example period_s=1.");
    return true;
  }

  std::optional<std::int64_t> time_of(const std::vector<std::string>& fields) {
    if (ns_column_) {
      const auto ns = parse_number(fields[*ns_column_]);
      if (!ns || std::abs(*ns) > kMostNs) return std::nullopt;
      return std::llround(*ns);
    }
    if (time_column_) {
      const auto moment = parse_moment(fields[*time_column_]);
      if (!moment) return std::nullopt;
      const std::int64_t t_ns = timeline_.since_start(*moment);
      if (const auto start = timeline_.start_unix_ns()) starts_.try_emplace(0, *start);
      return t_ns;
    }
    std::int64_t t_ns = 0;
    if (__builtin_mul_overflow(period_ns_, samples_, &t_ns))
      fail("lies beyond what nanoseconds can count", "Give a shorter period_s.");
    return t_ns;
  }

  bool take_wide(const std::vector<std::string>& fields, std::vector<LogRow>& rows) {
    const auto t_ns = time_of(fields);
    if (!t_ns) return false;
    ++samples_;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i == time_column_ || i == ns_column_ || targets_[i].metric.empty()) continue;
      if (const auto value = parse_number(fields[i]))
        put(rows, *t_ns, targets_[i].metric, *value * targets_[i].scale, targets_[i].device);
    }
    return true;
  }

  bool take_long(const std::vector<std::string>& fields, std::vector<LogRow>& rows) {
    const auto value = parse_number(fields[*value_column_]);
    const auto t_ns = time_of(fields);
    if (!value || !t_ns || fields[*metric_column_].empty()) return false;
    const auto integer = [&](const std::optional<std::size_t>& column, int otherwise) {
      const auto number = column ? parse_number(fields[*column]) : std::nullopt;
      return number && std::abs(*number) < 2e9 ? static_cast<std::int32_t>(*number) : otherwise;
    };
    put(rows, *t_ns, fields[*metric_column_], *value,
        integer(device_column_, Sample::kWholeMachine), integer(pid_column_, 0));
    rows.back().workload_id = integer(workload_column_, 0);
    return true;
  }

  std::int64_t period_ns_, samples_ = 0;
  std::vector<Target> targets_;
  std::optional<std::size_t> time_column_, ns_column_;
  std::optional<std::size_t> metric_column_, value_column_, device_column_, pid_column_,
      workload_column_;
  Timeline timeline_;
};

}  // namespace

RowReaderPtr import_csv(const std::filesystem::path& path, double period_s) {
  return std::make_unique<Csv>(path, period_s);
}

}  // namespace omen::telemetry
