// SPDX-License-Identifier: Apache-2.0
// Accuracy of loadbalance.cost under the frozen splits of the devmap tasks, with the constant, 5-NN
// on the launch and plain boosted trees beside it.
//   loadbalance_cost_folds TABLES SPLIT.csv PLATFORM shuffled|grouped|gpu-out|card [REPEATS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cost/cost_model.hpp"
#include "omen/container.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr double kLevel = 0.8;

// Every row of the dataset, its program as group, and in which fold of each repeat it is tested.
struct Data {
  KernelRows kernels;
  std::vector<std::vector<std::string>> fold;  // [repeat][row]

  Data(const std::string& tables, const std::string& split) {
    const container::Reader file = container::Reader::open(tables);
    const Table all = container::get_table(file, "workloads");
    std::vector<std::int64_t> ids(static_cast<std::size_t>(all.rows()));
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<std::string> programs;
    const StringColumn program = all.strings("program");
    for (std::int64_t row = 0; row < all.rows(); ++row) programs.emplace_back(program[row]);
    TableBuilder workloads, targets;
    workloads.add("workload_id", ids).add_categories("group", programs);
    for (const char* column : {"graph_id", "name", "cpu", "gpu", "wgsize", "input_size", "comp",
                               "rational", "mem", "localmem", "coalesced", "atomic"})
      workloads.add_column(all, all.index(column));
    targets.add("workload_id", ids);
    for (const char* column : {"share", "t_cpu_ms", "t_gpu_ms"})
      targets.add_column(all, all.index(column));
    MemoryDataset data;
    data.put("workloads", workloads.finish());
    data.put("targets", targets.finish());
    data.put("nodes", container::get_table(file, "nodes"));
    data.put("edges", container::get_table(file, "edges"));
    omen_run run{};
    run.struct_size = sizeof run;
    kernels = read_kernels(data.view(), true, Run(&run));
    read_split(split);
  }

 private:
  void read_split(const std::string& split) {
    std::ifstream csv(split);
    std::string line;
    if (!std::getline(csv, line)) throw Error(OMEN_NOT_FOUND, "cannot read " + split);
    fold.resize(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')));
    while (std::getline(csv, line)) {
      std::istringstream cells(line);
      std::string cell;
      std::getline(cells, cell, ',');
      for (std::vector<std::string>& repeat : fold) {
        std::getline(cells, cell, ',');
        repeat.push_back(cell);
      }
    }
    if (fold.empty() || fold[0].size() != kernels.rows.size())
      throw Error(OMEN_INVALID_DATA, split + " does not fit the tables");
  }
};

// What somebody says about every row: share, class, device.
struct Answer {
  std::vector<double> share;
  std::vector<int> share_class, device;
  std::vector<double> lo, hi;

  explicit Answer(std::size_t rows)
      : share(rows), share_class(rows), device(rows), lo(rows, kUnknown), hi(rows, kUnknown) {}
};

int class_of(double share) {
  return static_cast<int>(std::clamp(std::floor(share / 25 + 0.5), 0.0, 4.0));
}

// Losses of one repeat: rows, or means over programs.
struct Losses {
  std::vector<double> mae, miss_class, miss_device;
  double covered = 0, bounded = 0;

  Losses(const KernelRows& rows, const Answer& answer, bool by_program) {
    std::map<std::int32_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < rows.rows.size(); ++i)
      groups[by_program ? rows.rows[i].group : static_cast<std::int32_t>(i)].push_back(i);
    for (const auto& [group, members] : groups) {
      double error = 0, classes = 0, devices = 0;
      for (const std::size_t i : members) {
        const KernelRow& row = rows.rows[i];
        error += std::abs(answer.share[i] - row.share);
        classes += answer.share_class[i] != class_of(row.share);
        devices += answer.device[i] != (row.t_gpu_ms < row.t_cpu_ms ? 1 : 0);
        if (!std::isfinite(answer.lo[i])) continue;
        bounded += 1;
        covered += row.share >= answer.lo[i] && row.share <= answer.hi[i];
      }
      const auto count = static_cast<double>(members.size());
      mae.push_back(error / count);
      miss_class.push_back(classes / count);
      miss_device.push_back(devices / count);
    }
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

KernelRows subset(const KernelRows& rows, const std::vector<std::size_t>& which) {
  KernelRows part;
  part.graphs = rows.graphs;
  part.groups = rows.groups;
  for (const std::size_t row : which) part.rows.push_back(rows.rows[row]);
  return part;
}

// Labels of other rows: what is left then is chance.
void permute_labels(KernelRows& rows) {
  std::mt19937_64 random(7);
  for (std::size_t i = rows.rows.size(); i > 1; --i) {
    KernelRow& a = rows.rows[i - 1];
    KernelRow& b = rows.rows[random() % i];
    std::swap(a.share, b.share);
    std::swap(a.t_cpu_ms, b.t_cpu_ms);
    std::swap(a.t_gpu_ms, b.t_gpu_ms);
  }
}

using Method = std::function<void(const KernelRows& train, const KernelRows& test,
                                  const std::vector<std::size_t>& places, Answer& answer)>;

Answer cross_validate(const KernelRows& rows, const std::vector<std::string>& fold,
                      const Method& method) {
  Answer answer(rows.rows.size());
  const bool broken = std::getenv("OMEN_SHOW_BREAK") != nullptr;
  for (const std::string& held : std::set<std::string>(fold.begin(), fold.end())) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == held ? out : in).push_back(i);
    KernelRows train = subset(rows, in);
    if (broken) permute_labels(train);
    KernelRows test = subset(rows, out);
    for (KernelRow& row : test.rows) row.share = row.t_cpu_ms = row.t_gpu_ms = kUnknown;
    method(train, test, out, answer);
  }
  return answer;
}

