// SPDX-License-Identifier: Apache-2.0
// Reads NVIDIA GPUs; tolerates drivers and devices that lack, refuse or garble single quantities.
#include "omen/telemetry/nvml.hpp"

#if OMEN_HAS_NVML

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "nvml_library.hpp"
#include "nvml_values.hpp"

namespace omen::telemetry {
namespace {

using Library = std::shared_ptr<const NvmlLibrary>;

// One output of a reading, and what can be true on any hardware.
struct Quantity {
  std::int32_t metric;
  const char* name;
  double lowest, highest;
};

// One call of the driver that gives one or more quantities; NaN: no value this time.
struct Reading {
  std::vector<Quantity> outputs;
  std::function<nvmlReturn_t(double*)> read;
  bool active = true;
  int failures = 0;
};

constexpr std::size_t kMostOutputs = 2;
constexpr unsigned kMostGpus = 1024;
constexpr int kMostNvmlFailures = 10;  // in a row, then the quantity is given up
constexpr double kMostBytes = 1e14;
constexpr double kMostWatts = 20'000;
constexpr double kMostMhz = 20'000;

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// The driver's energy counter as joules since the first reading. A counter that falls was reset:
// what it shows afterwards is new energy, so the sum never falls.
class EnergyCounter {
 public:
  // True where the counter fell.
  bool advance(double joules) {
    const bool fell = seen_ && joules < last_;
    if (seen_) total_ += fell ? joules : joules - last_;
    seen_ = true;
    last_ = joules;
    return fell;
  }
  double total() const noexcept { return total_; }
  double last() const noexcept { return last_; }

 private:
  bool seen_ = false;
  double last_ = 0, total_ = 0;
};

// Set by whichever of a device's two sources finds first that it is gone.
using LostFlag = std::shared_ptr<std::atomic<bool>>;

class Gpu {
 public:
  Gpu(Library library, nvmlDevice_t handle, std::int32_t index, LostFlag lost,
      const Context& context)
      : library_(std::move(library)),
        handle_(handle),
        lost_(std::move(lost)),
        metrics_(context.metrics),
        notes_(context.notes),
        index_(index) {
    char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = {};
    if (library_->name && library_->name(handle_, text, sizeof text) == NVML_SUCCESS) name_ = text;
    if (name_.empty()) name_ = "NVIDIA GPU";
  }

  std::int32_t index() const noexcept { return index_; }
  nvmlDevice_t handle() const noexcept { return handle_; }
  const LostFlag& lost() const noexcept { return lost_; }
  std::string label() const { return "gpu " + std::to_string(index_) + " (" + name_ + ")"; }

  void add_device_readings() {
    const NvmlLibrary& nvml = *library_;
    add_memory();
    if (nvml.utilization)
      add({quantity("gpu.util_percent", 0, 100), quantity("gpu.mem_util_percent", 0, 100)},
          [this](double* out) {
            nvmlUtilization_t rates{};
            const nvmlReturn_t code = library_->utilization(handle_, &rates);
            out[0] = to_double(rates.gpu);
            out[1] = to_double(rates.memory);
            return code;
          });
    if (nvml.power) add_unsigned("gpu.power_w", kMostWatts, 1e-3, nvml.power);
    add_power_field("gpu.power_instant_w", NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_GPU);
    add_power_field("gpu.power_average_w", NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_GPU);
    add_power_field("gpu.power_memory_w", NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MEMORY);
    add_energy();
    add_clock("gpu.clock_sm_mhz", NVML_CLOCK_SM);
    add_clock("gpu.clock_mem_mhz", NVML_CLOCK_MEM);
    add_temperature();
    add_throttle();
    add_process_lists();
  }

  // A MIG instance answers for its memory and processes only.
  void add_instance_readings() {
    add_memory();
    add_process_lists();
  }

