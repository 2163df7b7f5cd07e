// SPDX-License-Identifier: Apache-2.0
// Lists shares rounded to work-groups, and ranks them by the time until both devices end.
#include "opencl/split_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/score_rows.hpp>
#include <optional>

#include "opencl/launch_columns.hpp"

namespace omen::loadbalance {
namespace {

using Key = std::pair<std::int64_t, std::int32_t>;  // workload, candidate

std::optional<double> cell(const Table& table, const char* column, std::int64_t row) {
  const auto at = table.find(column);
  if (!at || !is_number(table.type(*at))) return std::nullopt;
  const double value = table.numbers(*at)[static_cast<std::size_t>(row)];
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

// What is known of a workload before shares are listed: its launch, and where it may be cut.
struct Launch {
  LaunchRange range;
  double input_bytes = 0;
  unsigned dimensions = kAllDimensions;  // that may be divided
  std::string blocked;                   // why it may not be divided at all

  std::optional<unsigned> dimension() const { return find_split_dimension(range, dimensions); }
  // Why no share between 0 and 100 % is possible; empty where one is.
  std::string obstacle() const {
    if (!blocked.empty()) return blocked;
    return dimension() ? "" : no_split_reason(range, dimensions);
  }
};

LaunchRange range_of(const LaunchFigures& figures, const SplitScorerOptions& options) {
  const auto whole_or_zero = [](double value) {
    return std::isnan(value) ? 0 : static_cast<std::size_t>(value);
  };
  RangeRequest request;
  request.global = parse_sizes(options.global, "--global");
  request.local = parse_sizes(options.local, "--local");
  if (request.global.count == 0) request.global = figures.global;
  if (request.local.count == 0) request.local = figures.local;
  request.input_bytes = whole_or_zero(figures.input_size);
  if (request.local.count == 0) request.group_items = whole_or_zero(figures.wgsize);
  return make_range(request);
}

std::string text_or_empty(const Table& table, const char* column, std::int64_t row) {
  const auto at = table.find(column);
  return at && is_text(table.type(*at)) ? std::string(table.strings(*at)[row]) : "";
}

// By workload_id.
std::map<std::int64_t, Launch> launches(const Table& workloads, const SplitScorerOptions& options) {
  std::map<std::int64_t, Launch> found;
  const auto ids = workloads.column<std::int64_t>("workload_id");
  const std::vector<LaunchFigures> figures = launch_figures(workloads);
  for (std::int64_t row = 0; row < workloads.rows(); ++row) {
    const LaunchFigures& own = figures[static_cast<std::size_t>(row)];
    Launch& launch = found[ids[row]];
    launch.range = range_of(own, options);
    launch.input_bytes = std::isnan(own.input_size)
                             ? static_cast<double>(launch.range.items() * kBytesPerItem)
                             : own.input_size;
    const std::string verdict = text_or_empty(workloads, "divisible", row),
                      along = text_or_empty(workloads, "divisible_along", row);
    if (!verdict.empty() && verdict != kDivisible) launch.blocked = verdict;
    if (!along.empty()) launch.dimensions = parse_dimensions(along);
  }
  return found;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// Candidates of all workloads, column by column.
struct Candidates {
  std::vector<std::int64_t> workloads, first_groups, second_groups, first_items, second_items;
  std::vector<std::int32_t> ids, dimensions;
  std::vector<std::string> names;
  std::vector<double> shares, group_items, input_bytes;

  void add(std::int64_t workload, std::int32_t id, const SplitPlan& plan, const Launch& launch) {
    const auto second = plan.groups - plan.first_groups;
    workloads.push_back(workload);
    ids.push_back(id);
    names.push_back(number(plan.share()) + " %");
    shares.push_back(plan.share());
    dimensions.push_back(static_cast<std::int32_t>(plan.dimension));
    first_groups.push_back(static_cast<std::int64_t>(plan.first_groups));
    second_groups.push_back(static_cast<std::int64_t>(second));
    first_items.push_back(static_cast<std::int64_t>(plan.first.size[plan.dimension]));
    second_items.push_back(static_cast<std::int64_t>(plan.second.size[plan.dimension]));
    group_items.push_back(static_cast<double>(launch.range.group_items()));
    input_bytes.push_back(launch.input_bytes);
  }
  Table finish() {
    return TableBuilder()
        .add("workload_id", std::move(workloads))
        .add("candidate_id", std::move(ids))
        .add_strings("name", names)
        .add("share", std::move(shares), {{"omen.unit", "%"}})
        .add("dimension", std::move(dimensions))
        .add("first_groups", std::move(first_groups))
        .add("second_groups", std::move(second_groups))
        .add("first_items", std::move(first_items))
        .add("second_items", std::move(second_items))
        .add("wgsize", std::move(group_items))
        .add("input_size", std::move(input_bytes), {{"omen.unit", "B"}})
        .finish();
  }
};

struct Judged {
  double time = 0;  // ms, or points from the predicted share where no times are known
  bool feasible = true;
  std::string reason;
};

// Expected time of a share; without times the distance from the predicted share.
double cost_of(const Table& predictions, std::int64_t row, double share) {
  const auto first = cell(predictions, "t_cpu_ms", row),
             second = cell(predictions, "t_gpu_ms", row);
  if (first && second) return std::max(*first * share, *second * (100 - share)) / 100;
  if (const auto predicted = cell(predictions, "share", row)) return std::fabs(share - *predicted);
  throw Error(OMEN_INVALID_DATA, "predictions have neither t_cpu_ms and t_gpu_ms nor share",
              "Predict with loadbalance.cost or another predictor of this track.");
}

std::string groups_text(const Table& candidates, std::int64_t row) {
  const auto first = cell(candidates, "first_groups", row),
             second = cell(candidates, "second_groups", row);
  if (!first || !second) return {};
  if (*first == 0) return "all groups on the second device";
  if (*second == 0) return "all groups on the first device";
  return "groups 0 to " + std::to_string(static_cast<std::int64_t>(*first) - 1) +
         " on the first device, " + std::to_string(static_cast<std::int64_t>(*first)) + " to " +
         std::to_string(static_cast<std::int64_t>(*first + *second) - 1) + " on the second";
}

std::map<Key, std::int64_t> rows_by_key(const Table& table) {
  std::map<Key, std::int64_t> rows;
  const auto workloads = table.column<std::int64_t>("workload_id");
  const auto candidates = table.column<std::int32_t>("candidate_id");
  for (std::int64_t row = 0; row < table.rows(); ++row)
    rows[{workloads[row], candidates[row]}] = row;
  return rows;
}

Table score_table(const std::map<Key, Judged>& judged) {
  std::map<std::int64_t, std::vector<std::pair<std::int32_t, const Judged*>>> by_workload;
  for (const auto& [key, one] : judged) by_workload[key.first].push_back({key.second, &one});
  ScoreRows rows;
  for (auto& [workload, list] : by_workload) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return std::pair(!a.second->feasible, a.second->time) <
             std::pair(!b.second->feasible, b.second->time);
    });
    for (const auto& [candidate, one] : list)
      rows.add(workload, candidate, -one->time, one->feasible, one->reason);
  }
  return rows.finish();
}

}  // namespace

