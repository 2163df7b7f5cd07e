// SPDX-License-Identifier: Apache-2.0
// Runs the samplers around a workload and keeps the log growing.
#include "omen/telemetry/recording.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "facts.hpp"
#include "kernel_log.hpp"
#include "omen/job_metrics.h"
#include "omen/telemetry/marks.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/sources.hpp"
#include "source_set.hpp"

namespace omen::telemetry {
namespace {

// Half a second, so that what a kill costs stays below one second on a busy machine as well.
constexpr std::int64_t kFlushNs = 500 * kNsPerMs;
constexpr std::int64_t kStepNs = 50 * kNsPerMs;
constexpr std::int64_t kLiveNs = 200 * kNsPerMs;
constexpr std::int64_t kGraceNs = 500 * kNsPerMs;  // for a job to end by itself after Ctrl-C
constexpr std::int64_t kHangNs = 3 * kNsPerSecond;
constexpr std::int64_t kLeastGraceNs = 300 * kNsPerMs;

// The latest values of the few metrics that the live line shows. [any-thread]
class Headline {
 public:
  explicit Headline(MetricTable& metrics)
      : busy_(metrics.id("cpu.busy_percent")),
        memory_(metrics.id("mem.used_bytes")),
        job_(metrics.id("proc.cpu_percent")),
        util_(metrics.id("gpu.util_percent")),
        power_(metrics.id("gpu.power_w")) {}

  void take(const std::vector<Sample>& rows) {
    const std::lock_guard lock(mutex_);
    for (const Sample& row : rows) {
      if (row.metric == job_) values_[{row.metric, 0}] = row.value;
      const bool whole = row.device == Sample::kWholeMachine;
      if ((row.metric == busy_ || row.metric == memory_) && whole)
        values_[{row.metric, 0}] = row.value;
      if (row.metric == util_ || row.metric == power_)
        values_[{row.metric, row.device}] = row.value;
    }
  }

  std::string text() const {
    const std::lock_guard lock(mutex_);
    char part[64];
    std::string line;
    const auto add = [&](const char* format, std::int32_t metric, std::int32_t device,
                         double scale) {
      const auto at = values_.find({metric, device});
      if (at == values_.end()) return;
      std::snprintf(part, sizeof part, format, at->second * scale);
      line += part;
    };
    add("cpu %.0f %%", busy_, 0, 1);
    add("  job %.0f %%", job_, 0, 1);
    add("  mem %.1f GB", memory_, 0, 1e-9);
    for (std::int32_t gpu = 0; gpu < 8 && values_.count({util_, gpu}); ++gpu) {
      line += "  gpu" + std::to_string(gpu);
      add(" %.0f %%", util_, gpu, 1);
      add(" %.0f W", power_, gpu, 1);
    }
    return line;
  }

 private:
  const std::int32_t busy_, memory_, job_, util_, power_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::int32_t, std::int32_t>, double> values_;
};

// Everything that sampler threads refer to. They share it, because one that hangs in a driver
// outlives the call that started it.
struct Shared {
  MetricTable metrics;
  Notes notes;
  LogWriter log;
  Headline headline;

  explicit Shared(const std::filesystem::path& path) : log(path, metrics), headline(metrics) {}
};

class Recorder {
 public:
  Recorder(const RecordOptions& options, const Workload& workload, const RecordHooks& hooks)
      : options_(options),
        workload_(workload),
        hooks_(hooks),
        shared_(std::make_shared<Shared>(options.directory / kLogName)) {}

  Recording run() {
    put_facts();
    for (std::int64_t i = 0; i < workload_.repeat && !cancelled_; ++i) run_once(i);
    Recording recording;
    recording.log = shared_->log.path();
    recording.job = job_end_;
    recording.cancelled = cancelled_;
    if (const std::int64_t dropped = shared_->log.dropped_rows())
      shared_->notes.add(NoteKind::kWarning, "log",
                         std::to_string(dropped) + " rows were dropped: the disk did not keep up",
                         "Record to a faster disk with -o.");
    recording.notes = shared_->notes.list();
    recording.samplers = reports_;
    shared_->log.put_meta("notes", notes_json(recording.notes));
    guard_log([](LogWriter& log) { log.finish(); });
    if (log_failed_) recording.notes = shared_->notes.list();
    return recording;
  }

 private:
  Context context() { return {options_.roots, shared_->metrics, shared_->notes}; }

