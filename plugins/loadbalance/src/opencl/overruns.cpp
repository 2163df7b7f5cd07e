// SPDX-License-Identifier: Apache-2.0
// A table that a signal handler can read, and the handler.
#include "opencl/overruns.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace omen::loadbalance {
namespace {

constexpr std::size_t kSlots = 512;
constexpr std::size_t kLongestText = 200;
constexpr int kDeadly[] = {SIGSEGV, SIGBUS};

struct Slot {
  std::atomic<bool> taken{false}, ready{false};
  const char *begin = nullptr, *end = nullptr, *data = nullptr;
  char before[kLongestText] = {}, behind[kLongestText] = {};
};
// Plain memory: a handler cannot wait for anything that is made on first use.
Slot g_slots[kSlots];
char g_file[4096];
struct sigaction g_usual[std::size(kDeadly)];

void put(int descriptor, const char* text) {
  if (::write(descriptor, text, std::strlen(text)) < 0) return;
}

void name_overrun(const char* at) {
  for (const Slot& slot : g_slots) {
    if (!slot.ready || at < slot.begin || at >= slot.end) continue;
    const char* text = at < slot.data ? slot.before : slot.behind;
    put(STDERR_FILENO, text);
    put(STDERR_FILENO, "\n");
    const int file = ::open(g_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    put(file, text);
    ::close(file);
    return;
  }
}

// Returning repeats the access, which then ends as it would have.
void on_deadly(int signal, siginfo_t* facts, void*) {
  name_overrun(static_cast<const char*>(facts->si_addr));
  for (std::size_t i = 0; i < std::size(kDeadly); ++i)
    if (kDeadly[i] == signal) ::sigaction(signal, &g_usual[i], nullptr);
}

}  // namespace

void watch_overruns(const std::string& file) {
  if (file.size() >= sizeof g_file) return;
  std::memcpy(g_file, file.c_str(), file.size() + 1);
  struct sigaction action {};
  action.sa_sigaction = on_deadly;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < std::size(kDeadly); ++i) {
    struct sigaction before {};
    ::sigaction(kDeadly[i], &action, &before);
    if (before.sa_sigaction != on_deadly) g_usual[i] = before;
  }
}

// Without a free slot the overrun stays nameless, which is no reason not to run.
GuardedRange::GuardedRange(const void* begin, const void* end, const void* data,
                           const std::string& what)
    : slot_(0) {
  while (slot_ < kSlots && g_slots[slot_].taken.exchange(true)) ++slot_;
  if (slot_ == kSlots) return;
  Slot& slot = g_slots[slot_];
  slot.begin = static_cast<const char*>(begin);
  slot.end = static_cast<const char*>(end);
  slot.data = static_cast<const char*>(data);
  std::snprintf(slot.before, sizeof slot.before, "reaches in front of %s", what.c_str());
  std::snprintf(slot.behind, sizeof slot.behind, "reaches behind %s", what.c_str());
  slot.ready = true;
}

GuardedRange::~GuardedRange() {
  if (slot_ == kSlots) return;
  g_slots[slot_].ready = false;
  g_slots[slot_].taken = false;
}

}  // namespace omen::loadbalance