TableStream SplitScorer::enumerate(const Dataset& in, const Run& run) {
  Candidates candidates;
  for (const auto& [workload, launch] : launches(in.table("workloads"), options_)) {
    run.step(-1, "shares");
    const std::optional<unsigned> dimension = launch.dimension();
    const double step = dimension ? options_.step : 100;  // one device does all, or the other
    std::int32_t id = 0;
    std::size_t last = launch.range.groups(dimension.value_or(0)) + 1;
    for (double share = 0; share < 100 + step; share += step) {
      const SplitPlan plan =
          plan_split(launch.range, dimension.value_or(0), std::min(share, 100.0));
      if (plan.first_groups == last) continue;  // few groups: shares fall together
      last = plan.first_groups;
      candidates.add(workload, id++, plan, launch);
    }
  }
  return candidates.finish();
}

TableStream SplitScorer::score(const Dataset& in, const Run& run) {
  const Table candidates = in.table("candidates");
  if (!candidates.has("share"))
    throw Error(OMEN_INVALID_DATA, "candidates have no column 'share'",
                "Leave --candidates out: loadbalance.split lists shares itself.");
  if (!in.has("predictions"))
    throw Error(OMEN_UNAVAILABLE, "no predictor of this track has a model",
                "Train one, or name it with --predictor and --model.");
  const Table predictions = in.table("predictions");
  const std::map<Key, std::int64_t> predicted = rows_by_key(predictions);
  const std::map<std::int64_t, Launch> launched = launches(in.table("workloads"), options_);
  const std::vector<double> shares = candidates.numbers("share");
  std::map<Key, Judged> judged;
  for (const auto& [key, row] : rows_by_key(candidates)) {
    run.step(-1, "rank");
    const auto prediction = predicted.find(key);
    if (prediction == predicted.end())
      throw Error(OMEN_INVALID_DATA, "candidate " + std::to_string(key.second) + " of workload " +
                                         std::to_string(key.first) + " has no prediction");
    const double share = shares[static_cast<std::size_t>(row)];
    const bool split = share > 0 && share < 100;
    Judged one;
    one.time = cost_of(predictions, prediction->second, share);
    one.reason = groups_text(candidates, row);
    if (split) one.time *= 1 + options_.min_gain;
    const auto launch = launched.find(key.first);
    const std::string obstacle = launch == launched.end() ? "" : launch->second.obstacle();
    if (!obstacle.empty()) {
      one.feasible = !split;
      one.reason =
          (split ? "cannot be divided: " : one.reason + "; cannot be divided: ") + obstacle;
    }
    judged[key] = std::move(one);
  }
  return score_table(judged);
}

}  // namespace omen::loadbalance
