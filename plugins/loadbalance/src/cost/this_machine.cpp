// SPDX-License-Identifier: Apache-2.0
// Names of the processor and of GPUs from files of the kernel.
#include "cost/this_machine.hpp"

#include <algorithm>
#include <fstream>
#include <omen/telemetry/device_registry.hpp>

namespace omen::loadbalance::cost {
namespace fs = std::filesystem;
namespace {

// The value of the first line "key : value".
std::string value_of(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t value = line.find_first_not_of(": \t", key.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return {};
}

// Directories of `place`; none where it cannot be listed.
std::vector<fs::path> entries(const fs::path& place) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

bool same_name(const std::string& asked, const std::string& present) {
  if (asked.empty() || present.empty()) return false;
  if (asked == present) return true;
  const telemetry::PublishedDevice* const a = telemetry::find_device(asked);
  return a && a == telemetry::find_device(present);
}

}  // namespace

bool ThisMachine::has(const std::string& cpu_name, const std::string& gpu_name) const {
  return same_name(cpu_name, cpu) && std::any_of(gpus.begin(), gpus.end(), [&](const auto& gpu) {
           return same_name(gpu_name, gpu);
         });
}

ThisMachine read_this_machine(const fs::path& proc, const fs::path& sys) {
  ThisMachine machine;
  machine.cpu = value_of(proc / "cpuinfo", "model name");
  for (const fs::path& gpu : entries(proc / "driver" / "nvidia" / "gpus"))
    machine.gpus.push_back(value_of(gpu / "information", "Model"));
  for (const fs::path& card : entries(sys / "class" / "drm")) {
    std::ifstream in(card / "device" / "product_name");
    if (std::string name; std::getline(in, name)) machine.gpus.push_back(name);
  }
  return machine;
}

}  // namespace omen::loadbalance::cost
