// SPDX-License-Identifier: Apache-2.0
// Co-runs whose answer is known: busy loops on cores of their own, and on one core.
//   interference_corun OMEN
// With OMEN_SHOW_BREAK=1 those that should have a core each share one, and the other way round.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <omen/median.hpp>

#include "measure/corun.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

using namespace omen::interference;
namespace test = omen::test;

CommandLine pinned_loop(const std::string& omen, int core) {
  return {"taskset", "-c",           std::to_string(core),
          "sh",      "-c",           R"(exec "$0" "$@" > /dev/null 2>&1)",
          omen,      "interference", "work",
          "compute", "--seconds",    "1000"};
}

struct Known {
  double median, spread;
};

Known measured(const std::string& omen, int first, int second) {
  const test::TempDir directory;
  CorunOptions options;
  options.window_s = 2;
  options.warmup_s = 0.5;
  options.patience_s = 120;
  options.directory = directory.path();
  const CorunRates rates =
      measure_corun(pinned_loop(omen, first), pinned_loop(omen, second), options, [](double) {});
  std::vector<double> rho;
  for (std::size_t turn = 0; turn < rates.alone[0].size(); ++turn)
    for (const int side : {0, 1})
      rho.push_back(rates.together[side][turn] / rates.alone[side][turn]);
  const auto [least, most] = std::minmax_element(rho.begin(), rho.end());
  const double spread = *most - *least;
  return {omen::median(rho), spread};
}

}  // namespace

int main(int argc, char** argv) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (argc < 2 || ::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) {
    std::puts("skipped: two cores are needed");
    return test::kSkipped;
  }
  std::vector<int> allowed;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &cores)) allowed.push_back(core);
  const int other = test::broken() ? allowed[0] : allowed[1];
  const int same = test::broken() ? allowed[1] : allowed[0];
  const Known apart = measured(argv[1], allowed[0], other);
  const Known shared = measured(argv[1], allowed[0], same);
  test::show("corun_two_cores_spread", apart.spread, "1");
  test::show("corun_one_core_spread", shared.spread, "1");
  int failed = test::show("corun_two_cores", apart.median, "1", ">", 0.9);
  failed |= test::show("corun_one_core_least", shared.median, "1", ">=", 0.45);
  failed |= test::show("corun_one_core_most", shared.median, "1", "<=", 0.55);
  return failed;
}
