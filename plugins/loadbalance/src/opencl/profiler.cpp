// SPDX-License-Identifier: Apache-2.0
// Measures a kernel and hands its runs out as counters.
#include "opencl/profiler.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "opencl/split_job.hpp"

namespace omen::loadbalance {
namespace {

using nlohmann::json;

std::string source_of(const std::string& workload_json) {
  const json workload = json::parse(workload_json, nullptr, false);
  if (workload.is_object()) {
    if (const auto source = workload.find("source");
        source != workload.end() && source->is_string())
      return source->get<std::string>();
    if (const auto words = workload.find("command"); words != workload.end() && words->is_array() &&
                                                     words->size() == 1 &&
                                                     words->front().is_string())
      return words->front().get<std::string>();
  }
  throw Error(OMEN_INVALID_ARGUMENT, "the workload is no OpenCL source",
              "write: omen profile --with loadbalance.opencl -- kernel.cl");
}

std::string devices_json(const std::array<OpenClDevice, 2>& devices) {
  json list = json::array();
  for (const OpenClDevice& device : devices)
    list.push_back({{"platform", device.platform},
                    {"device", device.device},
                    {"units", device.units_of},
                    {"name", device.name}});
  return list.dump();
}

// Without a forecast the devices share by units and clock.
double share_by_units(const std::array<OpenClDevice, 2>& devices) {
  const auto power = [](const OpenClDevice& device) {
    return std::max(1u, device.compute_units) * std::max(device.clock_hz, 1.0);
  };
  return 100 * power(devices[0]) / (power(devices[0]) + power(devices[1]));
}

// Rows of the table `counters`.
class Counters {
 public:
  void start_run() {
    time_ = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                 begin_)
                .count();
  }
  void add(const char* name, double value, int device = 0) {
    times_.push_back(time_);
    devices_.push_back(device);
    names_.emplace_back(name);
    values_.push_back(value);
  }
  void add(const SplitSample& sample) {
    start_run();
    add(metric::kShare, sample.share);
    add(metric::kStep, static_cast<int>(sample.step));
    add(metric::kSplit, sample.time.total_ms);
    add(metric::kDevice, sample.time.first_ms, 0);
    add(metric::kDevice, sample.time.second_ms, 1);
  }
  Table finish(const std::array<OpenClDevice, 2>& devices) {
    return TableBuilder()
        .metadata(kDevicesKey, devices_json(devices))
        .add("workload_id", std::vector<std::int64_t>(times_.size(), 0))
        .add("t_ns", std::move(times_))
        .add("device", std::move(devices_))
        .add_categories("metric", names_)
        .add("value", std::move(values_))
        .finish();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t time_ = 0;
  std::vector<std::int64_t> times_;
  std::vector<std::int32_t> devices_;
  std::vector<std::string> names_;
  std::vector<double> values_;
};

std::vector<double> listed_shares(const std::string& text) {
  const auto number = [&text](const std::string& part) {
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    if (part.empty() || *end || !(value >= 0 && value <= 100))
      throw Error(OMEN_INVALID_ARGUMENT, "shares '" + text + "' are not understood",
                  "write find, none, step:5 or numbers from 0 to 100 such as 0,50,100");
    return value;
  };
  std::vector<double> shares;
  if (text.rfind("step:", 0) == 0) {
    const double step = std::max(number(text.substr(5)), 0.5);
    for (double share = 0; share <= 100.001; share += step)
      shares.push_back(std::min(share, 100.0));
    return shares;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    shares.push_back(number(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return shares;
}

void add_agreement(const SplitMeter& meter, const Agreement& agreement, Counters& counters) {
  for (int device = 0; device < 2; ++device)
    counters.add(metric::kWhole, meter.whole_ms()[static_cast<std::size_t>(device)], device);
  counters.add(metric::kEqual, agreement.equal);
  counters.add(metric::kInEveryBit, agreement.in_every_bit);
  counters.add(metric::kError, agreement.largest_error);
  counters.add(metric::kErrorAt, agreement.parameter);
  counters.add(metric::kMerge, meter.merge_ms());
}

void add_search(const SplitSearch& found, Counters& counters) {
  for (const SplitSample& sample : found.samples) counters.add(sample);
  counters.start_run();
  counters.add(metric::kBestShare, found.share);
  counters.add(metric::kBest, found.time_ms);
  counters.add(metric::kBestSplit, found.split_share);
  counters.add(metric::kBestSplitMs, found.split_ms);
  counters.add(metric::kSingle, found.single_ms);
  counters.add(metric::kDoubt, static_cast<int>(found.doubt));
}

}  // namespace

std::string OpenClProfiler::probe() {
  json devices = json::array();
  for (const OpenClDevice& device : list_opencl_devices())
    devices.push_back({{"id", device.id()},
                       {"name", device.name},
                       {"platform", device.platform_name},
                       {"version", device.version},
                       {"kind", device.is_gpu   ? "gpu"
                                : device.is_cpu ? "cpu"
                                                : "other"},
                       {"compute_units", device.compute_units},
                       {"clock_hz", device.clock_hz},
                       {"memory_bytes", device.memory_bytes},
                       {"work_group_size", device.largest_group},
                       {"can_be_divided", device.can_be_divided}});
  return json{{"devices", devices}}.dump();
}

struct OpenClProfiler::Measured {
  Measured(SplitJob made, const SplitOptions& options, const Run& run)
      : job(std::move(made)), meter(job, options, run) {}
  SplitJob job;
  SplitMeter meter;
};

OpenClProfiler::OpenClProfiler(OpenClProfilerOptions options) : options_(std::move(options)) {}

// The process ends soon, and what the driver's threads hold ends with it.
OpenClProfiler::~OpenClProfiler() {
  static_cast<void>(last_.release());
}

TableStream OpenClProfiler::collect(const std::string& workload_json, const Run& run) {
  run.step(0, "compile");
  SplitJob job = prepare_job(run, source_of(workload_json), options_);
  if (options_.keep_builtins) {
    job.kernel.split_text = job.kernel.text;
    job.kernel.takes_range = false;
  }
  const double start =
      options_.start_share >= 0 ? options_.start_share : share_by_units(job.devices);
  const std::array<OpenClDevice, 2> devices = job.devices;
  Counters counters;
  counters.add(metric::kStart, start);
  counters.add(metric::kBytes, static_cast<double>(job.buffer_bytes()));
  if (options_.shares == shares::kPlan) return counters.finish(devices);
  run.step(0.1, "build");
  last_ = std::make_unique<Measured>(std::move(job), options_, run);
  SplitMeter& meter = last_->meter;
  add_agreement(meter, meter.check(start), counters);
  if (options_.shares == shares::kFind)
    add_search(meter.find(start), counters);
  else if (options_.shares != shares::kNone)
    for (const SplitSample& sample : meter.sweep(listed_shares(options_.shares)))
      counters.add(sample);
  return counters.finish(devices);
}

}  // namespace omen::loadbalance
