// SPDX-License-Identifier: Apache-2.0
// Brings both directions of every pair together, judges them, and pairs whole queues.
#include "pack/pack_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <omen/host.hpp>
#include <omen/join.hpp>
#include <omen/score_rows.hpp>
#include <optional>
#include <tuple>

#include "pack/corun_notes.hpp"
#include "pack/matching.hpp"

namespace omen::interference {
namespace {

constexpr const char* kOwnCoruns = "own";

// A candidate as it came back from the host.
struct Choice {
  std::size_t job;
  std::int32_t candidate;
  std::ptrdiff_t partner;  // -1: alone
  std::string device, mode;
  std::optional<Speed> speed;  // nothing: the predictor refused
  PairVerdict verdict{};
};
// Job, partner, device and mode: what finds the other direction.
using ChoiceKey = std::tuple<std::size_t, std::ptrdiff_t, std::string, std::string>;

std::vector<Choice> read_choices(const Table& candidates, const Queue& queue) {
  const std::vector<double> id = candidates.numbers("workload_id"),
                            number = candidates.numbers("candidate_id"),
                            partner = candidates.numbers("partner_id");
  const StringColumn device = candidates.strings("device"), mode = candidates.strings("mode");
  std::vector<Choice> choices;
  for (std::size_t row = 0; row < id.size(); ++row) {
    const auto index_of = [&](double of) {
      const auto at = queue.index.find(static_cast<std::int64_t>(of));
      if (at == queue.index.end())
        throw Error(OMEN_INVALID_DATA, "a candidate names job " + std::to_string(std::lround(of)) +
                                           ", which is not in the queue");
      return at->second;
    };
    const bool alone = std::isnan(partner[row]) || partner[row] < 0;
    const auto at = static_cast<std::int64_t>(row);
    choices.push_back({index_of(id[row]), static_cast<std::int32_t>(number[row]),
                       alone ? -1 : static_cast<std::ptrdiff_t>(index_of(partner[row])),
                       std::string(device[at]), std::string(mode[at]), std::nullopt});
  }
  return choices;
}

void read_speeds(const Dataset& in, const Queue& queue, std::vector<Choice>& choices) {
  const Table said = in.table("predictions");
  const std::vector<double> id = said.numbers("workload_id"), number = said.numbers("candidate_id"),
                            rho = said.numbers("rho");
  const std::vector<double> low = said.has("rho.lo") ? said.numbers("rho.lo") : rho;
  const std::vector<double> high = said.has("rho.hi") ? said.numbers("rho.hi") : rho;
  const bool has_status = said.has("status");
  std::map<std::pair<std::size_t, std::int32_t>, Speed> speeds;
  for (std::size_t row = 0; row < id.size(); ++row) {
    if (!(rho[row] > 0)) continue;
    const bool guess = has_status && said.strings("status")[static_cast<std::int64_t>(row)] ==
                                         std::string_view("extrapolating");
    speeds[{queue.index.at(static_cast<std::int64_t>(id[row])),
            static_cast<std::int32_t>(number[row])}] = {
        rho[row], low[row] > 0 ? low[row] : rho[row], high[row], guess};
  }
  for (Choice& choice : choices)
    if (const auto at = speeds.find({choice.job, choice.candidate}); at != speeds.end())
      choice.speed = at->second;
}

double capacity_of(const Choice& choice, const Queue& queue, const std::vector<GpuKind>& gpus) {
  for (const GpuKind& gpu : gpus)
    if (gpu.name == choice.device && gpu.capacity_mib > 0) return gpu.capacity_mib;
  const double own = queue.capacity_mib[choice.job];
  return std::isfinite(own) ? own : 0;
}

void judge_alone(Choice& choice, const Queue& queue, double capacity, const PackRules& rules) {
  choice.verdict.reason = refuses_alone(queue.jobs[choice.job], capacity, rules);
  choice.verdict.feasible = choice.verdict.reason.empty();
  choice.verdict.score = choice.verdict.feasible ? 0 : -1;
  if (choice.verdict.feasible) choice.verdict.reason = "at its own speed";
}

void judge_all(std::vector<Choice>& choices, const Queue& queue, const std::vector<GpuKind>& gpus,
               const PackRules& rules, const Run& run) {
  std::map<ChoiceKey, const Choice*> other_way;
  for (const Choice& choice : choices)
    other_way[{choice.job, choice.partner, choice.device, choice.mode}] = &choice;
  for (Choice& choice : choices) {
    const double capacity = capacity_of(choice, queue, gpus);
    if (choice.partner < 0) {
      judge_alone(choice, queue, capacity, rules);
      continue;
    }
    run.step(-1, "pair");
    const auto partner = static_cast<std::size_t>(choice.partner);
    const auto other = other_way.find(
        {partner, static_cast<std::ptrdiff_t>(choice.job), choice.device, choice.mode});
    if (!choice.speed || other == other_way.end() || !other->second->speed) {
      choice.verdict = {false, -1, "no speed is known for this pair", {}, 0, 0};
      continue;
    }
    choice.verdict = judge_pair(queue.jobs[choice.job], queue.jobs[partner], *choice.speed,
                                *other->second->speed, capacity, rules);
    if (queue.beside[choice.job] == queue.jobs[partner].name)
      if (std::string advice = unpack_advice(queue.observed_rho[choice.job], *choice.speed);
          !advice.empty())
        choice.verdict = {false,
                          -1,
                          std::move(advice),
                          choice.verdict.expected,
                          choice.verdict.worst_1,
                          choice.verdict.worst_2};
  }
}

// Of each pair the best mode and GPU; then the pairs that are best for the queue as a whole.
std::map<std::size_t, const Choice*> match_queue(const std::vector<Choice>& choices,
                                                 std::size_t jobs) {
  std::map<std::pair<std::size_t, std::size_t>, const Choice*> best;
  for (const Choice& choice : choices) {
    if (choice.partner < 0 || !choice.verdict.feasible || choice.verdict.score <= 0) continue;
    const Choice*& kept = best[{choice.job, static_cast<std::size_t>(choice.partner)}];
    if (!kept || choice.verdict.score > kept->verdict.score) kept = &choice;
  }
  std::vector<WeightedPair> pairs;
  for (const auto& [pair, choice] : best)
    if (pair.first < pair.second && best.count({pair.second, pair.first}))
      pairs.push_back(
          {static_cast<int>(pair.first), static_cast<int>(pair.second), choice->verdict.score});
  const std::vector<int> partner = best_matching(static_cast<int>(jobs), pairs);
  std::map<std::size_t, const Choice*> chosen;
  for (std::size_t job = 0; job < jobs; ++job)
    if (partner[job] >= 0) chosen[job] = best.at({job, static_cast<std::size_t>(partner[job])});
  return chosen;
}

// The user's co-runs stand before ours, which the plugin brings.
CorunNotes notes_for(const std::string& explain, const Table& workloads, const Queue& queue) {
  CorunNotes notes;
  if (explain.empty()) return notes;
  if (explain != kOwnCoruns) notes.read(explain, "");
  const std::filesystem::path own = std::filesystem::path(plugin_dir()) / "data/coruns.csv";
  if (std::filesystem::exists(own)) notes.read(own.string(), "ours on processor cores");
  notes.place(workloads, queue);
  return notes;
}

}  // namespace

std::vector<Option<PackOptions>> PackOptions::spec() {
  using O = PackOptions;
  return options(
      opt(&O::policy, "prefer",
          "protect: slow-down below the cap; pack: most saving; balanced: both; deadline: fewest "
          "missed")
          .choices("protect", "pack", "balanced", "deadline"),
      opt(&O::match, "match", "pair the whole queue at once instead of job by job"),
      opt(&O::gpus, "gpus", "kinds of GPUs with their memory, such as v100:16160,p100:16280"),
      opt(&O::modes, "modes", "ways to share that are allowed, such as timeslice,mps"),
      opt(&O::cap, "cap", "most slow-down of protected jobs, and of all with protect").range(0, 10),
      opt(&O::hard_cap, "hard_cap", "most slow-down of any job").range(0.01, 100),
      opt(&O::least_gain, "least_gain", "least sum of both speeds with pack").range(1, 2),
      opt(&O::weight, "weight", "of saving against slow-down with balanced").range(0, 1),
      opt(&O::context_mib, "context_mib", "memory that a process takes beside its own")
          .range(0, 1e6)
          .unit("MiB"),
      opt(&O::explain, "explain",
          "table of co-runs with job, partner and rho; the nearest of them and of our own are "
          "named "
          "in the reasons. own: of ours alone"));
}

PackRules PackOptions::rules() const {
  PackRules made;
  made.policy = parse_policy(policy);
  made.cap = cap;
  made.hard_cap = hard_cap;
  made.least_gain = least_gain;
  made.weight = weight;
  made.context_mib = context_mib;
  return made;
}

TableStream PackScorer::enumerate(const Dataset& in, const Run& run) {
  run.step(-1, "queue");
  const Table workloads = in.table("workloads");
  return list_ways(workloads, read_queue(workloads), parse_gpus(options_.gpus),
                   split(options_.modes, ','));
}

TableStream PackScorer::score(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const Queue queue = read_queue(workloads);
  const Table candidates = in.table("candidates");
  std::vector<Choice> choices = read_choices(candidates, queue);
  read_speeds(in, queue, choices);
  judge_all(choices, queue, parse_gpus(options_.gpus), options_.rules(), run);
  std::map<std::size_t, const Choice*> matched;
  if (options_.match) matched = match_queue(choices, queue.jobs.size());
  const CorunNotes notes = notes_for(options_.explain, workloads, queue);

  std::vector<const Choice*> order;
  for (const Choice& choice : choices) order.push_back(&choice);
  // With --match the chosen partner stands first, and alone where a job has none.
  const auto is_first = [&](const Choice& choice) {
    if (!options_.match) return false;
    const auto at = matched.find(choice.job);
    return at == matched.end() ? choice.partner < 0 && choice.verdict.feasible
                               : at->second == &choice;
  };
  std::stable_sort(order.begin(), order.end(), [&](const Choice* a, const Choice* b) {
    return std::tuple(a->job, !is_first(*a), !a->verdict.feasible, -a->verdict.score,
                      a->candidate) <
           std::tuple(b->job, !is_first(*b), !b->verdict.feasible, -b->verdict.score, b->candidate);
  });
  ScoreRows rows;
  for (const Choice* choice : order) {
    // Scores must fall with the rank, also where the queue as a whole asked for another order.
    const double score =
        is_first(*choice) ? 1 + std::max(choice->verdict.score, 1.0) : choice->verdict.score;
    std::string reason = choice->verdict.reason;
    if (is_first(*choice) && choice->partner >= 0) reason = "best for the queue; " + reason;
    if (choice->partner >= 0)
      reason += notes.about(choice->job, static_cast<std::size_t>(choice->partner), choice->device,
                            choice->mode);
    rows.add(queue.ids[choice->job], choice->candidate, score, choice->verdict.feasible,
             std::move(reason));
  }
  return rows.finish();
}

Component pack_component() {
  return scorer<PackScorer, PackOptions>(
             "interference.pack", "beside which other job of a queue each should run, if any")
      .reads("candidates.partner_id", "candidates.device", "candidates.mode", "predictions.rho",
             "workloads.solo_s:optional", "workloads.memory_mib:optional",
             "workloads.deadline_s:optional", "workloads.protected:optional",
             "workloads.never_with:optional", "workloads.beside:optional",
             "workloads.observed_rho:optional", "workloads.gpu_memory_mib:optional",
             "workloads.device:optional", "workloads.job:optional", "workloads.family:optional")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::interference