Run quiet() {
  static const omen_run run = [] {
    omen_run r{};
    r.struct_size = sizeof r;
    return r;
  }();
  return Run(&run);
}

Method cost_method(bool intervals, bool with_process, bool input_size) {
  return [=](const KernelRows& train, const KernelRows& test,
             const std::vector<std::size_t>& places, Answer& answer) {
    CostOptions options;
    options.inner_folds = intervals ? 5 : 1;
    options.with_process = with_process;
    options.inputs.input_size = input_size;
    CostModel model;
    model.fit(train, options, 1, quiet());
    const std::vector<CostRow> said = model.predict(test, kLevel, std::nullopt);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto best = [](const auto& p) {
        return static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
      };
      answer.share[places[i]] = said[i].share;
      answer.share_class[places[i]] = best(said[i].classes);
      answer.device[places[i]] = best(said[i].devices);
      answer.lo[places[i]] = said[i].share_lo;
      answer.hi[places[i]] = said[i].share_hi;
    }
  };
}

// XGBoost with its own defaults but for rounds and rate, on the same columns.
void boosted_trees(const KernelRows& train, const KernelRows& test,
                   const std::vector<std::size_t>& places, Answer& answer) {
  KernelEncoder encoder;
  encoder.fit(train, {});
  const Encoded x = encoder.encode(train), asked = encoder.encode(test);
  const auto count = static_cast<Index>(train.rows.size());
  Vector share(count), classes(count), devices(count);
  for (Index i = 0; i < count; ++i) {
    const KernelRow& row = train.rows[static_cast<std::size_t>(i)];
    share[i] = row.share;
    classes[i] = class_of(row.share);
    devices[i] = row.t_gpu_ms < row.t_cpu_ms ? 1 : 0;
  }
  TreeSettings plain;
  plain.eta = 0.1;
  plain.subsample = plain.columns = 1;
  const Vector weights = Vector::Ones(count);
  TreeHead number, five, two;
  number.fit(x.trees, share, weights, 0, plain, 1, quiet());
  plain.rounds = 100;
  five.fit(x.trees, classes, weights, 5, plain, 1, quiet());
  two.fit(x.trees, devices, weights, 2, plain, 1, quiet());
  const Matrix said = number.predict(asked.trees), p5 = five.predict(asked.trees),
               p2 = two.predict(asked.trees);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto row = static_cast<Index>(i);
    Index best = 0;
    p5.row(row).maxCoeff(&best);
    answer.share[places[i]] = said(row, 0);
    answer.share_class[places[i]] = static_cast<int>(best);
    answer.device[places[i]] = p2(row, 1) > 0.5;
  }
}

void constant(const KernelRows& train, const KernelRows&, const std::vector<std::size_t>& places,
              Answer& answer) {
  double share = 0;
  std::array<double, 5> classes{};
  std::array<double, 2> devices{};
  for (const KernelRow& row : train.rows) {
    share += row.share / static_cast<double>(train.rows.size());
    classes[static_cast<std::size_t>(class_of(row.share))] += 1;
    devices[row.t_gpu_ms < row.t_cpu_ms ? 1 : 0] += 1;
  }
  for (const std::size_t place : places) {
    answer.share[place] = share;
    answer.share_class[place] =
        static_cast<int>(std::max_element(classes.begin(), classes.end()) - classes.begin());
    answer.device[place] = devices[1] > devices[0];
  }
}

