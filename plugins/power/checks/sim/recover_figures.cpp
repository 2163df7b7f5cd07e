// SPDX-License-Identifier: Apache-2.0
// Recovery on twenty networks that nothing was fitted on: 200 simulator calls each, against random
// designs and against local search with as many calls. With OMEN_SHOW_BREAK=1 ten calls are spent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "corpus/corpus.hpp"
#include "figures.hpp"
#include "omen/testing/show.hpp"
#include "recover/search.hpp"

namespace omen::power::checks {
namespace {

constexpr std::int64_t kFew = 3000, kMany = 100000, kCalls = 200;
constexpr std::size_t kNets = 20;

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 1e9 : values[values.size() / 2];
}

}  // namespace

int show_recover() {
  CorpusOptions small;
  small.train_nets = 40;
  small.train_rows = 1;
  small.test_nets = kNets;
  small.test_rows = small.absent_rows = small.absent_nets = 0;
  const Corpus corpus = make_corpus(small, [](double) {});
  const EnergyProfile profile = named_profile("tetris-65").value();
  std::vector<double> below_few, over_many, below_local;
  double met = 0, asked = 0, missed = 0;
  for (std::size_t i = 40; i < corpus.nets.size(); ++i) {
    const std::vector<ArrayNet> nets = {ArrayNet(corpus.nets[i])};
    const Objective open(nets, {}, profile, Goal::power, {});
    const std::vector<Judged> many = search_random(open, {kMany, 11}).tried;
    std::vector<double> latencies;
    for (std::size_t j = 0; j < kFew; ++j) latencies.push_back(many[j].latency_s);
    std::sort(latencies.begin(), latencies.end());
    Limits limits;
    limits.latency_s = latencies[kFew / 5];
    const auto best_of = [&](std::size_t count) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < count; ++j)
        if (many[j].latency_s <= limits.latency_s) best = std::min(best, many[j].power_w);
      return best;
    };
    const Objective objective(nets, {}, profile, Goal::power, limits);
    const std::int64_t calls = test::broken() ? 10 : kCalls;
    const SearchResult found = search_guided(objective, {calls, 1});
    const SearchResult local = search_local(objective, {kCalls, 1});
    ++asked;
    if (!found.best.feasible()) {
      missed += std::isfinite(best_of(kMany));
      continue;
    }
    ++met;
    below_few.push_back(100 * (1 - found.best.power_w / best_of(kFew)));
    over_many.push_back(100 * (found.best.power_w / best_of(kMany) - 1));
    if (local.best.feasible())
      below_local.push_back(100 * (1 - found.best.power_w / local.best.power_w));
  }
  int code = test::show("recover_designs_that_meet", 100 * met / asked, "%", ">=", 95);
  code |= test::show("recover_missed_nets", missed, "nets", "==", 0);
  code |= test::show("recover_below_best_of_3000", middle(below_few), "%", ">=", 15);
  code |= test::show("recover_over_best_of_100000", middle(over_many), "%", "<=", 5);
  code |= test::show("recover_below_local_search", middle(below_local), "%", ">", 0);
  return code;
}

}  // namespace omen::power::checks
