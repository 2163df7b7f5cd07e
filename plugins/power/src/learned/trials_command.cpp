// SPDX-License-Identifier: Apache-2.0
// Reads a dataset, trains on parts of it or with other sizes, and says what came of it.
#include "learned/trials_command.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <omen/figure.hpp>
#include <omen/host.hpp>
#include <omen/learn/correlation.hpp>
#include <omen/learn/quantile.hpp>

#include "learned/error_law.hpp"
#include "learned/trial_rows.hpp"
#include "learned/trials.hpp"
#include "tables/own_tables.hpp"

namespace omen::power {
namespace {

constexpr double kTrialShares[] = {0.125, 0.25, 0.5, 1};
// Doubling that makes errors smaller by less than this is not worth its rows.
constexpr double kWorthwhile = 0.05;

LearnedRows read_trial_rows(const std::string& input, const Run& run) {
  NamedTables tables = read_own_tables(input);
  if (tables.empty()) tables = call::lower(run, nullptr, input);
  MemoryDataset data;
  for (const auto& [name, table] : tables) data.put(name, table);
  if (!data.view().has("targets"))
    throw Error(OMEN_INVALID_DATA, "'" + input + "' has no targets to learn",
                "Give a dataset such as omen data make --with power.corpus writes.");
  LearnedRows rows = read_learned_rows(data.view());
  read_costs(data.view(), rows);
  return rows;
}

std::string trial_percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * part);
  return text;
}

// Mean errors of some trainings as columns.
struct ErrorColumns {
  std::vector<double> of_cost[kCosts], mean, spread;

  void add(const std::vector<TrialResult>& results) {
    std::vector<double> means;
    double sums[kCosts] = {};
    for (const TrialResult& one : results) {
      means.push_back(100 * one.mean());
      for (std::size_t c = 0; c < kCosts; ++c)
        sums[c] += 100 * one.errors[c] / static_cast<double>(results.size());
    }
    for (std::size_t c = 0; c < kCosts; ++c) of_cost[c].push_back(sums[c]);
    mean.push_back(learn::mean(means));
    spread.push_back(*std::max_element(means.begin(), means.end()) -
                     *std::min_element(means.begin(), means.end()));
  }
  void put(TableBuilder& table, bool spreads) {
    for (std::size_t c = 0; c < kCosts; ++c)
      table.add(std::string(kCostNames[c]) + "_error", std::move(of_cost[c]), {{"omen.unit", "%"}});
    table.add("mean_error", std::move(mean), {{"omen.unit", "%"}});
    if (spreads) table.add("spread", std::move(spread), {{"omen.unit", "%"}});
  }
};

class TrialRun {
 public:
  TrialRun(const TrialsOptions& options, const LearnedRows& rows, const Run& run)
      : options_(options),
        rows_(split_trials(rows, options.held, run.seed())),
        run_(run),
        kind_(options.predictor == "power.flat" ? NetworkKind::flat : NetworkKind::additive) {}

  void sizes(const TablesOut& out);
  void data(const TablesOut& out);

 private:
  struct Part {
    std::string what;
    LearnedRows rows;
    double share;
  };

  std::vector<TrialResult> train(const LearnedRows& seen, const LearnedOptions& how) {
    std::vector<TrialResult> results;
    for (int s = 0; s < options_.seeds; ++s) {
      run_.step(static_cast<double>(done_++) / static_cast<double>(planned_), "trainings");
      results.push_back(run_trial(seen, rows_.held, kind_, how,
                                  run_.seed() + static_cast<std::uint64_t>(s), run_));
    }
    return results;
  }
  LearnedOptions usual() const {
    LearnedOptions how;
    how.epochs = options_.epochs;
    return how;
  }
  Table verdicts(const std::vector<Part>& parts, const std::vector<double>& error) const;

  const TrialsOptions& options_;
  TrialRows rows_;
  const Run& run_;
  NetworkKind kind_;
  int done_ = 0, planned_ = 1;
};

// How alike seeds put the sizes in order: mean rank correlation with the first seed.
double rank_stability(const std::vector<std::vector<TrialResult>>& results, std::size_t seeds) {
  std::vector<std::vector<double>> by_seed(seeds);
  for (const std::vector<TrialResult>& one : results)
    for (std::size_t s = 0; s < seeds; ++s) by_seed[s].push_back(one[s].mean());
  double sum = 0;
  for (std::size_t s = 1; s < seeds; ++s) sum += learn::spearman(by_seed[0], by_seed[s]);
  return sum / static_cast<double>(seeds - 1);
}

