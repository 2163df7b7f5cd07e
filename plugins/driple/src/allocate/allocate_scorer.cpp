// SPDX-License-Identifier: Apache-2.0
// Lists offers, drops what does not fit, and ranks the rest by time, use or money.
#include "allocate/allocate_scorer.hpp"

#include <omen/tables.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <omen/learn/matrix.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/score_rows.hpp>

#include "allocate/legacy_score.hpp"
#include "allocate/offers.hpp"
#include "step/memory.hpp"
#include "step/step_rows.hpp"

namespace omen::driple {
namespace {

enum class Objective : std::uint8_t { kTime, kEfficiency, kMoney, kMix };
constexpr std::pair<const char*, Objective> kObjectives[] = {{"time", Objective::kTime},
                                                             {"efficiency", Objective::kEfficiency},
                                                             {"money", Objective::kMoney},
                                                             {"mix", Objective::kMix}};

Objective objective_of(const std::string& text) {
  for (const auto& [word, objective] : kObjectives)
    if (text == word) return objective;
  throw Error(OMEN_INVALID_ARGUMENT, "objective '" + text + "' is not known");
}

constexpr double kHour = 3600, kGibi = 1024.0 * 1024 * 1024;
constexpr double kBeyondLimits = 1e9;  // memory blocks harder than any deadline or budget

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

// One candidate with what is known of it.
struct Judged {
  std::int64_t workload_id = 0;
  std::int32_t candidate_id = 0;
  std::string gpu, blocked;  // blocked: why it cannot be chosen
  double excess = 0;         // of what blocks it; far beyond for memory, which nobody can wait for
  std::string legacy;        // what the original score is made of
  Split split;
  double step_s = learn::kUnknown, job_s = 0;
  double sample_s = learn::kUnknown;  // seconds a sample, over all ranks
  double use = 0, usd = learn::kUnknown;
  double need = 0, memory = 0, largest = 0;
  bool extrapolates = false;
  double score = 0;
};

std::vector<Judged> read_candidates_of(const Dataset& in) {
  const Table table = in.table(OMEN_TABLE_CANDIDATES);
  if (!table.has("gpu"))
    throw Error(OMEN_INVALID_DATA, "candidates have no column 'gpu'",
                "Leave --candidates out and name GPUs with --gpus.");
  const std::vector<std::string> gpu = texts_or_empty(table, "gpu");
  const std::vector<double> workload = numbers_or(table, OMEN_COLUMN_WORKLOAD_ID, 0),
                            id = numbers_or(table, OMEN_COLUMN_CANDIDATE_ID, 0),
                            tensor = numbers_or(table, "split_tensor", 1),
                            pipeline = numbers_or(table, "split_pipeline", 1),
                            data = numbers_or(table, "split_data", 1);
  std::vector<Judged> all(gpu.size());
  const auto ranks = [](double value) {
    return std::max<std::int64_t>(static_cast<std::int64_t>(value), 1);
  };
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].workload_id = static_cast<std::int64_t>(workload[r]);
    all[r].candidate_id = static_cast<std::int32_t>(id[r]);
    all[r].gpu = gpu[r];
    all[r].split = {ranks(tensor[r]), ranks(pipeline[r]), ranks(data[r])};
  }
  return all;
}

using PairKey = std::pair<std::int64_t, std::int32_t>;

