// SPDX-License-Identifier: Apache-2.0
// Power and energy of language models whose shape, or whose GPU, was not seen.
//   power_serving shape|gpu|splitwise
//   power_serving rows FILE     writes all runs as a table that power.llm learns from
// With OMEN_SHOW_BREAK=1 every GPU is told to have the bandwidth of another.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <omen/learn/correlation.hpp>
#include <omen/learn/quantile.hpp>
#include <omen/learn/random.hpp>
#include <set>
#include <string>

#include "llm_tables.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::power;
using namespace omen::power::checks;
namespace test = omen::test;

constexpr std::size_t kObserved = 10;
constexpr int kDraws = 5;

struct Errors {
  std::vector<double> power, energy;
  std::vector<double> said, measured;

  void add(const PublicRun& row, const Forecast& f) {
    power.push_back(std::abs(f.watts / row.run.watts - 1));
    const double energy_measured = row.run.watts * row.run.seconds * row.run.serving.gpus;
    if (row.whole_request) {
      energy.push_back(std::abs(f.joules / energy_measured - 1));
      said.push_back(f.joules);
      measured.push_back(energy_measured);
    }
  }
};

double percent(const std::vector<double>& errors) {
  return 100 * omen::learn::mean(errors);
}

struct Outcome {
  Errors learnt, core, observed, doubtful;
};

std::vector<MeasuredRun> training_runs(const std::vector<PublicRun>& all,
                                       const std::function<bool(const PublicRun&)>& held) {
  std::vector<MeasuredRun> runs;
  for (const PublicRun& row : all) {
    if (held(row)) continue;
    runs.push_back(row.run);
    // Where less was generated than asked for, the time is an estimate of the table's maker.
    if (!row.whole_request) runs.back().seconds = NAN;
  }
  return runs;
}

LlmModel fitted(const std::vector<MeasuredRun>& runs, bool core) {
  LlmFitOptions options;
  options.folds = 0;
  options.core_only = core;
  LlmModel model;
  model.fit(runs, options);
  return model;
}

// Ten rows of the group are measured, the others answered; the mean of five draws.
void add_observed(const LlmModel& model, const std::vector<const PublicRun*>& rows,
                  std::uint64_t seed, Errors& errors) {
  if (rows.size() < 2 * kObserved) return;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<const PublicRun*> order = rows;
    omen::learn::Random random(seed + static_cast<std::uint64_t>(draw));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<MeasuredRun> seen;
    for (std::size_t i = 0; i < kObserved; ++i) seen.push_back(order[i]->run);
    LlmModel taught = model;
    taught.observe(seen);
    for (std::size_t i = kObserved; i < order.size(); ++i)
      errors.add(*order[i], taught.ask(order[i]->run.serving));
  }
}

Outcome leave_out(const std::vector<PublicRun>& all, RunSource scored,
                  std::string PublicRun::*group) {
  Outcome outcome;
  std::set<std::string> groups;
  for (const PublicRun& row : all)
    if (row.source == scored && std::isfinite(row.run.watts)) groups.insert(row.*group);
  for (const std::string& held : groups) {
    const std::vector<MeasuredRun> train =
        training_runs(all, [&](const PublicRun& row) { return row.*group == held; });
    const LlmModel learnt = fitted(train, false), core = fitted(train, true);
    std::vector<const PublicRun*> rows;
    for (const PublicRun& row : all) {
      if (row.*group != held || row.source != scored || !std::isfinite(row.run.watts)) continue;
      const Forecast said = learnt.ask(row.run.serving);
      if (row.doubtful) {
        outcome.doubtful.add(row, said);
        continue;
      }
      outcome.learnt.add(row, said);
      outcome.core.add(row, core.ask(row.run.serving));
      rows.push_back(&row);
    }
    add_observed(learnt, rows, 1, outcome.observed);
  }
  return outcome;
}

