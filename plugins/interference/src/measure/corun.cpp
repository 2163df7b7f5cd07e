// SPDX-License-Identifier: Apache-2.0
// Starts commands, counts their marks in a window, and ends them.
#include "measure/corun.hpp"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <omen/error.hpp>
#include <omen/median.hpp>
#include <omen/telemetry/clock.hpp>
#include <omen/telemetry/job.hpp>
#include <omen/telemetry/marks.hpp>
#include <optional>
#include <sstream>

#include "measure/process_use.hpp"

namespace omen::interference {
namespace {

using telemetry::Job;
constexpr std::int64_t kPoll = 20'000'000;  // ns
constexpr std::int64_t kGrace = 2'000'000'000;

std::int64_t ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

// Times of the marks so far; a line that is not finished yet does not count.
std::vector<std::int64_t> marks_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::int64_t> times;
  std::string line;
  while (std::getline(in, line) && !in.eof()) {
    std::istringstream words(line);
    std::int64_t time = 0;
    if (words >> time) times.push_back(time);
  }
  return times;
}

// One command with its own mark file, ended when it leaves.
class Runner {
 public:
  Runner(const CommandLine& command, std::filesystem::path marks)
      : name_(command.empty() ? std::string() : command[0]), marks_(std::move(marks)) {
    std::ofstream(marks_, std::ios::trunc).flush();
    job_.emplace(Job::start(command, {{telemetry::kMarkVariable, marks_.string()}}));
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    if (!job_ || job_->wait(0)) return;
    ::kill(job_->pid(), SIGTERM);
    if (!job_->wait(kGrace)) ::kill(job_->pid(), SIGKILL);
    job_->wait(kGrace);
  }
  // Waits a moment; throws where the command has ended.
  void wait() {
    if (!job_->wait(kPoll)) return;
    const telemetry::JobEnd& end = job_->end();
    const std::string how = end.signal != 0 ? "was ended by signal " + std::to_string(end.signal)
                                            : "ended with code " + std::to_string(end.exit_code);
    throw Error(OMEN_UNAVAILABLE, "'" + name_ + "' " + how + " before its window was over",
                "Give it more work, or a shorter window with --window_s.");
  }
  std::vector<std::int64_t> marks() const { return marks_in(marks_); }
  ProcessUse use() const { return process_use(job_->pid()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::filesystem::path marks_;
  std::optional<Job> job_;
};

// What one command did in a window.
struct Stretch {
  double rate_per_s = 0;  // between the first and the last mark
  std::vector<double> step_ms, device_percent;
  double cpu_share = 0, memory_mib = 0;
};

Stretch stretch_of(const Runner& runner, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> inside;
  for (const std::int64_t time : runner.marks())
    if (time >= from && time <= to) inside.push_back(time);
  if (inside.size() < 3)
    throw Error(
        OMEN_UNAVAILABLE,
        "'" + runner.name() + "' left " + std::to_string(inside.size()) + " marks in its window",
        "It should leave one each step with: omen mark step; a longer window has more.");
  // Between first and last mark a job that stalled would look as fast as before.
  if (const std::int64_t quiet = to - inside.back(); quiet > (to - from) / 2)
    throw Error(OMEN_UNAVAILABLE,
                "'" + runner.name() + "' left no mark in the last " +
                    std::to_string(quiet / 1'000'000) + " ms of its window",
                "It may hang; a longer window with --window_s shows whether it goes on.");
  Stretch found;
  found.rate_per_s = static_cast<double>(inside.size() - 1) * 1e9 /
                     static_cast<double>(inside.back() - inside.front());
  for (std::size_t i = 1; i < inside.size(); ++i)
    found.step_ms.push_back(static_cast<double>(inside[i] - inside[i - 1]) * 1e-6);
  return found;
}

// Runs all commands at once and returns what each did while all of them were steady.
std::vector<Stretch> stretches_of(const std::vector<CommandLine>& commands,
                                  const CorunOptions& options, const std::function<void()>& check) {
  std::vector<std::unique_ptr<Runner>> runners;
  for (std::size_t i = 0; i < commands.size(); ++i)
    runners.push_back(
        std::make_unique<Runner>(commands[i], options.directory / ("marks-" + std::to_string(i))));
  const std::int64_t patience = telemetry::machine_clock().now_ns() + ns(options.patience_s);
  for (;;) {
    check();
    for (const auto& runner : runners) runner->wait();
    const Runner* silent = nullptr;
    for (const auto& runner : runners)
      if (runner->marks().empty()) silent = runner.get();
    if (!silent) break;
    if (telemetry::machine_clock().now_ns() > patience)
      throw Error(OMEN_UNAVAILABLE,
                  "'" + silent->name() + "' left no mark in " +
                      std::to_string(static_cast<int>(options.patience_s)) + " s",
                  "A job says that a step is done with: omen mark step, or a line in the file that "
                  "OMEN_MARK_FILE names.");
  }
  const std::int64_t from = telemetry::machine_clock().now_ns() + ns(options.warmup_s);
  const std::int64_t to = from + ns(options.window_s);
  std::vector<double> cpu_before(runners.size(), -1), device_percent;
  for (std::int64_t now = 0; now < to; now = telemetry::machine_clock().now_ns()) {
    check();
    for (std::size_t i = 0; i < runners.size(); ++i) {
      runners[i]->wait();
      if (now >= from && cpu_before[i] < 0) cpu_before[i] = runners[i]->use().cpu_s;
    }
    if (now < from || !options.device_percent) continue;
    if (const double percent = options.device_percent(); std::isfinite(percent))
      device_percent.push_back(percent);
  }
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    const ProcessUse use = runners[i]->use();
    found.push_back(stretch_of(*runners[i], from, to));
    if (cpu_before[i] >= 0) found[i].cpu_share = (use.cpu_s - cpu_before[i]) / options.window_s;
    found[i].memory_mib = use.memory_mib;
    found[i].device_percent = device_percent;
  }
  return found;
}

// Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
double student_t(std::size_t freedom) {
  constexpr double kPoints[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom == 0) return INFINITY;
  return freedom <= std::size(kPoints) ? kPoints[freedom - 1] : 1.96;
}

}  // namespace

std::vector<CorunRates> measure_corun(const std::vector<CommandLine>& commands,
                                      const CorunOptions& options,
                                      const std::function<void(double)>& step) {
  std::vector<CorunRates> rates(commands.size());
  const auto stretches = static_cast<double>(commands.size() + 1);
  const auto keep = [](const Stretch& from, std::vector<double>& rate, std::vector<double>& ms) {
    rate.push_back(from.rate_per_s);
    ms.insert(ms.end(), from.step_ms.begin(), from.step_ms.end());
  };
  for (int turn = 0; turn < options.repeats; ++turn) {
    const auto done = [&](std::size_t stretch) {
      step((turn + static_cast<double>(stretch) / stretches) / options.repeats);
    };
    for (std::size_t which = 0; which < commands.size(); ++which) {
      const Stretch alone = stretches_of({commands[which]}, options, [&] { done(which); })[0];
      CorunRates& of = rates[which];
      keep(alone, of.alone, of.alone_ms);
      of.cpu_share += alone.cpu_share / options.repeats;
      of.memory_mib = std::max(of.memory_mib, alone.memory_mib);
      of.device_percent.insert(of.device_percent.end(), alone.device_percent.begin(),
                               alone.device_percent.end());
    }
    const std::vector<Stretch> all =
        stretches_of(commands, options, [&] { done(commands.size()); });
    for (std::size_t which = 0; which < commands.size(); ++which)
      keep(all[which], rates[which].together, rates[which].together_ms);
  }
  return rates;
}

CorunSpeed speed_of(const std::vector<double>& alone, const std::vector<double>& together) {
  std::vector<double> rho;
  for (std::size_t i = 0; i < alone.size(); ++i) rho.push_back(together[i] / alone[i]);
  const auto count = static_cast<double>(rho.size());
  double mean = 0, squares = 0;
  for (const double value : rho) mean += value / count;
  for (const double value : rho) squares += (value - mean) * (value - mean);
  CorunSpeed speed;
  speed.median = median(rho);
  const double half = rho.size() > 1
                          ? student_t(rho.size() - 1) * std::sqrt(squares / (count - 1) / count)
                          : INFINITY;
  speed.low = std::max(mean - half, 0.0);
  speed.high = std::isfinite(half) ? mean + half : 1e9;
  speed.is_precise = half <= 0.05;
  return speed;
}

}  // namespace omen::interference
