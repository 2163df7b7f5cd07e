// SPDX-License-Identifier: Apache-2.0
// Kernels of this project on two OpenCL devices: equal results, refusals, and how good the split is
// that the search finds.
//   split_quality OMEN results|refusals|quality|disturbed|halves|pinned
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../tests/opencl/profiled_kernel.hpp"
#include "omen/median.hpp"
#include "omen/testing/show.hpp"
#include "opencl/own_kernels.hpp"

namespace omen::loadbalance {
namespace {

// Times that lie nearer to the best than this part, or than the noise of the run allows to tell,
// are the best too: devices that share cores have curves that are flat for many shares.
constexpr double kSame = 0.02;
constexpr double kNoiseWidth = 3;  // of a difference of two times, in standard errors of one
// Sweeps that cannot tell the goal of 1.05 from 1 were disturbed and are made again.
constexpr double kDisturbed = 0.05;
constexpr int kMostTries = 3;
constexpr double kPoints = 5;  // how far a split may lie from the best
constexpr double kPinnedPoints = 10;
constexpr double kDisturbedGoal = 1.05;
constexpr double kBrokenShare = 95;
constexpr const char* kEqual = "equal in every bit";
constexpr int kRefused = 1;  // exit code

using test::broken;
using test::show;

Flags flags_of(const OwnKernel& kernel, Flags more) {
  Flags flags = {{"kernel", kernel.name}, {"global", kernel.global}, {"local", kernel.local}};
  for (const std::string& argument : kernel.args) flags.emplace_back("arg", argument);
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// "equal in every bit", or how the results differ.
std::string agreement(const KernelProfiler& client, const OwnKernel& kernel) {
  try {
    const ProfiledKernel run = client.run(
        kernel.source, flags_of(kernel, {{"shares", "none"},
                                         {"start_share", "37"},
                                         {"keep_builtins", broken() ? "true" : "false"}}));
    if (run.metrics.at("equal_in_every_bit") == 1) return kEqual;
    return "different, largest error " + std::to_string(run.metrics.at("largest_error")) +
           " of the largest magnitude";
  } catch (const ProfileFailure& failure) {
    if (failure.exit_code != kInvalidData) throw;
    return failure.what();
  }
}

// Broken: the parts run without rewritten work-item functions.
int results(const KernelProfiler& client) {
  int equal = 0;
  for (const OwnKernel& kernel : divisible_kernels()) {
    const std::string found = agreement(client, kernel);
    equal += found == kEqual;
    std::printf("%-16s %s\n", kernel.name, found.c_str());
  }
  return show("split_results_equal", equal, "kernels", "==", 12);
}

// Broken: kernels are divided whatever the judgement says.
int refusals(const KernelProfiler& client) {
  int refused = 0;
  for (const OwnKernel& kernel : indivisible_kernels()) {
    try {
      client.run(kernel.source, flags_of(kernel, {{"shares", "none"},
                                                  {"kernel_timeout", "5"},
                                                  {"force", broken() ? "true" : "false"}}));
      std::printf("%-20s was not refused\n", kernel.name);
    } catch (const ProfileFailure& failure) {
      refused += failure.exit_code == kRefused &&
                 std::strstr(failure.what(), "cannot be divided: ") != nullptr;
      std::printf("%-20s %s\n", kernel.name, failure.what());
    }
    if (broken()) break;  // a kernel that waits for ever may be among them
  }
  return show("split_refusals", refused, "kernels", "==", 6);
}

// Shares of a sweep as the profiler takes them, `last` behind every 5 %.
std::string sweep_text(double last) {
  std::string text;
  for (int share = 0; share <= 100; share += 5) text += std::to_string(share) + ",";
  return text + std::to_string(last);
}

// A share in two sweeps, each in a process of its own.
struct SweptShare {
  double share = 0, ms = 0;
  double apart = 0;  // the difference between both sweeps, in parts of the time
};

// Brings the second sweep to the speed that the machine had in the first one.
std::vector<SweptShare> joined(const std::vector<SplitSample>& first,
                               const std::vector<SplitSample>& second) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.size(); ++i)
    ratios.push_back(first[i].time.total_ms / second[i].time.total_ms);
  const double speed = median(ratios);
  std::vector<SweptShare> shares;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i].time.total_ms, b = speed * second[i].time.total_ms;
    shares.push_back({first[i].share, (a + b) / 2, 2 * (a - b) / (a + b)});
  }
  return shares;
}