void read_predictions_into(const Dataset& in, std::vector<Judged>& all) {
  if (!in.has(OMEN_TABLE_PREDICTIONS))
    throw Error(OMEN_UNAVAILABLE, "driple.allocate ranks by predictions, and there are none",
                "Name a predictor with --predictor, and its model with --model.");
  const Table table = in.table(OMEN_TABLE_PREDICTIONS);
  const std::vector<double> workload = numbers_or(table, OMEN_COLUMN_WORKLOAD_ID, 0),
                            id = numbers_or(table, OMEN_COLUMN_CANDIDATE_ID, 0),
                            step = numbers_or(table, "step_ms", learn::kUnknown),
                            job = numbers_or(table, "job_s", 0),
                            use = numbers_or(table, "utilisation", 0);
  const std::vector<std::string> status = texts_or_empty(table, OMEN_COLUMN_STATUS);
  std::map<PairKey, std::size_t> row_of;
  for (std::size_t r = 0; r < step.size(); ++r)
    row_of[{static_cast<std::int64_t>(workload[r]), static_cast<std::int32_t>(id[r])}] = r;
  for (Judged& one : all) {
    const auto at = row_of.find({one.workload_id, one.candidate_id});
    if (at == row_of.end()) {
      one.blocked = "nobody predicted it";
      continue;
    }
    const std::size_t r = at->second;
    one.step_s = step[r] / 1e3, one.job_s = job[r], one.use = use[r];
    one.extrapolates = status[r] == "extrapolating";
    if (!(one.step_s > 0)) one.blocked = status[r].empty() ? "no finite prediction" : status[r];
  }
}

std::map<std::int64_t, opgraph::Job> jobs_by_workload(const Dataset& in) {
  std::vector<opgraph::Job> jobs = opgraph::read_jobs(in);
  const Table table = in.table(OMEN_TABLE_WORKLOADS);
  const auto ids = table.column<std::int64_t>(OMEN_COLUMN_WORKLOAD_ID);
  std::map<std::int64_t, opgraph::Job> by_id;
  for (std::size_t r = 0; r < jobs.size(); ++r)
    by_id.emplace(ids[static_cast<std::int64_t>(r)], std::move(jobs[r]));
  return by_id;
}

// Memory first: what does not fit has no time.
void judge_memory(const opgraph::Job& job, Judged& one) {
  const std::optional<Device> device = registered_device(one.gpu);
  if (!device) {
    one.blocked = "too few figures of it are published";
    return;
  }
  const MemoryNeed need = memory_need(divide(job, one.split));
  one.need = need.total(), one.memory = device->memory;
  one.largest = need.largest_batch(*device, job.facts.batch);
  if (!need.fits(*device)) {
    one.excess = kBeyondLimits * one.need / one.memory;
    one.blocked = "needs " + digits(one.need / kGibi) + " GiB of " + digits(one.memory / kGibi) +
                  " GiB; " +
                  (one.largest >= 1 ? "batch " + digits(one.largest) + " would fit"
                                    : "not even a batch of 1 fits");
  } else if (one.step_s > 0) {
    one.sample_s = one.step_s / std::max(job.facts.batch, 1.0) /
                   static_cast<double>(one.split.data) / std::max(job.facts.micro_batches, 1.0);
  }
}

void judge_limits(const AllocateOptions& options, const std::map<std::string, double>& prices,
                  Judged& one) {
  const auto price = prices.find(one.gpu);
  const double seconds = one.job_s > 0 ? one.job_s : one.sample_s;
  if (price != prices.end())
    one.usd = price->second * static_cast<double>(one.split.ranks()) * seconds / kHour;
  if (!one.blocked.empty()) return;
  if ((options.deadline_h > 0 || options.budget > 0) && !(one.job_s > 0))
    throw Error(OMEN_INVALID_ARGUMENT, "a deadline or budget needs the length of the job",
                "Add --epochs and --samples, or --total-tokens.");
  if (options.deadline_h > 0 && one.job_s > options.deadline_h * kHour) {
    one.blocked = "takes " + digits(one.job_s / kHour) + " h, past the deadline";
    one.excess = one.job_s / (options.deadline_h * kHour);
  } else if (options.budget > 0 && !(one.usd > 0)) {
    one.blocked = "has no price";
    one.excess = 1;
  } else if (options.budget > 0 && one.usd > options.budget) {
    one.blocked = "costs " + digits(one.usd) + " USD, beyond the budget";
    one.excess = one.usd / options.budget;
  }
}

