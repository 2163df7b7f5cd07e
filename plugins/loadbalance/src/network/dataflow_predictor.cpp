// SPDX-License-Identifier: Apache-2.0
// The predictor `loadbalance.dataflow`: labels of the nodes of a program graph for one root.
#include "network/dataflow_predictor.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "network/dataflow_training.hpp"
#include "omen/torch/device.hpp"

namespace omen::loadbalance {

namespace {

constexpr std::int64_t kVocabularyNodes = 1000000;  // nodes whose texts make the vocabulary
constexpr std::int64_t kHeldOutNodes = 100000;
constexpr std::int64_t kLeastCount = 3;  // rarer texts teach the row of unknown ones
constexpr std::int64_t kAnswerNodes = 50000;

// The texts of the first graphs by falling count, equal counts by text.
torch_kit::Vocabulary vocabulary_of(const Dataset& data) {
  std::unordered_map<std::string, std::int64_t> counts;
  GraphStream graphs(data);
  std::int64_t nodes = 0;
  while (nodes < kVocabularyNodes) {
    const auto found = graphs.next();
    if (!found) break;
    for (const Node& node : found->first.nodes) ++counts[std::string(found->first.text(node))];
    nodes += static_cast<std::int64_t>(found->first.nodes.size());
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted;
  for (const auto& [text, count] : counts)
    if (count >= kLeastCount) sorted.emplace_back(text, count);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> words;
  for (auto& [text, count] : sorted) words.push_back(std::move(text));
  return torch_kit::Vocabulary(std::move(words));
}

// Questions in the order of the stream share the rows of their graph.
class ItemReader {
 public:
  ItemReader(std::vector<Relation> relations, const torch_kit::Vocabulary& words)
      : relations_(std::move(relations)), words_(words) {}

  DataflowItem operator()(const Example& example) {
    if (example.graph != source_) {
      source_ = example.graph;
      made_ = std::make_shared<const DataflowGraph>(dataflow_graph(*source_, relations_, words_));
    }
    DataflowItem item;
    item.graph = made_;
    item.steps = static_cast<std::int32_t>(std::clamp<std::int64_t>(example.steps, -1, 1 << 30));
    for (std::size_t row = 0; row < made_->nodes.size(); ++row) {
      const std::int32_t node = made_->nodes[row];
      if (node == example.root) item.root_row = static_cast<std::int32_t>(row);
      if (example.label.empty()) continue;
      const auto at = static_cast<std::size_t>(node);
      item.label.push_back(example.label[at]);
      item.known.push_back(example.known.empty() ? item.steps : example.known[at]);
      for (std::size_t wave = 0; wave < kWaves; ++wave)
        item.waves.push_back(wave < example.waves.size() ? example.waves[wave][at] : kNoWave);
    }
    return item;
  }

 private:
  std::vector<Relation> relations_;
  const torch_kit::Vocabulary& words_;
  std::shared_ptr<const ProgramGraph> source_;
  std::shared_ptr<const DataflowGraph> made_;
};

ExampleSettings example_settings(const DataflowOptions& options, const Run& run) {
  ExampleSettings settings;
  settings.analysis = analysis_named(options.task);
  settings.mode = options.compat ? Mode::kCompat : Mode::kExact;
  settings.roots = options.roots;
  settings.share = options.root_share;
  settings.max_steps = options.steps;
  settings.seed = run.seed();
  return settings;
}

unsigned threads_of(const Run& run) {
  return run.threads() ? run.threads() : 1;  // batches are too small to share
}

}  // namespace

// What a trained predictor knows.
struct DataflowPredictor::Model {
  std::string task, edges;
  std::vector<Relation> relations;
  std::int64_t steps = 30;
  torch_kit::Vocabulary words;
  std::unique_ptr<DataflowNetwork> network;
};

std::vector<Option<DataflowOptions>> DataflowOptions::spec() {
  using O = DataflowOptions;
  return options(
      opt(&O::task, "task",
          "analysis whose answers are learnt; data without answers are given "
          "those of it")
          .choices("reachability", "dominance", "datadep", "liveness", "subexpressions"),
      opt(&O::edges, "edges",
          "edges that carry messages: auto (by task), all, or a list of control, data, call and "
          "the same with -back"),
      opt(&O::gates, "gates", "scale messages by the position of their edge (auto: by task)")
          .choices("auto", "on", "off"),
      opt(&O::width, "width", "numbers in the state of a node, even").range(4, 512),
      opt(&O::steps, "steps", "steps of propagation; examples that need more are left out")
          .range(1, 1000),
      opt(&O::predict_steps, "predict_steps", "steps when answering; 0: as trained")
          .range(0, 100000),
      opt(&O::updates, "updates", "batches to learn from").range(1, 10000000),
      opt(&O::batch_nodes, "batch_nodes", "nodes in a batch").range(1, 10000000),
      opt(&O::pool_nodes, "pool_nodes", "nodes of the examples that are held in memory at a time")
          .range(1, 1e12)
          .advanced(),
      opt(&O::roots, "roots", "most roots of a graph in examples that are made").range(1, 1000000),
      opt(&O::root_share, "root_share", "share of a graph's roots in examples that are made")
          .range(0, 1),
      opt(&O::learning_rate, "learning_rate", "largest rate of Adam").range(0, 1),
      opt(&O::selector, "selector", "size of the numbers that mark the root")
          .range(0, 1000)
          .advanced(),
      opt(&O::compat, "compat", "make examples with the quirks of the published generators")
          .advanced());
}

DataflowPredictor::DataflowPredictor(DataflowOptions options) : options_(std::move(options)) {
  if (options_.width % 2)
    throw Error(OMEN_INVALID_ARGUMENT,
                "option 'width' is " + std::to_string(options_.width) + ", which is odd",
                "Use an even number.");
  if (options_.edges != "auto") parse_relations(options_.edges);
}

DataflowPredictor::~DataflowPredictor() = default;

void DataflowPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  const torch_kit::ThreadBudget threads(threads_of(run));
  at::manual_seed(run.seed());
  const ExampleSettings settings = example_settings(options_, run);
  auto model = std::make_shared<Model>();
  model->task = options_.task;
  model->edges = options_.edges == "auto" ? usual_relations(settings.analysis) : options_.edges;
  model->relations = parse_relations(model->edges);
  model->steps = options_.steps;
  run.step(0, "reading texts");
  model->words = vocabulary_of(train);

