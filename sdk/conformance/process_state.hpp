// SPDX-License-Identifier: Apache-2.0
// What a plugin must leave as it found it, and what it must not write.
#ifndef OMEN_CONFORMANCE_PROCESS_STATE_HPP
#define OMEN_CONFORMANCE_PROCESS_STATE_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace omen::conformance {

// Descriptors, working directory, locale, signal handlers, rounding, environment and mask.
class ProcessState {
 public:
  static ProcessState now();
  // What differs in `later`, one sentence each.
  std::vector<std::string> changes(const ProcessState& later) const;

 private:
  std::map<int, std::string> descriptors_;
  std::map<int, std::string> handlers_;
  std::map<std::string, std::string> environment_;
  std::string directory_, locale_;
  int rounding_ = 0;
  unsigned mask_ = 0;
};

int thread_count();
// How often each thread of this process was taken off a core, by its id: still for one that sleeps.
std::map<int, std::uint64_t> thread_wakeups();
std::size_t resident_bytes();
// False under sanitizers, which keep freed memory for a while.
bool has_plain_malloc();
// Bytes that malloc has handed out and not got back.
std::size_t allocated_bytes();

// Catches descriptors 1 and 2 in files while it lives.
class OutputTrap {
 public:
  OutputTrap();
  ~OutputTrap();
  OutputTrap(const OutputTrap&) = delete;
  OutputTrap& operator=(const OutputTrap&) = delete;
  std::string written_to_stdout();
  std::string written_to_stderr();

 private:
  struct Stream {
    int target = -1, saved = -1, file = -1;
  };
  std::string text_of(const Stream& stream);
  Stream out_, err_;
};

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_PROCESS_STATE_HPP
