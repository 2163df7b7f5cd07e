// SPDX-License-Identifier: Apache-2.0
// Stands in for the OpenCL part in builds without it: every use says what is missing.
#include "omen/error.hpp"
#include "opencl/runtime.hpp"

namespace omen::loadbalance {
namespace {
[[noreturn]] void absent() {
  throw Error(OMEN_UNAVAILABLE, "this build has no OpenCL part",
              "install opencl-headers and ocl-icd-opencl-dev, then build again");
}
}  // namespace

class KernelRunner::Impl {};

std::vector<OpenClDevice> list_opencl_devices() {
  absent();
}
std::array<OpenClDevice, 2> choose_devices(const std::string&, const std::vector<OpenClDevice>&) {
  absent();
}
KernelRunner::KernelRunner(const std::array<OpenClDevice, 2>&, KernelSetup) {
  absent();
}
KernelRunner::~KernelRunner() = default;
double KernelRunner::run_whole(int) {
  absent();
}
SplitTime KernelRunner::run_split(const SplitPlan&, bool) {
  absent();
}
std::vector<Bytes> KernelRunner::results() {
  absent();
}
double KernelRunner::merge_ms() const {
  absent();
}
bool KernelRunner::shares_memory() const {
  absent();
}
void KernelRunner::let_go() {}

}  // namespace omen::loadbalance
