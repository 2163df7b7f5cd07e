// SPDX-License-Identifier: Apache-2.0
// Phases of the 22 recorded training traces against the exact two-cluster answers and against what
// the default mode promises.
//   telemetry_traces
// With OMEN_SHOW_BREAK=1 every other sample is replaced by its neighbour's half.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/trace_stats.hpp"
#include "omen/testing/show.hpp"

namespace {

namespace fs = std::filesystem;
using namespace omen::telemetry;
namespace test = omen::test;

constexpr double kPeriod_s = 0.19;  // traces carry no time; about 5.3 samples a second
const char* const kSix[] = {"GTX1080_resnet20_8_", "GTX1080_resnet56_8_", "TitanX_resnet20_8_",
                            "TitanX_resnet56_8_",  "TitanX_resnet56_64_", "TitanX_trivial_8_"};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

using Columns = std::map<std::string, std::vector<double>>;

// The importer's rows by the column of the file that they come from.
Columns read(const fs::path& file, bool broken) {
  const std::map<std::string, std::pair<std::string, double>> names = {
      {"gpu.util_percent", {"GPU Util%", 1}},
      {"gpu.mem_used_bytes", {"GPU Memory", 1024.0 * 1024}},
      {"cpu.busy_percent", {"CPU Util%", 1}}};
  Columns columns;
  const RowReaderPtr reader = open_trace(file, {"auto", kPeriod_s});
  std::vector<LogRow> rows;
  while (reader->next(rows))
    for (const LogRow& row : rows) {
      const auto name = names.find(reader->metrics()[static_cast<std::size_t>(row.sample.metric)]);
      if (name == names.end()) continue;
      std::vector<double>& values = columns[name->second.first];
      const double value = row.sample.value / name->second.second;
      values.push_back(broken && values.size() % 2 == 1 ? values.back() / 2 : value);
    }
  return columns;
}

// The file of answers rounds centroids to 6 decimals, shares to 9 and run lengths to 4.
bool near(double value, double answer, int decimals) {
  return std::abs(value - answer) <= 0.5001 * std::pow(10, -decimals);
}

bool equals(const LegacyPhases& legacy, const std::vector<std::string>& answer) {
  const auto number = [&](std::size_t i) { return std::stod(answer.at(i)); };
  return legacy.clusters && near(legacy.clusters->low_mean, number(3), 6) &&
         near(legacy.clusters->high_mean, number(4), 6) &&
         near(legacy.clusters->low_max, number(5), 6) &&
         near(legacy.clusters->high_min, number(6), 6) && near(legacy.burst_share, number(7), 9) &&
         near(legacy.mean_burst_run, number(8), 4) && near(legacy.mean_idle_run, number(9), 4) &&
         near(legacy.peak_share, number(10), 9);
}

double peak_threshold(const std::string& file, const std::string& column) {
  if (column != "GPU Memory") return 90;
  return 0.9 * (file.starts_with("TitanX") ? 12288 : 8192);
}

}  // namespace

int main() {
  const char* data = std::getenv("OMEN_DATA");
  const fs::path traces = fs::path(data ? data : "") / "driple" / "traces";
  if (!data || !fs::exists(traces / "sample_expected.csv")) {
    std::puts("the training traces are missing: point OMEN_DATA at the data");
    return test::kSkipped;
  }
  const bool broken = test::broken();
  std::map<std::string, Columns> files;
  for (const auto& entry : fs::directory_iterator(traces / "sample"))
    files[entry.path().filename().string()] = read(entry.path(), broken);

  std::ifstream in(traces / "sample_expected.csv");
  std::string line;
  std::getline(in, line);
  int wrong = 0, answers = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> answer = split(line);
    if (answer.size() < 11) continue;
    ++answers;
    const std::vector<double>& values = files[answer[0]][answer[1]];
    if (equals(legacy_phases(values, peak_threshold(answer[0], answer[1])), answer)) continue;
    ++wrong;
    if (!broken) std::printf("differs: %s %s\n", answer[0].c_str(), answer[1].c_str());
  }
  int missed = test::show("traces", static_cast<double>(files.size()), "traces", "==", 22);
  missed += test::show("two_cluster_answers", answers, "columns", "==", 52);
  missed += test::show("two_cluster_differences", wrong, "columns", "==", 0);

  double least_edge = 1, most_edge = 0, least_burst = 1;
  int found = 0;
  for (const auto& [name, columns] : files)
    for (const char* six : kSix) {
      if (!name.starts_with(six)) continue;
      ++found;
      const TraceSeries series = TraceSeries::of_values(columns.at("GPU Util%"), kPeriod_s);
      const Phases p = find_phases(series, {});
      least_edge = std::min(least_edge, 100 * p.edge_share);
      most_edge = std::max(most_edge, 100 * p.edge_share);
      least_burst = std::min(least_burst, p.burst.share);
      std::printf("%-36s start-up %.2f s, tear-down %.2f s, edges %.2f %%, burst %.4f, %s\n",
                  name.c_str(), p.start_up_s, p.tear_down_s, 100 * p.edge_share, p.burst.share,
                  verdict_text(p.verdict));
    }
  missed += test::show("plateau_traces", found, "traces", "==", 6);
  missed += test::show("least_edge_idle", least_edge, "percent", ">=", 0.2);
  missed += test::show("most_edge_idle", most_edge, "percent", "<=", 3);
  missed += test::show("least_burst_share", least_burst, "share", ">=", 0.97);

  std::vector<double> constant(1000, 37);
  if (broken) std::fill(constant.begin() + 300, constant.begin() + 600, 0.0);
  const Phases steady = find_phases(TraceSeries::of_values(constant, kPeriod_s), {});
  const bool none = steady.verdict == IdleVerdict::kNoIdlePhase;
  missed += test::show("constant_has_no_idle_phase", none, "true", "==", 1);
  return missed > 0 ? 1 : 0;
}