int show_outcome(const std::string& name, const Outcome& outcome, double power_goal,
                 double energy_goal) {
  int failed =
      test::show(name + "_power_error", percent(outcome.learnt.power), "%", "<=", power_goal);
  failed |=
      test::show(name + "_energy_error", percent(outcome.learnt.energy), "%", "<=", energy_goal);
  test::show(name + "_core_power_error", percent(outcome.core.power), "%");
  test::show(name + "_core_energy_error", percent(outcome.core.energy), "%");
  test::show(name + "_energy_median", 100 * omen::learn::quantile(outcome.learnt.energy, 0.5), "%");
  test::show(name + "_energy_p90", 100 * omen::learn::quantile(outcome.learnt.energy, 0.9), "%");
  test::show(name + "_energy_spearman",
             omen::learn::spearman(outcome.learnt.said, outcome.learnt.measured), "1");
  if (!outcome.observed.power.empty()) {
    test::show(name + "_observed_power_error", percent(outcome.observed.power), "%");
    test::show(name + "_observed_energy_error", percent(outcome.observed.energy), "%");
  }
  if (!outcome.doubtful.power.empty())
    test::show(name + "_doubtful_power_error", percent(outcome.doubtful.power), "%");
  return failed;
}

// Bandwidths change hands: what is left of the answer is not physics.
void confuse(std::vector<PublicRun>& all) {
  std::map<std::string, double> bandwidth;
  for (const PublicRun& row : all) bandwidth[row.gpu] = row.run.serving.gpu.bandwidth;
  std::vector<double> values;
  for (const auto& [name, value] : bandwidth) values.push_back(value);
  std::rotate(values.begin(), values.begin() + 1, values.end());
  std::size_t next = 0;
  for (auto& [name, value] : bandwidth) {
    value = values[next] * (next % 2 == 0 ? 4 : 0.25);
    ++next;
  }
  for (PublicRun& row : all) row.run.serving.gpu.bandwidth = bandwidth[row.gpu];
}

int write_rows(const std::vector<PublicRun>& all, const char* path) {
  std::FILE* out = std::fopen(path, "w");
  if (!out) return 1;
  std::fputs(
      "shape,gpu,gpu_flops,gpu_bytes_per_s,gpu_memory_bytes,tdp_w,idle_w,parameters,"
      "active_parameters,layers,hidden,cache_bytes_per_token,experts,experts_per_token,framework,"
      "gpus,batch,input_tokens,output_tokens,trust,time_s,power_w\n",
      out);
  for (const PublicRun& row : all) {
    const Serving& s = row.run.serving;
    std::fprintf(out, "%s,%s,%.6g,%.6g,%.6g,%g,%g,%.6g,%.6g,%g,%g,%g,%g,%g,%s,%g,%g,%g,%g,%g,",
                 row.shape.c_str(), row.gpu.c_str(), s.gpu.flops, s.gpu.bandwidth, s.gpu.memory,
                 s.gpu.tdp, s.gpu.idle, s.model.parameters, s.model.active, s.model.layers,
                 s.model.hidden, s.model.cache_bytes, s.model.experts, s.model.experts_per_token,
                 s.framework.c_str(), s.gpus, s.batch, s.input, s.output, row.run.trust);
    if (row.whole_request) std::fprintf(out, "%.9g", row.run.seconds);
    std::fputs(",", out);
    if (std::isfinite(row.run.watts)) std::fprintf(out, "%.9g", row.run.watts);
    std::fputs("\n", out);
  }
  return std::fclose(out) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto directory = llm_data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the measurements of language models are absent");
    return test::kSkipped;
  }
  const std::string part = argc > 1 ? argv[1] : "shape";
  std::vector<PublicRun> all = public_runs(*directory);
  if (test::broken()) confuse(all);
  if (part == "rows") return write_rows(all, argc > 2 ? argv[2] : "/dev/stdout");
  if (part == "gpu")
    return show_outcome("gpu_out", leave_out(all, RunSource::kBenchPower, &PublicRun::gpu), 8, 9);
  if (part == "splitwise")
    return show_outcome("splitwise", leave_out(all, RunSource::kSplitwise, &PublicRun::shape), 6,
                        10);
  return show_outcome("shape_out", leave_out(all, RunSource::kBenchPower, &PublicRun::shape), 7,
                      10);
}
