// SPDX-License-Identifier: Apache-2.0
// Compares the built plugin's test error with that of scikit-learn or Python XGBoost.
//
//   baseline_accuracy LIBRARY TABLES_DIR TABLE_NUMBER ridge|gbt
//
// With OMEN_SHOW_BREAK=1 every prediction is that of its neighbour in the table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/plugin_client.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

using omen::MemoryDataset;
using omen::Table;
using omen::TableBuilder;
using Cells = std::vector<std::vector<std::string>>;

bool is_number(const std::string& cell) {
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  return *end == '\0';
}

/// The rows of one part of the table, with y apart.
struct Part {
  MemoryDataset dataset;
  std::vector<double> y;
};

void fill(Part& part, const Cells& cells, const std::string& split) {
  const std::vector<std::string>& names = cells[0];
  std::vector<std::size_t> rows;
  for (std::size_t row = 1; row < cells.size(); ++row) {
    if (cells[row][0] == split) rows.push_back(row);
  }
  std::vector<std::int64_t> ids(rows.begin(), rows.end());
  TableBuilder workloads;
  workloads.add("workload_id", ids);
  for (std::size_t column = 1; column < names.size(); ++column) {
    std::vector<std::string> texts;
    std::vector<double> numbers;
    std::vector<bool> present;
    for (const std::size_t row : rows) {
      texts.push_back(cells[row][column]);
      numbers.push_back(std::strtod(texts.back().c_str(), nullptr));
      present.push_back(!texts.back().empty());
    }
    if (names[column] == "y")
      part.y = numbers;
    else if (std::all_of(texts.begin(), texts.end(), is_number))
      workloads.add(names[column], numbers).valid(present);
    else
      workloads.add_categories(names[column], texts);
  }
  part.dataset.put("workloads", workloads.finish());
  part.dataset.put("targets", TableBuilder().add("workload_id", ids).add("y", part.y).finish());
}

double rmse(const Table& predictions, const Part& part, bool log_scale) {
  const auto ids = predictions.column<std::int64_t>("workload_id");
  const Table workloads = *part.dataset.find("workloads");
  const auto order = workloads.column<std::int64_t>("workload_id");
  std::map<std::int64_t, double> answers;
  const auto values = predictions.column<double>("y");
  for (std::int64_t row = 0; row < values.size(); ++row) answers[ids[row]] = values[row];
  const bool broken = omen::test::broken();
  double sum = 0;
  for (std::int64_t row = 0; row < order.size(); ++row) {
    const std::int64_t from = broken ? (row + 1) % order.size() : row;
    double predicted = answers.at(order[from]);
    double truth = part.y[static_cast<std::size_t>(row)];
    if (log_scale) {
      predicted = std::log(predicted);
      truth = std::log(truth);
    }
    sum += (predicted - truth) * (predicted - truth);
  }
  return std::sqrt(sum / static_cast<double>(order.size()));
}

int run(const char* library, const std::string& tables, const std::string& number,
        const std::string& learner) {
  std::ifstream file(tables + "/reference.json");
  const nlohmann::json reference = nlohmann::json::parse(file);
  const nlohmann::json& own = reference.at("tables").at(number);
  const Cells cells =
      omen::test::csv_fields(omen::test::read_file(tables + "/table" + number + ".csv"));
  Part train, test;
  fill(train, cells, "train");
  fill(test, cells, "test");

  omen::test::OptionTexts options;
  if (learner == "gbt") {
    const nlohmann::json& theirs = reference.at("gbt");
    options = {{"rounds", theirs.at("n_estimators").dump()},
               {"depth", theirs.at("max_depth").dump()},
               {"eta", theirs.at("learning_rate").dump()}};
  }
  const omen::test::PluginClient plugin(library);
  omen::test::PredictorClient client(plugin.component("baseline." + learner), options);
  const omen::test::ReadyRun context(1, 2);
  client.fit(train.dataset, context);
  test.dataset.withhold("targets");
  const double ours = rmse(client.predict(test.dataset, context), test, own.at("log_target"));
  const double theirs = own.at(learner + "_rmse").get<double>();
  const double ratio = ours / theirs;
  const std::string peer = learner == "gbt" ? "xgboost" : "sklearn";
  std::printf("rmse %.6g, reference %.6g\n", ours, theirs);
  return omen::test::show("baseline_" + learner + "_vs_" + peer + "_table" + number, ratio, "ratio",
                          "<=", 1.02);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: baseline_accuracy LIBRARY TABLES_DIR TABLE_NUMBER ridge|gbt\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
