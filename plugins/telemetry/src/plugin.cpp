// SPDX-License-Identifier: Apache-2.0
// The components of the plugin.
#include "probe.hpp"
#include "recorders.hpp"
#include "replay.hpp"

using omen::telemetry::RecorderOptions;

OMEN_PLUGIN("telemetry", "0.1.0", "Apache-2.0",
            omen::profiler<omen::telemetry::AllRecorder, RecorderOptions>(
                "telemetry.all", "CPU, memory, disks, network, energy and GPUs of this machine")
                .caps(OMEN_CAP_DEFAULT),
            omen::profiler<omen::telemetry::HostRecorder, RecorderOptions>(
                "telemetry.host", "CPU, memory, disks, network, energy and sensors"),
            omen::profiler<omen::telemetry::NvmlRecorder, RecorderOptions>(
                "telemetry.nvml", "NVIDIA GPUs through the driver's NVML"),
            omen::profiler<omen::telemetry::AmdRecorder, RecorderOptions>("telemetry.amd",
                                                                          "AMD GPUs from sysfs"),
            omen::profiler<omen::telemetry::Replay, omen::telemetry::ReplayOptions>(
                "telemetry.replay", "a recorded trace of this or of another tool"),
            omen::profiler<omen::telemetry::Probe, omen::telemetry::ProbeOptions>(
                "telemetry.probe", "rates, bandwidths and latencies of the devices themselves"))
