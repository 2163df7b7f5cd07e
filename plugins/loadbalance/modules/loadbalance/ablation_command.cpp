// SPDX-License-Identifier: Apache-2.0
// Trains each model on the folds and reports the figures of the study, with its own beside them.
#include "ablation_command.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "network/network_predictor.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#if OMEN_LOADBALANCE_COST
#include "cost/grewe_predictors.hpp"
#endif

namespace omen::loadbalance {
namespace {

constexpr const char* kUsage =
    "Use: omen loadbalance ablation TABLES.omt, such as those of: omen data make "
    "devmap-nvidia-graphs";
constexpr const char* kTargets[] = {"share", "share_class", "device", "t_cpu_ms", "t_gpu_ms"};
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A model of the study, with the accuracy and the mean absolute error that it was published with.
struct Contestant {
  std::string name;
  double published_accuracy, published_mae;
  std::function<std::unique_ptr<Predictor>()> make;
};

std::vector<Contestant> contestants(const AblationOptions& options) {
  std::vector<Contestant> list;
#if OMEN_LOADBALANCE_COST
  list.push_back({"Decision tree", .544, kNone,
                  [] { return std::make_unique<cost::TreePredictor>(cost::TreeOptions{}); }});
  list.push_back({"Linear regression", kNone, 19.406,
                  [] { return std::make_unique<cost::LinearPredictor>(); }});
#endif
  const auto network = [&](const char* name, const char* body, const char* pooling,
                           const char* readout, double accuracy, double mae) {
    NetworkPredictorOptions o;
    o.body = body;
    o.pooling = pooling;
    o.readout = readout;
    o.epochs = options.epochs;
    o.readout_epochs = options.readout_epochs;
    o.dropout = options.dropout;
    list.push_back({name, accuracy, mae, [o] { return std::make_unique<NetworkPredictor>(o); }});
  };
  network("Base ProGraML", "programl", "gated", "plain", .733, 13.297);
  network("Mean + MLP", "mlp", "mean", "plain", .772, 9.894);
  network("Mean + GCN", "gcn", "mean", "plain", .771, 10.43);
  network("Mean + GAT", "gat", "mean", "plain", .755, 10.365);
  network("Mean + ProGraML", "programl", "mean", "plain", .758, 9.371);
  network("Diff + ProGraML", "programl", "diff", "plain", .77, 7.689);
  network("TopK + ProGraML", "programl", "topk", "plain", .739, 7.714);
  network("Skips + ProGraML", "programl", "skips", "plain", .769, 8.794);
  network("Diff + Ext", "programl", "diff", "extended", .773, 8.638);
  network("TopK + Ext", "programl", "topk", "extended", .754, 12.304);
  network("Skips + Ext", "programl", "skips", "extended", .782, 7.324);
  return list;
}

std::vector<Contestant> chosen(const AblationOptions& options) {
  std::vector<Contestant> all = contestants(options), some;
  if (options.only.empty()) return all;
  std::string names;
  for (const Contestant& one : all) names += (names.empty() ? "" : ", ") + one.name;
  for (const std::string& wanted : options.only) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Contestant& one) { return one.name == wanted; });
    if (found == all.end())
      throw Error(OMEN_INVALID_ARGUMENT, "there is no model '" + wanted + "' in the study",
                  "Take some of: " + names);
    some.push_back(*found);
  }
  return some;
}

// Workloads without answers, answers, and graphs.
struct Study {
  Table workloads, targets, nodes, edges;
  std::vector<std::int64_t> fold;

  Study(const std::string& path, std::int64_t folds, std::uint64_t seed) {
    const container::Reader file = container::Reader::open(path);
    const Table all = container::get_table(file, "workloads");
    nodes = container::get_table(file, "nodes");
    edges = container::get_table(file, "edges");
    std::vector<std::int64_t> ids(static_cast<std::size_t>(all.rows()));
    std::iota(ids.begin(), ids.end(), 0);
    TableBuilder inputs, answers;
    inputs.add("workload_id", ids);
    answers.add("workload_id", ids);
    for (std::size_t c = 0; c < all.columns(); ++c) {
      const bool target =
          std::find(std::begin(kTargets), std::end(kTargets), all.name(c)) != std::end(kTargets);
      if (all.name(c) == "workload_id") continue;
      (target ? answers : inputs).add_column(all, c);
    }
    workloads = inputs.finish();
    targets = answers.finish();
    for (const char* needed : {"share", "share_class"})
      if (!targets.has(needed))
        throw Error(OMEN_INVALID_DATA, path + " has no column " + needed, kUsage);
    deal(folds, seed);
  }

  std::unique_ptr<MemoryDataset> rows(std::int64_t wanted, bool train) const {
    std::vector<std::int64_t> list;
    for (std::size_t row = 0; row < fold.size(); ++row)
      if ((fold[row] == wanted) != train) list.push_back(static_cast<std::int64_t>(row));
    auto data = std::make_unique<MemoryDataset>();
    data->put("workloads", take(workloads, list));
    data->put("nodes", nodes);
    data->put("edges", edges);
    if (train) data->put("targets", take(targets, list));
    return data;
  }

 private:
  // Shuffles the rows and deals them out.
  void deal(std::int64_t folds, std::uint64_t seed) {
    std::vector<std::size_t> order(static_cast<std::size_t>(workloads.rows()));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i - 1], order[(seed >> 33) % i]);
    }
    fold.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      fold[order[i]] = static_cast<std::int64_t>(i) % folds;
  }
};

