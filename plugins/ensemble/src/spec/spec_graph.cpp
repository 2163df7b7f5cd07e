// SPDX-License-Identifier: Apache-2.0
// One pipeline for each sharing group, from the data set to the accelerators.
#include "spec/spec_graph.hpp"

#include <algorithm>
#include <numeric>

#include "plan/groups.hpp"
#include "rate/setting_rows.hpp"

namespace omen::ensemble {
namespace {

using Ids = std::vector<std::int32_t>;

// Nodes and edges, column by column.
class Graph {
 public:
  explicit Graph(const EnsembleSpec& spec) : spec_(spec) {}

  std::int32_t add(const char* op, const std::string& name, double bytes = 0) {
    op_.emplace_back(op);
    name_.push_back(name);
    bytes_.push_back(bytes);
    rate_.push_back(0);
    epochs_.push_back(0);
    rated_.push_back(false);
    timed_.push_back(false);
    scaling_.insert(scaling_.end(), kScalingWidth, 0.0F);
    return static_cast<std::int32_t>(op_.size()) - 1;
  }
  std::int32_t add_trainer(const SpecModel& model) {
    const std::int32_t id = add(kTrainOp, model.name);
    const RateCurve curve(model.rates);
    rate_.back() = curve.at(1);
    rated_.back() = true;
    epochs_.back() = model.epochs.value_or(0);
    timed_.back() = model.epochs.has_value();
    for (std::int64_t m = 1; m <= kScalingWidth; ++m)
      scaling_[static_cast<std::size_t>(id * kScalingWidth + m - 1)] =
          static_cast<float>(curve.at(m));
    return id;
  }
  void link(std::int32_t from, std::int32_t to, const char* kind = "data") {
    src_.push_back(from);
    dst_.push_back(to);
    kind_.emplace_back(kind);
  }
  void link_all(const Ids& from, std::int32_t to) {
    for (const std::int32_t one : from) link(one, to);
  }

  // Reads, decodes and augments on one rank; returns its queue of finished images.
  std::int32_t add_preprocessor(std::int32_t source, const std::string& rank) {
    const double bytes = spec_.sample_bytes;
    const std::int32_t read = add("read", "read " + rank);
    const std::int32_t decode = add("decode", "decode " + rank);
    const std::int32_t augment = add("augment", "augment " + rank, bytes);
    const std::int32_t queue = add("queue", "prepared " + rank, queue_bytes());
    link(source, read);
    link(read, decode);
    link(decode, augment);
    link(augment, queue);
    return queue;
  }
  // The queue of a model, its trainer and its accelerator; returns the queue.
  std::int32_t add_consumer(std::size_t model) {
    const SpecModel& one = spec_.models[model];
    const std::int32_t queue = add("queue", "batches " + one.name, queue_bytes());
    const std::int32_t train = add_trainer(one);
    link(queue, train);
    if (static_cast<std::int64_t>(model) < spec_.ranks())
      link(train, add("accelerator", "accelerator " + std::to_string(model)), "placed");
    return queue;
  }
  double round_bytes() const { return static_cast<double>(spec_.batch) * spec_.sample_bytes; }
  double queue_bytes() const { return round_bytes() * static_cast<double>(spec_.queue_batches); }

  Table nodes() {
    Ids id(op_.size());
    std::iota(id.begin(), id.end(), 0);
    return TableBuilder()
        .metadata("omen.dialect", kDialect)
        .add("graph_id", std::vector<std::int64_t>(op_.size(), 0))
        .add("node_id", std::move(id))
        .add_categories("op", op_)
        .add_strings("name", name_)
        .add_strings("full_text", name_)  // what drawings show of a node
        .add("bytes", std::move(bytes_), {{"omen.unit", "B"}})
        .add("images_per_s", std::move(rate_), {{"omen.unit", "1/s"}})
        .valid(rated_)
        .add("epochs", std::move(epochs_))
        .valid(timed_)
        .add_list("scaling", kScalingWidth, std::move(scaling_))
        .finish();
  }
  Table edges() {
    return TableBuilder()
        .metadata("omen.dialect", kDialect)
        .add("graph_id", std::vector<std::int64_t>(src_.size(), 0))
        .add("src", std::move(src_))
        .add("dst", std::move(dst_))
        .add_categories("kind", kind_)
        .finish();
  }

 private:
  const EnsembleSpec& spec_;
  std::vector<std::string> op_, name_, kind_;
  std::vector<double> bytes_, rate_, epochs_;
  std::vector<bool> rated_, timed_;
  std::vector<float> scaling_;
  Ids src_, dst_;
};

// What the queues of the models of one group are filled by.
class Pipeline {
 public:
  Pipeline(const EnsembleSpec& spec, Graph& graph, std::int32_t source,
           const std::vector<std::size_t>& models)
      : spec_(spec), graph_(graph), source_(source), models_(models) {
    const auto ranks = static_cast<std::int64_t>(models.size());
    preprocessors_ = static_cast<std::size_t>(
        has_preprocessors(spec.design) ? std::min(spec.preprocessors, ranks) : ranks);
  }

