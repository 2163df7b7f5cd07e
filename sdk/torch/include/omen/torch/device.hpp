// SPDX-License-Identifier: Apache-2.0
// Where tensors are computed: thread budget of the CPU, and CUDA where a driver exists.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace omen::torch_kit {

/// Gives LibTorch's operators `threads` threads (0: as they are) until the end of the scope.
/// The setting is per process: scopes on several threads at once must ask for the same number.
class ThreadBudget {
 public:
  explicit ThreadBudget(unsigned threads);
  ~ThreadBudget();
  ThreadBudget(const ThreadBudget&) = delete;
  ThreadBudget& operator=(const ThreadBudget&) = delete;

 private:
  int before_;
};

struct BackendStatus {
  bool available = false;
  std::string reason;  ///< why not; empty when available
  std::string hint;    ///< the next step; empty when available
  int devices = 0;
};

/// Registers LibTorch's CUDA backend in this process: asks the driver for devices, then opens
/// libtorch_cuda.so from the directory of libtorch_cpu.so. Call it before the first tensor is
/// made. Never throws. The answer of the first call with the usual driver is kept; [any-thread].
BackendStatus open_cuda_backend();

/// The same with another driver library, without keeping the answer; for tests and odd set-ups.
BackendStatus open_cuda_backend(const std::string& driver_library);

/// The first device of a run's list such as "cpu" or "cuda:1,cuda:0" that this kit can use.
/// OMEN_UNAVAILABLE with the reason where it is a CUDA device and there is none,
/// OMEN_INVALID_ARGUMENT where the text is no such list.
c10::Device pick_device(const std::string& devices);

}  // namespace omen::torch_kit
