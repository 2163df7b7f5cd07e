// SPDX-License-Identifier: Apache-2.0
// Co-runs whose answer is known: busy loops on cores of their own, and on one core. Then three of
// our loops on one core, beside what their measured pairs say.
//   interference_corun OMEN CORUNS.csv
// With OMEN_SHOW_BREAK=1 those that should have a core each share one, and the other way round.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <omen/error.hpp>
#include <omen/median.hpp>

#include "measure/campaign.hpp"
#include "measure/corun.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"
#include "pair/measured_pairs.hpp"
#include "pair/pair_forecast.hpp"

namespace {

using namespace omen::interference;
namespace test = omen::test;

CommandLine pinned_loop(const std::string& omen, const std::string& loop, int core) {
  return {"taskset", "-c",           std::to_string(core),
          "sh",      "-c",           R"(exec "$0" "$@" > /dev/null 2>&1)",
          omen,      "interference", "work",
          loop,      "--seconds",    "1000"};
}

// Speeds of every command, turn by turn.
std::vector<std::vector<double>> speeds_of(const std::vector<CommandLine>& commands, int repeats) {
  const test::TempDir directory;
  CorunOptions options;
  options.window_s = 2;
  options.warmup_s = 0.5;
  options.patience_s = 120;
  options.repeats = repeats;
  options.directory = directory.path();
  std::vector<std::vector<double>> rho;
  for (const CorunRates& rates : measure_corun(commands, options, [](double) {})) {
    rho.emplace_back();
    for (std::size_t turn = 0; turn < rates.alone.size(); ++turn)
      rho.back().push_back(rates.together[turn] / rates.alone[turn]);
  }
  return rho;
}

struct Known {
  double median, spread;
};

Known measured(const std::string& omen, int first, int second) {
  std::vector<double> all;
  for (const std::vector<double>& rho :
       speeds_of({pinned_loop(omen, "compute", first), pinned_loop(omen, "compute", second)}, 5))
    all.insert(all.end(), rho.begin(), rho.end());
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  const double spread = *most - *least;
  return {omen::median(all), spread};
}

// What the shipped co-runs say of a loop beside another one on one core.
double pair_speed(const Measured& coruns, const std::string& job, const std::string& partner) {
  for (std::size_t row = 0; row < coruns.rho.size(); ++row) {
    const PairRow& pair = coruns.rows.rows[row];
    const auto name = [&](std::int32_t which) {
      return coruns.rows.jobs[static_cast<std::size_t>(which)].name;
    };
    const std::vector<std::string>& context =
        coruns.rows.contexts[static_cast<std::size_t>(pair.context)];
    if (name(pair.victim) == job && name(pair.partners[0]) == partner &&
        std::find(context.begin(), context.end(), place_name(Place::kOneCore)) != context.end())
      return coruns.rho[row];
  }
  throw omen::Error(OMEN_INVALID_DATA, "no co-run of " + job + " beside " + partner);
}

// Three loops on one core: how far the rule for several partners is off, and how far the slowest of
// the pairs alone.
int show_three(const std::string& omen, const std::string& coruns_csv, int core, int other) {
  const Measured coruns = read_coruns(coruns_csv);
  const std::vector<std::vector<std::string>> triples = {{"compute", "memory", "cache"},
                                                         {"compute", "compute", "idle"},
                                                         {"memory", "cache", "idle"},
                                                         {"cache", "idle", "idle"}};
  double rule = 0, least = 0, count = 0;
  for (const std::vector<std::string>& loops : triples) {
    std::vector<CommandLine> commands;
    for (std::size_t i = 0; i < loops.size(); ++i)
      commands.push_back(pinned_loop(omen, loops[i], i == 0 ? other : core));
    const std::vector<std::vector<double>> rho = speeds_of(commands, 3);
    for (std::size_t job = 0; job < loops.size(); ++job) {
      std::vector<double> beside;
      for (std::size_t i = 0; i < loops.size(); ++i)
        if (i != job) beside.push_back(pair_speed(coruns, loops[job], loops[i]));
      const double truth = std::min(omen::median(rho[job]), 1.0);
      rule += std::abs(combined_speed(beside) - truth);
      least += std::abs(*std::min_element(beside.begin(), beside.end()) - truth);
      ++count;
    }
  }
  test::show("three_jobs_error_of_slowest_pair", least / count, "1");
  return test::show("three_jobs_error", rule / count, "1", "<", least / count);
}

}  // namespace

int main(int argc, char** argv) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (argc < 3 || ::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) {
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
  // The control gives one of three a core of its own.
  return failed | show_three(argv[1], argv[2], allowed[0], same);
}