struct Quality {
  double best_share = 0, best_ms = INFINITY;
  double noise = 0;            // what the sweeps cannot tell apart, as a part of a time
  double same = 0;             // times above the best by less than this part are as good
  double distance = INFINITY;  // to the nearest share as good as the best; 0: it is one itself
  double ratio = 0;            // to the better device alone
};

// The share that was found takes part in the sweeps.
Quality judge(const std::vector<SweptShare>& sweep, double share) {
  Quality quality;
  const SweptShare& found =
      *std::min_element(sweep.begin(), sweep.end(), [share](const auto& a, const auto& b) {
        return std::fabs(a.share - share) < std::fabs(b.share - share);
      });
  double single = INFINITY, squares = 0;
  for (const SweptShare& swept : sweep) {
    squares += swept.apart * swept.apart;
    if (swept.share == 0 || swept.share == 100) single = std::min(single, swept.ms);
    if (swept.ms >= quality.best_ms) continue;
    quality.best_ms = swept.ms;
    quality.best_share = swept.share;
  }
  // The mean of two has half the standard error of their difference.
  const double error = std::sqrt(squares / static_cast<double>(sweep.size())) / 2;
  quality.noise = kNoiseWidth * error;
  quality.same = std::clamp(quality.noise, kSame, kDisturbed);
  for (const SweptShare& swept : sweep)
    if (swept.ms <= (1 + quality.same) * quality.best_ms)
      quality.distance = std::min(quality.distance, std::fabs(swept.share - found.share));
  quality.ratio = found.ms / single;
  return quality;
}

// Sweeps of the shares, until what disturbs them is small enough or patience ends.
Quality judged(const KernelProfiler& client, const OwnKernel& kernel, const std::string& shares,
               double share) {
  const auto sweep = [&] {
    return client.run(kernel.source, flags_of(kernel, {{"shares", shares}, {"repeats", "25"}}))
        .samples;
  };
  Quality quality = judge(joined(sweep(), sweep()), share);
  for (int tries = 1; quality.noise > kDisturbed && tries < kMostTries; ++tries)
    quality = judge(joined(sweep(), sweep()), share);
  return quality;
}

ProfiledKernel searched(const KernelProfiler& client, const OwnKernel& kernel) {
  return client.run(kernel.source, flags_of(kernel, {{"shares", "find"}, {"repeats", "4"}}));
}

void print_head() {
  std::printf("%-16s %9s %9s %9s %9s %12s %14s\n", "kernel", "found %", "best %", "best ms",
              "same in %", "points apart", "to one device");
}

void print_row(const OwnKernel& kernel, double share, const Quality& quality) {
  std::printf("%-16s %9.1f %9.1f %9.2f %9.1f %12.1f %14.3f\n", kernel.name, share,
              quality.best_share, quality.best_ms, 100 * quality.same, quality.distance,
              quality.ratio);
  std::fflush(stdout);
}

// Broken: the search does not correct a bad start.
int quality(const KernelProfiler& client) {
  double farthest = 0, worst = 0;
  print_head();
  for (const OwnKernel& kernel : divisible_kernels()) {
    const double share =
        broken() ? kBrokenShare : searched(client, kernel).metrics.at("best_split_percent");
    const Quality quality = judged(client, kernel, sweep_text(share), share);
    farthest = std::max(farthest, quality.distance);
    worst = std::max(worst, quality.ratio);
    print_row(kernel, share, quality);
    if (broken() && farthest > kPoints) break;  // one kernel is enough to miss
  }
  int missed = show("split_points_from_sweep", farthest, "points", "<=", kPoints);
  missed += show("split_time_to_better_device", worst, "ratio", "<=", 1.05);
  return missed > 0 ? 1 : 0;
}

// Works beside the kernels as long as it lives; on one processor where `core` says so.
class BusyLoop {
 public:
  explicit BusyLoop(int core = -1) : child_(::fork()) {
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core < 0 ? 0 : core, &cores);
    if (core >= 0) ::sched_setaffinity(0, sizeof cores, &cores);
    for (volatile unsigned counter = 0;;) counter = counter + 1;
  }
  ~BusyLoop() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;

 private:
  pid_t child_;
};

