// SPDX-License-Identifier: Apache-2.0
// Asks every kind of device and sets published figures beside the measured ones.
#include "probe.hpp"

#include <nlohmann/json.hpp>

#include "omen/host.hpp"
#include "omen/telemetry/device_registry.hpp"
#include "omen/telemetry/rows.hpp"

namespace omen::telemetry {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCudaModule = "libomen_cuda_probe.so";

// What the registry knows about a device of this name; null where it knows none.
Json published(const std::string& name) {
  const PublishedDevice* device = find_device(name);
  if (!device) return nullptr;
  Json figures = Json::object();
  for (const auto& [key, value] : device->figures) figures[key] = value;
  return Json{{"name", device->name}, {"figures", std::move(figures)}};
}

Json json_of(const ProbedDevice& device) {
  Json facts = Json::object(), figures = Json::object();
  for (const auto& [key, value] : device.facts) facts[key] = value;
  for (const auto& [key, value] : device.figures) figures[key] = value;
  return Json{{"kind", device.kind},           {"index", device.index},
              {"name", device.name},           {"facts", std::move(facts)},
              {"figures", std::move(figures)}, {"published", published(device.name)}};
}

}  // namespace

Probe::Found Probe::measure(const ProbeLimits& limits) const {
  Found found;
  const auto ask = [&](const char* kind, bool wanted, auto&& call) {
    if (!wanted || limits.cancelled()) return;
    try {
      for (ProbedDevice& device : call()) found.devices.push_back(std::move(device));
    } catch (const Error& error) {
      if (error.code() != OMEN_UNAVAILABLE) throw;
      found.absent.push_back({kind, error.what(), error.hint()});
    }
  };
  ask("cpu", options_.cpu,
      [&] { return probe_cpu(limits, options_.sys_root, options_.proc_root); });
  ask("opencl", options_.opencl, [&] { return probe_opencl(limits, options_.opencl_library); });
  ask("cuda", options_.cuda, [&] {
    return probe_cuda(limits, options_.cuda_module.empty() ? plugin_dir() + "/" + kCudaModule
                                                           : options_.cuda_module);
  });
  if (found.devices.empty() && !limits.cancelled()) {
    if (found.absent.empty())
      throw Error(OMEN_INVALID_ARGUMENT, "there is nothing to probe",
                  "Leave one of the options cpu, opencl and cuda on.");
    throw Error(OMEN_UNAVAILABLE, found.absent[0].message, found.absent[0].hint);
  }
  return found;
}

std::string Probe::probe() {
  if (!answer_.empty()) return answer_;
  ProbeLimits limits;
  limits.seconds = options_.seconds;
  const Found found = measure(limits);
  Json devices = Json::array(), absent = Json::array();
  for (const ProbedDevice& device : found.devices) devices.push_back(json_of(device));
  for (const Absent& part : found.absent)
    absent.push_back(Json{{"kind", part.kind}, {"message", part.message}, {"hint", part.hint}});
  answer_ = Json{{"devices", std::move(devices)}, {"absent", std::move(absent)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  return answer_;
}

TableStream Probe::collect(const std::string&, const Run& run) {
  ProbeLimits limits;
  limits.seconds = options_.seconds;
  limits.threads = run.threads();
  limits.cancelled = [&run] { return run.cancelled(); };
  const Found found = measure(limits);
  if (run.cancelled()) throw Error(OMEN_CANCELLED, "the probe was cancelled");
  std::vector<std::int64_t> zeros;
  std::vector<std::int32_t> devices, pids;
  std::vector<std::string> metrics;
  std::vector<double> values;
  for (const ProbedDevice& device : found.devices)
    for (const auto& [name, value] : device.figures) {
      zeros.push_back(0);
      devices.push_back(device.index);
      metrics.push_back("probe." + device.kind + "." + name);
      values.push_back(value);
      pids.push_back(0);
    }
  TableBuilder builder;
  builder.add("workload_id", zeros)
      .add("t_ns", zeros, {{"omen.unit", "ns"}})
      .add("device", std::move(devices))
      .add_categories("metric", metrics)
      .add("value", std::move(values))
      .add("pid", std::move(pids));
  return builder.finish();
}

}  // namespace omen::telemetry