  DataflowShape shape;
  shape.words = model->words.size();
  shape.width = options_.width;
  shape.relations = static_cast<std::int64_t>(model->relations.size());
  shape.selector = options_.selector;
  shape.gates = options_.gates == "on" ||
                (options_.gates == "auto" && settings.analysis == Analysis::kSubexpressions);
  model->network = std::make_unique<DataflowNetwork>(shape);

  ItemReader reader(model->relations, model->words);
  DataflowTraining training;
  training.updates = options_.updates;
  training.steps = options_.steps;
  training.batch_nodes = options_.batch_nodes;
  training.pool_nodes = options_.pool_nodes;
  training.learning_rate = options_.learning_rate;
  training.shorter_ways = std::any_of(model->relations.begin(), model->relations.end(),
                                      [](const Relation& r) { return r.skips; });
  run.step(0, "reading examples");
  ExamplePool pool([&] { return ExampleStream(train, settings); }, std::ref(reader),
                   training.pool_nodes, run.seed());
  if (pool.items().empty())
    throw Error(OMEN_INVALID_DATA,
                "there is no example of " + options_.task + " with at most " +
                    std::to_string(options_.steps) + " steps",
                "Raise steps, or give graphs with more instructions.");
  std::vector<DataflowItem> held_out;
  if (valid) {
    ExampleStream stream(valid, settings);
    std::int64_t nodes = 0;
    while (nodes < kHeldOutNodes) {
      const auto examples = stream.next();
      if (!examples) break;
      for (const Example& example : *examples) {
        held_out.push_back(reader(example));
        nodes += held_out.back().graph->active;
      }
    }
  }
  train_dataflow(*model->network, pool, held_out, training, run);
  model_ = std::move(model);
}

namespace {

// Answers of some questions as rows.
Table answer_rows(const DataflowNetwork& network, std::int64_t steps,
                  const std::vector<DataflowItem>& items,
                  const std::vector<std::int64_t>& workload) {
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> node, label;
  std::vector<double> probability;
  if (!items.empty()) {
    const at::NoGradGuard no_gradients;
    std::vector<const DataflowItem*> pointers;
    for (const DataflowItem& item : items) pointers.push_back(&item);
    const DataflowBatch batch = dataflow_batch(pointers, network.shape().relations);
    const at::Tensor p = network.answers(batch, {steps}).front().label.softmax(1).contiguous();
    const float* values = p.const_data_ptr<float>();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const DataflowGraph& graph = *items[i].graph;
      const std::size_t begin = node.size();
      ids.resize(begin + graph.nodes.size(), workload[i]);
      label.resize(ids.size());
      probability.resize(ids.size());
      for (std::size_t row = 0; row < graph.nodes.size(); ++row) {
        node.push_back(static_cast<std::int32_t>(row));
        const auto at = static_cast<std::int64_t>(row);
        const std::int64_t from = at < graph.active ? batch.active_begin[i] + at
                                                    : batch.idle_begin[i] + at - graph.active;
        const std::size_t to = begin + static_cast<std::size_t>(graph.nodes[row]);
        probability[to] = values[2 * from + 1];
        label[to] = values[2 * from + 1] > values[2 * from];
      }
    }
  }
  const std::vector<std::int32_t> ok(ids.size(), 0);
  return TableBuilder()
      .add("workload_id", std::move(ids))
      .add("node_id", std::move(node))
      .add_dictionary("label", std::move(label), {"0", "1"})
      .add("label.p.1", std::move(probability))
      .add_dictionary("status", ok, {"ok"})
      .finish();
}

}  // namespace