// Larger is better; 1 for the best of a workload.
void give_scores(std::vector<Judged*>& own, Objective objective, double money_weight) {
  double fastest = 1e300, cheapest = 1e300;
  for (const Judged* one : own)
    if (one->blocked.empty()) {
      fastest = std::min(fastest, one->sample_s);
      if (one->usd > 0) cheapest = std::min(cheapest, one->usd);
    }
  for (Judged* one : own) {
    if (!one->blocked.empty()) continue;
    const double time = fastest / one->sample_s, money = one->usd > 0 ? cheapest / one->usd : 0;
    one->score = objective == Objective::kTime         ? time
                 : objective == Objective::kEfficiency ? one->use
                 : objective == Objective::kMoney
                     ? money
                     : (1 - money_weight) * time + money_weight * money;
  }
}

std::string reason_of(const Judged& one, std::int64_t fewest) {
  if (!one.blocked.empty()) return one.blocked;
  if (!one.legacy.empty()) return one.legacy;
  std::string text = digits(1e3 * one.step_s) + " ms a step";
  if (one.job_s > 0) text += ", " + digits(one.job_s / kHour) + " h";
  if (one.usd > 0) text += ", " + digits(one.usd) + (one.job_s > 0 ? " USD" : " USD a sample");
  text += ", " + digits(one.need / kGibi) + " of " + digits(one.memory / kGibi) + " GiB";
  if (one.largest >= 1) text += ", batch up to " + digits(one.largest);
  if (one.split.ranks() == fewest && fewest > 1) text += ", fewest that fit";
  if (one.extrapolates) text += ", extrapolating";
  return text;
}

// The least number of this GPU that holds the job.
std::int64_t fewest_of(const std::vector<Judged*>& own, const std::string& gpu) {
  std::int64_t fewest = 0;
  for (const Judged* one : own)
    if (one->gpu == gpu && one->blocked.empty())
      fewest = fewest == 0 ? one->split.ranks() : std::min(fewest, one->split.ranks());
  return fewest;
}

void add_ranked(const std::vector<Judged*>& own, ScoreRows& rows) {
  std::vector<std::size_t> order(own.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool open_a = own[a]->blocked.empty(), open_b = own[b]->blocked.empty();
    if (open_a != open_b) return open_a;
    return open_a ? own[a]->score > own[b]->score : own[a]->excess < own[b]->excess;
  });
  for (const std::size_t at : order) {
    const Judged& one = *own[at];
    rows.add(one.workload_id, one.candidate_id, one.score, one.blocked.empty(),
             reason_of(one, fewest_of(own, one.gpu)));
  }
}

// Candidates with the sixteen numbers v0 to v15, scored as the original did.
void judge_legacy(const Dataset& in, Objective objective, std::vector<Judged>& all) {
  const Table table = in.table(OMEN_TABLE_CANDIDATES);
  std::vector<LegacyVector> vectors(all.size());
  for (std::size_t i = 0; i < 16; ++i) {
    const std::string name = "v" + std::to_string(i);
    if (!table.has(name))
      throw Error(OMEN_INVALID_DATA, "candidates have no column '" + name + "'",
                  "--legacy scores candidates by the sixteen numbers v0 to v15.");
    const std::vector<double> values = numbers_or(table, name, 0);
    for (std::size_t r = 0; r < all.size(); ++r) vectors[r][i] = values[r];
  }
  for (std::size_t r = 0; r < all.size(); ++r) {
    const bool efficient = objective == Objective::kEfficiency;
    const double value = efficient ? legacy_efficiency(vectors[r]) : legacy_time(vectors[r]);
    all[r].score = efficient ? value : -value;
    all[r].legacy = efficient ? "peak shares over burst shares sum to " + digits(value)
                              : "times of four resources sum to " + digits(value);
  }
}

}  // namespace

