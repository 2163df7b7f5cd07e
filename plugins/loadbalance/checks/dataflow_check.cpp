// SPDX-License-Identifier: Apache-2.0
// The data-flow protocol on the 1,000 public modules: parts of them, and F1 of kept models.
//
//   dataflow_check split GRAPHS.omt DIR        writes train.omt, valid.omt and test.omt
//   dataflow_check train TASK DIR MODEL [OPTION=VALUE...]
//   dataflow_check score TASK MODEL TEST.omt [fast]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataflow/examples.hpp"
#include "graph/digest.hpp"
#include "network/dataflow_predictor.hpp"
#include "network/dataflow_training.hpp"
#include "omen/container.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::size_t kTrainModules = 600, kValidModules = 200;
constexpr std::uint64_t kTestSeed = 7;
constexpr std::int64_t kSteps = 30;

void write_part(const std::string& path, const std::vector<ProgramGraph>& graphs) {
  std::vector<std::int64_t> id;
  std::vector<std::string> name;
  for (const ProgramGraph& graph : graphs) {
    id.push_back(static_cast<std::int64_t>(id.size()));
    name.push_back(graph.name);
  }
  const GraphTables tables = to_tables(graphs, kDialect);
  container::Writer file;
  container::put_table(file, "workloads",
                       TableBuilder()
                           .add("workload_id", id)
                           .add("graph_id", id)
                           .add_categories("group", name)
                           .add_strings("name", name)
                           .finish());
  container::put_table(file, "nodes", tables.nodes);
  container::put_table(file, "edges", tables.edges);
  file.write(path);
}

// Modules in the order of their digests, which is as good as a shuffle and keeps equal ones on one
// side.
void split(const std::string& graphs_path, const std::string& directory) {
  const container::Reader reader = container::Reader::open(graphs_path);
  std::vector<ProgramGraph> graphs =
      from_tables(container::get_table(reader, "nodes"), container::get_table(reader, "edges"));
  std::map<std::string, std::vector<std::size_t>> by_digest;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    graphs[i].name = "module " + std::to_string(i);
    by_digest[structure_digest(graphs[i])].push_back(i);
  }
  std::vector<std::vector<ProgramGraph>> parts(3);
  for (const auto& [digest, twins] : by_digest) {
    const std::size_t part = parts[0].size() < kTrainModules   ? 0
                             : parts[1].size() < kValidModules ? 1
                                                               : 2;
    for (const std::size_t i : twins) parts[part].push_back(std::move(graphs[i]));
  }
  const char* const names[] = {"train", "valid", "test"};
  for (std::size_t part = 0; part < parts.size(); ++part)
    write_part(directory + "/" + names[part] + ".omt", parts[part]);
}

void put_part(MemoryDataset& data, const std::string& path) {
  const container::Reader reader = container::Reader::open(path);
  for (const char* table : {"workloads", "nodes", "edges"})
    data.put(table, container::get_table(reader, table));
}

// Options by their names, as text.
DataflowOptions parse_options(const std::string& task, const std::vector<std::string>& settings) {
  DataflowOptions options;
  options.task = task;
  const std::map<std::string, std::int64_t DataflowOptions::*> counts = {
      {"width", &DataflowOptions::width},
      {"updates", &DataflowOptions::updates},
      {"batch_nodes", &DataflowOptions::batch_nodes},
      {"roots", &DataflowOptions::roots}};
  const std::map<std::string, double DataflowOptions::*> numbers = {
      {"root_share", &DataflowOptions::root_share},
      {"learning_rate", &DataflowOptions::learning_rate},
      {"selector", &DataflowOptions::selector}};
  const std::map<std::string, std::string DataflowOptions::*> texts = {
      {"edges", &DataflowOptions::edges}, {"gates", &DataflowOptions::gates}};
  for (const std::string& setting : settings) {
    const std::string key = setting.substr(0, setting.find('='));
    const std::string value = setting.substr(std::min(setting.size(), key.size() + 1));
    if (counts.count(key))
      options.*counts.at(key) = std::stoll(value);
    else if (numbers.count(key))
      options.*numbers.at(key) = std::stod(value);
    else if (texts.count(key))
      options.*texts.at(key) = value;
    else
      throw std::invalid_argument("unknown option '" + key + "'");
  }
  return options;
}

void train(const std::string& task, const std::string& directory, const std::string& model,
           const std::vector<std::string>& settings) {
  MemoryDataset train_part, valid_part;
  put_part(train_part, directory + "/train.omt");
  put_part(valid_part, directory + "/valid.omt");
  const test::ReadyRun ready;
  omen_run run = *ready.c();
  run.metric = [](const omen_run*, const char* name, std::int64_t step, double value) {
    std::printf("%8.1f s  %s %lld %.5f\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC, name,
                static_cast<long long>(step), value);
    std::fflush(stdout);
  };
  DataflowPredictor predictor(parse_options(task, settings));
  predictor.fit(train_part.view(), valid_part.view(), Run(&run));
  container::Writer file;
  ArtifactWriter artifact(file.sink());
  predictor.save(artifact);
  file.write(model);
}

// Questions of the test part and their answers.
struct Questions {
  std::vector<std::int64_t> workload, graph, root;
  std::vector<std::vector<std::uint8_t>> label;
  std::vector<bool> about_alloca;
};

