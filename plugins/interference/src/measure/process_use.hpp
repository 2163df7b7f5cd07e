// SPDX-License-Identifier: Apache-2.0
// What a process and everything that it started use.
#pragma once

#include <sys/types.h>

namespace omen::interference {

struct ProcessUse {
  double cpu_s = 0;       // of all threads, since they were started
  double memory_mib = 0;  // resident
};
// Zeros where the processes have ended or there is no /proc.
ProcessUse process_use(pid_t root);

}  // namespace omen::interference
