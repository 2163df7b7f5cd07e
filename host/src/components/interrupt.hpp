// SPDX-License-Identifier: Apache-2.0
// Children that the second Ctrl-C takes along.
#ifndef OMEN_HOST_SRC_INTERRUPT_HPP
#define OMEN_HOST_SRC_INTERRUPT_HPP

#include <sys/types.h>

namespace omen::host {

// The process group is killed when the user insists; false when too many are watched already.
// [any-thread]
bool watch_process_group(pid_t leader) noexcept;
void unwatch_process_group(pid_t leader) noexcept;

}  // namespace omen::host

#endif  // OMEN_HOST_SRC_INTERRUPT_HPP
