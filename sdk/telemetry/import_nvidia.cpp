// SPDX-License-Identifier: Apache-2.0
// CSV queries and the device monitor of nvidia-smi.
#include <array>
#include <cmath>
#include <map>

#include "import_text.hpp"
#include "kernel_file.hpp"
#include "omen/telemetry/clock.hpp"

namespace omen::telemetry {
namespace {

constexpr std::array<ColumnName, 22> kQueryNames = {
    {{"utilization.gpu", "gpu.util_percent", 1},
     {"utilization.memory", "gpu.mem_util_percent", 1},
     {"memory.used", "gpu.mem_used_bytes", kMiB},
     {"memory.total", "gpu.mem_total_bytes", kMiB},
     {"memory.free", "gpu.mem_free_bytes", kMiB},
     {"power.draw", "gpu.power_w", 1},
     {"power.draw.average", "gpu.power_average_w", 1},
     {"power.draw.instant", "gpu.power_instant_w", 1},
     {"power.limit", "gpu.power_limit_w", 1},
     {"enforced.power.limit", "gpu.power_limit_w", 1},
     {"temperature.gpu", "gpu.temperature_c", 1},
     {"temperature.memory", "gpu.mem_temperature_c", 1},
     {"fan.speed", "gpu.fan_percent", 1},
     {"clocks.sm", "gpu.clock_sm_mhz", 1},
     {"clocks.current.sm", "gpu.clock_sm_mhz", 1},
     {"clocks.gr", "gpu.clock_graphics_mhz", 1},
     {"clocks.current.graphics", "gpu.clock_graphics_mhz", 1},
     {"clocks.mem", "gpu.clock_mem_mhz", 1},
     {"clocks.current.memory", "gpu.clock_mem_mhz", 1},
     {"pcie.link.gen.current", "gpu.pcie_generation", 1},
     {"pcie.link.width.current", "gpu.pcie_width", 1},
     {"encoder.stats.sessionCount", "gpu.encoder_sessions", 1}}};
constexpr std::array<ColumnName, 13> kMonitorNames = {{{"pwr", "gpu.power_w", 1},
                                                       {"gtemp", "gpu.temperature_c", 1},
                                                       {"temp", "gpu.temperature_c", 1},
                                                       {"mtemp", "gpu.mem_temperature_c", 1},
                                                       {"sm", "gpu.util_percent", 1},
                                                       {"mem", "gpu.mem_util_percent", 1},
                                                       {"enc", "gpu.encoder_percent", 1},
                                                       {"dec", "gpu.decoder_percent", 1},
                                                       {"mclk", "gpu.clock_mem_mhz", 1},
                                                       {"pclk", "gpu.clock_sm_mhz", 1},
                                                       {"fb", "gpu.mem_used_bytes", kMiB},
                                                       {"rxpci", "gpu.pcie_rx_bytes_per_s", kMiB},
                                                       {"txpci", "gpu.pcie_tx_bytes_per_s", kMiB}}};

class NvidiaSmi final : public TextImport {
 public:
  explicit NvidiaSmi(const std::filesystem::path& path) : TextImport(path, "nvidia-smi") {}

 protected:
  bool take(std::string_view line, std::vector<LogRow>& rows) override {
    const std::vector<std::string> fields = split_csv(line);
    // Files of several calls repeat the header.
    if (columns_.empty() || fields[0] == first_) return take_header(fields);
    if (fields.size() != columns_.size()) return false;
    std::int64_t t_ns = 0;
    std::int32_t gpu = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (columns_[i] == "timestamp") {
        const auto moment = parse_moment(fields[i]);
        if (!moment) return false;
        t_ns = timeline_.since_start(*moment);
      } else if (columns_[i] == "index") {
        const auto index = parse_device(fields[i]);
        if (!index) return false;
        gpu = *index;
      } else if (is_identity(columns_[i]) && !has_index_) {
        gpu = seen_.try_emplace(fields[i], static_cast<std::int32_t>(seen_.size())).first->second;
      }
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const ColumnName* known = find_column(kQueryNames, columns_[i]);
      const auto value = parse_number(fields[i]);
      if (known && value) put(rows, t_ns, known->metric, *value * known->scale, gpu);
    }
    return true;
  }