  void add_pcie_readings() {
    if (!library_->pcie) return;
    add_pcie("gpu.pcie_rx_bytes_per_s", NVML_PCIE_UTIL_RX_BYTES);
    add_pcie("gpu.pcie_tx_bytes_per_s", NVML_PCIE_UTIL_TX_BYTES);
  }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) {
    now_ns_ = t_ns;
    for (Reading& reading : readings_) {
      if (*lost_) return;
      if (reading.active) take(reading, rows);
    }
    if (!*lost_) sample_process_memory(rows);
    if (!*lost_) sample_process_utilization(rows);
  }

  DeviceInfo describe() const {
    DeviceInfo info{"gpu", index_, name_, {{"vendor", "NVIDIA"}}};
    char text[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = {};
    if (library_->uuid && library_->uuid(handle_, text, sizeof text) == NVML_SUCCESS)
      info.facts.emplace_back("uuid", text);
    if (const std::string version = library_->driver_version(); !version.empty())
      info.facts.emplace_back("driver", version);
    unsigned limit_mw = 0;
    if (library_->power_limit && library_->power_limit(handle_, &limit_mw) == NVML_SUCCESS)
      info.facts.emplace_back("power_limit_w", short_number(limit_mw * 1e-3));
    return info;
  }

 private:
  Quantity quantity(const char* name, double lowest, double highest) {
    return {metrics_.id(name), name, lowest, highest};
  }
  void add(std::vector<Quantity> outputs, std::function<nvmlReturn_t(double*)> read) {
    readings_.push_back({std::move(outputs), std::move(read), true, 0});
  }
  void add_unsigned(const char* name, double highest, double scale,
                    nvmlReturn_t (*function)(nvmlDevice_t, unsigned*)) {
    add({quantity(name, 0, highest)}, [this, scale, function](double* out) {
      unsigned value = 0;
      const nvmlReturn_t code = function(handle_, &value);
      out[0] = to_double(value) * scale;
      return code;
    });
  }

  void add_memory() {
    if (!library_->memory) return;
    add({quantity("gpu.mem_used_bytes", 0, kMostBytes),
         quantity("gpu.mem_total_bytes", 0, kMostBytes)},
        [this](double* out) {
          nvmlMemory_t memory{};
          const nvmlReturn_t code = library_->memory(handle_, &memory);
          out[0] = to_double(memory.used);
          out[1] = to_double(memory.total);
          return code;
        });
  }

  void add_power_field(const char* name, unsigned field, unsigned scope) {
    if (!library_->fields) return;
    add({quantity(name, 0, kMostWatts)}, [this, field, scope](double* out) {
      nvmlFieldValue_t value{};
      value.fieldId = field;
      value.scopeId = scope;
      const nvmlReturn_t code = library_->fields(handle_, 1, &value);
      if (code != NVML_SUCCESS) return code;
      if (value.nvmlReturn == NVML_SUCCESS) out[0] = field_number(value) * 1e-3;
      return value.nvmlReturn;
    });
  }

  void add_energy() {
    if (!library_->energy) return;
    add({quantity("gpu.energy_j", 0, std::numeric_limits<double>::max())}, [this](double* out) {
      unsigned long long mj = 0;
      const nvmlReturn_t code = library_->energy(handle_, &mj);
      if (code != NVML_SUCCESS || std::isnan(to_double(mj))) return code;
      const double before = energy_.last();
      if (energy_.advance(to_double(mj) * 1e-3))
        notes_.add(NoteKind::kWarning, "nvml",
                   label() + ": the energy counter jumped back from " + short_number(before) +
                       " J to " + short_number(energy_.last()) + " J and is counted on from there");
      out[0] = energy_.total();
      return code;
    });
  }

  void add_clock(const char* name, nvmlClockType_t type) {
    if (!library_->clock) return;
    add({quantity(name, 0, kMostMhz)}, [this, type](double* out) {
      unsigned mhz = 0;
      const nvmlReturn_t code = library_->clock(handle_, type, &mhz);
      out[0] = to_double(mhz);
      return code;
    });
  }

  void add_temperature() {
    if (!library_->temperature) return;
    add({quantity("gpu.temperature_c", -60, 250)}, [this](double* out) {
      unsigned celsius = 0;
      const nvmlReturn_t code = library_->temperature(handle_, NVML_TEMPERATURE_GPU, &celsius);
      out[0] = to_double(celsius);
      return code;
    });
  }

  void add_throttle() {
    if (!library_->throttle_reasons) return;
    add({quantity("gpu.throttle_reasons", 0, 9e15), quantity("gpu.throttled", 0, 1)},
        [this](double* out) {
          // Idle and chosen clocks are no throttling.
          constexpr unsigned long long kChosen = nvmlClocksEventReasonGpuIdle |
                                                 nvmlClocksEventReasonApplicationsClocksSetting |
                                                 nvmlClocksEventReasonDisplayClockSetting;
          unsigned long long reasons = 0;
          const nvmlReturn_t code = library_->throttle_reasons(handle_, &reasons);
          out[0] = to_double(reasons);
          out[1] = std::isnan(out[0]) ? kNoValue : (reasons & ~kChosen) != 0;
          return code;
        });
  }

  void add_pcie(const char* name, nvmlPcieUtilCounter_t counter) {
    add({quantity(name, 0, kMostBytes)}, [this, counter](double* out) {
      unsigned kib_per_s = 0;
      const nvmlReturn_t code = library_->pcie(handle_, counter, &kib_per_s);
      out[0] = to_double(kib_per_s) * 1024;
      return code;
    });
  }

  void add_process_lists() {
    list_processes_ = library_->processes != nullptr;
    process_memory_ = metrics_.id("gpu.process_mem_bytes");
    rate_processes_ = library_->process_utilization != nullptr && index_ < kMigStride;
    process_sm_ = metrics_.id("gpu.process_sm_percent");
    process_mem_ = metrics_.id("gpu.process_mem_util_percent");
  }

  void take(Reading& reading, std::vector<Sample>& rows) {
    double values[kMostOutputs] = {kNoValue, kNoValue};
    const nvmlReturn_t code = reading.read(values);
    if (code != NVML_SUCCESS) {
      if (!keep_after(code, reading.outputs[0].name, reading.failures)) reading.active = false;
      return;
    }
    reading.failures = 0;
    for (std::size_t i = 0; i < reading.outputs.size(); ++i) {
      const Quantity& output = reading.outputs[i];
      if (values[i] >= output.lowest && values[i] <= output.highest) {
        rows.push_back({now_ns_, values[i], output.metric, index_, 0});
      } else {
        reject(output, values[i]);
      }
    }
  }

  void reject(const Quantity& output, double value) {
    if (std::isnan(value)) {
      notes_.add(NoteKind::kDetail, "nvml", label() + " has no value for " + output.name);
      return;
    }
    notes_.add(NoteKind::kWarning, "nvml",
               label() + " reports impossible values of " + output.name + " (outside " +
                   short_number(output.lowest) + ".." + short_number(output.highest) +
                   "): left out");
  }

  // Decides whether a quantity is asked again after an error, and tells the user why not.
  bool keep_after(nvmlReturn_t code, const char* what, int& failures) {
    const std::string text = library_->error_text(code);
    if (is_lost(code)) {
      if (lost_->exchange(true)) return false;
      char when[32];
      std::snprintf(when, sizeof when, "%.1f", static_cast<double>(now_ns_) * 1e-9);
      notes_.add(NoteKind::kWarning, "nvml",
                 label() + " was lost " + when + " s into the run: " + text,
                 "The rows up to then are kept. Look for NVRM and Xid in dmesg.");
      return false;
    }
    if (code == NVML_ERROR_NO_PERMISSION) {
      notes_.add(NoteKind::kWarning, "nvml", label() + ": no permission to read " + what,
                 "Run as root, or allow counters: NVreg_RestrictProfilingToAdminUsers=0");
      return false;
    }
    if (is_final(code)) {
      notes_.add(NoteKind::kDetail, "nvml", label() + " does not offer " + what);
      return false;
    }
    notes_.add(NoteKind::kWarning, "nvml", label() + ": " + what + " failed: " + text);
    if (++failures < kMostNvmlFailures) return true;
    notes_.add(NoteKind::kWarning, "nvml",
               label() + ": " + what + " failed " + std::to_string(kMostNvmlFailures) +
                   " times in a row and is given up");
    return false;
  }

  void sample_process_memory(std::vector<Sample>& rows) {
    if (!list_processes_) return;
    if (infos_.empty()) infos_.resize(16);
    unsigned count = 0;
    nvmlReturn_t code = NVML_ERROR_INSUFFICIENT_SIZE;
    // Processes may start between two calls; what still does not fit is read at the next tick.
    for (int attempt = 0; attempt < 3 && code == NVML_ERROR_INSUFFICIENT_SIZE; ++attempt) {
      if (attempt > 0) infos_.resize(std::max<std::size_t>(count, infos_.size()) * 2);
      count = static_cast<unsigned>(infos_.size());
      code = library_->processes(handle_, &count, infos_.data());
      if (count > kMostProcesses) break;
    }
    if (code == NVML_ERROR_INSUFFICIENT_SIZE && count <= kMostProcesses) return;
    if (code != NVML_SUCCESS || count > infos_.size()) {
      const nvmlReturn_t reason = code == NVML_SUCCESS ? NVML_ERROR_UNKNOWN : code;
      list_processes_ = keep_after(reason, "gpu.process_mem_bytes", process_failures_);
      return;
    }
    process_failures_ = 0;
    for (unsigned i = 0; i < count; ++i) {
      const double bytes = to_double(infos_[i].usedGpuMemory);
      if (!std::isnan(bytes) && bytes <= kMostBytes)
        rows.push_back(
            {now_ns_, bytes, process_memory_, index_, static_cast<std::int32_t>(infos_[i].pid)});
    }
  }

  void sample_process_utilization(std::vector<Sample>& rows) {
    if (!rate_processes_) return;
    if (rates_.empty()) rates_.resize(64);
    auto count = static_cast<unsigned>(rates_.size());
    const nvmlReturn_t code =
        library_->process_utilization(handle_, rates_.data(), &count, last_seen_us_);
    if (code == NVML_ERROR_NOT_FOUND) return;  // nothing ran since the last call
    if (code == NVML_ERROR_INSUFFICIENT_SIZE && count <= kMostProcesses) {
      rates_.resize(std::max<std::size_t>(count, rates_.size()) * 2);
      return;
    }
    if (code != NVML_SUCCESS || count > rates_.size()) {
      const nvmlReturn_t reason = code == NVML_SUCCESS ? NVML_ERROR_UNKNOWN : code;
      rate_processes_ = keep_after(reason, "gpu.process_sm_percent", rate_failures_);
      return;
    }
    rate_failures_ = 0;
    for (unsigned i = 0; i < count; ++i) {
      const auto pid = static_cast<std::int32_t>(rates_[i].pid);
      last_seen_us_ = std::max(last_seen_us_, rates_[i].timeStamp);
      if (rates_[i].smUtil <= 100)
        rows.push_back({now_ns_, static_cast<double>(rates_[i].smUtil), process_sm_, index_, pid});
      if (rates_[i].memUtil <= 100)
        rows.push_back(
            {now_ns_, static_cast<double>(rates_[i].memUtil), process_mem_, index_, pid});
    }
  }

  static constexpr unsigned kMostProcesses = 65536;

  Library library_;
  nvmlDevice_t handle_;
  LostFlag lost_;
  MetricTable& metrics_;
  Notes& notes_;
  std::int32_t index_;
  std::string name_;
  std::vector<Reading> readings_;
  EnergyCounter energy_;
  std::int64_t now_ns_ = 0;

  bool list_processes_ = false, rate_processes_ = false;
  int process_failures_ = 0, rate_failures_ = 0;
  std::int32_t process_memory_ = 0, process_sm_ = 0, process_mem_ = 0;
  std::vector<nvmlProcessInfo_t> infos_;
  std::vector<nvmlProcessUtilizationSample_t> rates_;
  unsigned long long last_seen_us_ = 0;
};

class NvmlSource final : public Source {
 public:
  NvmlSource(std::string_view name, std::vector<std::unique_ptr<Gpu>> gpus)
      : name_(name), gpus_(std::move(gpus)) {
    for (const auto& gpu : gpus_) devices_.push_back(gpu->describe());
  }
  std::string_view name() const override { return name_; }
  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    for (const auto& gpu : gpus_) gpu->sample(t_ns, rows);
  }
  std::vector<DeviceInfo> devices() const override { return devices_; }