  // A full disk ends the log, not the job: what was written so far can be read.
  template <class Call>
  void guard_log(Call&& call) {
    if (log_failed_) return;
    try {
      call(shared_->log);
    } catch (const Error& error) {
      log_failed_ = true;
      shared_->notes.add(NoteKind::kWarning, "log",
                         std::string("the recording ends early: ") + error.what(), error.hint());
    }
  }
  void flush() {
    guard_log([](LogWriter& log) { log.flush(); });
  }

  void put_facts() {
    LogWriter& log = shared_->log;
    log.put_meta("interval_ns", std::to_string(options_.interval_ns));
    if (!workload_.command.empty()) log.put_meta("command", words_json(workload_.command));
    if (workload_.pid != 0) log.put_meta("pid", std::to_string(workload_.pid));
  }

  void run_once(std::int64_t workload_id) {
    SamplerSet set = make_samplers(options_, context(), workload_.pid);
    shared_->log.put_meta("devices", devices_json(set.devices()));
    start_ns_ = machine_clock().now_ns();
    shared_->log.begin_workload(workload_id, machine_clock().unix_ns());
    const std::filesystem::path marks = std::filesystem::absolute(options_.directory / "marks");
    set.host->add(make_marks(context(), marks, start_ns_));
    flush();

    std::vector<SamplerThread> threads;
    // The process tree joins the host's sampler, so a lead-in is sampled by a set without it.
    if (options_.lead_s > 0) {
      start_threads(threads, set.used());
      wait_until(start_ns_ + seconds(options_.lead_s), nullptr);
      finish_threads(threads);
      if (cancelled_) return;
      set = make_samplers(options_, context(), workload_.pid);
      set.host->add(make_marks(context(), marks, start_ns_));
    }
    // Only the host is read here: a GPU that hangs must not keep the job from starting.
    if (!set.host->empty()) set.host->prime(start_ns_, deliver());
    KernelLog kernel_log(options_.roots.kernel_log);
    if (!kernel_log.readable() && !workload_.command.empty())
      shared_->notes.add(NoteKind::kAbsent, "kernel log",
                         options_.roots.kernel_log.string() + " cannot be read",
                         "Run as root, or allow it: sysctl kernel.dmesg_restrict=0");
    std::optional<Job> job = start_job(marks);
    const std::int64_t job_start_ns = machine_clock().now_ns();
    if (job) add_process_tree(*set.host, job->pid());
    start_threads(threads, set.used());
    wait_for_end(job, job_start_ns);
    const std::int64_t job_end_ns = machine_clock().now_ns();
    if (!cancelled_ && options_.tail_s > 0)
      wait_until(job_end_ns + seconds(options_.tail_s), nullptr);
    finish_threads(threads);
    put_end(job, job_start_ns, job_end_ns);
    if (const std::vector<std::string> lines = kernel_log.read_new(); !lines.empty())
      shared_->log.put_meta("kernel_log." + std::to_string(workload_id), words_json(lines));
    flush();
  }

  static std::int64_t seconds(double s) { return static_cast<std::int64_t>(s * 1e9); }

  std::optional<Job> start_job(const std::filesystem::path& marks) {
    if (!workload_.command.empty())
      return Job::start(workload_.command, {{kMarkVariable, marks.string()}});
    if (workload_.pid != 0) return Job::watch(workload_.pid);
    return std::nullopt;
  }

  Sampler::Deliver deliver() const {
    return [shared = shared_](const std::vector<Sample>& rows) {
      shared->log.put(rows);
      shared->headline.take(rows);
    };
  }

  // The first look comes at once: a short job is over before the first tick.
  void add_process_tree(Sampler& sampler, pid_t pid) {
    SourcePtr tree = make_process_tree(context(), pid);
    std::vector<Sample> rows;
    tree->sample(machine_clock().now_ns() - start_ns_, rows);
    if (!rows.empty()) deliver()(rows);
    sampler.add(std::move(tree));
  }

  void start_threads(std::vector<SamplerThread>& threads,
                     const std::vector<std::shared_ptr<Sampler>>& samplers) {
    for (const auto& sampler : samplers)
      threads.emplace_back(sampler, start_ns_, deliver(), shared_);
  }

  void finish_threads(std::vector<SamplerThread>& threads) {
    reports_.clear();
    // All of them share the patience, so that several GPUs that hang cost no more than one.
    const std::int64_t deadline = machine_clock().now_ns() + kHangNs;
    for (SamplerThread& thread : threads) {
      const bool ended = thread.stop(std::max(kLeastGraceNs, deadline - machine_clock().now_ns()));
      reports_.push_back(thread.report());
      if (!ended)
        shared_->notes.add(NoteKind::kWarning, reports_.back().name,
                           "a driver call did not return; its sampler was left behind",
                           "Look into the kernel log for the device: dmesg");
    }
    threads.clear();
  }

