// SPDX-License-Identifier: Apache-2.0
// Reads several sources at one cadence, in its own thread, and measures what that costs.
#ifndef OMEN_TELEMETRY_SAMPLER_HPP
#define OMEN_TELEMETRY_SAMPLER_HPP

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "omen/telemetry/source.hpp"
#include "omen/telemetry/ticker.hpp"

namespace omen::telemetry {

struct SamplerReport {
  std::string name;
  std::int64_t ticks = 0;
  std::int64_t missed = 0;
  double lateness_p50_ms = 0, lateness_p99_ms = 0, lateness_max_ms = 0;
  double cpu_s = 0;   // CPU time of the sampler's thread
  double wall_s = 0;  // from its first to its last tick
  std::string slowest_source;
  double slowest_ms = 0;  // its longest reading

  double cpu_percent() const noexcept { return wall_s > 0 ? 100 * cpu_s / wall_s : 0; }
};

// One cadence and its sources. A source that throws is asked again, and left out after ten failures
// in a row.
class Sampler {
 public:
  using Deliver = std::function<void(const std::vector<Sample>&)>;

  Sampler(std::string name, Clock& clock, std::int64_t interval_ns, Notes& notes)
      : name_(std::move(name)), clock_(clock), interval_ns_(interval_ns), notes_(notes) {}

  const std::string& name() const noexcept { return name_; }
  void add(SourcePtr source);
  bool empty() const noexcept { return sources_.empty(); }
  std::vector<DeviceInfo> devices() const;

  // One reading before run(), so that rates cover the run from its very start.
  void prime(std::int64_t start_ns, const Deliver& deliver) { tick(start_ns, deliver); }
  // Samples in the calling thread until `stop`, and once more after it, so that rates cover the
  // whole run. Times in rows count from start_ns.
  void run(const std::atomic<bool>& stop, std::int64_t start_ns, const Deliver& deliver);
  SamplerReport report() const;  // [any-thread]
  // Says why there are no more rows.
  void note_end(const char* reason);

 private:
  struct Entry {
    SourcePtr source;
    int failures = 0;
    double slowest_ms = 0;
  };
  void tick(std::int64_t start_ns, const Deliver& deliver);
  void read(Entry& entry, std::int64_t start_ns);
  void update_report(const Ticker& ticker, std::int64_t begin_ns, std::int64_t begin_cpu_ns,
                     bool with_quantiles);

  const std::string name_;
  Clock& clock_;
  const std::int64_t interval_ns_;
  Notes& notes_;
  std::vector<Entry> sources_;
  std::vector<Sample> rows_;
  mutable std::mutex mutex_;
  SamplerReport report_;
};

// A sampler at work. `keep_alive` owns everything that its sources refer to.
class SamplerThread {
 public:
  SamplerThread(std::shared_ptr<Sampler> sampler, std::int64_t start_ns, Sampler::Deliver deliver,
                std::shared_ptr<void> keep_alive);
  SamplerThread(SamplerThread&&) = default;
  SamplerThread& operator=(SamplerThread&&) = delete;
  ~SamplerThread() { stop(kNsPerSecond); }

  // Ends the thread. One that hangs in a driver for longer than grace_ns is left behind: false.
  bool stop(std::int64_t grace_ns);
  SamplerReport report() const { return sampler_->report(); }

 private:
  struct Control {
    std::atomic<bool> stop{false};
    std::atomic<bool> done{false};
  };
  std::shared_ptr<Control> control_;
  std::shared_ptr<Sampler> sampler_;
  std::thread thread_;
};

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_SAMPLER_HPP