  void build() {
    switch (spec_.design) {
      case Design::kNone:
        return build_alone();
      case Design::kAllShared:
        return build_joined("allgather");
      case Design::kSharedMemory:
        return build_joined("ring");
      case Design::kSingleBroadcast:
        return build_single();
      case Design::kMultiBroadcast:
      case Design::kWastefulBroadcast:
        return build_multiple();
    }
  }

 private:
  const std::string& name(std::size_t rank) const { return spec_.models[models_[rank]].name; }
  Ids prepared() {
    Ids queues;
    for (std::size_t rank = 0; rank < preprocessors_; ++rank)
      queues.push_back(graph_.add_preprocessor(source_, name(rank)));
    return queues;
  }
  void build_alone() {
    for (std::size_t rank = 0; rank < models_.size(); ++rank)
      graph_.link(graph_.add_preprocessor(source_, name(rank)), graph_.add_consumer(models_[rank]));
  }
  void build_joined(const char* op) {
    const Ids queues = prepared();
    const std::int32_t join = graph_.add(
        op, std::string(op) + " of " + std::to_string(models_.size()), graph_.round_bytes());
    graph_.link_all(queues, join);
    for (const std::size_t model : models_) graph_.link(join, graph_.add_consumer(model));
  }
  // The last preprocessor is in both communicators.
  void build_single() {
    const Ids queues = prepared();
    const std::int32_t gather = graph_.add(
        "allgather", "allgather of " + std::to_string(preprocessors_), graph_.round_bytes());
    graph_.link_all(queues, gather);
    const std::int32_t cast = graph_.add(
        "broadcast", "broadcast to " + std::to_string(models_.size() - preprocessors_ + 1),
        graph_.round_bytes());
    graph_.link(gather, cast);
    for (std::size_t rank = 0; rank < models_.size(); ++rank)
      graph_.link(rank + 1 < preprocessors_ ? gather : cast, graph_.add_consumer(models_[rank]));
  }
  void build_multiple() {
    Ids casts;
    for (const std::int32_t queue : prepared()) {
      casts.push_back(graph_.add("broadcast", "broadcast " + std::to_string(casts.size()),
                                 graph_.round_bytes()));
      graph_.link(queue, casts.back());
    }
    for (const std::size_t model : models_) graph_.link_all(casts, graph_.add_consumer(model));
  }

  const EnsembleSpec& spec_;
  Graph& graph_;
  std::int32_t source_;
  const std::vector<std::size_t>& models_;
  std::size_t preprocessors_ = 1;
};

// Models of each sharing group in the order of the description.
std::vector<std::vector<std::size_t>> model_groups(const EnsembleSpec& spec) {
  std::vector<std::size_t> order(spec.models.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return spec.models[a].rates[0] < spec.models[b].rates[0];
  });
  std::vector<double> rates;
  for (const std::size_t model : order) rates.push_back(spec.models[model].rates[0]);
  const auto wanted = spec.design == Design::kNone ? 1 : static_cast<std::size_t>(spec.groups);
  std::vector<std::vector<std::size_t>> groups;
  for (const RateGroup& group : sharing_groups(rates, wanted)) {
    groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(group.begin),
                        order.begin() + static_cast<std::ptrdiff_t>(group.end));
    std::sort(groups.back().begin(), groups.back().end());
  }
  return groups;
}

Table workload_table(const EnsembleSpec& spec) {
  const auto whole = [](std::int64_t value) { return std::vector<std::int64_t>{value}; };
  const auto real = [](double value) { return std::vector<double>{value}; };
  return TableBuilder()
      .add("workload_id", whole(0))
      .add_categories("group", {spec.name})
      .add_strings("name", {spec.name})
      .add("graph_id", whole(0))
      .add_categories("pipeline", {design_name(spec.design)})
      .add("n_nodes", whole(spec.ranks()))
      .add("ranks_per_node", real(static_cast<double>(spec.ranks()) /
                                  static_cast<double>(std::min(spec.nodes, spec.ranks()))))
      .add("cores_per_node", whole(spec.cores_per_node))
      .add("preprocessors", whole(spec.preprocessors))
      .add("groups", whole(spec.groups))
      .add_categories("pace", {pace_name(spec.coupled)})
      .add("images", real(spec.images))
      .add("sample_bytes", real(spec.sample_bytes), {{"omen.unit", "B"}})
      .add("nodes", whole(spec.nodes))
      .add("accelerators", whole(spec.accelerators()))
      .add("accelerators_per_node", whole(spec.accelerators_per_node))
      .add("checkpoint_s", real(spec.costs.checkpoint_s), {{"omen.unit", "s"}})
      .add("restart_s", real(spec.costs.restart_s), {{"omen.unit", "s"}})
      .finish();
}

}  // namespace

void put_graph(const EnsembleSpec& spec, const TablesOut& out) {
  Graph graph(spec);
  const std::int32_t source = graph.add("source", spec.name);
  for (const std::vector<std::size_t>& models : model_groups(spec))
    Pipeline(spec, graph, source, models).build();
  out.put("workloads", workload_table(spec));
  out.put("nodes", graph.nodes());
  out.put("edges", graph.edges());
}

}  // namespace omen::ensemble
