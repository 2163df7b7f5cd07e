// SPDX-License-Identifier: Apache-2.0
// A load that stands still until it is let go for a moment.
#pragma once

#include <omen/telemetry/job.hpp>

#include "measure/corun.hpp"

namespace omen::interference {

class HeldLoad {
 public:
  // Starts the command and stops it after its first mark. OMEN_UNAVAILABLE where none comes in
  // time.
  HeldLoad(const std::string& name, const CommandLine& command, std::filesystem::path marks,
           double patience_s, const std::function<void()>& check);
  HeldLoad(HeldLoad&& other) noexcept = default;
  HeldLoad& operator=(HeldLoad&&) = delete;
  ~HeldLoad();

  void pin(int core);
  void go_on();
  void hold();
  // OMEN_UNAVAILABLE where the command has ended.
  void require_running();
  double cpu_s() const;
  double memory_mib() const;
  // Steps a second between the first and the last mark from `from_ns` to `to_ns`.
  double rate_between(std::int64_t from_ns, std::int64_t to_ns);

 private:
  std::string name_;
  std::filesystem::path marks_;
  std::streamoff read_ = 0;  // bytes of the marks that earlier windows have used
  telemetry::Job job_;
};

}  // namespace omen::interference
