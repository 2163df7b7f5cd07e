// SPDX-License-Identifier: Apache-2.0
// Opens the CUDA module, if there is one, and takes down what it says.
#include <dlfcn.h>

#include "cuda_probe.h"
#include "omen/error.hpp"
#include "probe_report.hpp"

namespace omen::telemetry {
namespace {

using Devices = std::vector<ProbedDevice>;

Devices& devices_of(void* data) {
  return *static_cast<Devices*>(data);
}

omen_cuda_sink sink_of(Devices& devices) {
  omen_cuda_sink sink{};
  sink.data = &devices;
  sink.device = [](void* data, int index, const char* name) {
    devices_of(data).push_back({"cuda", index, name, {}, {}});
  };
  // What comes before the first device belongs to none.
  sink.fact = [](void* data, const char* key, const char* value) {
    if (!devices_of(data).empty()) devices_of(data).back().facts.emplace_back(key, value);
  };
  sink.figure = [](void* data, const char* name, double value) {
    if (!devices_of(data).empty()) devices_of(data).back().figures.emplace_back(name, value);
  };
  return sink;
}

}  // namespace

std::vector<ProbedDevice> probe_cuda(const ProbeLimits& limits, const std::string& module) {
  // Never closed: the CUDA run time keeps threads.
  void* library = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(OMEN_UNAVAILABLE, "the CUDA part cannot be opened: " + std::string(::dlerror()),
                "Install the CUDA toolkit with cuBLAS and cuDNN, then build again.");
  const auto probe = reinterpret_cast<omen_cuda_probe_fn>(::dlsym(library, OMEN_CUDA_PROBE_SYMBOL));
  if (!probe)
    throw Error(OMEN_UNAVAILABLE, "'" + module + "' is no CUDA part of this plugin",
                "Build the plugin again.");
  Devices devices;
  const omen_cuda_sink sink = sink_of(devices);
  char problem[512] = "";
  const int status = probe(OMEN_CUDA_PROBE_VERSION, limits.seconds, &sink, problem, sizeof problem);
  if (status == OMEN_CUDA_PROBE_OK) return devices;
  throw Error(
      OMEN_UNAVAILABLE,
      std::string(status == OMEN_CUDA_PROBE_NO_GPU ? "no NVIDIA GPU: " : "CUDA failed: ") + problem,
      "Check the driver with: nvidia-smi");
}

}  // namespace omen::telemetry
