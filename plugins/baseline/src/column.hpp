// SPDX-License-Identifier: Apache-2.0
// baseline.column: what a column already says, such as predictions that somebody published.
#pragma once

#include <omen/plugin.hpp>
#include <string>

namespace omen::baseline {

struct ColumnOptions {
  std::string column;

  static auto spec() {
    return options(opt(&ColumnOptions::column, "column",
                       "the column of workloads whose values are the answers; it must be given"));
  }
};

class ColumnPredictor final : public Predictor {
 public:
  explicit ColumnPredictor(ColumnOptions options) : column_(std::move(options.column)) {}
  void fit(const Dataset& train, const Dataset& valid, const Run& run) override;
  TableStream predict(const Dataset& in, const Run& run) override;
  void save(ArtifactWriter& out) const override;
  void load(const ArtifactReader& in) override;

 private:
  std::string column_, target_, unit_;
};

}  // namespace omen::baseline
