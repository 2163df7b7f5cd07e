// SPDX-License-Identifier: Apache-2.0
// Jobs alone: utilisation of families that were not seen, step rates at batch sizes left out.
//   interference_solo
// With OMEN_SHOW_BREAK=1 the values of training are turned upside down.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "masked_pairs.hpp"
#include "omen/testing/show.hpp"
#include "solo/solo_model.hpp"
#include "tables/csv_text.hpp"

namespace {

using namespace omen::interference;
using namespace omen::interference::checks;
namespace test = omen::test;
namespace learn = omen::learn;

struct SoloData {
  SoloRows rows;
  std::vector<double> value;
  std::vector<std::string> group;

  void add(const std::string& name, double batch, const std::vector<double>& counters,
           double measured, const std::string& held_out_with) {
    rows.workload_id.push_back(static_cast<std::int64_t>(value.size()));
    rows.texts.push_back({name});
    rows.batch.push_back(batch);
    rows.synthetic.push_back(false);
    rows.counters.conservativeResize(static_cast<learn::Index>(rows.batch.size()),
                                     static_cast<learn::Index>(counters.size()));
    for (std::size_t c = 0; c < counters.size(); ++c)
      rows.counters(rows.counters.rows() - 1, static_cast<learn::Index>(c)) = counters[c];
    value.push_back(measured);
    group.push_back(held_out_with);
  }
};

SoloData subset(const SoloData& all, const std::vector<std::size_t>& which) {
  SoloData some;
  for (const std::size_t row : which) {
    const learn::Vector counters = all.rows.counters.row(static_cast<learn::Index>(row));
    some.add(all.rows.texts[row][0], all.rows.batch[row],
             {counters.data(), counters.data() + counters.size()}, all.value[row], all.group[row]);
  }
  return some;
}

std::vector<SoloAnswer> answers(const SoloData& train, const SoloData& asked, bool percent) {
  SoloData seen = train;
  if (test::broken())
    for (double& value : seen.value) value = percent ? 100 - value : 1 / value;
  SoloEncoder encoder;
  encoder.fit(seen.rows);
  SoloModel model("value", percent);
  model.fit(encoder, seen.rows, seen.value, {});
  return model.ask(encoder, asked.rows, 0.9);
}

// Text before the first mark of a version, without blanks around it.
std::string trimmed(std::string text) {
  text = text.substr(0, text.find('/'));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

int show_utilisation(const std::filesystem::path& directory) {
  const CsvText table = CsvText::read((directory / "alnair/futurewei_miniml_dataset.csv").string());
  // Counters of the device other than the utilisation itself.
  const char* kCounters[] = {"MaGTSAMP", "MiGTSAMP", "GTSAMPR", "MaGPUPR",
                             "MiGPUPR",  "GPUPR",    "MGMAP",   "Max_GPU_Temp"};
  SoloData all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<double> counters;
    for (const char* name : kCounters) counters.push_back(table.number(row, table.index(name)));
    all.add(table.text(row, table.index("Model")), table.number(row, table.index("BS")), counters,
            table.number(row, table.index("MGUP")),
            trimmed(table.text(row, table.index("Dataset"))));
  }
  double miss = 0, covered = 0;
  for (const std::string& family : std::set<std::string>(all.group.begin(), all.group.end())) {
    std::vector<std::size_t> in, out;
    for (std::size_t row = 0; row < all.value.size(); ++row)
      (all.group[row] == family ? out : in).push_back(row);
    const SoloData asked = subset(all, out);
    const std::vector<SoloAnswer> said = answers(subset(all, in), asked, true);
    for (std::size_t i = 0; i < said.size(); ++i) {
      miss += std::abs(said[i].value - asked.value[i]);
      covered += asked.value[i] >= said[i].low && asked.value[i] <= said[i].high ? 1 : 0;
    }
  }
  const auto count = static_cast<double>(all.value.size());
  test::show("utilisation_family_out_coverage_of_90", 100 * covered / count, "%");
  return test::show("utilisation_family_out_error", miss / count, "%", "<=", 13);
}

// Each batch size between others is left out in turn; other GPUs are not looked at.
int show_rates(const std::filesystem::path& directory) {
  const CsvText table = CsvText::read((directory / "gavel/gavel_isolated.csv").string());
  std::map<std::string, SoloData> by_gpu;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto text = [&](const char* name) { return table.text(row, table.index(name)); };
    if (text("source") != "oracle" || text("scale_factor") != "1") continue;
    by_gpu[text("gpu")].add(text("model"), table.number(row, table.index("batch_size")), {},
                            table.number(row, table.index("steps_per_s")), "");
  }
  double miss = 0, count = 0;
  for (const auto& [gpu, all] : by_gpu)
    for (std::size_t out = 0; out < all.value.size(); ++out) {
      bool below = false, above = false;
      std::vector<std::size_t> in;
      for (std::size_t row = 0; row < all.value.size(); ++row) {
        if (row != out) in.push_back(row);
        if (all.rows.texts[row] != all.rows.texts[out]) continue;
        below |= all.rows.batch[row] < all.rows.batch[out];
        above |= all.rows.batch[row] > all.rows.batch[out];
      }
      if (!below || !above) continue;
      const double said = answers(subset(all, in), subset(all, {out}), false)[0].value;
      miss += 100 * std::abs(said - all.value[out]) / all.value[out];
      ++count;
    }
  test::show("rates_left_out", count, "rows");
  return test::show("rate_over_batch_error", miss / count, "%", "<", 5.6);
}

}  // namespace

int main() {
  const auto directory = data_directory();
  if (!directory) {
    std::puts("skipped: OMEN_DATA is not set: the public solo runs are absent");
    return test::kSkipped;
  }
  const int utilisation = show_utilisation(*directory);
  return utilisation | show_rates(*directory);
}
