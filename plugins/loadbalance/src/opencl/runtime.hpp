// SPDX-License-Identifier: Apache-2.0
// OpenCL devices and kernels on them, through a library that is opened at run time.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opencl/arguments.hpp"
#include "opencl/device_choice.hpp"
#include "opencl/results.hpp"
#include "opencl/split_search.hpp"

namespace omen::loadbalance {

struct OpenClDevice : DeviceChoice {
  std::string name, platform_name, version;
  bool is_cpu = false, is_gpu = false, unified_memory = false, can_be_divided = false;
  unsigned compute_units = 0;
  double clock_hz = 0, memory_bytes = 0;
  std::size_t largest_group = 0;
};

// Every device of every platform. OMEN_UNAVAILABLE where there is none, with what to install.
std::vector<OpenClDevice> list_opencl_devices();

// The two devices that share the work. `text` is "P:D,P:D", where "/U" behind one takes U of its
// compute units; empty: a processor and a GPU, else the first two devices, else the two halves of
// the only one. One device in the text is an error.
std::array<OpenClDevice, 2> choose_devices(const std::string& text,
                                           const std::vector<OpenClDevice>& devices);

struct KernelSetup {
  std::string source;        // as the user wrote it
  std::string split_source;  // with rewritten built-ins
  bool takes_range = false;  // the split kernel has the size of the whole range as last argument
  std::string build_options;
  std::string kernel;
  LaunchRange range;
  std::vector<Argument> arguments;
  std::vector<Parameter> parameters;
  std::vector<bool> written;    // by parameter: buffers that the kernel may change
  std::vector<bool> exclusive;  // by parameter: of which devices may not change the same place
  double timeout_s = 60;        // of one launch or build
  std::string overrun_file;     // gets the name of an argument whose end kills the process
  std::function<bool()> cancelled;
};

// One kernel with its arguments on two devices. A launch that does not end in time is thrown as
// OMEN_TIMEOUT, and its device stays occupied: the process should end soon. Memory of processors
// has inaccessible pages around it, so that a kernel which leaves its buffers dies or is told.
class KernelRunner {
 public:
  KernelRunner(const std::array<OpenClDevice, 2>& devices, KernelSetup setup);
  ~KernelRunner();
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  // The whole range by one device, with the kernel as written. Buffers start from the arguments.
  double run_whole(int device);
  // Both parts at the same time. Separate memory is merged afterwards; devices that share the
  // memory of the host write into one copy where `separate` is false.
  SplitTime run_split(const SplitPlan& plan, bool separate);

  // Contents of the written buffers after the last run, in the order of the parameters; of
  // separate memory merged. OMEN_INVALID_DATA where both devices changed the same place, or where
  // the kernel wrote behind the end of a buffer.
  std::vector<Bytes> results();
  double merge_ms() const;     // of the last results()
  bool shares_memory() const;  // both devices work on one copy

 private:
  class Impl;
  void let_go();
  std::unique_ptr<Impl> impl_;
};

}  // namespace omen::loadbalance
