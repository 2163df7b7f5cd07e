// SPDX-License-Identifier: Apache-2.0
// Labels with the graphs of their models, as the timed programs ran them.
#include "neusight_labels.hpp"

#include <cstdlib>

#include "graphs/graph_file.hpp"
#include "graphs/neusight_steps.hpp"
#include "operator_tables.hpp"

namespace omen::driple::checks {
namespace {

std::map<std::string, opgraph::TransformerConfig> read_models() {
  const std::string path = data_directory() + "/steptime/neusight/models.csv";
  return neusight_models(NamedCells(read_graph_file(path.c_str(), "check", ""), "models.csv"));
}

}  // namespace

std::vector<LabelRow> read_labels() {
  const std::map<std::string, opgraph::TransformerConfig> models = read_models();
  std::vector<LabelRow> rows;
  const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  for_each_row(
      "neusight/labels.csv",
      {"gpu", "vendor", "model", "mode", "batch", "seq_len", "fused", "ms_total", "neusight_total",
       "habitat_total", "linreg_total", "roofline_total", "suspect_forward", "n_gpus"},
      [&](const TextRow& r) {
        LabelRow row;
        row.gpu = r[0], row.model = r[2];
        row.amd = r[1] == "AMD";
        row.training = r[3] == "training";
        row.fused = r[6] == "1";
        row.suspect = r[12] == "1";
        row.seconds = 1e-3 * number(r[7]);
        row.neusight = 1e-3 * number(r[8]);
        row.habitat = 1e-3 * number(r[9]);
        row.linear = 1e-3 * number(r[10]);
        row.roofline = 1e-3 * number(r[11]);
        row.job =
            neusight_job(models.at(r[2]), row.training, static_cast<std::int64_t>(number(r[4])),
                         static_cast<std::int64_t>(number(r[5])));
        rows.push_back(std::move(row));
      });
  return rows;
}

}  // namespace omen::driple::checks
