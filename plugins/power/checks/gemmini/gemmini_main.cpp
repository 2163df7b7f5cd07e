// SPDX-License-Identifier: Apache-2.0
// RTL cycles of Gemmini: networks held out, and mappings of layer shapes that were held out.
//   power_cycles networks|mappings
// With OMEN_SHOW_BREAK=1 the mappings change places.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <omen/learn/correlation.hpp>
#include <omen/learn/quantile.hpp>
#include <set>
#include <sstream>
#include <string>

#include "gemmini/cycle_model.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::power;
namespace test = omen::test;

struct Run {
  MeasuredCycles measured;
  std::string shape;
};

std::vector<Run> read_runs(const std::string& path, bool named) {
  std::ifstream in(path);
  std::string line, field;
  std::getline(in, line);
  std::vector<std::string> names;
  for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
  std::vector<std::map<std::string, std::string>> table;
  while (std::getline(in, line)) {
    table.emplace_back();
    std::istringstream fields(line);
    for (const std::string& name : names) std::getline(fields, table.back()[name], ',');
  }
  std::vector<Run> runs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto& row = table[i];
    const auto number = [&](const char* name) { return std::strtod(row[name].c_str(), nullptr); };
    const LoopSizes sizes = {number("C"), number("K"), number("P"),
                             number("Q"), number("R"), number("S")};
    const std::optional<TiledWork> work = tile(sizes, number("Hstride"), row["mapping"]);
    if (!work) continue;
    std::string shape;
    for (const char* name : {"C", "K", "P", "Q", "R", "S", "Hstride"}) shape += row[name] + " ";
    runs.push_back({{*work, number("rtl_cycles"), named ? row["network"] : shape}, shape});
  }
  if (test::broken()) {
    std::vector<TiledWork> works;
    for (const Run& run : runs) works.push_back(run.measured.work);
    for (std::size_t i = 0; i < runs.size(); ++i)
      runs[i].measured.work = works[(i * 37 + 11) % works.size()];
  }
  return runs;
}

// What the model says of each run when the runs of its group were held out.
std::vector<double> held_out(const std::vector<Run>& runs,
                             const std::map<std::string, std::size_t>& fold_of) {
  std::size_t folds = 0;
  for (const auto& [group, fold] : fold_of) folds = std::max(folds, fold + 1);
  std::vector<double> said(runs.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<MeasuredCycles> train;
    for (const Run& run : runs)
      if (fold_of.at(run.measured.group) != fold) train.push_back(run.measured);
    CycleModel model;
    model.fit(train);
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (fold_of.at(runs[i].measured.group) == fold) said[i] = model.cycles(runs[i].measured.work);
  }
  return said;
}

int show_networks(const std::vector<Run>& runs) {
  std::map<std::string, std::size_t> fold;
  for (const Run& run : runs) fold.emplace(run.measured.group, fold.size());
  const std::vector<double> said = held_out(runs, fold);
  std::vector<double> errors, truth;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    truth.push_back(runs[i].measured.cycles);
    errors.push_back(100 * std::abs(said[i] / truth[i] - 1));
  }
  test::show("gemmini_rows", static_cast<double>(runs.size()), "1");
  int missed = test::show("gemmini_error", omen::learn::mean(errors), "%", "<=", 15);
  missed |= test::show("gemmini_median_error", omen::learn::quantile(errors, 0.5), "%", "<=", 8);
  return missed | test::show("gemmini_rank", omen::learn::spearman(said, truth), "1", ">=", 0.988);
}

int show_mappings(const std::vector<Run>& runs) {
  constexpr std::size_t kFolds = 5, kFewest = 5;
  std::map<std::string, std::size_t> fold;
  for (const Run& run : runs) fold.emplace(run.shape, fold.size() % kFolds);
  const std::vector<double> said = held_out(runs, fold);
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> layers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    layers[runs[i].shape].first.push_back(said[i]);
    layers[runs[i].shape].second.push_back(runs[i].measured.cycles);
  }
  std::vector<double> ranks;
  for (const auto& [shape, pair] : layers)
    if (pair.first.size() >= kFewest)
      ranks.push_back(omen::learn::spearman(pair.first, pair.second));
  test::show("gemmini_layers", static_cast<double>(ranks.size()), "1");
  return test::show("gemmini_mapping_rank", omen::learn::mean(ranks), "1", ">=", 0.93);
}

}  // namespace

int main(int argc, char** argv) {
  const char* data = std::getenv("OMEN_DATA");
  const bool networks = std::string(argc > 1 ? argv[1] : "networks") == "networks";
  std::vector<Run> runs;
  if (data)
    runs = read_runs(std::string(data) + "/power/gemmini_rtl/gemmini_rtl_" +
                         (networks ? "test.csv" : "train.csv"),
                     networks);
  if (runs.empty()) {
    std::puts("skipped: OMEN_DATA is not set: the RTL runs are absent");
    return test::kSkipped;
  }
  return networks ? show_networks(runs) : show_mappings(runs);
}
