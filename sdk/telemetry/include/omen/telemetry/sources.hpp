// SPDX-License-Identifier: Apache-2.0
// Sources of the host: CPU, memory, disks, network, processes, control group, energy counters,
// sensors.
#ifndef OMEN_TELEMETRY_SOURCES_HPP
#define OMEN_TELEMETRY_SOURCES_HPP

#include <sys/types.h>

#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

// Each factory throws OMEN_UNAVAILABLE with a hint where the machine does not offer the thing.

// cpu.{usr,nice,sys,iowait,irq,softirq,steal,guest,guest_nice,idle,busy}_percent of every core and
// of all (device -1), defined as mpstat does: usr and nice exclude guests, busy is 100 - idle. The
// kernel counts in steps of 10 ms, so shares over less than 50 ms are coarse; a tick without a step
// has no rows. sys.{context_switches,interrupts,forks}_per_s and sys.{running,blocked}_processes
// come along.
SourcePtr make_proc_stat(const Context& context);

// mem.{total,used,available,free,buffers,cached,dirty,swap_used}_bytes; used is total - available.
SourcePtr make_proc_memory(const Context& context);

// disk.{read,write}_bytes_per_s, disk.{reads,writes}_per_s, disk.busy_percent of every real disk.
SourcePtr make_disk(const Context& context);

// nic.{rx,tx}_{bytes,packets}_per_s and nic.{errors,drops}_per_s of every interface but loopback.
SourcePtr make_nic(const Context& context);

// proc.{cpu_percent,rss_bytes,threads,processes,read_bytes_per_s,write_bytes_per_s,
// context_switches_per_s} of a process and all its descendants, short-lived ones included; 100 % is
// one core. Rows carry the pid of the root.
SourcePtr make_process_tree(const Context& context, pid_t root);

// cgroup.* of the group that `pid` is in (0: this process), version 2 only: cpu_percent,
// throttled_percent, cpu_limit_cores, memory_bytes, memory_limit_bytes, memory_peak_bytes,
// swap_bytes, oom_kills, pids, {cpu,memory,io}_pressure_percent. Limits are the tightest up to the
// root.
SourcePtr make_cgroup(const Context& context, pid_t pid = 0);

// rapl.power_w and rapl.energy_j (since the start) of every domain; counters that wrap are
// unwrapped, which holds while a tick is shorter than the counter's range (minutes).
SourcePtr make_rapl(const Context& context);

// hwmon.{temperature_c,power_w,voltage_v,current_a,fan_rpm} of every sensor.
SourcePtr make_hwmon(const Context& context);

// gpu.* of AMD GPUs from sysfs: util_percent, mem_util_percent, mem_{used,total}_bytes, power_w,
// temperature_c, clock_{sm,mem}_mhz. Devices are numbered from `first_device` on.
SourcePtr make_amd_sysfs(const Context& context, std::int32_t first_device = 0);

// The pids of a process and of its descendants that /proc shows, the root first.
std::vector<pid_t> process_tree(const Roots& roots, pid_t root);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_SOURCES_HPP
