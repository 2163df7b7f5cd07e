// SPDX-License-Identifier: Apache-2.0
// Nearest neighbours in the space of standardised features.
#pragma once

#include "omen/learn/learner.hpp"

namespace omen::learn {

struct KnnOptions {
  int k = 0;  ///< 0: chosen by cross-validation
  enum class Weights { kAuto, kUniform, kDistance } weights = Weights::kAuto;
  Index max_rows = 20000;  ///< of the training set; a seeded choice when there are more
};

/// The nearest training rows of one query, nearest first; equal distances in row order.
struct Neighbours {
  std::vector<Index> rows;
  std::vector<double> distances;
};

/// `skip[i]`: training row i does not count; may be empty.
Neighbours nearest(const Matrix& training, const Eigen::Ref<const Eigen::RowVectorXd>& query,
                   std::size_t k, const std::vector<bool>& skip);

class KnnLearner final : public Learner {
 public:
  explicit KnnLearner(KnnOptions options) : options_(options) {}

  Scaling scaling() const override { return Scaling::kStandardised; }
  std::vector<HeadReport> fit(const Matrix& x, const std::vector<Head>& heads, const Folds& folds,
                              const Context& context) override;
  std::vector<Matrix> predict(const Matrix& x, const Context& context) const override;
  void save(StateWriter& out) const override;
  void load(const StateReader& in, const Shape& shape) override;

 private:
  struct FittedHead {
    Vector y;  ///< one per row of x_; NaN rows never vote
    int classes = 0;
    int k = 1;
    bool by_distance = false;
  };

  HeadReport fit_head(const Matrix& x, const Head& head, const Folds& folds,
                      const Context& context);

  KnnOptions options_;
  Matrix x_;
  std::vector<FittedHead> heads_;
};

}  // namespace omen::learn
