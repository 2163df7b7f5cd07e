// SPDX-License-Identifier: Apache-2.0
// Reads rows, asks the forecast, and derives rates and latencies from the speeds.
#include "pair/pair_predictor.hpp"

#include <cmath>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/errors.hpp>

namespace omen::interference {
namespace {

constexpr const char* kId = "interference.pair";
constexpr double kUsualLevel = 0.9;

// What a job alone has in column `name`; empty where the data does not have it.
std::vector<double> alone(const PairRows& rows, const std::vector<double>& numbers) {
  std::vector<double> values;
  if (numbers.empty()) return values;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) values.push_back(numbers[row]);
  return values;
}

// A number of each row's own workload, whatever the model was fitted on.
std::vector<double> numbers_of(const Dataset& in, const PairRows& rows, const char* name) {
  const Table workloads = in.table("workloads");
  const auto column = workloads.find(name);
  if (!column || !is_number(workloads.type(*column))) return {};
  const std::vector<double> values = workloads.numbers(*column);
  const std::vector<double> ids = workloads.numbers("workload_id");
  std::vector<double> mine;
  std::size_t at = 0;
  for (const PairRow& row : rows.rows) {
    // Rows follow the order of the workloads, several in a row where there are candidates.
    while (at + 1 < ids.size() && static_cast<std::int64_t>(ids[at]) != row.workload_id) ++at;
    mine.push_back(values[at]);
  }
  return mine;
}

struct Derived {
  const char *from, *to, *unit;
  double (*of)(double alone, const Speed& speed);
};
// Half of the requests take as long as the mean speed says, the slowest as long as its lower end.
constexpr Derived kDerived[] = {
    {"rate_per_s", "corun_rate_per_s", "1/s",
     [](double alone, const Speed& speed) { return alone * speed.mean; }},
    {"latency_p50_ms", "corun_p50_ms", "ms",
     [](double alone, const Speed& speed) { return alone / speed.mean; }},
    {"latency_p99_ms", "corun_p99_ms", "ms",
     [](double alone, const Speed& speed) { return alone / speed.low; }}};

void put_derived(TableBuilder& table, const Dataset& in, const PairRows& rows,
                 const std::vector<Speed>& speeds) {
  for (const Derived& column : kDerived) {
    const std::vector<double> own = alone(rows, numbers_of(in, rows, column.from));
    if (own.empty()) continue;
    std::vector<double> values;
    std::vector<bool> known;
    for (std::size_t row = 0; row < own.size(); ++row) {
      known.push_back(std::isfinite(own[row]));
      values.push_back(known.back() ? column.of(own[row], speeds[row]) : 0);
    }
    table.add(column.to, std::move(values), {{"omen.unit", column.unit}}).valid(known);
  }
}

learn::Context context_of(const Run& run) {
  learn::Context context;
  context.seed = run.seed();
  context.threads = std::max(run.threads(), 1U);
  context.step = [&run](double done, const char* stage) { run.step(done, stage); };
  context.cancelled = [&run] { return run.cancelled(); };
  return context;
}

}  // namespace

void PairPredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  const PairRows rows = read_pair_rows(train, nullptr, [&run] { run.step(-1, "read"); });
  if (rows.numbers.empty() && rows.texts.empty())
    learn::throw_bad_data("no column describes both jobs",
                          "A feature X of the job needs a column partner_X.");
  PairSettings settings;
  settings.rank = options_.rank;
  settings.clusters = options_.clusters;
  settings.ridge = options_.ridge;
  forecast_ = std::make_unique<PairForecast>(PairForecast::fit(
      rows, read_rho(train, rows), parse_method(options_.method), settings, context_of(run)));
}

TableStream PairPredictor::predict(const Dataset& in, const Run& run) {
  const PairForecast& forecast = learn::require_model(forecast_, kId);
  const PairRows rows =
      read_pair_rows(in, &forecast.encoder().columns(), [&run] { run.step(-1, "read"); });
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
  const std::vector<Speed> speeds = forecast.ask(rows, level);
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> candidate;
  std::vector<double> mean, low, high;
  std::vector<std::string> status;
  for (std::size_t row = 0; row < speeds.size(); ++row) {
    id.push_back(rows.rows[row].workload_id);
    candidate.push_back(rows.rows[row].candidate_id);
    mean.push_back(speeds[row].mean);
    low.push_back(speeds[row].low);
    high.push_back(speeds[row].high);
    status.emplace_back(speeds[row].is_extrapolating ? "extrapolating" : "ok");
  }
  TableBuilder table;
  table.add("workload_id", std::move(id));
  if (rows.has_candidates) table.add("candidate_id", std::move(candidate));
  const Metadata unit = {{"omen.unit", "1"}};
  table.add(kRhoColumn, std::move(mean), unit);
  table.add(std::string(kRhoColumn) + ".lo", std::move(low), unit);
  table.add(std::string(kRhoColumn) + ".hi", std::move(high), unit);
  put_derived(table, in, rows, speeds);
  return table.add_strings("status", status).finish();
}

void PairPredictor::observe(const Dataset& measured, const Run& run) {
  const PairForecast& forecast = learn::require_model(forecast_, kId);
  const PairRows rows =
      read_pair_rows(measured, &forecast.encoder().columns(), [&run] { run.step(-1, "read"); });
  forecast_->observe(rows, read_rho(measured, rows));
}

void PairPredictor::save(ArtifactWriter& out) const {
  learn::save_model(forecast_, kId, out);
}

void PairPredictor::load(const ArtifactReader& in) {
  forecast_ = std::make_unique<PairForecast>(PairForecast::load(learn::saved_model(in, kId)));
}

Component pair_component() {
  return predictor<PairPredictor, PairOptions>(kId,
                                               "speed of jobs that share a GPU, relative to alone")
      .reads("workloads.job:optional", "workloads.partner:optional", "workloads.family:optional",
             "workloads.partner_family:optional", "workloads.device:optional",
             "workloads.mode:optional", "workloads.*")
      .writes("rho:1:higher", "corun_rate_per_s:1/s:higher", "corun_p50_ms:ms:lower",
              "corun_p99_ms:ms:lower")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY)
      .cite("doi:10.7551/mitpress/3206.001.0001");
}

}  // namespace omen::interference