// Figures over all rows; precision, recall and F1 are weighted by the rows of each class.
struct Figures {
  double absolute = 0, squared = 0, numbers = 0, right = 0, classes = 0;
  std::map<std::string, double> truth, answer, hit;

  void add(const Table& predicted, const Study& study) {
    const Column<std::int64_t> id = predicted.column<std::int64_t>("workload_id");
    const std::vector<double> label = study.targets.numbers("share");
    const StringColumn label_class = study.targets.strings("share_class");
    const auto share = predicted.find("share"), share_class = predicted.find("share_class");
    const std::vector<double> shares = share ? predicted.numbers(*share) : std::vector<double>();
    for (std::int64_t row = 0; row < predicted.rows(); ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (share && std::isfinite(shares[at])) {
        const double error = shares[at] - label[static_cast<std::size_t>(id[row])];
        absolute += std::abs(error);
        squared += error * error;
        numbers += 1;
      }
      if (!share_class) continue;
      const std::string is(label_class[id[row]]), said(predicted.strings(*share_class)[row]);
      truth[is] += 1;
      answer[said] += 1;
      if (is == said) hit[is] += 1;
      right += is == said;
      classes += 1;
    }
  }

  double precision(const std::string& name) const {
    const auto said = answer.find(name);
    return said == answer.end() ? 0 : hits(name) / said->second;
  }
  double recall(const std::string& name) const { return hits(name) / truth.at(name); }
  double f1(const std::string& name) const {
    const double p = precision(name), r = recall(name);
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
  }
  double weighted(double (Figures::*figure)(const std::string&) const) const {
    double sum = 0;
    for (const auto& [name, count] : truth) sum += count * (this->*figure)(name);
    return classes > 0 ? sum / classes : kNone;
  }
  double hits(const std::string& name) const {
    const auto found = hit.find(name);
    return found == hit.end() ? 0 : found->second;
  }
};

// The same run for a part: the whole reports progress, the part may only be cancelled.
omen_run part_of(const Run& run) {
  omen_run part = *run.c();
  part.progress = nullptr;
  part.metric = nullptr;
  part.state_dir = nullptr;
  return part;
}

double rounded(double value, double digits) {
  return std::round(value * digits) / digits;
}

struct Report {
  std::vector<std::string> model;
  std::map<std::string, std::vector<double>> column;

  void add(const Contestant& who, const Figures& f) {
    model.push_back(who.name);
    const double n = f.numbers > 0 ? f.numbers : kNone;
    column["F1"].push_back(rounded(f.weighted(&Figures::f1), 1e3));
    column["accuracy"].push_back(rounded(f.classes > 0 ? f.right / f.classes : kNone, 1e3));
    column["precision"].push_back(rounded(f.weighted(&Figures::precision), 1e3));
    column["recall"].push_back(rounded(f.weighted(&Figures::recall), 1e3));
    column["MAE"].push_back(rounded(f.absolute / n, 1e3));
    column["RMSE"].push_back(rounded(std::sqrt(f.squared / n), 1e3));
    column["MSE"].push_back(rounded(f.squared / n, 1e3));
    column["published accuracy"].push_back(who.published_accuracy);
    column["published MAE"].push_back(who.published_mae);
  }
  Table finish() const {
    TableBuilder table;
    table.add_strings("model", model);
    for (const char* name : {"F1", "accuracy", "precision", "recall", "RMSE", "MAE", "MSE",
                             "published accuracy", "published MAE"}) {
      std::vector<bool> known;
      for (const double value : column.at(name)) known.push_back(std::isfinite(value));
      table.add(name, column.at(name)).valid(known);
    }
    return table.finish();
  }
};

}  // namespace

std::vector<Option<AblationOptions>> AblationOptions::spec() {
  using O = AblationOptions;
  return options(
      opt(&O::folds, "folds", "parts that the shuffled rows are dealt into").range(2, 1000),
      opt(&O::epochs, "epochs", "passes over the graphs for each network").range(0, 100000),
      opt(&O::readout_epochs, "readout_epochs", "passes over the rows for each readout afterwards")
          .range(0, 100000),
      opt(&O::dropout, "dropout", "of messages and states; the study has 0.3, which is far slower")
          .range(0, 0.9),
      opt(&O::only, "only", "a model of the study, such as \"Skips + Ext\"; otherwise all"));
}

int AblationCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                         const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "ablation needs the tables of a dataset", kUsage);
  const std::vector<Contestant> models = chosen(options_);
  const Study study(args[0], options_.folds, run.seed());
  const omen_run part = part_of(run);
  Report report;
  for (std::size_t m = 0; m < models.size(); ++m) {
    Figures figures;
    for (std::int64_t fold = 0; fold < options_.folds; ++fold) {
      const double done = (static_cast<double>(m) +
                           static_cast<double>(fold) / static_cast<double>(options_.folds)) /
                          static_cast<double>(models.size());
      run.step(done, (models[m].name + ", fold " + std::to_string(fold + 1)).c_str());
      const std::unique_ptr<Predictor> predictor = models[m].make();
      const auto train = study.rows(fold, true), test = study.rows(fold, false);
      predictor->fit(train->view(), Dataset(nullptr), Run(&part));
      figures.add(predictor->predict(test->view(), Run(&part)).read_all(), study);
    }
    report.add(models[m], figures);
  }
  out.put("ablation", report.finish());
  return 0;
}

Component ablation_component() {
  return command<AblationCommand, AblationOptions>(
      "loadbalance.ablation", "every model of the ablation study on the same folds, in one table");
}

}  // namespace omen::loadbalance
