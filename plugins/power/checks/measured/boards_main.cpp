// SPDX-License-Identifier: Apache-2.0
// Energy of MobileNets on 30 systems: networks held out, and whole boards with ten rows observed.
//   power_board nets|boards
// With OMEN_SHOW_BREAK=1 the networks change their names.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <omen/csv_line.hpp>
#include <omen/learn/quantile.hpp>
#include <omen/learn/random.hpp>
#include <set>
#include <string>

#include "measured/board_model.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::power;
namespace test = omen::test;

std::vector<MeasuredBoard> read_boards(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = omen::csv_cells(line);
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t system = column("system"), model = column("model"),
                    scenario = column("scenario"), watts = column("avg_power_W"),
                    latency = column("mean_latency_ns");
  std::vector<MeasuredBoard> rows;
  std::map<std::string, int> of_system;
  while (std::getline(in, line)) {
    const std::vector<std::string> field = omen::csv_cells(line);
    if (field.size() < names.size() || field[scenario] != "SingleStream") continue;
    const std::optional<NamedNet> net = parse_net(field[model]);
    if (!net) continue;
    rows.push_back({{*net, field[system], board_of(field[system]), runtime_of(field[system])},
                    std::stod(field[watts]),
                    1e-9 * std::stod(field[latency])});
    ++of_system[field[system]];
  }
  std::erase_if(rows, [&](const MeasuredBoard& row) { return of_system[row.row.system] < 10; });
  return rows;
}

double error_of(const BoardModel& model, const MeasuredBoard& row) {
  return std::abs(model.ask(row.row).joules() / (row.watts * row.seconds) - 1);
}

double median_of_means(const std::map<std::string, std::vector<double>>& errors) {
  std::vector<double> means;
  for (const auto& [system, values] : errors) means.push_back(omen::learn::mean(values));
  return 100 * omen::learn::quantile(means, 0.5);
}

// Both precisions and all spellings of a network are in one fold.
int show_nets(const std::vector<MeasuredBoard>& rows) {
  constexpr std::size_t kFolds = 5;
  std::set<std::string> names;
  for (const MeasuredBoard& row : rows) names.insert(row.row.net.net);
  std::vector<std::string> nets(names.begin(), names.end());
  std::map<std::string, std::size_t> fold;
  const auto order = omen::learn::Random(1).permutation(static_cast<std::ptrdiff_t>(nets.size()));
  for (std::size_t i = 0; i < nets.size(); ++i)
    fold[nets[static_cast<std::size_t>(order[i])]] = i % kFolds;
  std::map<std::string, std::vector<double>> errors;
  for (std::size_t f = 0; f < kFolds; ++f) {
    std::vector<MeasuredBoard> train;
    for (const MeasuredBoard& row : rows)
      if (fold[row.row.net.net] != f) train.push_back(row);
    BoardModel model;
    model.fit(train);
    for (const MeasuredBoard& row : rows)
      if (fold[row.row.net.net] == f) errors[row.row.system].push_back(error_of(model, row));
  }
  test::show("boards_systems", static_cast<double>(errors.size()), "1");
  return test::show("boards_energy_error", median_of_means(errors), "%", "<=", 5.2);
}

int show_boards(const std::vector<MeasuredBoard>& rows) {
  constexpr int kDraws = 5;
  constexpr std::size_t kObserved = 10;
  std::map<std::string, std::set<std::string>> systems;
  for (const MeasuredBoard& row : rows) systems[row.row.board].insert(row.row.system);
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> all;
  for (const auto& [board, members] : systems) {
    std::vector<MeasuredBoard> train;
    for (const MeasuredBoard& row : rows)
      if (row.row.board != board) train.push_back(row);
    BoardModel base;
    base.fit(train);
    for (const std::string& system : members) {
      std::vector<MeasuredBoard> own;
      for (const MeasuredBoard& row : rows)
        if (row.row.system == system) own.push_back(row);
      for (int draw = 0; draw < kDraws; ++draw) {
        const auto order = omen::learn::Random(static_cast<std::uint64_t>(draw) + 1)
                               .permutation(static_cast<std::ptrdiff_t>(own.size()));
        std::vector<MeasuredBoard> seen;
        for (std::size_t i = 0; i < kObserved; ++i)
          seen.push_back(own[static_cast<std::size_t>(order[i])]);
        BoardModel taught = base;
        taught.observe(seen);
        for (std::size_t i = kObserved; i < own.size(); ++i)
          errors[system].push_back(error_of(taught, own[static_cast<std::size_t>(order[i])]));
      }
      all.push_back(omen::learn::mean(errors[system]));
    }
  }
  test::show("board_out_median", median_of_means(errors), "%");
  return test::show("board_out_observed_error", 100 * omen::learn::mean(all), "%", "<=", 10);
}

}  // namespace

int main(int argc, char** argv) {
  const char* data = std::getenv("OMEN_DATA");
  std::vector<MeasuredBoard> rows;
  if (data) rows = read_boards(std::string(data) + "/power/mlperf_inference_power.csv");
  if (rows.empty()) {
    std::puts("skipped: OMEN_DATA is not set: the MLPerf rows are absent");
    return test::kSkipped;
  }
  if (test::broken())
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].row.net = rows[(i * 37 + 11) % rows.size()].row.net;
  test::show("boards_rows", static_cast<double>(rows.size()), "1");
  return std::string(argc > 1 ? argv[1] : "nets") == "boards" ? show_boards(rows) : show_nets(rows);
}
