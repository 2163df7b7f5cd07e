// SPDX-License-Identifier: Apache-2.0
// Kernels of this project on two OpenCL devices: equal results, refusals, and how good the split is
// that the search finds.
//   split_quality PLUGINS results|refusals|quality
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../tests/opencl/profiled_kernel.hpp"
#include "omen/error.hpp"
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
constexpr double kBrokenShare = 95;
constexpr const char* kEqual = "equal in every bit";

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
  } catch (const Error& error) {
    if (error.code() != OMEN_INVALID_DATA) throw;
    return error.what();
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
    } catch (const Error& error) {
      refused += error.code() == OMEN_UNSUPPORTED &&
                 std::strstr(error.what(), "cannot be divided: ") != nullptr;
      std::printf("%-20s %s\n", kernel.name, error.what());
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

// The share that was found takes part in the sweeps as their last.
Quality judge(const std::vector<SweptShare>& sweep) {
  Quality quality;
  const SweptShare& found = sweep.back();
  double single = INFINITY, squares = 0;
  for (std::size_t i = 0; i + 1 < sweep.size(); ++i) {
    const double time = sweep[i].ms;
    squares += sweep[i].apart * sweep[i].apart;
    if (sweep[i].share == 0 || sweep[i].share == 100) single = std::min(single, time);
    if (time >= quality.best_ms) continue;
    quality.best_ms = time;
    quality.best_share = sweep[i].share;
  }
  // The mean of two has half the standard error of their difference.
  const double error = std::sqrt(squares / static_cast<double>(sweep.size() - 1)) / 2;
  quality.noise = kNoiseWidth * error;
  quality.same = std::clamp(quality.noise, kSame, kDisturbed);
  for (const SweptShare& swept : sweep)
    if (swept.ms <= (1 + quality.same) * quality.best_ms)
      quality.distance = std::min(quality.distance, std::fabs(swept.share - found.share));
  quality.ratio = found.ms / single;
  return quality;
}

// Broken: the search does not correct a bad start.
int quality(const KernelProfiler& client) {
  double farthest = 0, worst = 0;
  std::printf("%-16s %9s %9s %9s %9s %12s %14s\n", "kernel", "found %", "best %", "best ms",
              "same in %", "points apart", "to one device");
  for (const OwnKernel& kernel : divisible_kernels()) {
    const ProfiledKernel found =
        client.run(kernel.source, flags_of(kernel, {{"shares", "find"}, {"repeats", "4"}}));
    const double share = broken() ? kBrokenShare : found.metrics.at("best_split_percent");
    const auto sweep = [&] {
      return client
          .run(kernel.source, flags_of(kernel, {{"shares", sweep_text(share)}, {"repeats", "25"}}))
          .samples;
    };
    Quality quality = judge(joined(sweep(), sweep()));
    for (int tries = 1; quality.noise > kDisturbed && tries < kMostTries; ++tries)
      quality = judge(joined(sweep(), sweep()));
    farthest = std::max(farthest, quality.distance);
    worst = std::max(worst, quality.ratio);
    std::printf("%-16s %9.1f %9.1f %9.2f %9.1f %12.1f %14.3f\n", kernel.name, share,
                quality.best_share, quality.best_ms, 100 * quality.same, quality.distance,
                quality.ratio);
    std::fflush(stdout);
    if (broken() && farthest > kPoints) break;  // one kernel is enough to miss
  }
  int missed = show("split_points_from_sweep", farthest, "points", "<=", kPoints);
  missed += show("split_time_to_better_device", worst, "ratio", "<=", 1.05);
  return missed > 0 ? 1 : 0;
}

int main_of(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: split_quality PLUGINS results|refusals|quality\n");
    return 2;
  }
  ::setenv("POCL_DEVICES", "pthread basic", 1);
  const KernelProfiler client(argv[1]);
  const std::string what = argv[2];
  try {
    return what == "results"    ? results(client)
           : what == "refusals" ? refusals(client)
                                : quality(client);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == OMEN_UNAVAILABLE ? test::kSkipped : 1;
  }
}

}  // namespace
}  // namespace omen::loadbalance

// Threads of drivers are not waited for.
int main(int argc, char** argv) {
  const int status = omen::loadbalance::main_of(argc, argv);
  std::fflush(stdout);
  ::_exit(status);
}
