// SPDX-License-Identifier: Apache-2.0
// Reads /proc, /sys and cgroup files; a file that is missing means that the fact is unknown.
#include "machine.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace omen::host {
namespace fs = std::filesystem;
namespace {

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The value behind "key" in files of "key : value" or "key=value" lines.
std::string value_of(const fs::path& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find_first_not_of(" \t:=\"", key.size());
    if (at == std::string::npos) return {};
    return line.substr(at, line.find_last_not_of(" \"\t") + 1 - at);
  }
  return {};
}

std::uint64_t kilobytes(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10) * 1024;
}

// The cgroup of this process in the unified hierarchy; the root where it is not mounted.
fs::path cgroup_directory() {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("0::")) return fs::path("/sys/fs/cgroup" + line.substr(3));
  return "/sys/fs/cgroup";
}

// A limit of this cgroup or of one above it, whichever is the tightest.
template <class Parse>
double tightest_limit(const char* file, Parse parse) {
  double tightest = 0;
  for (fs::path at = cgroup_directory(); at.string().starts_with("/sys/fs/cgroup");
       at = at.parent_path()) {
    const double limit = parse(first_line(at / file));
    if (limit > 0 && (tightest == 0 || limit < tightest)) tightest = limit;
  }
  return tightest;
}

double parse_cpu_max(const std::string& line) {
  std::istringstream in(line);
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : 0;
}

double parse_memory_max(const std::string& line) {
  return std::strtod(line.c_str(), nullptr);
}

// The few entry points of NVML that a report needs; their signatures have been stable since
// version 1.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_) ready_ = call<int()>("nvmlInit_v2") == 0;
  }
  ~Nvml() {
    if (ready_) call<int()>("nvmlShutdown");
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool present() const noexcept { return library_ != nullptr; }
  bool ready() const noexcept { return ready_; }
  std::string driver() const {
    char text[96] = "";
    call<int(char*, unsigned)>("nvmlSystemGetDriverVersion", text,
                               static_cast<unsigned>(sizeof text));
    return text;
  }
  unsigned count() const {
    unsigned count = 0;
    return call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count) == 0 ? count : 0;
  }
  std::string name(unsigned index) const {
    void* device = nullptr;
    char text[96] = "";
    if (call<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2", index, &device) != 0)
      return "device";
    call<int(void*, char*, unsigned)>("nvmlDeviceGetName", device, text,
                                      static_cast<unsigned>(sizeof text));
    return text;
  }

 private:
  template <class Signature, class... Arguments>
  int call(const char* symbol, Arguments... arguments) const {
    auto* function = reinterpret_cast<Signature*>(dlsym(library_, symbol));
    return function ? function(arguments...) : -1;
  }
  void* library_;
  bool ready_ = false;
};

void add_nvidia(std::vector<Device>& devices) {
  const Nvml nvml;
  if (nvml.ready() && nvml.count() > 0) {
    for (unsigned i = 0; i < nvml.count(); ++i)
      devices.push_back(
          {"cuda", nvml.name(i), "cuda:" + std::to_string(i) + ", driver " + nvml.driver(), true});
    return;
  }
  const char* missing = nvml.present()
                            ? "the management library finds no device; check nvidia-smi"
                            : "no libnvidia-ml.so.1; install the NVIDIA driver of the machine";
  devices.push_back({"cuda", "no NVIDIA GPU", missing, false});
}

void add_opencl(std::vector<Device>& devices) {
  std::error_code error;
  const std::size_t before = devices.size();
  for (fs::directory_iterator at("/etc/OpenCL/vendors", error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".icd")
      devices.push_back({"opencl", at->path().stem().string(), first_line(at->path()), true});
  if (devices.size() == before)
    devices.push_back(
        {"opencl", "no platform", "apt install pocl-opencl-icd for one on the CPU", false});
}

}  // namespace

Machine machine_facts() {
  Machine m;
  m.system = value_of("/etc/os-release", "PRETTY_NAME");
  utsname names{};
  if (uname(&names) == 0)
    m.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  m.processor = value_of("/proc/cpuinfo", "model name");
  m.cores = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  m.usable_cores = sched_getaffinity(0, sizeof set, &set) == 0
                       ? static_cast<unsigned>(CPU_COUNT(&set))
                       : m.cores;
  m.cgroup_cpus = tightest_limit("cpu.max", parse_cpu_max);
  m.memory = kilobytes(value_of("/proc/meminfo", "MemTotal"));
  m.available_memory = kilobytes(value_of("/proc/meminfo", "MemAvailable"));
  m.cgroup_memory = static_cast<std::uint64_t>(tightest_limit("memory.max", parse_memory_max));
  return m;
}

std::vector<Device> machine_devices() {
  std::vector<Device> devices;
  add_nvidia(devices);
  std::error_code error;
  if (fs::exists("/dev/kfd", error)) devices.push_back({"rocm", "AMD GPU", "/dev/kfd", true});
  add_opencl(devices);
  const fs::path rapl = "/sys/class/powercap/intel-rapl:0/energy_uj";
  const bool counters = fs::exists(rapl, error);
  const bool readable = counters && access(rapl.c_str(), R_OK) == 0;
  devices.push_back({"energy", counters ? "RAPL counters" : "no RAPL counters",
                     readable   ? rapl.string()
                     : counters ? "not readable by this user; run as root or chmod a+r it"
                                : "the kernel offers none, as in most virtual machines",
                     readable});
  return devices;
}

std::uint64_t free_disk(const fs::path& place) {
  struct statvfs stats {};
  return statvfs(place.c_str(), &stats) == 0 ? std::uint64_t{stats.f_bavail} * stats.f_frsize : 0;
}

fs::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path program = fs::path(directory.empty() ? "." : directory) / name;
    if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program)) return program;
  }
  return {};
}

fs::path share_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path().parent_path() / "share/omen";
}

fs::path cache_directory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return fs::path(cache) / "omen";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache/omen" : fs::temp_directory_path() / "omen";
}

}  // namespace omen::host
