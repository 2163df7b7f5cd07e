// SPDX-License-Identifier: Apache-2.0
// Tables to rows of boards, answers with intervals, and the file.
#include "measured/board_predictor.hpp"

#include <cmath>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/optional_columns.hpp>
#include <sstream>

namespace omen::power {
namespace {

constexpr const char* kBoardsId = "power.boards";
constexpr double kUsualBoardLevel = 0.9;
constexpr std::size_t kNamesBetweenLooks = 1000;  // at the cancel flag

struct AskedBoard {
  std::int64_t workload_id = 0;
  std::optional<BoardRow> row;
  std::string refusal;
};

// Only single requests are comparable from board to board.
std::string refusal_of(const std::string& model, const std::string& scenario, bool known) {
  if (!known) return "'" + model + "' is no MobileNet or EfficientNet-lite by its name";
  if (!scenario.empty() && scenario != "SingleStream") return "scenario is not SingleStream";
  return {};
}

std::vector<AskedBoard> read_asked(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const TextColumn system(workloads, "system"), model(workloads, "model"),
      scenario(workloads, "scenario");
  const std::vector<double> id = workloads.numbers("workload_id");
  std::vector<AskedBoard> made;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i % kNamesBetweenLooks == 0) run.step(0, "names");
    const auto at = static_cast<std::int64_t>(i);
    const std::optional<NamedNet> net = parse_net(model.at(at));
    AskedBoard one{static_cast<std::int64_t>(id[i]), std::nullopt,
                   refusal_of(model.at(at), scenario.at(at), net.has_value())};
    if (one.refusal.empty())
      one.row = BoardRow{*net, system.at(at), board_of(system.at(at)), runtime_of(system.at(at))};
    made.push_back(std::move(one));
  }
  return made;
}

std::vector<MeasuredBoard> read_measured(const Dataset& in, const Run& run) {
  const Table targets = in.table("targets");
  for (const char* needed : {"avg_power_w", "energy_j"})
    if (!targets.has(needed))
      learn::throw_bad_data(std::string("the rows have no column '") + needed + "'",
                            "Boards are learnt from avg_power_w and energy_j together.");
  const std::vector<double> id = targets.numbers("workload_id"),
                            watts = targets.numbers("avg_power_w"),
                            joules = targets.numbers("energy_j");
  std::map<std::int64_t, std::size_t> place;
  for (std::size_t i = 0; i < id.size(); ++i) place[static_cast<std::int64_t>(id[i])] = i;
  std::vector<MeasuredBoard> made;
  for (const AskedBoard& one : read_asked(in, run)) {
    const auto at = place.find(one.workload_id);
    if (!one.row || at == place.end()) continue;
    made.push_back({*one.row, watts[at->second], joules[at->second] / watts[at->second]});
  }
  return made;
}

// Deviations that a normal variable stays within with this probability.
double deviations(double level) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < level ? low : high) = middle;
  }
  return low;
}

}  // namespace

void BoardPredictor::fit(const Dataset& train, const Dataset&, const Run& run) {
  model_.fit(read_measured(train, run), [&](double part) { run.step(part, "rows"); });
}

void BoardPredictor::observe(const Dataset& measured, const Run& run) {
  if (model_.empty()) learn::throw_no_model(kBoardsId);
  BoardModel next = model_;
  next.observe(read_measured(measured, run));
  model_ = std::move(next);
}

TableStream BoardPredictor::predict(const Dataset& in, const Run& run) {
  if (model_.empty()) learn::throw_no_model(kBoardsId);
  const double wide =
      deviations(run.interval_level() > 0 ? run.interval_level() : kUsualBoardLevel);
  std::vector<std::int64_t> id;
  std::vector<double> watts, joules, low, high;
  std::vector<bool> answered;
  std::vector<std::string> status;
  for (const AskedBoard& one : read_asked(in, run)) {
    const BoardCost cost = one.row ? model_.ask(*one.row) : BoardCost{};
    const double factor = std::exp(wide * cost.spread);
    id.push_back(one.workload_id);
    answered.push_back(one.row.has_value());
    watts.push_back(cost.watts);
    joules.push_back(cost.joules());
    low.push_back(cost.joules() / factor);
    high.push_back(cost.joules() * factor);
    status.push_back(!one.row ? one.refusal : model_.knows(*one.row) ? "ok" : "extrapolating");
  }
  const auto notes = [](const char* unit) {
    return Metadata{{"omen.unit", unit}, {"omen.method", "estimated:power.boards"}};
  };
  return TableBuilder()
      .add("workload_id", std::move(id))
      .add("avg_power_w", std::move(watts), notes("W"))
      .valid(answered)
      .add("energy_j", std::move(joules), notes("J"))
      .valid(answered)
      .add("energy_j.lo", std::move(low), notes("J"))
      .valid(answered)
      .add("energy_j.hi", std::move(high), notes("J"))
      .valid(answered)
      .add_strings("status", status)
      .finish();
}

void BoardPredictor::save(ArtifactWriter& out) const {
  if (model_.empty()) learn::throw_no_model(kBoardsId);
  std::string names;
  std::vector<double> measured;
  for (const MeasuredBoard& row : model_.rows()) {
    names += row.row.net.spelling + '\n' + row.row.system + '\n';
    measured.insert(measured.end(), {row.watts, row.seconds});
  }
  out.put_meta("power.boards.names", names);
  out.put("measured", measured);
  out.put("mean", std::vector<double>{model_.mean()[0], model_.mean()[1]});
}

void BoardPredictor::load(const ArtifactReader& in) {
  std::istringstream names(in.meta("power.boards.names"));
  const std::vector<double> measured = in.get<double>("measured"), mean = in.get<double>("mean");
  std::vector<MeasuredBoard> rows;
  std::string net, system;
  while (std::getline(names, net) && std::getline(names, system)) {
    const std::optional<NamedNet> parsed = parse_net(net);
    if (!parsed || 2 * rows.size() + 1 >= measured.size()) break;
    rows.push_back({{*parsed, system, board_of(system), runtime_of(system)},
                    measured[2 * rows.size()],
                    measured[2 * rows.size() + 1]});
  }
  if (rows.empty() || 2 * rows.size() != measured.size() || mean.size() != 2)
    learn::throw_bad_data("the model of boards holds other rows than it names", "Train it again.");
  BoardModel next;
  next.restore(rows, mean[0], mean[1]);
  model_ = std::move(next);
}

Component boards_component() {
  return predictor<BoardPredictor>(kBoardsId,
                                   "power and energy of small networks on boards, by their names")
      .reads("workloads.system", "workloads.model", "workloads.scenario:optional")
      .writes("avg_power_w:W:lower", "energy_j:J:lower")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY);
}

}  // namespace omen::power