 private:
  std::string_view name_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<DeviceInfo> devices_;
};

void add_instances(const Library& library, const Gpu& parent, const Context& context,
                   std::vector<std::unique_ptr<Gpu>>& gpus) {
  unsigned current = 0, pending = 0, most = 0;
  if (!library->mig_mode || !library->mig_max || !library->mig_by_index) return;
  if (library->mig_mode(parent.handle(), &current, &pending) != NVML_SUCCESS || current == 0)
    return;
  if (library->mig_max(parent.handle(), &most) != NVML_SUCCESS) return;
  most = std::min(most, static_cast<unsigned>(kMigStride));
  for (unsigned i = 0; i < most; ++i) {
    nvmlDevice_t handle{};
    if (library->mig_by_index(parent.handle(), i, &handle) != NVML_SUCCESS) continue;
    const std::int32_t index = (parent.index() + 1) * kMigStride + static_cast<std::int32_t>(i);
    gpus.push_back(std::make_unique<Gpu>(library, handle, index, parent.lost(), context));
    gpus.back()->add_instance_readings();
  }
}

}  // namespace

NvmlSources make_nvml(const Context& context, const std::string& path) {
  const Library library = NvmlLibrary::open(path);
  unsigned count = 0;
  nvmlReturn_t code = library->device_count(&count);
  if (code != NVML_SUCCESS) throw nvml_start_error(code, library->error_text(code));
  if (count > kMostGpus)
    throw Error(OMEN_UNAVAILABLE, "the NVIDIA driver claims " + std::to_string(count) + " GPUs",
                "Check the driver with: nvidia-smi");
  NvmlSources sources;
  sources.gpus = static_cast<std::int32_t>(count);
  for (unsigned i = 0; i < count; ++i) {
    nvmlDevice_t handle{};
    code = library->device_by_index(i, &handle);
    if (code != NVML_SUCCESS) {
      context.notes.add(
          NoteKind::kWarning, "nvml",
          "gpu " + std::to_string(i) + " cannot be opened: " + library->error_text(code),
          nvml_start_error(code, "").hint());
      continue;
    }
    const auto index = static_cast<std::int32_t>(i);
    const auto lost = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::unique_ptr<Gpu>> gpu, link;
    gpu.push_back(std::make_unique<Gpu>(library, handle, index, lost, context));
    gpu.back()->add_device_readings();
    link.push_back(std::make_unique<Gpu>(library, handle, index, lost, context));
    link.back()->add_pcie_readings();
    add_instances(library, *gpu.front(), context, gpu);
    sources.devices.push_back(std::make_unique<NvmlSource>("nvml", std::move(gpu)));
    sources.pcie.push_back(std::make_unique<NvmlSource>("nvml_pcie", std::move(link)));
  }
  if (sources.devices.empty() && count > 0) throw nvml_start_error(code, library->error_text(code));
  if (sources.devices.empty())
    throw Error(
        OMEN_UNAVAILABLE, "the NVIDIA driver is loaded but shows no GPU",
        "Start the container with --gpus all, or ask the scheduler for one (--gres=gpu:1).");
  return sources;
}

}  // namespace omen::telemetry

#else

namespace omen::telemetry {

NvmlSources make_nvml(const Context&, const std::string&) {
  throw Error(OMEN_UNAVAILABLE, "this build has no NVML header",
              "Run ./run.sh once, which brings it, and build again.");
}

}  // namespace omen::telemetry

#endif
