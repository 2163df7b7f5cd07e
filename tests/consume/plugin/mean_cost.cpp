// SPDX-License-Identifier: Apache-2.0
// A small outside plugin, built by the consumption tests: predicts the mean of every target.
#include <cmath>
#include <string>
#include <vector>

#include "omen/plugin.hpp"

namespace {

class MeanCost final : public omen::Predictor {
 public:
  void fit(const omen::Dataset& train, const omen::Dataset&, const omen::Run& run) override {
    const omen::Table targets = train.table("targets");
    // A cancelled fit must leave the object as it was, so the members change only at the end.
    std::vector<std::string> names;
    std::vector<double> means;
    for (std::size_t column = 0; column < targets.columns(); ++column) {
      if (targets.name(column) == "workload_id") continue;
      names.emplace_back(targets.name(column));
      means.push_back(mean(targets.numbers(column)));
      run.step(static_cast<double>(column + 1) / static_cast<double>(targets.columns()), "fit");
    }
    names_ = std::move(names);
    means_ = std::move(means);
  }

  omen::TableStream predict(const omen::Dataset& in, const omen::Run&) override {
    if (names_.empty()) {
      throw omen::Error(OMEN_INVALID_STATE, "consume.mean has not learned anything yet",
                        "Train it, or load a model.");
    }
    const omen::Table workloads = in.table("workloads");
    const auto rows = static_cast<std::size_t>(workloads.rows());
    const auto ids = workloads.column<std::int64_t>("workload_id");
    omen::TableBuilder out;
    out.add("workload_id", std::vector<std::int64_t>(ids.begin(), ids.end()));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      out.add(names_[i], std::vector<double>(rows, means_[i]));
    }
    out.add_categories("status", std::vector<std::string>(rows, "ok"));
    return out.finish();
  }

  void save(omen::ArtifactWriter& out) const override {
    out.put("means", means_);
    std::string joined;
    for (const std::string& name : names_) joined += name + '\n';
    out.put_text("names", joined);
  }

  void load(const omen::ArtifactReader& in) override {
    means_ = in.get<double>("means");
    names_.clear();
    std::string name;
    for (const char c : in.text("names")) {
      if (c == '\n') {
        names_.push_back(std::move(name));
        name.clear();
      } else {
        name += c;
      }
    }
    if (names_.size() != means_.size()) {
      throw omen::Error(OMEN_INVALID_DATA, "model has " + std::to_string(means_.size()) +
                                               " means for " + std::to_string(names_.size()) +
                                               " targets");
    }
  }

 private:
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : 0.0;
  }

  std::vector<std::string> names_;
  std::vector<double> means_;
};

}  // namespace

OMEN_PLUGIN("consume", "0.1.0", "Apache-2.0",
            omen::predictor<MeanCost>("consume.mean", "predicts the mean of every target")
                .reads("workloads.*")
                .writes("*")
                .caps(OMEN_CAP_BITWISE_REPEATABLE))