std::vector<Option<AllocateOptions>> AllocateOptions::spec() {
  using O = AllocateOptions;
  return options(
      opt(&O::gpus, "gpus", "GPUs to choose from, with the number that can be had: a100:8,h100"),
      opt(&O::objective, "objective", "what the best candidate is best in; mix: time and money")
          .choices("time", "efficiency", "money", "mix"),
      opt(&O::price, "price", "USD an hour of one GPU: a100=2.5,h100=4, or a file of such lines"),
      opt(&O::money_weight, "money_weight", "part of money in the mix").range(0, 1),
      opt(&O::deadline_h, "deadline", "hours that the job may take; 0: any")
          .range(0, 1e6)
          .unit("h"),
      opt(&O::budget, "budget", "USD that the job may cost; 0: any").range(0, 1e12).unit("USD"),
      opt(&O::legacy, "legacy", "score the columns v0 to v15 of candidates as GPUAlloc did"));
}

TableStream AllocateScorer::enumerate(const Dataset& in, const Run& run) {
  const std::vector<Offer> offers = parse_offers(options_.gpus);
  std::vector<std::int64_t> workload, tensor, pipeline, data;
  std::vector<std::int32_t> id;
  std::vector<std::string> name, gpu;
  for (const auto& [workload_id, job] : jobs_by_workload(in)) {
    run.step(-1, "candidates");
    std::int32_t next = 0;
    for (const Offer& offer : offers) {
      registered_device(offer.gpu);  // a misspelt name is an error here, not an infeasible row
      for (const Split& split : splits_of(job, offer.most)) {
        workload.push_back(workload_id);
        id.push_back(next++);
        name.push_back(offer_name(offer.gpu, split));
        gpu.push_back(offer.gpu);
        tensor.push_back(split.tensor);
        pipeline.push_back(split.pipeline);
        data.push_back(split.data);
      }
    }
  }
  return TableBuilder()
      .add(OMEN_COLUMN_WORKLOAD_ID, std::move(workload))
      .add(OMEN_COLUMN_CANDIDATE_ID, std::move(id))
      .add_strings("name", name)
      .add_categories("gpu", gpu)
      .add("split_tensor", std::move(tensor))
      .add("split_pipeline", std::move(pipeline))
      .add("split_data", std::move(data))
      .finish();
}

TableStream AllocateScorer::score(const Dataset& in, const Run& run) {
  const Objective objective = objective_of(options_.objective);
  const std::map<std::string, double> prices = parse_prices(options_.price);
  if ((objective == Objective::kMoney || objective == Objective::kMix || options_.budget > 0) &&
      prices.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "money needs prices, and none is given",
                "Add --price a100=2.5,h100=4, in USD an hour.");
  std::vector<Judged> all = read_candidates_of(in);
  if (options_.legacy) {
    judge_legacy(in, objective, all);
  } else {
    read_predictions_into(in, all);
    const std::map<std::int64_t, opgraph::Job> jobs = jobs_by_workload(in);
    for (Judged& one : all) {
      run.step(-1, "memory");
      judge_memory(jobs.at(one.workload_id), one);
      judge_limits(options_, prices, one);
      if (objective == Objective::kMoney && one.blocked.empty() && !(one.usd > 0))
        one.blocked = "has no price";
    }
  }
  std::map<std::int64_t, std::vector<Judged*>> by_workload;
  for (Judged& one : all) by_workload[one.workload_id].push_back(&one);
  ScoreRows rows;
  for (auto& [id, own] : by_workload) {
    if (!options_.legacy) give_scores(own, objective, options_.money_weight);
    add_ranked(own, rows);
  }
  return rows.finish();
}

Component allocate_component() {
  return scorer<AllocateScorer, AllocateOptions>(
             "driple.allocate", "which GPU a job should get: does it fit, how long, at what price")
      .reads("candidates.gpu", "candidates.split_tensor:optional",
             "candidates.split_pipeline:optional", "candidates.split_data:optional",
             "predictions.step_ms", "predictions.utilisation:optional",
             "predictions.job_s:optional", "nodes@step/1", "edges:optional", "workloads.mode",
             "workloads.precision")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::driple
