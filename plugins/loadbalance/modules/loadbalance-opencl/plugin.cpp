// SPDX-License-Identifier: Apache-2.0
// Entry of the shared object that runs kernels.
#include <omen/plugin.hpp>

#include "opencl/calibrate_command.hpp"
#include "opencl/profiler.hpp"
#include "opencl/run_command.hpp"

OMEN_PLUGIN(
    "loadbalance-opencl", "0.1.0", "Apache-2.0",
    omen::profiler<omen::loadbalance::OpenClProfiler, omen::loadbalance::OpenClProfilerOptions>(
        "loadbalance.opencl", "an OpenCL kernel on two devices, alone and divided"),
    omen::command<omen::loadbalance::RunCommand, omen::loadbalance::RunOptions>(
        "loadbalance.run", "divide an OpenCL kernel between two devices and measure it"),
    omen::command<omen::loadbalance::CalibrateCommand, omen::loadbalance::CalibrateOptions>(
        "loadbalance.calibrate", "measure kernels on this machine to correct predicted times"))
