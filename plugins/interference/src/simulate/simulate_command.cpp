// SPDX-License-Identifier: Apache-2.0
// Reads a trace and measured speeds, hides part of the pairs, and compares policies.
#include "simulate/simulate_command.hpp"

#include <algorithm>
#include <cmath>
#include <omen/figure.hpp>

#include "pack/simulation.hpp"
#include "pair/measured_pairs.hpp"
#include "pair/pair_forecast.hpp"
#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

constexpr const char* kRateColumn = "rate_per_s";

Measured read_speeds(const SimulateOptions& options) {
  const CsvText table = CsvText::read(options.speeds);
  if (table.has("rho")) return read_coruns(options.speeds);
  if (options.gpu.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "the speeds are those of several GPUs",
                "Name one, such as --gpu v100.");
  return measured_of(read_gavel(options.speeds, options.gpu));
}

SpeedTable table_of(const Measured& all, const std::vector<double>& rho) {
  SpeedTable table(all.rows.jobs.size(), std::vector<double>(all.rows.jobs.size(), 0));
  for (std::size_t i = 0; i < rho.size(); ++i)
    table[static_cast<std::size_t>(all.rows.rows[i].victim)]
         [static_cast<std::size_t>(all.rows.rows[i].partners.at(0))] = rho[i];
  return table;
}

// "ResNet-18 (batch size 64)" of a trace is "ResNet-18 64" in the table of pairs.
std::string plain_name(std::string name) {
  const std::string middle = " (batch size ";
  const std::size_t at = name.find(middle);
  if (at == std::string::npos || name.back() != ')') return name;
  name.pop_back();
  return name.substr(0, at) + " " + name.substr(at + middle.size());
}

std::ptrdiff_t kind_in(const Measured& all, const std::string& name) {
  for (std::size_t kind = 0; kind < all.rows.jobs.size(); ++kind)
    if (all.rows.jobs[kind].name == plain_name(name)) return static_cast<std::ptrdiff_t>(kind);
  return -1;
}

// Columns job, arrival_s and work_s.
std::vector<ArrivingJob> read_arrivals(const CsvText& table, const Measured& all) {
  std::vector<ArrivingJob> jobs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::ptrdiff_t kind = kind_in(all, table.text(row, table.index("job")));
    const double arrival = table.number(row, table.index("arrival_s")),
                 work = table.number(row, table.index("work_s"));
    if (!(arrival >= 0) || !(work > 0))
      throw Error(OMEN_INVALID_DATA,
                  "row " + std::to_string(row + 1) + " of the trace has no time above 0",
                  "arrival_s is at least 0, work_s above 0.");
    if (kind >= 0) jobs.push_back({arrival, work, static_cast<std::size_t>(kind)});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const ArrivingJob& a, const ArrivingJob& b) {
    return a.arrival_s < b.arrival_s;
  });
  return jobs;
}

std::vector<ArrivingJob> read_jobs(const std::string& path, const Measured& all) {
  const std::string text = read_bytes(path);
  if (text.substr(0, text.find('\n')).find('\t') == std::string::npos)
    return read_arrivals(CsvText(text, path), all);
  const auto column = std::find(all.rows.numbers.begin(), all.rows.numbers.end(), kRateColumn);
  if (column == all.rows.numbers.end())
    throw Error(OMEN_INVALID_DATA, "the speeds do not say how many steps a second a job does",
                "A trace with steps needs speeds with a column rate_per_s.");
  const auto rate = static_cast<std::size_t>(column - all.rows.numbers.begin());
  return read_trace(
      path, [&](const std::string& job) { return kind_in(all, job); },
      [&](std::size_t kind) { return all.rows.jobs[kind].numbers[rate]; });
}

