// SPDX-License-Identifier: Apache-2.0
// Options that the profiler and the commands of OpenCL kernels have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "omen/options.hpp"

namespace omen::loadbalance {

struct SplitOptions {
  std::string kernel, on, global, local, cl_std = "CL1.2";
  std::vector<std::string> arg, define, include_dir, include;
  std::int64_t input_size = 0, wgsize = 0;
  int repeats = 3;
  double kernel_timeout = 60, tolerance = 1e-5, min_gain = 0.02;
  bool force = false;
};

// What a front end of this track is called with for the source of a run.
std::string front_end_options(const SplitOptions& options, const std::string& kernel);

// The options of SplitOptions for a struct that is made from it.
template <class O>
std::vector<Option<O>> split_options() {
  const auto make = [](auto SplitOptions::*member, const char* key, const char* help) {
    using Field = std::remove_reference_t<decltype(std::declval<O>().*member)>;
    return Option<O>(static_cast<Field O::*>(member), key, help);
  };
  using S = SplitOptions;
  return {
      make(&S::kernel, "kernel", "the kernel; not needed where the file has one"),
      make(&S::global, "global",
           "work-items in each dimension, X[,Y[,Z]]; by default from "
           "input_size"),
      make(&S::local, "local", "work-group size in each dimension, X[,Y[,Z]]"),
      make(&S::wgsize, "wgsize", "work-group size of the first dimension; 0: chosen")
          .range(0, 1 << 20),
      make(&S::input_size, "input_size", "bytes of all buffers that are made; 0: by the range")
          .range(0, 1e12)
          .unit("B"),
      make(&S::arg, "arg",
           "an argument by index or name: i=VALUE, i=buffer:BYTES[:FILE|zero|random] or "
           "i=local:BYTES; those not given are made from the signature"),
      make(&S::on, "on",
           "the two devices, P:D,P:D, with /U for U compute units of one; by default a processor "
           "and a GPU, else the first two, else the halves of one"),
      make(&S::cl_std, "cl_std", "OpenCL C version of the source")
          .choices("CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"),
      make(&S::define, "define", "macro for the compiler, NAME or NAME=VALUE"),
      make(&S::include_dir, "include_dir", "directory with headers"),
      make(&S::include, "include", "file to include before the first line"),
      make(&S::repeats, "repeats", "runs of each share; the median counts").range(1, 1000),
      make(&S::kernel_timeout, "kernel_timeout", "a launch or build that takes longer is given up")
          .range(0.1, 86400)
          .unit("s"),
      make(&S::tolerance, "tolerance",
           "largest error of a split run on unlike devices, by the largest magnitude of the buffer")
          .range(0, 1),
      make(&S::min_gain, "min_gain", "a split that gains a smaller part of the time is not used")
          .range(0, 1),
      make(&S::force, "force", "run a kernel that was judged not to be divisible")};
}

}  // namespace omen::loadbalance
