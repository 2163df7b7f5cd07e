// SPDX-License-Identifier: Apache-2.0
// Names the loads, runs the campaign, writes the tables and draws the speeds.
#include "work/measure_command.hpp"

#include <algorithm>
#include <omen/figure.hpp>

#include "characterise/job_table.hpp"
#include "measure/corun_table.hpp"
#include "measure/csv_file.hpp"
#include "measure/load_command.hpp"
#include "measure/loops.hpp"
#include "work/work_command.hpp"

namespace omen::interference {
namespace {

// Two sizes of a batch where they change what the load asks of the machine.
constexpr const char* kFurtherLoads[] = {"classify:32", "cartpole:1024", "bert:8"};

std::vector<std::string> usual_loads() {
  std::vector<std::string> names;
  for (const LoadKind& kind : all_loads()) {
    names.emplace_back(kind.name);
    for (const std::string further : kFurtherLoads)
      if (further.rfind(std::string(kind.name) + ":", 0) == 0) names.push_back(further);
  }
  return names;
}

std::vector<DescribedLoad> described(const std::vector<std::string>& names) {
  std::vector<DescribedLoad> loads;
  for (const std::string& name : names) {
    for (const DescribedLoad& known : loads)
      if (known.name == name)
        throw Error(OMEN_INVALID_ARGUMENT, "'" + name + "' is named twice", "Name each load once.");
    const LoadChoice choice = parse_load(name);
    const bool is_probe = name == loop_name(LoopKind::kCompute) ||
                          name == loop_name(LoopKind::kMemory) ||
                          name == loop_name(LoopKind::kCache);
    loads.push_back({name, choice.kind->family, is_probe});
  }
  return loads;
}

void draw_speeds(const Table& coruns, const std::vector<std::string>& names, const Run& run) {
  const std::vector<double> rho = coruns.numbers("rho");
  const std::size_t cells = names.size() * names.size();
  for (std::size_t first = 0; first < rho.size(); first += cells) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < names.size(); ++i)
      rows.emplace_back(rho.begin() + static_cast<std::ptrdiff_t>(first + i * names.size()),
                        rho.begin() + static_cast<std::ptrdiff_t>(first + (i + 1) * names.size()));
    const std::string mode(coruns.strings(coruns.index("mode"))[static_cast<std::int64_t>(first)]);
    Figure figure("speed of the row beside the column, " + mode);
    figure.heat_map("rho", names, names, rows);
    put_figure(run, ("speeds-" + mode).c_str(), figure.json());
  }
}

// What a reader wants to know first: how fast, how steady, how much of it is precise.
Table summary_of(const Table& coruns, const Table& intervals,
                 const std::vector<std::string>& names) {
  const std::vector<double> rho = coruns.numbers("rho"), precise = intervals.numbers("precise"),
                            step = coruns.numbers("step_ms"), memory = coruns.numbers("rss_mib");
  std::vector<double> least(names.size(), 1e9), most(names.size(), 0), steady(names.size(), 0),
      step_ms(names.size()), rss(names.size()), count(names.size(), 0);
  for (std::size_t row = 0; row < rho.size(); ++row) {
    const std::size_t job = row / names.size() % names.size();
    least[job] = std::min(least[job], rho[row]);
    most[job] = std::max(most[job], rho[row]);
    steady[job] += precise[row];
    ++count[job];
    step_ms[job] = step[row];
    rss[job] = memory[row];
  }
  for (std::size_t job = 0; job < names.size(); ++job) steady[job] *= 100 / count[job];
  return TableBuilder()
      .add_strings("load", names)
      .add("step_ms", std::move(step_ms), {{"omen.unit", "ms"}})
      .add("rss_mib", std::move(rss))
      .add("least_rho", std::move(least))
      .add("most_rho", std::move(most))
      .add("precise_pct", std::move(steady), {{"omen.unit", "%"}})
      .finish();
}

}  // namespace

std::vector<Option<MeasureOptions>> MeasureOptions::spec() {
  using O = MeasureOptions;
  return options(
      opt(&O::window_s, "window_s", "in which steps are counted").range(0.05, 3600).unit("s"),
      opt(&O::warmup_s, "warmup_s", "of each window, not counted").range(0, 3600).unit("s"),
      opt(&O::patience_s, "patience_s", "in which a load must finish its first step")
          .range(0.1, 3600)
          .unit("s"),
      opt(&O::repeats, "repeats", "rounds over all pairs").range(1, 1000),
      opt(&O::places, "places", "where a pair runs: two-cores, one-core or both"));
}

int MeasureCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  const std::vector<std::string> names = args.empty() ? usual_loads() : args;
  const std::vector<DescribedLoad> loads = described(names);
  CampaignOptions options;
  options.window_s = options_.window_s;
  options.warmup_s = options_.warmup_s;
  options.patience_s = options_.patience_s;
  options.repeats = options_.repeats;
  options.seed = run.seed();
  options.places.clear();
  for (const std::string& place : listed_columns(options_.places))
    options.places.push_back(parse_place(place));
  options.directory = run.scratch_dir();
  if (!run.state_dir().empty())
    options.journal = std::filesystem::path(run.state_dir()) / "windows.txt";
  std::vector<CampaignLoad> commands;
  for (const std::string& name : names) commands.push_back({name, load_command(name)});
  const std::vector<CampaignWindow> windows =
      run_campaign(commands, options, [&](double done) { run.step(done, "co-runs"); });
  const Table coruns = corun_table(loads, windows), intervals = interval_table(loads, windows),
              provenance = provenance_table(options);
  if (!run.output_dir().empty()) {
    const std::filesystem::path directory = run.output_dir();
    write_csv(coruns, directory / "coruns.csv");
    write_csv(intervals, directory / "intervals.csv");
    write_csv(window_table(loads, windows), directory / "windows.csv");
    write_csv(provenance, directory / "provenance.csv");
  }
  draw_speeds(coruns, names, run);
  out.put("loads", summary_of(coruns, intervals, names));
  out.put("provenance", provenance);
  return 0;
}

Component measure_component() {
  return command<MeasureCommand, MeasureOptions>(
      "interference.measure", "measure all pairs of loads on this machine: a dataset of co-runs");
}

}  // namespace omen::interference
