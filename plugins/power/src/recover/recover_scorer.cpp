// SPDX-License-Identifier: Apache-2.0
// Candidates are accelerators; the predictions of any predictor of this track decide.
#include "recover/recover_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <omen/score_rows.hpp>
#include <tuple>

namespace omen::power {
namespace {

using PairOfIds = std::pair<std::int64_t, std::int32_t>;

struct Predicted {
  double power = 0, latency = 0, area = 0;
  std::string status = "no prediction";
};

std::vector<double> column_or(const Table& table, const std::string& name, double otherwise) {
  return table.has(name) ? table.numbers(name)
                         : std::vector<double>(static_cast<std::size_t>(table.rows()), otherwise);
}

// With caution the upper ends of intervals count, as far as there are any.
std::vector<double> careful(const Table& table, const std::string& name, double caution) {
  std::vector<double> value = column_or(table, name, std::nan(""));
  if (caution <= 0 || !table.has(name + ".hi")) return value;
  const std::vector<double> high = table.numbers(name + ".hi");
  for (std::size_t i = 0; i < value.size(); ++i) value[i] += caution * (high[i] - value[i]);
  return value;
}

std::map<PairOfIds, Predicted> read_predicted(const Dataset& in, double caution) {
  std::map<PairOfIds, Predicted> made;
  if (!in.has("predictions")) return made;
  const Table table = in.table("predictions");
  const std::vector<double> id = table.numbers("workload_id"),
                            candidate = column_or(table, "candidate_id", 0),
                            core = careful(table, "p_core_w", caution),
                            memory = careful(table, "p_bw_w", caution),
                            latency = careful(table, "latency_s", caution),
                            area = column_or(table, "area_mm2", 0);
  for (std::size_t i = 0; i < id.size(); ++i) {
    Predicted one{core[i] + memory[i], latency[i], std::isnan(area[i]) ? 0 : area[i], "ok"};
    if (table.has("status"))
      one.status = std::string(table.strings("status")[static_cast<std::int64_t>(i)]);
    made[{static_cast<std::int64_t>(id[i]), static_cast<std::int32_t>(candidate[i])}] = one;
  }
  return made;
}

struct Ranked {
  std::int32_t candidate = 0;
  double cost = 0, excess = 0;
  bool feasible = false;
  std::string reason;
};

}  // namespace

std::vector<Option<RecoverScorerOptions>> RecoverScorerOptions::spec() {
  using O = RecoverScorerOptions;
  return options(
      opt(&O::goal, "goal", "what is made small").choices("power", "energy", "edp"),
      opt(&O::latency_ms, "latency_ms", "longest latency; 0: any").range(0, 1e9).unit("ms"),
      opt(&O::area_mm2, "area_mm2", "largest area; 0: any").range(0, 1e6),
      opt(&O::power_w, "power_w", "most power; 0: any").range(0, 1e6).unit("W"),
      opt(&O::caution, "caution", "part of the way to the upper end of intervals that counts")
          .range(0, 1));
}

TableStream RecoverScorer::score(const Dataset& in, const Run& run) {
  const std::map<PairOfIds, Predicted> predicted = read_predicted(in, options_.caution);
  const Table candidates = in.table("candidates");
  const std::vector<double> id = candidates.numbers("workload_id"),
                            candidate = candidates.numbers("candidate_id");
  std::map<std::int64_t, std::vector<Ranked>> lists;
  for (std::size_t i = 0; i < id.size(); ++i) {
    run.step(-1, "score");
    Ranked one;
    one.candidate = static_cast<std::int32_t>(candidate[i]);
    const auto found = predicted.find({static_cast<std::int64_t>(id[i]), one.candidate});
    const Predicted said = found == predicted.end() ? Predicted() : found->second;
    const double energy = said.power * said.latency;
    one.cost = options_.goal == "energy" ? energy
               : options_.goal == "edp"  ? energy * said.latency
                                         : said.power;
    const auto check = [&](const char* what, double value, double limit) {
      if (limit <= 0 || value <= limit) return;
      one.excess += std::log(value / limit);
      one.reason += (one.reason.empty() ? "breaks the limit of " : ", ") + std::string(what);
    };
    if (!(one.cost > 0) || !std::isfinite(one.cost)) {
      one.reason = said.status;
      one.excess = 1e9;
      one.cost = 0;
    } else {
      check("latency", said.latency * 1e3, options_.latency_ms);
      check("area", said.area, options_.area_mm2);
      check("power", said.power, options_.power_w);
    }
    one.feasible = one.reason.empty();
    if (one.feasible) {
      char text[128];
      std::snprintf(text, sizeof text, "%.3g W, %.3g ms, %.3g mJ", said.power, said.latency * 1e3,
                    energy * 1e3);
      one.reason = said.status == "ok" ? text : std::string(text) + "; " + said.status;
    }
    lists[static_cast<std::int64_t>(id[i])].push_back(std::move(one));
  }
  ScoreRows rows;
  for (auto& [own, list] : lists) {
    std::sort(list.begin(), list.end(), [](const Ranked& a, const Ranked& b) {
      return std::tuple(!a.feasible, a.excess, a.cost, a.candidate) <
             std::tuple(!b.feasible, b.excess, b.cost, b.candidate);
    });
    for (const Ranked& one : list)
      rows.add(own, one.candidate,
               one.feasible ? -one.cost : -1e12 * (1 + std::min(one.excess, 1e9)), one.feasible,
               one.reason);
  }
  return rows.finish();
}

Component recover_scorer_component() {
  return scorer<RecoverScorer, RecoverScorerOptions>(
             "power.recover", "accelerators by power, energy or their product under limits")
      .reads("predictions.p_core_w", "predictions.p_bw_w", "predictions.latency_s",
             "predictions.area_mm2:optional")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::power
