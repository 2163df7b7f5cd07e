// SPDX-License-Identifier: Apache-2.0
// Accuracy of loadbalance.cost under the frozen splits of the devmap tasks: shuffled, on a GPU that
// was not seen, and by suite for the card of the bundled model.
//   loadbalance_cost_folds TABLES SPLIT.csv PLATFORM shuffled|gpu-out|card
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
#include "cost/share_scale.hpp"
#include "cost_rows.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr double kLevel = 0.8;

// What somebody says about every row: share, class, device.
struct Answer {
  std::vector<double> share;
  std::vector<int> share_class, device;

  explicit Answer(std::size_t rows) : share(rows), share_class(rows), device(rows) {}
};

struct Losses {
  std::vector<double> mae, miss_class, miss_device;

  Losses(const KernelRows& rows, const Answer& answer) {
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const KernelRow& row = rows.rows[i];
      mae.push_back(std::abs(answer.share[i] - row.share));
      miss_class.push_back(answer.share_class[i] != class_of_share(row.share));
      miss_device.push_back(answer.device[i] != (row.t_gpu_ms < row.t_cpu_ms ? 1 : 0));
    }
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
  for (const std::string& held : std::set<std::string>(fold.begin(), fold.end())) {
    std::vector<std::size_t> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == held ? out : in).push_back(i);
    KernelRows train = rows.subset(in);
    if (test::broken()) permute_labels(train);
    KernelRows test = rows.subset(out);
    for (KernelRow& row : test.rows) row.share = row.t_cpu_ms = row.t_gpu_ms = kUnknown;
    method(train, test, out, answer);
  }
  return answer;
}

// Intervals are not asked for here, so nothing is held out for them.
Method cost_method(CostOptions options) {
  options.inner_folds = 1;
  return [=](const KernelRows& train, const KernelRows& test,
             const std::vector<std::size_t>& places, Answer& answer) {
    CostModel model;
    model.fit(train, options, 1, quiet_run());
    const std::vector<CostRow> said = model.predict(test, kLevel, std::nullopt);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto best = [](const auto& p) {
        return static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
      };
      answer.share[places[i]] = said[i].share;
      answer.share_class[places[i]] = best(said[i].classes);
      answer.device[places[i]] = best(said[i].devices);
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
    classes[i] = class_of_share(row.share);
    devices[i] = row.t_gpu_ms < row.t_cpu_ms ? 1 : 0;
  }
  learn::BoostedSettings plain;
  plain.eta = 0.1;
  plain.subsample = plain.columns = 1;
  const Vector weights = Vector::Ones(count);
  learn::BoostedHead number, five, two;
  number.fit(x.trees, share, weights, 0, plain, 1, quiet_run());
  plain.rounds = 100;
  five.fit(x.trees, classes, weights, 5, plain, 1, quiet_run());
  two.fit(x.trees, devices, weights, 2, plain, 1, quiet_run());
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

// The label that the same kernel has on the other machine.
void reused_label(const KernelRows& train, const KernelRows& test,
                  const std::vector<std::size_t>& places, Answer& answer) {
  std::map<std::string, const KernelRow*> by_name;
  for (const KernelRow& row : train.rows) by_name[row.name] = &row;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const KernelRow& row = *by_name.at(test.rows[i].name);
    answer.share[places[i]] = row.share;
    answer.share_class[places[i]] = class_of_share(row.share);
    answer.device[places[i]] = row.t_gpu_ms < row.t_cpu_ms;
  }
}

void print(const char* who, const Losses& l) {
  std::printf("%-32s MAE %6.2f  class %.3f  device %.3f\n", who, mean(l.mae),
              1 - mean(l.miss_class), 1 - mean(l.miss_device));
  std::fflush(stdout);
}

// Errors of the shipped kind of model (trees only, no counts from outside) by suite, for its card.
int card(const CostData& data) {
  CostOptions shipped;
  shipped.with_process = shipped.inputs.grewe = false;
  shipped.trees.rounds = 100;
  shipped.trees.leaves = 15;
  shipped.trees.eta = 0.12;
  const Answer answer = cross_validate(data.kernels, data.fold[0], cost_method(shipped));
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
  return 0;
}

// Means over the repeats of the split, with boosted trees in the same table.
struct Means {
  double mae = 0, classes = 0, devices = 0;

  Means(const CostData& data, const char* who, const Method& method) {
    const auto repeats = static_cast<double>(data.fold.size());
    for (const std::vector<std::string>& fold : data.fold) {
      const Losses losses(data.kernels, cross_validate(data.kernels, fold, method));
      print(who, losses);
      mae += mean(losses.mae) / repeats;
      classes += (1 - mean(losses.miss_class)) / repeats;
      devices += (1 - mean(losses.miss_device)) / repeats;
    }
  }
};

int shuffled(const CostData& data, const std::string& platform) {
  const Means trees(data, "boosted trees", boosted_trees);
  const Means cost(data, "loadbalance.cost", cost_method({}));
  std::printf("mean of the fold seeds: cost %.2f / %.4f / %.4f, trees %.2f / %.4f / %.4f\n",
              cost.mae, cost.classes, cost.devices, trees.mae, trees.classes, trees.devices);
  const bool nvidia = platform == "nvidia";
  const std::string name = "shuffled_" + platform;
  return test::show(name + "_mae", cost.mae, "points", "<=", nvidia ? 6.0 : 6.7) +
         test::show(name + "_class_accuracy", cost.classes, "share", ">=", nvidia ? 0.80 : 0.74) +
         test::show(name + "_device_accuracy", cost.devices, "share", ">=", nvidia ? 0.90 : 0.94);
}

int gpu_out(const CostData& data) {
  const Means reused(data, "label of the other GPU", reused_label);
  const Means cost(data, "loadbalance.cost", cost_method({}));
  return test::show("gpu_out_mae", cost.mae, "points", "<=", 22.2) +
         test::show("gpu_out_device_accuracy", cost.devices, "share", ">=", 0.625);
}

int main_(int count, char** values) {
  if (count != 5) {
    std::fprintf(stderr, "usage: %s TABLES SPLIT.csv PLATFORM shuffled|gpu-out|card\n", values[0]);
    return 2;
  }
  const CostData data(values[1], values[2]);
  const std::string protocol = values[4];
  const int missed = protocol == "shuffled"  ? shuffled(data, values[3])
                     : protocol == "gpu-out" ? gpu_out(data)
                                             : card(data);
  return missed > 0 ? 1 : 0;
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
