// SPDX-License-Identifier: Apache-2.0
// One accelerator for all given networks, its runners-up, and the front of power against latency.
#include "recover/recover_command.hpp"

#include <algorithm>
#include <cmath>
#include <omen/figure.hpp>
#include <sstream>

#include "hardware/hardware_columns.hpp"
#include "hardware/hardware_file.hpp"
#include "nets/net_source.hpp"
#include "nets/text_file.hpp"
#include "recover/called_predictor.hpp"
#include "sim/sim_predictor.hpp"

namespace omen::power {
namespace {

constexpr int kNothingFits = 1;

Goal goal_named(const std::string& name) {
  for (std::size_t i = 0; i < kGoalNames.size(); ++i)
    if (name == kGoalNames[i]) return static_cast<Goal>(i);
  return Goal::power;
}

Table judged_table(const Objective& objective, const std::vector<Judged>& designs) {
  std::vector<std::int32_t> rank;
  std::vector<Hardware> hardware;
  std::vector<double> power, latency, energy, area;
  std::vector<std::string> status;
  for (const Judged& one : designs) {
    rank.push_back(static_cast<std::int32_t>(rank.size()) + 1);
    hardware.push_back(objective.hardware(one.design));
    power.push_back(one.power_w);
    latency.push_back(one.latency_s);
    energy.push_back(one.energy_j);
    area.push_back(one.area_mm2);
    status.push_back(one.feasible() ? "verified" : "breaks " + one.broken);
  }
  TableBuilder table;
  table.add("rank", std::move(rank));
  add_hardware(table, hardware, ConstantColumns::kept);
  return table.add("power_w", std::move(power), {{"omen.unit", "W"}})
      .add("latency_s", std::move(latency), {{"omen.unit", "s"}})
      .add("energy_j", std::move(energy), {{"omen.unit", "J"}})
      .add("area_mm2", std::move(area), {{"omen.unit", "mm2"}})
      .add_strings("status", status)
      .finish();
}

void draw_search(const Run& run, const Objective& objective, const SearchResult& found) {
  if (run.output_dir().empty()) return;
  std::vector<double> call, best, x, y, front_x, front_y;
  Judged lowest;
  for (std::size_t i = 0; i < found.tried.size(); ++i) {
    if (i == 0 || better(found.tried[i], lowest)) lowest = found.tried[i];
    x.push_back(found.tried[i].latency_s * 1e3);
    y.push_back(found.tried[i].power_w);
    if (!lowest.feasible()) continue;
    call.push_back(static_cast<double>(i) + 1);
    best.push_back(lowest.cost);
  }
  const std::vector<Judged> front = pareto_front(found.tried);
  for (const Judged& one : front) {
    front_x.push_back(one.latency_s * 1e3);
    front_y.push_back(one.power_w);
  }
  Figure trajectory("best verified design");
  trajectory.x_axis(FigureAxis("simulator calls")).y_axis(FigureAxis("cost").logarithmic());
  trajectory.lines("best so far", call, best);
  put_figure(run, "trajectory", trajectory.json(), judged_table(objective, found.tried));
  Figure plane("power against latency");
  plane.x_axis(FigureAxis("latency", "ms").logarithmic())
      .y_axis(FigureAxis("power", "W").logarithmic());
  plane.markers("simulated", x, y);
  plane.lines("front", front_x, front_y);
  if (!front.empty()) {
    const Judged& knee = front[knee_of(front)];
    plane.markers("knee", {knee.latency_s * 1e3}, {knee.power_w});
  }
  put_figure(run, "front", plane.json(), judged_table(objective, front));
}

// What the predictor expected along the way from each start.
void draw_descent(const Run& run, const GradientResult& descent) {
  if (run.output_dir().empty()) return;
  std::vector<std::int32_t> start, step;
  std::vector<double> power, latency;
  Figure figure("expected power along the descent");
  figure.x_axis(FigureAxis("step")).y_axis(FigureAxis("power", "W").logarithmic());
  for (std::size_t i = 0; i < descent.trajectories.size(); ++i) {
    std::vector<double> x, y;
    for (const Guess& guess : descent.trajectories[i]) {
      start.push_back(static_cast<std::int32_t>(i) + 1);
      step.push_back(static_cast<std::int32_t>(x.size()) + 1);
      power.push_back(guess.power_w);
      latency.push_back(guess.latency_s);
      x.push_back(static_cast<double>(x.size()) + 1);
      y.push_back(guess.power_w);
    }
    figure.lines("start " + std::to_string(i + 1), x, y);
  }
  put_figure(run, "descent", figure.json(),
             TableBuilder()
                 .add("start", std::move(start))
                 .add("step", std::move(step))
                 .add("power_w", std::move(power), {{"omen.unit", "W"}})
                 .add("latency_s", std::move(latency), {{"omen.unit", "s"}})
                 .finish());
}

SearchResult searched(const Run& run, const RecoverOptions& options, const std::vector<Net>& nets,
                      const Objective& objective) {
  const SearchBudget budget{options.calls, run.seed()};
  if (!options.gradient)
    return search_guided(objective, budget,
                         options.surrogate.empty()
                             ? Surrogate()
                             : called_surrogate(run, options.surrogate, nets, objective));
  GradientOptions how;
  how.caution = options.caution;
  how.seed = run.seed();
  const SlopedSurrogate predictor =
      called_slopes(run, options.surrogate.empty() ? "power.seq" : options.surrogate, nets);
  const GradientResult descent = descend_slopes(
      objective,
      [&](const std::vector<Hardware>& hardware) {
        run.step(-1, "descend");
        return predictor(hardware);
      },
      how);
  draw_descent(run, descent);
  run.step(-1, "search");
  return search_proposed(objective, budget, descent.proposed);
}

}  // namespace

std::vector<Option<RecoverOptions>> RecoverOptions::spec() {
  using O = RecoverOptions;
  return options(
      opt(&O::goal, "goal", "what is made small; match: the distance from --match_w")
          .choices("power", "energy", "edp", "match"),
      opt(&O::match_w, "match_w", "power that the accelerator should have").range(0, 1e6).unit("W"),
      opt(&O::latency_ms, "latency_ms", "longest latency of each network; 0: any")
          .range(0, 1e9)
          .unit("ms"),
      opt(&O::area_mm2, "area_mm2", "largest area; 0: any").range(0, 1e6),
      opt(&O::power_w, "power_w", "most power; 0: any").range(0, 1e6).unit("W"),
      opt(&O::hardware, "hardware", "accelerator whose held parameters are kept"),
      opt(&O::hold, "hold", "parameters that stay as they are, such as node_nm,dram"),
      opt(&O::profile, "profile", "energies, as for power.sim"),
      opt(&O::surrogate, "surrogate",
          "predictor that chooses the first designs, such as power.seq; empty: they are spread"),
      opt(&O::gradient, "gradient",
          "regress the parameters through the surrogate (power.seq where none is named) by its "
          "slopes; the simulator starts from what comes out"),
      opt(&O::caution, "caution",
          "with --gradient: part of the way to the upper end of latency's interval that counts")
          .range(0, 1),
      opt(&O::calls, "calls", "simulator calls").range(10, 1000000),
      opt(&O::top, "top", "designs to print").range(1, 1000));
}

int RecoverCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "recover needs at least one network",
                "Use: omen power recover NET... --latency_ms 5.");
  std::vector<Net> nets;
  for (const std::string& arg : args)
    for (Net& net : read_nets(arg)) nets.push_back(std::move(net));
  Hardware fixed;
  fixed.bits_w = nets[0].bits.weight;
  fixed.bits_a = nets[0].bits.act;
  fixed.bits_psum = nets[0].bits.psum;
  if (!options_.hardware.empty())
    fixed = parse_hardware(read_text_file(options_.hardware), file_name(options_.hardware), fixed);
  Limits limits;
  if (options_.latency_ms > 0) limits.latency_s = options_.latency_ms / 1e3;
  if (options_.area_mm2 > 0) limits.area_mm2 = options_.area_mm2;
  if (options_.power_w > 0) limits.power_w = options_.power_w;
  const Goal goal = goal_named(options_.goal);
  if (goal == Goal::match && options_.match_w <= 0)
    throw Error(OMEN_INVALID_ARGUMENT, "a match needs the power to match", "Add --match_w WATTS.");
  SimPredictorOptions named;
  named.profile = options_.profile;
  Objective objective(std::vector<ArrayNet>(nets.begin(), nets.end()), fixed, chosen_profile(named),
                      goal, limits, options_.match_w);
  std::istringstream held(options_.hold);
  for (std::string word; std::getline(held, word, ',');) objective.hold(word);
  run.step(-1, "search");
  const SearchResult found = searched(run, options_, nets, objective);
  std::vector<Judged> ranked = found.tried;
  std::sort(ranked.begin(), ranked.end(), better);
  if (ranked.size() > static_cast<std::size_t>(options_.top))
    ranked.resize(static_cast<std::size_t>(options_.top));
  draw_search(run, objective, found);
  out.put("designs", judged_table(objective, ranked));
  if (!ranked.empty() && ranked[0].feasible()) return 0;
  log(OMEN_LOG_WARN, "power.recover",
      "no design met all limits; the nearest one breaks " +
          (ranked.empty() ? std::string("every one") : ranked[0].broken) +
          ": loosen that limit, free a parameter or allow more calls");
  return kNothingFits;
}

Component recover_component() {
  return command<RecoverCommand, RecoverOptions>(
      "power.recover", "accelerators for networks: searched, verified by the simulator, ranked");
}

}  // namespace omen::power