Questions ask(const Dataset& data, Analysis analysis, std::int64_t max_steps,
              std::int64_t modules) {
  ExampleSettings settings;
  settings.analysis = analysis;
  settings.max_steps = max_steps;
  settings.seed = kTestSeed;
  Questions asked;
  GraphStream graphs(data);
  for (std::int64_t number = 0; number < modules; ++number) {
    auto found = graphs.next();
    if (!found) break;
    const auto graph = std::make_shared<const ProgramGraph>(std::move(found->first));
    for (Example& example : make_examples(graph, 0, static_cast<std::uint64_t>(number), settings)) {
      asked.workload.push_back(static_cast<std::int64_t>(asked.workload.size()));
      asked.graph.push_back(found->second);
      asked.root.push_back(example.root);
      asked.label.push_back(std::move(example.label));
      asked.about_alloca.push_back(
          graph->text(graph->nodes[static_cast<std::size_t>(example.root)]) == "alloca");
    }
  }
  return asked;
}

struct Score {
  Confusion all, beside_alloca;
};

Score score(DataflowPredictor& predictor, const Questions& asked, const Table& nodes,
            const Table& edges) {
  MemoryDataset data;
  data.put("nodes", nodes);
  data.put("edges", edges);
  data.put("workloads", TableBuilder()
                            .add("workload_id", asked.workload)
                            .add("graph_id", asked.graph)
                            .add("root", asked.root)
                            .finish());
  const test::ReadyRun run;
  TableStream answers = predictor.predict(data.view(), run);
  Score result;
  while (const auto rows = answers.next()) {
    const auto workload = rows->column<std::int64_t>("workload_id");
    const auto node = rows->column<std::int32_t>("node_id");
    const StringColumn label = rows->strings("label");
    for (std::int64_t row = 0; row < rows->rows(); ++row) {
      const auto question = static_cast<std::size_t>(workload[row]);
      const bool truth = asked.label[question][static_cast<std::size_t>(node[row])];
      const bool claimed = label[row] == "1";
      for (Confusion* sum : {&result.all, &result.beside_alloca}) {
        if (sum == &result.beside_alloca && asked.about_alloca[question]) continue;
        sum->true_positive += truth && claimed;
        sum->false_positive += !truth && claimed;
        sum->false_negative += truth && !claimed;
      }
    }
  }
  return result;
}

double goal_of(Analysis analysis) {
  switch (analysis) {
    case Analysis::kDominance:
      return 0.95;
    case Analysis::kLiveness:
      return 0.90;
    default:
      return 0.99;
  }
}

// With OMEN_SHOW_BREAK the network is stopped after its first step, before anything has travelled.
int check(const std::string& task, const std::string& model, const std::string& part, bool fast) {
  const Analysis analysis = analysis_named(task);
  const bool broken = test::broken();
  const container::Reader reader = container::Reader::open(part);
  const Table nodes = container::get_table(reader, "nodes");
  const Table edges = container::get_table(reader, "edges");
  MemoryDataset graphs;
  graphs.put("nodes", nodes);
  graphs.put("edges", edges);
  const container::Reader weights = container::Reader::open(model);
  const auto measure = [&](std::int64_t steps, std::int64_t max_steps) {
    DataflowOptions options;
    options.predict_steps = broken ? 1 : steps;
    DataflowPredictor predictor(options);
    predictor.load(ArtifactReader(weights.source()));
    const std::int64_t modules = fast ? 60 : 1000000;
    const Questions asked = ask(graphs.view(), analysis, max_steps, modules);
    const Score result = score(predictor, asked, nodes, edges);
    std::printf("%s: %zu examples%s, %lld steps: F1 %.4f, precision %.4f, recall %.4f",
                task.c_str(), asked.root.size(), max_steps ? " of at most 30 steps" : "",
                static_cast<long long>(options.predict_steps), result.all.f1(),
                result.all.precision(), result.all.recall());
    if (analysis == Analysis::kSubexpressions)
      std::printf(", beside alloca F1 %.4f", result.beside_alloca.f1());
    std::printf("\n");
    return result.all.f1();
  };
  const double f1 = measure(kSteps, kSteps);
  if (!fast && !broken)
    for (const std::int64_t steps : {60, 200}) measure(steps, 0);
  return test::show("dataflow_" + task + "_f1" + (fast ? "_fast" : ""), f1, "F1",
                    ">=", goal_of(analysis));
}

}  // namespace
}  // namespace omen::loadbalance

int main(int count, char** values) {
  const std::vector<std::string> args(values + 1, values + count);
  try {
    if (args.size() == 3 && args[0] == "split") {
      omen::loadbalance::split(args[1], args[2]);
      return 0;
    }
    if (args.size() >= 4 && args[0] == "train") {
      omen::loadbalance::train(args[1], args[2], args[3], {args.begin() + 4, args.end()});
      return 0;
    }
    if (args.size() >= 4 && args[0] == "score")
      return omen::loadbalance::check(args[1], args[2], args[3], args.size() > 4);
    std::fprintf(stderr,
                 "usage: dataflow_check split GRAPHS.omt DIR\n"
                 "       dataflow_check train TASK DIR MODEL [OPTION=VALUE...]\n"
                 "       dataflow_check score TASK MODEL TEST.omt [fast]\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
  }
  return 1;
}
