// SPDX-License-Identifier: Apache-2.0
// Decides which sources a recording has.
#include "source_set.hpp"

#include <algorithm>

#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

// A PCIe reading blocks 20 ms for every device and direction.
constexpr std::int64_t kLinkIntervalNs = kNsPerSecond;

// Adds what the factory makes; what is missing becomes a note, or the end where it is required.
template <class Factory>
void try_add(Sampler& sampler, const Context& context, const char* name, Need need,
             Factory&& factory) {
  if (need == Need::kNo) return;
  try {
    sampler.add(factory());
  } catch (const Error& error) {
    if (need == Need::kRequired || error.code() != OMEN_UNAVAILABLE) throw;
    context.notes.add(NoteKind::kAbsent, name, error.what(), error.hint());
  }
}

void add_host(Sampler& sampler, const RecordOptions& options, const Context& context, pid_t pid) {
  // CPU and memory make the host; the rest depends on the machine.
  try_add(sampler, context, "cpu", options.host, [&] { return make_proc_stat(context); });
  try_add(sampler, context, "memory", options.host, [&] { return make_proc_memory(context); });
  const Need rest = options.host == Need::kNo ? Need::kNo : Need::kOptional;
  try_add(sampler, context, "disk", rest, [&] { return make_disk(context); });
  try_add(sampler, context, "nic", rest, [&] { return make_nic(context); });
  try_add(sampler, context, "cgroup", rest, [&] { return make_cgroup(context, pid); });
  try_add(sampler, context, "rapl", rest, [&] { return make_rapl(context); });
  try_add(sampler, context, "hwmon", rest, [&] { return make_hwmon(context); });
}

}  // namespace

std::vector<std::shared_ptr<Sampler>> SamplerSet::used() const {
  std::vector<std::shared_ptr<Sampler>> all;
  for (const auto& sampler : {host, device, link})
    if (!sampler->empty()) all.push_back(sampler);
  return all;
}

std::vector<DeviceInfo> SamplerSet::devices() const {
  std::vector<DeviceInfo> all = host->devices();
  for (DeviceInfo& info : device->devices()) all.push_back(std::move(info));
  return all;
}

SamplerSet make_samplers(const RecordOptions& options, const Context& context, pid_t pid) {
  Clock& clock = machine_clock();
  SamplerSet set;
  set.host = std::make_shared<Sampler>("host", clock, options.interval_ns, context.notes);
  set.device = std::make_shared<Sampler>("gpu", clock, options.interval_ns, context.notes);
  set.link = std::make_shared<Sampler>(
      "pcie", clock, std::max(options.interval_ns, kLinkIntervalNs), context.notes);
  std::int32_t gpus = 0;
  try_add(*set.device, context, "nvml", options.nvml, [&] {
    NvmlSources nvml = make_nvml(context, options.nvml_library);
    gpus = nvml.gpus;
    set.link->add(std::move(nvml.pcie));
    return std::move(nvml.device);
  });
  try_add(*set.device, context, "amd", options.amd, [&] { return make_amd_sysfs(context, gpus); });
  add_host(*set.host, options, context, pid);
  if (set.used().empty())
    throw Error(OMEN_UNAVAILABLE, "nothing can be measured here",
                "See what is missing with: omen profile --probe");
  if (options.host != Need::kNo && options.interval_ns < 50 * kNsPerMs)
    context.notes.add(NoteKind::kWarning, "cpu",
                      "the kernel counts CPU time in steps of 10 ms: single shares below 50 ms are "
                      "coarse, their means are not");
  return set;
}

}  // namespace omen::telemetry