void TrialRun::sizes(const TablesOut& out) {
  const std::vector<LearnedOptions> tried = drawn_sizes(usual(), options_.trials, run_.seed());
  planned_ = static_cast<int>(tried.size()) * options_.seeds;
  std::vector<std::vector<TrialResult>> results;
  std::vector<double> mean;
  for (const LearnedOptions& how : tried) {
    results.push_back(train(rows_.seen, how));
    ErrorColumns own;
    own.add(results.back());
    mean.push_back(own.mean[0]);
  }
  std::vector<std::size_t> order(tried.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return mean[a] < mean[b]; });
  std::vector<std::int64_t> encoder, width, depth, weights;
  ErrorColumns errors;
  std::vector<double> size, error;
  for (const std::size_t at : order) {
    encoder.push_back(tried[at].encoder);
    width.push_back(tried[at].width);
    depth.push_back(tried[at].depth);
    weights.push_back(results[at][0].weights);
    errors.add(results[at]);
    size.push_back(static_cast<double>(weights.back()));
    error.push_back(mean[at]);
  }
  TableBuilder table;
  table.add("encoder", std::move(encoder))
      .add("width", std::move(width))
      .add("depth", std::move(depth))
      .add("weights", std::move(weights));
  errors.put(table, options_.seeds > 1);
  const Table finished = table.finish();
  Figure figure;
  figure.x_axis(FigureAxis("weights").logarithmic())
      .y_axis(FigureAxis("mean error", "%").from_zero());
  figure.markers("sizes", size, error);
  put_figure(run_, "sizes", figure.json(), finished);
  out.put("sizes", finished);
  if (options_.seeds > 1 && tried.size() > 2)
    out.put("stability", TableBuilder()
                             .add("rank_correlation_of_seeds",
                                  std::vector<double>{rank_stability(
                                      results, static_cast<std::size_t>(options_.seeds))})
                             .finish());
}

Table TrialRun::verdicts(const std::vector<Part>& parts, const std::vector<double>& error) const {
  std::vector<std::string> what, verdict;
  std::vector<double> now, doubled;
  for (const char* asked : {"networks", "rows"}) {
    std::vector<double> amount, own;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].what == asked || parts[i].share == 1) {
        amount.push_back(parts[i].share);
        own.push_back(error[i]);
      }
    const ErrorLaw law = fit_error_law(amount, own);
    const double gain = 1 - law.at(2) / law.at(1);
    what.emplace_back(asked);
    now.push_back(law.at(1));
    doubled.push_back(law.at(2));
    verdict.push_back(std::string(gain >= kWorthwhile ? "more " : "hardly more ") + asked +
                      (gain >= kWorthwhile ? " help: " : " needed: ") + trial_percent(gain) +
                      " less error from twice as many");
  }
  return TableBuilder()
      .add_strings("data", what)
      .add("error_now", std::move(now), {{"omen.unit", "%"}})
      .add("error_doubled", std::move(doubled), {{"omen.unit", "%"}})
      .add_strings("verdict", verdict)
      .finish();
}

void TrialRun::data(const TablesOut& out) {
  std::vector<Part> parts;
  for (const double share : kTrialShares) {
    const std::uint64_t seed = run_.seed();
    parts.push_back(
        {share == 1 ? "all" : "networks", part_of_networks(rows_.seen, share, seed), share});
    if (share < 1) parts.push_back({"rows", part_of_rows(rows_.seen, share, seed), share});
  }
  planned_ = static_cast<int>(parts.size()) * options_.seeds;
  std::vector<std::string> what;
  std::vector<std::int64_t> networks, rows;
  ErrorColumns errors;
  for (const Part& part : parts) {
    LearnedOptions how = usual();
    // As many steps as over all rows: what is compared is data, not how long it was looked at.
    how.epochs = static_cast<int>(std::lround(options_.epochs / part.share));
    errors.add(train(part.rows, how));
    what.push_back(part.what);
    networks.push_back(static_cast<std::int64_t>(networks_in(part.rows)));
    rows.push_back(static_cast<std::int64_t>(part.rows.rows.size()));
  }
  const Table verdict = verdicts(parts, errors.mean);
  Figure figure;
  figure.x_axis(FigureAxis("part of the data").logarithmic())
      .y_axis(FigureAxis("mean error", "%").from_zero());
  for (const char* asked : {"networks", "rows"}) {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].what == asked || parts[i].share == 1)
        x.push_back(parts[i].share), y.push_back(errors.mean[i]);
    figure.lines(asked, x, y);
  }
  TableBuilder table;
  table.add_strings("part", what).add("networks", std::move(networks)).add("rows", std::move(rows));
  errors.put(table, options_.seeds > 1);
  const Table curve = table.finish();
  put_figure(run_, "data", figure.json(), curve);
  out.put("curve", curve);
  out.put("verdict", verdict);
}

}  // namespace

int TrialsCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "trials needs one dataset",
                "omen power trials nets --question data");
  TrialRun trials(options_, read_trial_rows(args[0], run), run);
  if (options_.question == "sizes")
    trials.sizes(out);
  else
    trials.data(out);
  return 0;
}

Component trials_component() {
  return command<TrialsCommand, TrialsOptions>(
      "power.trials", "which sizes of a network err least, and whether more data would help");
}

}  // namespace omen::power