void neighbours(const KernelRows& train, const KernelRows& test,
                const std::vector<std::size_t>& places, Answer& answer) {
  KernelEncoder encoder;
  encoder.fit(train, {});
  const Matrix x = encoder.encode(train).blocks[kLaunch],
               asked = encoder.encode(test).blocks[kLaunch];
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::vector<std::pair<double, std::size_t>> near;
    for (Index row = 0; row < x.rows(); ++row)
      near.emplace_back((x.row(row) - asked.row(static_cast<Index>(i))).squaredNorm(),
                        static_cast<std::size_t>(row));
    std::partial_sort(near.begin(), near.begin() + 5, near.end());
    double share = 0, gpu = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const KernelRow& row = train.rows[near[k].second];
      share += row.share / 5;
      gpu += row.t_gpu_ms < row.t_cpu_ms;
    }
    answer.share[places[i]] = share;
    answer.share_class[places[i]] = class_of(share);
    answer.device[places[i]] = gpu > 2.5;
  }
}

// The label that the same kernel has on the other machine.
void reused_label(const KernelRows& train, const KernelRows& test,
                  const std::vector<std::size_t>& places, Answer& answer) {
  std::map<std::string, const KernelRow*> by_name;
  for (const KernelRow& row : train.rows) by_name[row.name] = &row;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const KernelRow& row = *by_name.at(test.rows[i].name);
    answer.share[places[i]] = row.share;
    answer.share_class[places[i]] = class_of(row.share);
    answer.device[places[i]] = row.t_gpu_ms < row.t_cpu_ms;
  }
}

// Mean and 95 % interval of a paired difference, resampling what the losses are means over.
struct Difference {
  double mean_ = 0, lo = 0, hi = 0;

  Difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> d;
    for (std::size_t i = 0; i < a.size(); ++i) d.push_back(a[i] - b[i]);
    mean_ = mean(d);
    std::mt19937_64 random(1);
    std::vector<double> means;
    for (int draw = 0; draw < 4000; ++draw) {
      double sum = 0;
      for (std::size_t i = 0; i < d.size(); ++i) sum += d[random() % d.size()];
      means.push_back(sum / static_cast<double>(d.size()));
    }
    std::sort(means.begin(), means.end());
    lo = means[means.size() / 40];
    hi = means[means.size() - means.size() / 40];
  }
};

void print(const char* who, const Losses& l) {
  std::printf("%-32s MAE %6.2f  class %.3f  device %.3f", who, mean(l.mae), 1 - mean(l.miss_class),
              1 - mean(l.miss_device));
  if (l.bounded > 0) std::printf("  80 %% intervals cover %.3f", l.covered / l.bounded);
  std::printf("\n");
  std::fflush(stdout);
}

void show(const std::string& name, double value, const char* unit, const char* goal, double bound) {
  std::printf("SHOW %s %.4g %s goal %s %g\n", name.c_str(), value, unit, goal, bound);
  std::fflush(stdout);
}

void shuffled(const Data& data, const std::string& platform, std::size_t repeats) {
  double mae = 0, classes = 0, devices = 0;
  repeats = std::min(repeats, data.fold.size());
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    const Losses cost(
        data.kernels,
        cross_validate(data.kernels, data.fold[repeat], cost_method(false, true, true)), false);
    print("loadbalance.cost", cost);
    mae += mean(cost.mae) / static_cast<double>(repeats);
    classes += (1 - mean(cost.miss_class)) / static_cast<double>(repeats);
    devices += (1 - mean(cost.miss_device)) / static_cast<double>(repeats);
  }
  print("boosted trees",
        Losses(data.kernels, cross_validate(data.kernels, data.fold[0], boosted_trees), false));
  const bool nvidia = platform == "nvidia";
  show("shuffled_" + platform + "_mae", mae, "points", "<=", nvidia ? 6.0 : 6.7);
  show("shuffled_" + platform + "_class_accuracy", classes, "share", ">=", nvidia ? 0.80 : 0.74);
  show("shuffled_" + platform + "_device_accuracy", devices, "share", ">=", nvidia ? 0.90 : 0.94);
}

