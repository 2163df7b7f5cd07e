// SPDX-License-Identifier: Apache-2.0
// The worker program: it serves until it is told to close, and ends with the host that started it.
#include "worker/worker.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/prctl.h>
#include <unistd.h>

#include "text/log.hpp"
#include "worker/worker_session.hpp"

namespace omen::host {
namespace {

pid_t host_process = 0;

// The kernel also sends the death signal when only the thread that spawned us ends, so the parent
// is looked at.
void on_parent_death(int) {
  if (getppid() != host_process) _exit(1);
}

void die_with_parent(pid_t parent) {
  host_process = parent;
  struct sigaction action {};
  action.sa_handler = on_parent_death;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() != parent) _exit(1);
}

}  // namespace

int worker_main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("error: __worker is for omen itself\n", stderr);
    return 2;
  }
  die_with_parent(static_cast<pid_t>(std::strtol(argv[3], nullptr, 10)));
  // Never destroyed: static destruction across the libraries of a plugin is not ours to order.
  auto* const session = new WorkerSession(argv[2]);
  session->serve();
  flush_log();
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace omen::host
