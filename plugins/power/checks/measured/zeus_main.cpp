// SPDX-License-Identifier: Apache-2.0
// Energy under power limits, and the limit that is chosen, for networks that were not seen.
//   power_caps v100|a40|rtx6000|p100
// With OMEN_SHOW_BREAK=1 the powers without a limit change hands.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <omen/learn/quantile.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "energy/cap_response.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::power;
namespace test = omen::test;

struct Goals {
  const char* gpu;
  double energy, regret, regret_p90;
};
constexpr Goals kGoals[] = {
    {"v100", 6, 3, 9}, {"a40", 5, 3, 9}, {"rtx6000", 5, 2.2, 5.8}, {"p100", 3.5, 1, 4.7}};

struct ZeusRow {
  std::string network, job;  // job: all that is not the limit
  MeasuredCap cap;
};

std::vector<ZeusRow> read_zeus(const std::string& directory, const std::string& gpu) {
  std::ifstream in(directory + "/summary_power_" + gpu + ".csv");
  std::string line;
  std::getline(in, line);
  std::vector<ZeusRow> rows;
  double most = 0;
  while (std::getline(in, line)) {
    std::vector<std::string> field;
    std::istringstream text(line);
    for (std::string one; std::getline(text, one, ',');) field.push_back(one);
    if (field.size() < 7) continue;
    ZeusRow row;
    row.network = field[1];
    row.job = field[0] + "/" + field[1] + "/" + field[2] + "/" + field[3];
    row.cap.job.gpu = gpu;
    row.cap.job.limit_w = std::stod(field[4]);
    row.cap.cost = {std::stod(field[6]), std::stod(field[5])};
    most = std::max(most, row.cap.job.limit_w);
    rows.push_back(row);
  }
  std::map<std::string, CappedCost> free;
  for (const ZeusRow& row : rows)
    if (row.cap.job.limit_w == most) free[row.job] = row.cap.cost;
  std::vector<ZeusRow> kept;
  for (ZeusRow& row : rows) {
    const auto at = free.find(row.job);
    if (at == free.end()) continue;
    row.cap.job.most_w = most;
    row.cap.job.free_w = at->second.watts;
    row.cap.job.free_s = at->second.seconds;
    kept.push_back(row);
  }
  return kept;
}

// Uncapped powers in another order: what is left does not know the job.
void confuse(std::vector<ZeusRow>& rows) {
  std::vector<CappedCost> free;
  for (const ZeusRow& row : rows) free.push_back({row.cap.job.free_w, row.cap.job.free_s});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CappedCost& other = free[(i * 37 + 101) % free.size()];
    rows[i].cap.job.free_w = other.watts;
    rows[i].cap.job.free_s = other.seconds;
  }
}

struct Answers {
  std::vector<double> energy_errors, regrets;
};

void add_regrets(const std::vector<ZeusRow>& rows, const std::string& network,
                 const CapResponse& model, std::size_t limits, Answers& answers) {
  std::map<std::string, std::vector<const ZeusRow*>> jobs;
  for (const ZeusRow& row : rows)
    if (row.network == network) jobs[row.job].push_back(&row);
  for (const auto& [job, all] : jobs) {
    if (all.size() != limits) continue;
    const auto said = [&](const ZeusRow* row) { return model.ask(row->cap.job).joules(); };
    const auto cost = [](const ZeusRow* row) { return row->cap.cost.joules(); };
    const ZeusRow* chosen = *std::min_element(all.begin(), all.end(),
                                              [&](auto* a, auto* b) { return said(a) < said(b); });
    const ZeusRow* best = *std::min_element(all.begin(), all.end(),
                                            [&](auto* a, auto* b) { return cost(a) < cost(b); });
    answers.regrets.push_back(cost(chosen) / cost(best) - 1);
  }
}

Answers networks_out(const std::vector<ZeusRow>& rows) {
  std::set<std::string> networks;
  std::set<double> limits;
  for (const ZeusRow& row : rows) {
    networks.insert(row.network);
    limits.insert(row.cap.job.limit_w);
  }
  Answers answers;
  for (const std::string& network : networks) {
    std::vector<MeasuredCap> train;
    for (const ZeusRow& row : rows)
      if (row.network != network) train.push_back(row.cap);
    CapResponse model;
    model.fit(train);
    for (const ZeusRow& row : rows)
      if (row.network == network && row.cap.job.limit_w < row.cap.job.most_w)
        answers.energy_errors.push_back(
            std::abs(model.ask(row.cap.job).joules() / row.cap.cost.joules() - 1));
    add_regrets(rows, network, model, limits.size(), answers);
  }
  return answers;
}

}  // namespace

int main(int argc, char** argv) {
  const char* data = std::getenv("OMEN_DATA");
  const std::string directory = std::string(data ? data : "") + "/power/zeus";
  const std::string gpu = argc > 1 ? argv[1] : "v100";
  std::vector<ZeusRow> rows = data ? read_zeus(directory, gpu) : std::vector<ZeusRow>();
  if (rows.empty()) {
    std::puts("skipped: OMEN_DATA is not set: the Zeus tables are absent");
    return test::kSkipped;
  }
  if (test::broken()) confuse(rows);
  const Answers answers = networks_out(rows);
  int failed = 0;
  for (const Goals& goals : kGoals) {
    if (gpu != goals.gpu) continue;
    const auto name = [&](const char* what) { return "caps_" + gpu + "_" + what; };
    failed |= test::show(name("energy_error"), 100 * omen::learn::mean(answers.energy_errors), "%",
                         "<=", goals.energy);
    failed |= test::show(name("regret"), 100 * omen::learn::mean(answers.regrets), "%",
                         "<=", goals.regret);
    failed |= test::show(name("regret_p90"), 100 * omen::learn::quantile(answers.regrets, 0.9), "%",
                         "<=", goals.regret_p90);
    test::show(name("jobs"), static_cast<double>(answers.regrets.size()), "1");
  }
  return failed;
}