 private:
  static bool is_identity(const std::string& column) {
    return column == "uuid" || column == "gpu_uuid" || column == "pci.bus_id" ||
           column == "gpu_bus_id" || column == "serial";
  }

  bool take_header(const std::vector<std::string>& fields) {
    columns_.clear();
    first_ = fields[0];
    bool has_time = false;
    for (const std::string& field : fields) {
      // "memory.used [MiB]" is the column memory.used.
      columns_.emplace_back(trim(std::string_view(field).substr(0, field.find('['))));
      has_index_ |= columns_.back() == "index";
      has_time |= columns_.back() == "timestamp";
    }
    if (!has_time)
      fail("has no column 'timestamp'",
           "Record with nvidia-smi --query-gpu=timestamp,index,... --format=csv -l 1");
    return true;
  }

  std::vector<std::string> columns_;
  std::string first_;
  bool has_index_ = false;
  std::map<std::string, std::int32_t> seen_;
  Timeline timeline_;
};

class Monitor final : public TextImport {
 public:
  Monitor(const std::filesystem::path& path, double period_s)
      : TextImport(path, "dmon"), period_ns_(std::llround((period_s > 0 ? period_s : 1) * 1e9)) {}

 protected:
  bool take(std::string_view line, std::vector<LogRow>& rows) override {
    line = trim(line);
    if (line.front() == '#') {
      const std::vector<std::string_view> words = split_blanks(line.substr(1));
      // Of the two header lines only the first names columns.
      for (const std::string_view word : words)
        if (word == "gpu") columns_.assign(words.begin(), words.end());
      return true;
    }
    const std::vector<std::string_view> words = split_blanks(line);
    if (columns_.empty() || words.size() != columns_.size()) return false;
    const auto gpu = column("gpu");
    const auto device = gpu ? parse_device(words[*gpu]) : std::nullopt;
    if (!device) return false;
    const auto t_ns = time_of(words, *device);
    if (!t_ns) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ColumnName* known = find_column(kMonitorNames, columns_[i]);
      const auto value = words[i] == "-" ? std::nullopt : parse_number(words[i]);
      if (known && value) put(rows, *t_ns, known->metric, *value * known->scale, *device);
    }
    return true;
  }

 private:
  std::optional<std::size_t> column(std::string_view name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == name) return i;
    return std::nullopt;
  }
  std::optional<std::int64_t> time_of(const std::vector<std::string_view>& words,
                                      std::int32_t device) {
    const auto time = column("Time"), date = column("Date");
    if (time) {
      std::string text(words[*time]);
      if (date) {
        // 20240131: year, month and day without separators.
        std::string day(words[*date]);
        if (day.size() == 8 && day.find_first_not_of("0123456789") == std::string::npos)
          day = day.substr(0, 4) + "-" + day.substr(4, 2) + "-" + day.substr(6);
        text = day + " " + text;
      }
      const auto moment = parse_moment(text);
      return moment ? std::optional(timeline_.since_start(*moment)) : std::nullopt;
    }
    // Without a clock the first device that comes again begins the next sample.
    if (device <= last_device_) tick_ns_ += period_ns_;
    last_device_ = device;
    return tick_ns_;
  }

  std::int64_t period_ns_;
  std::vector<std::string> columns_;
  Timeline timeline_;
  std::int64_t tick_ns_ = 0;
  std::int32_t last_device_ = -1;
};

}  // namespace

RowReaderPtr import_nvidia_smi(const std::filesystem::path& path) {
  return std::make_unique<NvidiaSmi>(path);
}
RowReaderPtr import_dmon(const std::filesystem::path& path, double period_s) {
  return std::make_unique<Monitor>(path, period_s);
}

}  // namespace omen::telemetry