TableStream DataflowPredictor::predict(const Dataset& in, const Run& run) {
  if (!model_)
    throw Error(OMEN_INVALID_STATE, "loadbalance.dataflow is not trained",
                "Fit it or load a model first.");
  const std::int64_t steps = options_.predict_steps ? options_.predict_steps : model_->steps;
  auto stream = std::make_shared<ExampleStream>(in, example_settings(options_, run), true);
  auto reader = std::make_shared<ItemReader>(model_->relations, model_->words);
  const auto next = [model = model_, steps, stream, reader, run]() -> std::optional<Table> {
    const torch_kit::ThreadBudget threads(threads_of(run));
    std::vector<DataflowItem> items;
    std::vector<std::int64_t> workload;
    std::int64_t nodes = 0;
    while (nodes < kAnswerNodes) {
      if (run.cancelled()) throw Error(OMEN_CANCELLED, "answering was cancelled");
      const auto examples = stream->next();
      if (!examples) break;
      for (const Example& example : *examples) {
        items.push_back((*reader)(example));
        workload.push_back(example.workload_id);
        nodes += static_cast<std::int64_t>(example.graph->nodes.size());
      }
    }
    if (items.empty()) return std::nullopt;
    return answer_rows(*model->network, steps, items, workload);
  };
  return TableStream(answer_rows(*model_->network, steps, {}, {}), next);
}

void DataflowPredictor::save(ArtifactWriter& out) const {
  if (!model_)
    throw Error(OMEN_INVALID_STATE, "loadbalance.dataflow is not trained", "Fit it first.");
  const DataflowShape& shape = model_->network->shape();
  out.put_meta("summary", model_->task + " along " + model_->edges + " edges, " +
                              std::to_string(model_->network->state().parameter_count()) +
                              " parameters");
  out.put_meta("task", model_->task);
  out.put_meta("edges", model_->edges);
  out.put<std::int64_t>("shape", {shape.width, model_->steps, shape.gates});
  out.put<double>("selector", {shape.selector});
  model_->words.save(out, "words");
  torch_kit::save_state(model_->network->state(), out, "network.");
}

void DataflowPredictor::load(const ArtifactReader& in) {
  auto model = std::make_shared<Model>();
  model->task = in.meta("task");
  model->edges = in.meta("edges");
  model->relations = parse_relations(model->edges);
  model->words = torch_kit::Vocabulary::load(in, "words");
  const std::vector<std::int64_t> numbers = in.get<std::int64_t>("shape");
  const std::vector<double> selector = in.get<double>("selector");
  if (numbers.size() != 3 || selector.size() != 1 || numbers[0] < 4 || numbers[0] % 2 ||
      numbers[0] > 512 || numbers[1] < 1)
    throw Error(OMEN_INVALID_DATA, "model has a shape that no network has",
                "Train it again with this version.");
  DataflowShape shape;
  shape.words = model->words.size();
  shape.width = numbers[0];
  shape.relations = static_cast<std::int64_t>(model->relations.size());
  shape.gates = numbers[2] != 0;
  shape.selector = selector[0];
  model->steps = numbers[1];
  model->network = std::make_unique<DataflowNetwork>(shape);
  torch_kit::load_state(model->network->state(), in, "network.");
  model_ = std::move(model);
}

Component dataflow_component() {
  return predictor<DataflowPredictor, DataflowOptions>(
             "loadbalance.dataflow",
             "answers data-flow questions about program graphs, node by node")
      .reads("workloads.root:optional", "nodes@programl/1", "edges", "node_targets:optional")
      .writes("label")
      .caps(OMEN_CAP_BITWISE_REPEATABLE)
      .cite(
          "Cummins et al., ProGraML: A Graph-based Program Representation for Data Flow Analysis "
          "and Compiler Optimizations, ICML 2021");
}

}  // namespace omen::loadbalance
