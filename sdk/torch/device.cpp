// SPDX-License-Identifier: Apache-2.0
// Thread budget, and the CUDA backend opened at run time.
#include "omen/torch/device.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <filesystem>

#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

constexpr const char* kDriver = "libcuda.so.1";

BackendStatus unavailable(std::string reason, std::string hint) {
  BackendStatus status;
  status.reason = std::move(reason);
  status.hint = std::move(hint);
  return status;
}

/// Number of devices, or why there is none. The driver stays open: it must not be unloaded.
BackendStatus probe_driver(const std::string& library) {
  void* driver = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return unavailable("no NVIDIA driver: " + library + " cannot be opened",
                       "install the NVIDIA driver, or run with --devices cpu");
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  if (!init || !count)
    return unavailable(library + " is not an NVIDIA driver: cuInit or cuDeviceGetCount is missing",
                       "reinstall the NVIDIA driver");
  if (const int code = init(0); code != 0)
    return unavailable("the NVIDIA driver does not start: cuInit returned " + std::to_string(code),
                       "check the device with nvidia-smi");
  BackendStatus status;
  if (count(&status.devices) != 0 || status.devices <= 0)
    return unavailable("the NVIDIA driver sees no device", "check CUDA_VISIBLE_DEVICES");
  return status;
}

/// The directory of the library that holds LibTorch's CPU operators.
std::filesystem::path torch_directory() {
  Dl_info info{};
  const auto anchor = reinterpret_cast<void*>(static_cast<void (*)(int)>(&at::set_num_threads));
  if (!::dladdr(anchor, &info) || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

BackendStatus open_backend(const std::string& driver_library) {
  BackendStatus status = probe_driver(driver_library);
  if (!status.reason.empty()) return status;
  const std::filesystem::path library = torch_directory() / "libtorch_cuda.so";
  if (!::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* why = ::dlerror();
    return unavailable(std::string("LibTorch has no CUDA backend here: ") + (why ? why : "unknown"),
                       "run ./run.sh again with the driver in place to fetch the CUDA libraries");
  }
  if (!at::globalContext().hasCUDA())
    return unavailable("libtorch_cuda.so is open but its backend did not register",
                       "use libraries of one LibTorch build in OMEN_TORCH_DIR");
  status.available = true;
  return status;
}

}  // namespace

ThreadBudget::ThreadBudget(unsigned threads) : before_(at::get_num_threads()) {
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
}

ThreadBudget::~ThreadBudget() {
  if (at::get_num_threads() != before_) at::set_num_threads(before_);
}

BackendStatus open_cuda_backend() {
  static const BackendStatus status = open_backend(kDriver);
  return status;
}

BackendStatus open_cuda_backend(const std::string& driver_library) {
  return open_backend(driver_library);
}

c10::Device pick_device(const std::string& devices) {
  const std::string first = devices.substr(0, devices.find(','));
  if (first == "cpu") return c10::Device(c10::DeviceType::CPU);
  const bool indexed = first.rfind("cuda:", 0) == 0 && first.size() > 5 && first.size() < 9 &&
                       first.find_first_not_of("0123456789", 5) == std::string::npos;
  if (first != "cuda" && !indexed)
    throw Error(OMEN_INVALID_ARGUMENT, "device '" + first + "' is neither cpu nor cuda:N",
                "name a device such as cpu or cuda:0");
  const BackendStatus status = open_cuda_backend();
  if (!status.available)
    throw Error(OMEN_UNAVAILABLE, "device '" + first + "' is not usable: " + status.reason,
                status.hint);
  const int index = indexed ? std::stoi(first.substr(5)) : 0;
  if (index >= status.devices)
    throw Error(
        OMEN_UNAVAILABLE,
        "device '" + first + "' does not exist, the driver sees " + std::to_string(status.devices),
        "use cuda:0.." + std::to_string(status.devices - 1));
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace omen::torch_kit
