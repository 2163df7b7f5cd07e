// SPDX-License-Identifier: Apache-2.0
// Decides which sources a recording has.
#include "source_set.hpp"

#include <algorithm>

#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

// A PCIe reading blocks 20 ms for every device and direction.
constexpr std::int64_t kLinkIntervalNs = kNsPerSecond;
constexpr const char* kLinkName = "pcie";

// More samplers than this share threads; no machine has so many GPUs.
constexpr std::size_t kMostSamplers = 128;

// Does what adds a part; what is missing becomes a note, or the end where it is required.
template <class Action>
void attempt(const Context& context, const char* name, Need need, Action&& action) {
  if (need == Need::kNo) return;
  try {
    action();
  } catch (const Error& error) {
    if (need == Need::kRequired || error.code() != OMEN_UNAVAILABLE) throw;
    context.notes.add(NoteKind::kAbsent, name, error.what(), error.hint());
  }
}

void add_host(Sampler& sampler, const RecordOptions& options, const Context& context, pid_t pid) {
  const auto try_add = [&](Need need, const char* name, auto&& factory) {
    attempt(context, name, need, [&] { sampler.add(factory()); });
  };
  // CPU and memory make the host; the rest depends on the machine.
  try_add(options.host, "cpu", [&] { return make_proc_stat(context); });
  try_add(options.host, "memory", [&] { return make_proc_memory(context); });
  const Need rest = options.host == Need::kNo ? Need::kNo : Need::kOptional;
  try_add(rest, "disk", [&] { return make_disk(context); });
  try_add(rest, "nic", [&] { return make_nic(context); });
  try_add(rest, "cgroup", [&] { return make_cgroup(context, pid); });
  try_add(rest, "rapl", [&] { return make_rapl(context); });
  try_add(rest, "hwmon", [&] { return make_hwmon(context); });
}

// One sampler a source, as long as there are not too many.
void add_each(std::vector<std::shared_ptr<Sampler>>& samplers, const char* name,
              std::int64_t interval_ns, std::vector<SourcePtr> sources, Notes& notes) {
  const std::size_t first = samplers.size();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (i < kMostSamplers / 2)
      samplers.push_back(std::make_shared<Sampler>(name + (" " + std::to_string(i)),
                                                   machine_clock(), interval_ns, notes));
    samplers[first + i % (kMostSamplers / 2)]->add(std::move(sources[i]));
  }
}

}  // namespace

std::vector<std::shared_ptr<Sampler>> SamplerSet::used() const {
  std::vector<std::shared_ptr<Sampler>> all;
  if (!host->empty()) all.push_back(host);
  all.insert(all.end(), devices_and_links.begin(), devices_and_links.end());
  return all;
}

std::vector<DeviceInfo> SamplerSet::devices() const {
  std::vector<DeviceInfo> all = host->devices();
  for (const auto& sampler : devices_and_links) {
    if (sampler->name().starts_with(kLinkName)) continue;
    for (DeviceInfo& info : sampler->devices()) all.push_back(std::move(info));
  }
  return all;
}

SamplerSet make_samplers(const RecordOptions& options, const Context& context, pid_t pid) {
  SamplerSet set;
  set.host = std::make_shared<Sampler>("host", machine_clock(), options.interval_ns, context.notes);
  auto& others = set.devices_and_links;
  std::int32_t gpus = 0;
  attempt(context, "nvml", options.nvml, [&] {
    NvmlSources nvml = make_nvml(context, options.nvml_library);
    gpus = nvml.gpus;
    add_each(others, "gpu", options.interval_ns, std::move(nvml.devices), context.notes);
    add_each(others, kLinkName, std::max(options.interval_ns, kLinkIntervalNs),
             std::move(nvml.pcie), context.notes);
  });
  attempt(context, "amd", options.amd, [&] {
    std::vector<SourcePtr> amd;
    amd.push_back(make_amd_sysfs(context, gpus));
    add_each(others, "amd", options.interval_ns, std::move(amd), context.notes);
  });
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