  // Waits for the job to end or for a moment, flushing and showing as time goes by. True: the job
  // ended.
  bool wait_until(std::int64_t deadline_ns, Job* job) {
    Clock& clock = machine_clock();
    for (;;) {
      const std::int64_t now = clock.now_ns();
      if (!cancelled_ && hooks_.cancelled()) cancelled_ = true;
      if (cancelled_ || now >= deadline_ns) return false;
      if (now >= next_flush_ns_) {
        flush();
        next_flush_ns_ = now + kFlushNs;
      }
      if (now >= next_live_ns_) {
        hooks_.live(shared_->headline.text());
        next_live_ns_ = now + kLiveNs;
      }
      const std::int64_t step = std::min(kStepNs, deadline_ns - now);
      if (!job)
        clock.sleep_until(now + step);
      else if (job->wait(step))
        return true;
    }
  }

  void wait_for_end(std::optional<Job>& job, std::int64_t job_start_ns) {
    constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
    const std::int64_t deadline =
        workload_.duration_s ? job_start_ns + seconds(*workload_.duration_s) : kForEver;
    const bool ended = wait_until(deadline, job ? &*job : nullptr);
    if (ended || !job || workload_.pid != 0) return;
    // On a terminal Ctrl-C reached the job as well; a duration that is over did not.
    if (cancelled_ && job->wait(kGraceNs)) return;
    // A shell that ends does not take along what it started.
    for (const pid_t pid : process_tree({}, job->pid())) ::kill(pid, SIGTERM);
    if (job->wait(kGraceNs)) return;
    shared_->notes.add(NoteKind::kWarning, "job",
                       "process " + std::to_string(job->pid()) + " ignores SIGTERM and runs on",
                       "End it with: kill -9 " + std::to_string(job->pid()));
  }

  void put_end(const std::optional<Job>& job, std::int64_t job_start_ns, std::int64_t job_end_ns) {
    const std::int64_t t_ns = job_end_ns - start_ns_;
    std::vector<Sample> rows;
    const auto put = [&](const char* name, double value, std::int32_t device = -1) {
      rows.push_back({t_ns, value, shared_->metrics.id(name), device, 0});
    };
    put("job.start_s", static_cast<double>(job_start_ns - start_ns_) * 1e-9);
    put("job.wall_s", static_cast<double>(job_end_ns - job_start_ns) * 1e-9);
    if (job) {
      job_end_ = job->end();
      put("job.pid", job->pid());
    }
    if (job_end_.known) {
      put(job_end_.signal ? OMEN_METRIC_SIGNAL : OMEN_METRIC_EXIT_CODE,
          job_end_.signal ? job_end_.signal : job_end_.exit_code);
      put("job.user_s", job_end_.user_s);
      put("job.system_s", job_end_.system_s);
      put("job.max_rss_bytes", job_end_.max_rss_bytes);
    }
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      const SamplerReport& report = reports_[i];
      const auto device = static_cast<std::int32_t>(i);
      put("sampler.cpu_percent", report.cpu_percent(), device);
      put("sampler.lateness_p50_ms", report.lateness_p50_ms, device);
      put("sampler.lateness_p99_ms", report.lateness_p99_ms, device);
      put("sampler.lateness_max_ms", report.lateness_max_ms, device);
      put("sampler.ticks", static_cast<double>(report.ticks), device);
      put("sampler.missed_ticks", static_cast<double>(report.missed), device);
    }
    shared_->log.put(rows);
  }

  const RecordOptions& options_;
  const Workload& workload_;
  const RecordHooks& hooks_;
  std::shared_ptr<Shared> shared_;
  std::int64_t start_ns_ = 0, next_flush_ns_ = 0, next_live_ns_ = 0;
  bool cancelled_ = false, log_failed_ = false;
  JobEnd job_end_;
  std::vector<SamplerReport> reports_;
};

}  // namespace

Recording record(const RecordOptions& options, const Workload& workload, const RecordHooks& hooks) {
  return Recorder(options, workload, hooks).run();
}

std::string describe_devices(const RecordOptions& options) {
  MetricTable metrics;
  Notes notes;
  const SamplerSet set = make_samplers(options, {options.roots, metrics, notes}, 0);
  return description_json(set.devices(), notes.list());
}

}  // namespace omen::telemetry
