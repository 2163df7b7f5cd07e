// SPDX-License-Identifier: Apache-2.0
// Workloads and their candidates as jobs under limits, and answers with intervals.
#include "energy/caps_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/errors.hpp>
#include <omen/learn/intervals.hpp>
#include <omen/optional_columns.hpp>
#include <omen/registry.hpp>
#include <utility>

namespace omen::power {
namespace {

constexpr double kUsualCapLevel = 0.9;
// Answers outside of what was measured get intervals wider by this factor.
constexpr double kWiderCaps = 2;
constexpr int kCapFolds = 5;

struct AskedCap {
  std::int64_t workload = 0;
  std::int32_t candidate = -1;
  std::string group, refusal;
  CappedJob job;
};

// The columns of a job; those of a candidate stand above those of its workload.
class CapColumns {
 public:
  CapColumns(const Table& workloads, const Table& candidates)
      : gpu_(workloads, "gpu"),
        group_(workloads, "group"),
        most_(workloads, "tdp_w"),
        watts_(workloads, "free_power_w"),
        seconds_(workloads, "free_time_s"),
        limit_(workloads, "power_cap_w"),
        own_limit_(candidates, "power_cap_w") {}

  AskedCap read(std::int64_t w, std::int64_t k) {
    AskedCap made;
    made.group = group_.at(w);
    CappedJob& job = made.job;
    job.gpu = gpu_.at(w);
    job.free_w = watts_.at(w, 0);
    job.free_s = seconds_.at(w, 0);
    job.most_w = most_.at(w, 0);
    if (!(job.most_w > 0)) job.most_w = published_limit(job.gpu);
    job.limit_w = k >= 0 ? own_limit_.at(k, limit_.at(w, 0)) : limit_.at(w, 0);
    // No limit is the highest one.
    if (!(job.limit_w > 0)) job.limit_w = job.most_w;
    if (!(job.free_w > 0 && job.free_s > 0))
      made.refusal = "free_power_w and free_time_s are not above 0";
    else if (!(job.most_w > 0))
      made.refusal = "the highest limit of '" + job.gpu + "' is not known: give it as tdp_w";
    return made;
  }

 private:
  double published_limit(const std::string& gpu) {
    const auto [at, fresh] = published_.emplace(gpu, 0);
    if (fresh && !gpu.empty())
      if (const auto found = devices::figure(gpu, "tdp_w")) at->second = found->value;
    return at->second;
  }

  TextColumn gpu_, group_;
  NumberColumn most_, watts_, seconds_, limit_, own_limit_;
  std::map<std::string, double> published_;
};

std::vector<AskedCap> read_caps(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const Table candidates = in.has("candidates") ? in.table("candidates") : Table();
  CapColumns columns(workloads, candidates);
  const NumberColumn id(workloads, "workload_id"), owner(candidates, "workload_id"),
      candidate(candidates, "candidate_id");
  std::vector<AskedCap> made;
  std::map<std::int64_t, std::int64_t> row_of;
  for (std::int64_t w = 0; w < workloads.rows(); ++w) {
    if (w % 256 == 0) run.step(-1, "read");
    const auto key = static_cast<std::int64_t>(id.at(w, static_cast<double>(w)));
    row_of[key] = w;
    if (candidates.rows() > 0) continue;
    made.push_back(columns.read(w, -1));
    made.back().workload = key;
  }
  for (std::int64_t k = 0; k < candidates.rows(); ++k) {
    if (k % 256 == 0) run.step(-1, "read");
    const auto at = row_of.find(static_cast<std::int64_t>(owner.at(k, -1)));
    if (at == row_of.end()) continue;
    made.push_back(columns.read(at->second, k));
    made.back().workload = at->first;
    made.back().candidate = static_cast<std::int32_t>(candidate.at(k, 0));
  }
  return made;
}

struct MeasuredCaps {
  std::vector<MeasuredCap> rows;
  std::vector<std::string> group;
  CapAnswers answers = CapAnswers::power_and_time;
};

MeasuredCaps read_measured_caps(const Dataset& in, const Run& run) {
  const Table targets = in.table("targets");
  const NumberColumn id(targets, "workload_id"), candidate(targets, "candidate_id"),
      watts(targets, "power_w"), seconds(targets, "time_s"), joules(targets, "energy_j");
  MeasuredCaps made;
  const bool both = targets.has("power_w") && targets.has("time_s");
  if (!both && !targets.has("energy_j"))
    learn::throw_bad_data("the rows have neither power_w with time_s nor energy_j",
                          "Name what was measured so.");
  if (!both) made.answers = CapAnswers::energy;
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> place;
  for (std::int64_t r = 0; r < targets.rows(); ++r)
    place[{static_cast<std::int64_t>(id.at(r, 0)),
           static_cast<std::int32_t>(candidate.at(r, -1))}] = r;
  for (const AskedCap& one : read_caps(in, run)) {
    const auto at = place.find({one.workload, one.candidate});
    if (!one.refusal.empty() || at == place.end()) continue;
    const CappedCost cost =
        both ? CappedCost{watts.at(at->second), seconds.at(at->second)}
             : CappedCost{joules.at(at->second) / one.job.free_s, one.job.free_s};
    made.rows.push_back({one.job, cost});
    made.group.push_back(one.group);
  }
  return made;
}

// Misses of rows whose group a model did not see; of its own rows where there is one group alone.
std::vector<double> misses_of(const MeasuredCaps& measured, const CapResponse& whole,
                              const Run& run) {
  std::map<std::string, int> fold;
  for (const std::string& group : measured.group)
    fold.emplace(group, static_cast<int>(fold.size()) % kCapFolds);
  std::vector<double> misses;
  for (int f = 0; f < kCapFolds; ++f) {
    run.step(static_cast<double>(f + 1) / (kCapFolds + 1), "intervals");
    std::vector<MeasuredCap> seen, held;
    for (std::size_t i = 0; i < measured.rows.size(); ++i)
      (fold[measured.group[i]] == f ? held : seen).push_back(measured.rows[i]);
    if (held.empty()) continue;
    CapResponse apart;
    const bool learns = seen.size() >= measured.rows.size() / 2 && fold.size() > 1;
    if (learns) apart.fit(seen, measured.answers);
    for (const MeasuredCap& row : held) {
      const double said = (learns ? apart : whole).ask(row.job).joules();
      const double miss = std::abs(std::log(said / row.cost.joules()));
      if (std::isfinite(miss) && row.job.limit_w < row.job.most_w) misses.push_back(miss);
    }
  }
  std::sort(misses.begin(), misses.end());
  return misses;
}

struct CapAnswer {
  const char *name, *unit;
  bool said;
  std::vector<double> values;
};

}  // namespace

void CapsPredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  const MeasuredCaps measured = read_measured_caps(train, run);
  CapResponse next;
  next.fit(measured.rows, measured.answers);
  misses_ = misses_of(measured, next, run);
  model_ = std::move(next);
}