void grouped(const Data& data, const std::string& platform) {
  const auto run = [&](const char* who, const Method& method) {
    Losses losses(data.kernels, cross_validate(data.kernels, data.fold[0], method), true);
    print(who, losses);
    return losses;
  };
  const Losses cost = run("loadbalance.cost", cost_method(true, true, true));
  const Losses flat = run("constant", constant);
  const Losses near = run("5-NN on launch", neighbours);
  const Losses trees = run("boosted trees", boosted_trees);
  const Difference to_flat(cost.mae, flat.mae), to_near(cost.mae, near.mae),
      to_trees(cost.mae, trees.mae);
  for (const auto& [who, d] : {std::pair<const char*, const Difference*>{"constant", &to_flat},
                               {"5-NN", &to_near},
                               {"boosted trees", &to_trees}})
    std::printf("cost minus %-14s %6.2f points [%.2f, %.2f]\n", who, d->mean_, d->lo, d->hi);
  // Better: the whole interval below 0. Not worse: the interval reaches below 0.
  show("grouped_" + platform + "_over_constant_upper", to_flat.hi, "points", "<=", 0);
  show("grouped_" + platform + "_over_knn_upper", to_near.hi, "points", "<=", 0);
  show("grouped_" + platform + "_over_trees_lower", to_trees.lo, "points", "<=", 0);
  show("grouped_" + platform + "_mae", mean(cost.mae), "points", "<=", mean(near.mae));
  show("grouped_" + platform + "_coverage_low", cost.covered / cost.bounded, "share", ">=", 0.70);
  show("grouped_" + platform + "_coverage_high", cost.covered / cost.bounded, "share", "<=", 0.90);
  if (std::getenv("OMEN_SHOW_BREAK")) return;
  run("loadbalance.cost, no input_size", cost_method(false, true, false));
}

// Errors of the shipped kind of model (trees only, no counts from outside) by suite, for its card.
void card(const Data& data) {
  const Method shipped = [](const KernelRows& train, const KernelRows& test,
                            const std::vector<std::size_t>& places, Answer& answer) {
    CostOptions options;
    options.inner_folds = 1;
    options.with_process = options.inputs.grewe = false;
    options.trees.rounds = 100;
    options.trees.leaves = 15;
    options.trees.eta = 0.12;
    CostModel model;
    model.fit(train, options, 1, quiet());
    const std::vector<CostRow> said = model.predict(test, kLevel, std::nullopt);
    for (std::size_t i = 0; i < places.size(); ++i) {
      answer.share[places[i]] = said[i].share;
      answer.device[places[i]] = said[i].devices[1] > said[i].devices[0];
    }
  };
  const Answer answer = cross_validate(data.kernels, data.fold[0], shipped);
  std::map<std::string, std::vector<double>> errors, misses;
  for (std::size_t i = 0; i < data.kernels.rows.size(); ++i) {
    const KernelRow& row = data.kernels.rows[i];
    const std::string suite = row.name.substr(0, row.name.find_first_of("0123456789") - 1);
    const double miss = answer.device[i] != (row.t_gpu_ms < row.t_cpu_ms ? 1 : 0);
    for (const std::string& group : {suite, std::string("all")}) {
      errors[group].push_back(std::abs(answer.share[i] - row.share));
      misses[group].push_back(miss);
    }
  }
  for (const auto& [suite, error] : errors)
    std::printf("| %s | %zu | %.1f | %.2f |\n", suite.c_str(), error.size(), mean(error),
                1 - mean(misses[suite]));
}

void gpu_out(const Data& data) {
  const Losses reused(data.kernels, cross_validate(data.kernels, data.fold[0], reused_label),
                      false);
  print("label of the other GPU", reused);
  const Losses cost(data.kernels,
                    cross_validate(data.kernels, data.fold[0], cost_method(false, true, true)),
                    false);
  print("loadbalance.cost", cost);
  show("gpu_out_mae", mean(cost.mae), "points", "<=", 22.2);
  show("gpu_out_device_accuracy", 1 - mean(cost.miss_device), "share", ">=", 0.625);
}

int main_(int count, char** values) {
  if (count < 5) {
    std::fprintf(stderr,
                 "usage: %s TABLES SPLIT.csv PLATFORM shuffled|grouped|gpu-out|card [REPEATS]\n",
                 values[0]);
    return 2;
  }
  const Data data(values[1], values[2]);
  const std::string protocol = values[4];
  if (protocol == "shuffled")
    shuffled(data, values[3], count > 5 ? static_cast<std::size_t>(std::atoi(values[5])) : 3);
  else if (protocol == "grouped")
    grouped(data, values[3]);
  else if (protocol == "card")
    card(data);
  else
    gpu_out(data);
  return 0;
}

}  // namespace
}  // namespace omen::loadbalance::cost

int main(int count, char** values) {
  try {
    return omen::loadbalance::cost::main_(count, values);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