std::vector<double> believed_speeds(const Measured& all, const SimulateOptions& options,
                                    const Run& run) {
  const std::vector<bool> seen = seen_pairs(all, options.seen, run.seed());
  const Measured known = taken(all, seen, true);
  learn::Context context;
  context.seed = run.seed();
  context.step = [&run](double done, const char* stage) { run.step(done, stage); };
  const PairForecast forecast =
      PairForecast::fit(known.rows, known.rho, parse_method(options.method), {}, context);
  const std::vector<Speed> said = forecast.ask(all.rows, 0.9);
  std::vector<double> believed;
  for (std::size_t i = 0; i < said.size(); ++i)
    believed.push_back(seen[i] ? all.rho[i] : said[i].mean);
  return believed;
}

}  // namespace

std::vector<Option<SimulateOptions>> SimulateOptions::spec() {
  using O = SimulateOptions;
  return options(
      opt(&O::speeds, "speeds",
          "measured co-runs: Gavel's pairs, or job, partner, features and rho")
          .path(),
      opt(&O::gpu, "gpu", "whose pairs are taken where there are several"),
      opt(&O::method, "method", "that predicts the pairs which were not seen")
          .choices("process", "trees", "delay_law", "low_rank", "additive", "cluster_table",
                   "utilsum", "const"),
      opt(&O::gpus, "gpus", "that jobs run on").range(1, 10000),
      opt(&O::load, "load", "offered to the GPUs when nothing is packed").range(0.01, 10),
      opt(&O::seen, "seen", "share of the pairs that were measured before").range(0.01, 1),
      opt(&O::least_gain, "least_gain", "of both speeds together, from which jobs share")
          .range(0, 2));
}

int SimulateCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                         const Run& run) {
  if (args.size() != 1 || options_.speeds.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "simulate needs a trace and measured speeds",
                "Use: omen interference simulate TRACE --speeds PAIRS.csv.");
  const Measured all = read_speeds(options_);
  std::vector<ArrivingJob> jobs = read_jobs(args[0], all);
  if (jobs.size() < 2)
    throw Error(OMEN_INVALID_DATA, "fewer than two jobs of the trace are among the speeds",
                "Names of jobs must be those of the measured pairs.");
  const auto gpus = static_cast<std::size_t>(options_.gpus);
  rescale_arrivals(jobs, gpus, options_.load);
  const SpeedTable truth = table_of(all, all.rho),
                   believed = table_of(all, believed_speeds(all, options_, run));
  const std::vector<std::string> policy = {"never packed", options_.method, "oracle"};
  const SpeedTable* beliefs[] = {nullptr, &believed, &truth};
  std::vector<double> completion, makespan, packed, closed;
  for (const SpeedTable* belief : beliefs) {
    const SimulatedQueue queue = simulate_queue(jobs, gpus, truth, belief, options_.least_gain);
    completion.push_back(queue.mean_completion_s);
    makespan.push_back(queue.makespan_s);
    packed.push_back(100 * queue.packed_share);
  }
  const double gap = completion[0] - completion[2];
  for (const double mean : completion)
    closed.push_back(gap > 0 ? 100 * (completion[0] - mean) / gap : 0);
  Figure figure("mean completion time, " + std::to_string(jobs.size()) + " jobs");
  figure.x_axis({"policy"}).y_axis({"mean completion time", "s"});
  figure.bars("mean completion", policy, completion);
  put_figure(run, "simulation", figure.json());
  const std::vector<bool> known(policy.size(), gap > 0);
  out.put("simulation", TableBuilder()
                            .add_strings("policy", policy)
                            .add("mean_completion_s", std::move(completion), {{"omen.unit", "s"}})
                            .add("makespan_s", std::move(makespan), {{"omen.unit", "s"}})
                            .add("packed_pct", std::move(packed), {{"omen.unit", "%"}})
                            .add("gap_closed_pct", std::move(closed), {{"omen.unit", "%"}})
                            .valid(known)
                            .finish());
  return 0;
}

Component simulate_component() {
  return command<SimulateCommand, SimulateOptions>(
      "interference.simulate", "what packing by forecasts is worth on a trace of jobs");
}

}  // namespace omen::interference
