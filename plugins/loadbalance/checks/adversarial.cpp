// SPDX-License-Identifier: Apache-2.0
// Kernels that look divisible and are not, and the other way round: what the judge says of them,
// and whether running them confirms what they state.
//   loadbalance_adversarial KERNELS judge
//   loadbalance_adversarial KERNELS run OMEN
#include <cstdio>
#include <cstdlib>
#include <map>

#include "../tests/opencl/profiled_kernel.hpp"
#include "llvm/compile.hpp"
#include "omen/testing/show.hpp"
#include "opencl/launch.hpp"
#include "opencl/splittable.hpp"
#include "stated_kernels.hpp"

namespace omen::loadbalance {
namespace {

using test::broken;
using test::show;

enum class Outcome { kAccepted, kCheckedAtMerge, kRefusedAtLaunch, kRefused };
constexpr const char* kOutcomeWords[] = {"accepted", "checked at the merge",
                                         "refused for this launch", "refused"};

// n and m follow the three buffers of every kernel.
WholeNumbers numbers_of(const StatedKernel& kernel) {
  return [&kernel](std::size_t argument) {
    std::int64_t value = 0;
    for (const std::string& text : kernel.arguments)
      if (text[0] == (argument == 3 ? 'n' : 'm')) value = std::stoll(text.substr(2));
    return std::optional(value);
  };
}

Outcome outcome_of(const StatedKernel& kernel, const SplitVerdict& verdict) {
  if (broken()) return Outcome::kAccepted;  // nobody looks
  if (!verdict.splittable()) return Outcome::kRefused;
  RangeRequest request;
  request.global = parse_sizes(kernel.global, "global");
  request.local = parse_sizes(kernel.local, "local");
  const LaunchRange range = make_range(request);
  if (!find_split_dimension(range, verdict.dimensions)) return Outcome::kRefusedAtLaunch;
  for (const LaunchCondition& condition : verdict.conditions)
    if (largest_value(condition.shortfall, range, numbers_of(kernel)).value_or(0) > 0)
      return Outcome::kRefusedAtLaunch;
  for (const bool exclusive : verdict.exclusive)
    if (exclusive) return Outcome::kCheckedAtMerge;
  return kernel.truth == Truth::kCollides && !verdict.notes.empty() ? Outcome::kCheckedAtMerge
                                                                    : Outcome::kAccepted;
}

int judge(const std::vector<StatedKernel>& kernels) {
  std::map<std::filesystem::path, std::map<std::string, SplitVerdict>> verdicts;
  int wrong = 0, refused = 0, divisible = 0;
  for (const StatedKernel& kernel : kernels) {
    auto& of_file = verdicts[kernel.file];
    if (of_file.empty()) {
      std::ifstream in(kernel.file);
      const std::string source((std::istreambuf_iterator<char>(in)), {});
      of_file = judge_kernels(compile_for_spir(source, kernel.file, {}), kernel.file);
    }
    const SplitVerdict& verdict = of_file.at(kernel.name);
    const Outcome outcome = outcome_of(kernel, verdict);
    const bool goes_on = outcome == Outcome::kAccepted || outcome == Outcome::kCheckedAtMerge;
    const bool is_wrong = kernel.truth != Truth::kDivisible && outcome == Outcome::kAccepted;
    const bool is_refused = kernel.truth == Truth::kDivisible && !goes_on;
    divisible += kernel.truth == Truth::kDivisible;
    wrong += is_wrong;
    refused += is_refused;
    if (is_wrong || is_refused || outcome == Outcome::kCheckedAtMerge)
      std::printf("%s %-20s %s: %s\n", is_wrong ? "WRONG" : "     ", kernel.name.c_str(),
                  kOutcomeWords[static_cast<int>(outcome)], verdict.reason().c_str());
  }
  std::printf("%d of %d divisible kernels are refused\n", refused, divisible);
  return show("adversarial_kernels", static_cast<double>(kernels.size()), "kernels", ">=", 100) +
         show("adversarial_wrong_acceptances", wrong, "kernels", "==", 0) +
         show("adversarial_false_refusals", refused, "kernels", "<=", 5);
}

// What came of a run of the kernel on two devices.
enum class Ending { kEqual, kDifferent, kConflict, kNotRun };

// The same work-items in the reverse order: a driver that starts groups in their order then starts
// the last one first.
constexpr const char* kMirrored =
    "#define get_global_id(d) (get_global_size(d) - 1 - get_global_id(d))\n"
    "#define get_local_id(d) (get_local_size(d) - 1 - get_local_id(d))\n"
    "#define get_group_id(d) (get_num_groups(d) - 1 - get_group_id(d))\n"
    "#line 1\n";

enum class Order { kAsWritten, kMirrored };

Ending run_once(const KernelProfiler& client, const StatedKernel& kernel, bool force,
                Order order = Order::kAsWritten) {
  Flags flags = {{"kernel", kernel.name}, {"global", kernel.global},
                 {"local", kernel.local}, {"shares", "none"},
                 {"start_share", "50"},   {"force", force ? "true" : "false"}};
  for (const char* buffer : {"a", "b", "c"})
    flags.emplace_back("arg", buffer + std::string("=buffer:256Ki:random"));
  for (const std::string& argument : kernel.arguments) flags.emplace_back("arg", argument);
  std::ifstream in(kernel.file);
  const std::string source((std::istreambuf_iterator<char>(in)), {});
  const std::string prefix = order == Order::kMirrored ? kMirrored : "";
  try {
    const bool equal = client.run(prefix + source, flags).metrics.at("equal_in_every_bit") == 1;
    return equal ? Ending::kEqual : Ending::kDifferent;
  } catch (const ProfileFailure& failure) {
    return failure.exit_code == kInvalidData ? Ending::kConflict : Ending::kNotRun;
  }
}

// Broken: divisible kernels are said to be dependent.
int run(const std::vector<StatedKernel>& kernels, const KernelProfiler& client) {
  int confirmed = 0, unnoticed = 0;
  for (const StatedKernel& kernel : kernels) {
    // Groups in their order hide what kernels that are unordered read of later ones.
    const Order order = kernel.truth == Truth::kUnordered ? Order::kMirrored : Order::kAsWritten;
    const Ending forced = run_once(client, kernel, true, order),
                 asked = run_once(client, kernel, false);
    const bool divisible = (kernel.truth == Truth::kDivisible) != broken();
    const bool differs = forced == Ending::kDifferent || forced == Ending::kConflict;
    const bool as_stated = divisible ? forced == Ending::kEqual : differs;
    confirmed += as_stated;
    unnoticed += asked == Ending::kDifferent;
    if (!as_stated || asked == Ending::kDifferent)
      std::printf("%-20s forced %d, asked %d\n", kernel.name.c_str(), static_cast<int>(forced),
                  static_cast<int>(asked));
    std::fflush(stdout);
  }
  const auto count = static_cast<double>(kernels.size());
  return show("adversarial_truths_confirmed", 100 * confirmed / count, "%", "==", 100) +
         show("adversarial_wrong_results", unnoticed, "kernels", "==", 0);
}

int adversarial_main(int count, char** values) {
  const std::string mode = count > 2 ? values[2] : "";
  if (!(count == 3 && mode == "judge") && !(count == 4 && mode == "run")) {
    std::fprintf(stderr, "usage: %s KERNELS judge|run [OMEN]\n", values[0]);
    return 2;
  }
  const std::vector<StatedKernel> kernels = stated_kernels(values[1]);
  if (mode == "judge") return judge(kernels) > 0 ? 1 : 0;
  // What is compared with runs on the first device, which starts one group behind the other.
  ::setenv("POCL_DEVICES", "basic pthread", 1);
  const KernelProfiler client(values[3]);
  if (!client.has_devices()) {
    std::printf("SKIP there is no OpenCL device\n");
    return 77;
  }
  return run(kernels, client) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace omen::loadbalance

int main(int count, char** values) {
  try {
    return omen::loadbalance::adversarial_main(count, values);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
