// SPDX-License-Identifier: Apache-2.0
// Compares answers with labels, node by node.
#include "network/dataflow_test_command.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "network/dataflow_predictor.hpp"
#include "network/dataflow_training.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTestUsage = "Use: omen loadbalance dataflow-test MODEL DATA.omt";
constexpr const char* kPositive = "1";

// A file, or a model beside this library.
fs::path model_file(const std::string& name) {
  std::error_code error;
  if (fs::exists(name, error)) return name;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&model_file), &own) && own.dli_fname) {
    const fs::path installed = fs::path(own.dli_fname).parent_path() / "models" / (name + ".omen");
    if (fs::exists(installed, error)) return installed;
  }
  throw Error(OMEN_NOT_FOUND, "there is no model '" + name + "'",
              "Name a file, or one of the models in: omen info loadbalance.dataflow");
}

using KnownLabels = std::unordered_map<std::int64_t, std::vector<bool>>;  // by workload, by node

KnownLabels read_answers(const Table& targets) {
  KnownLabels labels;
  const auto workload = targets.column<std::int64_t>("workload_id");
  const auto node = targets.column<std::int32_t>("node_id");
  const std::size_t column = targets.index("label");
  const bool text = is_text(targets.type(column));
  const std::vector<double> numbers = text ? std::vector<double>() : targets.numbers(column);
  for (std::int64_t row = 0; row < targets.rows(); ++row) {
    if (node[row] < 0)
      throw Error(OMEN_INVALID_DATA, "node_targets name node " + std::to_string(node[row]));
    std::vector<bool>& own = labels[workload[row]];
    const auto at = static_cast<std::size_t>(node[row]);
    if (own.size() <= at) own.resize(at + 1, false);
    own[at] = text ? targets.strings(column)[row] == kPositive
                   : numbers[static_cast<std::size_t>(row)] > 0;
  }
  return labels;
}

void put_questions(MemoryDataset& data, const container::Reader& file, const std::string& path) {
  const std::vector<std::string> names = container::table_names(file);
  const auto has = [&](const char* table) {
    return std::find(names.begin(), names.end(), table) != names.end();
  };
  for (const char* table : {"workloads", "nodes", "edges", "node_targets"})
    if (!has(table))
      throw Error(OMEN_INVALID_DATA, path + " has no table " + table,
                  "Make questions with answers: omen graph MODULES --with loadbalance.examples "
                  "--task TASK -o questions.omt");
  for (const char* table : {"workloads", "nodes", "edges", "node_features"})
    if (has(table)) data.put(table, container::get_table(file, table));
}

Table report(const std::string& model, const KnownLabels& labels, std::int64_t nodes,
             const Confusion& found) {
  return TableBuilder()
      .add_strings("model", {model})
      .add("questions", std::vector<std::int64_t>{static_cast<std::int64_t>(labels.size())})
      .add("nodes", std::vector<std::int64_t>{nodes})
      .add("precision", std::vector<double>{found.precision()}, {{"omen.unit", "1"}})
      .add("recall", std::vector<double>{found.recall()}, {{"omen.unit", "1"}})
      .add("f1", std::vector<double>{found.f1()}, {{"omen.unit", "1"}})
      .finish();
}

}  // namespace

std::vector<Option<DataflowTestOptions>> DataflowTestOptions::spec() {
  using O = DataflowTestOptions;
  return options(opt(&O::steps, "steps", "steps of propagation; 0: as trained").range(0, 100000));
}

int DataflowTestCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                             const Run& run) {
  if (args.size() != 2)
    throw Error(OMEN_INVALID_ARGUMENT, "dataflow-test needs a model and labelled data", kTestUsage);
  DataflowOptions options;
  options.predict_steps = options_.steps;
  DataflowPredictor predictor(options);
  const container::Reader model = container::Reader::open(model_file(args[0]));
  predictor.load(ArtifactReader(model.source()));
  const container::Reader file = container::Reader::open(args[1]);
  MemoryDataset questions;
  put_questions(questions, file, args[1]);
  const KnownLabels labels = read_answers(container::get_table(file, "node_targets"));

  TableStream answers = predictor.predict(questions.view(), run);
  Confusion found;
  std::int64_t nodes = 0;
  while (const auto rows = answers.next()) {
    run.step(-1, "answers");
    const auto workload = rows->column<std::int64_t>("workload_id");
    const auto node = rows->column<std::int32_t>("node_id");
    const StringColumn label = rows->strings("label");
    for (std::int64_t row = 0; row < rows->rows(); ++row) {
      const auto known = labels.find(workload[row]);
      const auto at = static_cast<std::size_t>(node[row]);
      if (known == labels.end() || at >= known->second.size()) continue;
      const bool truth = known->second[at], claimed = label[row] == kPositive;
      found.true_positive += truth && claimed;
      found.false_positive += !truth && claimed;
      found.false_negative += truth && !claimed;
      ++nodes;
    }
  }
  out.put("dataflow", report(args[0], labels, nodes, found));
  return 0;
}

}  // namespace omen::loadbalance