// What the search concludes beside a busy loop, against the better device alone beside it. A loop
// moves between the processors, so that a single look at a kernel may be unlucky; what is wrong
// stays wrong. Broken: a bad share is taken for the conclusion.
int disturbed(const KernelProfiler& client) {
  const BusyLoop beside;
  double worst = 0;
  print_head();
  for (const OwnKernel& kernel : divisible_kernels()) {
    Quality best;
    best.ratio = INFINITY;
    double share = 0;
    for (int tries = 0; tries < kMostTries && best.ratio > kDisturbedGoal; ++tries) {
      share = broken() ? kBrokenShare : searched(client, kernel).metrics.at("best_share_percent");
      const Quality found = judged(client, kernel, "0,100," + std::to_string(share), share);
      if (found.ratio < best.ratio) best = found;
      if (broken()) break;
    }
    worst = std::max(worst, best.ratio);
    print_row(kernel, share, best);
    if (broken()) break;
  }
  return show("split_disturbed_to_better_device", worst, "ratio", "<=", kDisturbedGoal);
}

// Bytes a second that one processor copies.
double copied_per_second() {
  const std::vector<char> from(std::size_t{64} << 20, 1);
  std::vector<char> to(from.size());
  double best = INFINITY;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), to.size());
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<double>(from.size()) / best;
}

// Halves of one device with a processor each. A kernel that moves its buffers at a third of what a
// processor copies at is bound by memory, which both halves share. Broken: the search does not
// correct a bad start.
int halves(const KernelProfiler& client) {
  const double most = copied_per_second() / 3;
  double farthest = 0, least = INFINITY;
  print_head();
  for (const OwnKernel& kernel : divisible_kernels()) {
    const ProfiledKernel found = searched(client, kernel);
    const double share = broken() ? kBrokenShare : found.metrics.at("best_split_percent");
    const Quality quality = judged(client, kernel, sweep_text(share), share);
    const double speed =
        found.metrics.at("buffer_bytes") / (1e-3 * quality.best_ms / quality.ratio);
    farthest = std::max(farthest, quality.distance);
    print_row(kernel, share, quality);
    std::printf("%-16s %.2f x faster than one half%s\n", "", 1 / quality.ratio,
                speed > most ? ", bound by memory" : "");
    if (speed <= most) least = std::min(least, 1 / quality.ratio);
    if (broken() && farthest > kPoints) break;
  }
  int missed = show("halves_points_from_sweep", farthest, "points", "<=", kPoints);
  missed += show("halves_gain_of_compute_bound", least, "x", ">=", 1.6);
  return missed > 0 ? 1 : 0;
}

// The same with a loop on the processor of one half. Broken as above.
int pinned(const KernelProfiler& client) {
  const BusyLoop beside(0);
  double farthest = 0;
  print_head();
  for (const OwnKernel& kernel : divisible_kernels()) {
    const double share =
        broken() ? kBrokenShare : searched(client, kernel).metrics.at("best_split_percent");
    const Quality quality = judged(client, kernel, sweep_text(share), share);
    farthest = std::max(farthest, quality.distance);
    print_row(kernel, share, quality);
    if (broken() && farthest > kPinnedPoints) break;
  }
  return show("pinned_points_from_sweep", farthest, "points", "<=", kPinnedPoints);
}

struct Check {
  const char* name;
  int (*run)(const KernelProfiler&);
  bool halves;  // of one device, each with processors of its own; else two devices that share them
};
constexpr Check kChecks[] = {{"results", results, false}, {"refusals", refusals, false},
                             {"quality", quality, false}, {"disturbed", disturbed, false},
                             {"halves", halves, true},    {"pinned", pinned, true}};

int main_of(int argc, char** argv) {
  const Check* check = nullptr;
  for (const Check& known : kChecks)
    if (argc == 3 && std::strcmp(argv[2], known.name) == 0) check = &known;
  if (!check) {
    std::fprintf(stderr,
                 "usage: split_quality OMEN results|refusals|quality|disturbed|halves|pinned\n");
    return 2;
  }
  ::setenv("POCL_DEVICES", check->halves ? "pthread" : "pthread basic", 1);
  if (check->halves) ::setenv("POCL_AFFINITY", "1", 1);
  const KernelProfiler client(argv[1]);
  if (!client.has_devices()) {
    std::printf("there is no OpenCL device\n");
    return test::kSkipped;
  }
  try {
    return check->run(client);
  } catch (const ProfileFailure& failure) {
    std::printf("%s\n", failure.what());
    return 1;
  }
}

}  // namespace
}  // namespace omen::loadbalance

int main(int argc, char** argv) {
  return omen::loadbalance::main_of(argc, argv);
}