TableStream CapsPredictor::predict(const Dataset& in, const Run& run) {
  if (model_.empty()) learn::throw_no_model("power.caps");
  const bool both = model_.answers() == CapAnswers::power_and_time;
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualCapLevel;
  const double half = learn::ResidualQuantiles(misses_).half_width(level);
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> candidate;
  std::vector<bool> answered;
  std::vector<std::string> status;
  CapAnswer answers[] = {{"power_w", "W", both, {}},
                         {"time_s", "s", both, {}},
                         {"energy_j", "J", true, {}},
                         {"energy_j.lo", "J", std::isfinite(half), {}},
                         {"energy_j.hi", "J", std::isfinite(half), {}}};
  for (const AskedCap& one : read_caps(in, run)) {
    const bool known = one.refusal.empty();
    const CappedCost cost = known ? model_.ask(one.job) : CappedCost{};
    const bool inside = known && model_.knows(one.job);
    const double factor = std::exp(half * (inside ? 1 : kWiderCaps)), joules = cost.joules();
    const double values[] = {cost.watts, cost.seconds, joules, joules / factor, joules * factor};
    for (std::size_t i = 0; i < std::size(values); ++i) answers[i].values.push_back(values[i]);
    id.push_back(one.workload);
    if (one.candidate >= 0) candidate.push_back(one.candidate);
    answered.push_back(known);
    status.push_back(!known ? one.refusal : inside ? "ok" : "extrapolating");
  }
  TableBuilder table;
  table.add("workload_id", std::move(id));
  if (!candidate.empty()) table.add("candidate_id", std::move(candidate));
  for (CapAnswer& answer : answers)
    if (answer.said)
      table
          .add(answer.name, std::move(answer.values),
               {{"omen.unit", answer.unit}, {"omen.method", "estimated:power.caps"}})
          .valid(answered);
  return table.add_strings("status", status).finish();
}

void CapsPredictor::save(ArtifactWriter& out) const {
  learn::ArtifactState state(out);
  model_.save(state);
  out.put("misses", misses_);
}

void CapsPredictor::load(const ArtifactReader& in) {
  CapResponse next;
  next.load(learn::ArtifactSource(in));
  std::vector<double> misses = in.get<double>("misses");
  if (!std::is_sorted(misses.begin(), misses.end()))
    learn::throw_bad_data("the model of power limits holds broken intervals", "Train it again.");
  misses_ = std::move(misses);
  model_ = std::move(next);
}

Component caps_component() {
  return predictor<CapsPredictor>("power.caps",
                                  "jobs under power limits, from their power and time without one")
      .reads("workloads.gpu", "workloads.free_power_w", "workloads.free_time_s",
             "workloads.tdp_w:optional", "workloads.power_cap_w:optional",
             "candidates.power_cap_w:optional")
      .writes("power_w:W:lower", "time_s:s:lower", "energy_j:J:lower")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY);
}

}  // namespace omen::power
