// SPDX-License-Identifier: Apache-2.0
// The loop of a sampler thread.
#include "omen/telemetry/sampler.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>

namespace omen::telemetry {
namespace {

constexpr int kMostFailures = 10;

// Signals belong to the program's own threads, and one-nanosecond slack keeps wake-ups on time.
void prepare_thread(const char* name) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_TIMERSLACK, 1UL);
  pthread_setname_np(pthread_self(), name);
}

}  // namespace

void Sampler::add(SourcePtr source) {
  sources_.push_back({std::move(source), 0, 0});
}

std::vector<DeviceInfo> Sampler::devices() const {
  std::vector<DeviceInfo> all;
  for (const Entry& entry : sources_)
    for (DeviceInfo& device : entry.source->devices()) all.push_back(std::move(device));
  return all;
}

void Sampler::run(const std::atomic<bool>& stop, std::int64_t start_ns, const Deliver& deliver) {
  const std::int64_t begin_ns = clock_.now_ns();
  const std::int64_t begin_cpu_ns = thread_cpu_ns();
  Ticker ticker(clock_, interval_ns_, stop);
  {
    const std::lock_guard lock(mutex_);
    report_.name = name_;
  }
  while (ticker.next()) {
    tick(start_ns, deliver);
    // Quantiles walk over a histogram, so a running report is brought up to date only now and then.
    update_report(ticker, begin_ns, begin_cpu_ns, ticker.ticks() % 10 == 1);
  }
  tick(start_ns, deliver);
  update_report(ticker, begin_ns, begin_cpu_ns, true);
  const SamplerReport final = report();
  if (final.missed == 0) return;
  char slowest[32];
  std::snprintf(slowest, sizeof slowest, "%.0f ms", final.slowest_ms);
  notes_.add(NoteKind::kWarning, name_,
             std::to_string(final.missed) + " of " + std::to_string(final.ticks + final.missed) +
                 " ticks were missed; the slowest reading was " + final.slowest_source + " with " +
                 slowest,
             "Choose a longer interval.");
}

void Sampler::tick(std::int64_t start_ns, const Deliver& deliver) {
  rows_.clear();
  for (Entry& entry : sources_)
    if (entry.failures < kMostFailures) read(entry, start_ns);
  if (!rows_.empty()) deliver(rows_);
}

void Sampler::read(Entry& entry, std::int64_t start_ns) {
  const std::int64_t before_ns = clock_.now_ns();
  const std::size_t kept = rows_.size();
  try {
    entry.source->sample(before_ns - start_ns, rows_);
    entry.failures = 0;
  } catch (const std::exception& problem) {
    rows_.resize(kept);
    notes_.add(NoteKind::kWarning, entry.source->name(), problem.what());
    if (++entry.failures == kMostFailures)
      notes_.add(NoteKind::kWarning, entry.source->name(),
                 "failed " + std::to_string(kMostFailures) + " times in a row and is given up");
  }
  entry.slowest_ms =
      std::max(entry.slowest_ms, static_cast<double>(clock_.now_ns() - before_ns) / kNsPerMs);
}

void Sampler::update_report(const Ticker& ticker, std::int64_t begin_ns, std::int64_t begin_cpu_ns,
                            bool with_quantiles) {
  const std::lock_guard lock(mutex_);
  report_.ticks = ticker.ticks();
  report_.missed = ticker.missed();
  report_.cpu_s = static_cast<double>(thread_cpu_ns() - begin_cpu_ns) / kNsPerSecond;
  report_.wall_s = static_cast<double>(clock_.now_ns() - begin_ns) / kNsPerSecond;
  if (!with_quantiles) return;
  const LogHistogram& lateness = ticker.lateness_ns();
  report_.lateness_p50_ms = lateness.quantile(0.5) / kNsPerMs;
  report_.lateness_p99_ms = lateness.quantile(0.99) / kNsPerMs;
  report_.lateness_max_ms = lateness.max() / kNsPerMs;
  for (const Entry& entry : sources_) {
    if (entry.slowest_ms < report_.slowest_ms) continue;
    report_.slowest_ms = entry.slowest_ms;
    report_.slowest_source = entry.source->name();
  }
}

void Sampler::note_end(const char* reason) {
  notes_.add(NoteKind::kWarning, name_, std::string("sampling ended early: ") + reason);
}

SamplerReport Sampler::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

SamplerThread::SamplerThread(std::shared_ptr<Sampler> sampler, std::int64_t start_ns,
                             Sampler::Deliver deliver, std::shared_ptr<void> keep_alive)
    : control_(std::make_shared<Control>()), sampler_(std::move(sampler)) {
  thread_ =
      std::thread([control = control_, sampler = sampler_, start_ns, deliver = std::move(deliver),
                   keep_alive = std::move(keep_alive)]() mutable {
        prepare_thread("omen-sampler");
        sampler->run(control->stop, start_ns, deliver);
        // The references go before `done` is seen, so that nothing outlives the recording.
        sampler.reset();
        deliver = nullptr;
        keep_alive.reset();
        control->done.store(true, std::memory_order_release);
      });
}

bool SamplerThread::stop(std::int64_t grace_ns) {
  if (!thread_.joinable()) return true;
  control_->stop.store(true, std::memory_order_relaxed);
  Clock& clock = machine_clock();
  const std::int64_t deadline = clock.now_ns() + grace_ns;
  while (!control_->done.load(std::memory_order_acquire) && clock.now_ns() < deadline)
    clock.sleep_until(clock.now_ns() + kNsPerMs);
  if (control_->done.load(std::memory_order_acquire)) {
    thread_.join();
    return true;
  }
  thread_.detach();
  return false;
}

}  // namespace omen::telemetry
