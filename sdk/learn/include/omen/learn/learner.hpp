// SPDX-License-Identifier: Apache-2.0
// The interface that the four learners share: one design matrix, several targets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "omen/learn/features.hpp"
#include "omen/learn/folds.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

/// What a learner may use of the call it runs in.
struct Context {
  std::uint64_t seed = 0;
  unsigned threads = 1;
  /// Reports progress and throws when the call was cancelled; from the caller's thread only.
  std::function<void(double fraction, const char* stage)> step = [](double, const char*) {};
  /// True once the call was cancelled; from any thread.
  std::function<bool()> cancelled = [] { return false; };

  /// The same call, with its progress counted as part `index` of `count` equal ones.
  Context part(std::size_t index, std::size_t count) const;
};

/// One target on its working scale: a number per row, or a class code when `classes` >= 2.
struct Head {
  Vector y;  ///< NaN: unknown, the row does not count for this head
  int classes = 0;

  Index outputs() const { return classes == 0 ? 1 : classes; }
};

struct HeadReport {
  Matrix held_out;    ///< per row what the folds that did not see it say; NaN: never held out
  double loss = 0;    ///< mean_loss of held_out; NaN without folds
  std::string knobs;  ///< the choice in words, such as "alpha 0.1"
};

/// What a loaded learner must accept and answer.
struct Shape {
  Index features = 0;
  std::vector<int> classes;  ///< one per head, 0 for a number

  Index outputs(std::size_t head) const { return classes[head] == 0 ? 1 : classes[head]; }
};

class Learner {
 public:
  virtual ~Learner() = default;

  virtual Scaling scaling() const = 0;
  /// Chooses the knobs by cross-validation over `folds`, then fits every row.
  virtual std::vector<HeadReport> fit(const Matrix& x, const std::vector<Head>& heads,
                                      const Folds& folds, const Context& context) = 0;
  /// Per head: one column of numbers, or one column of probabilities per class.
  virtual std::vector<Matrix> predict(const Matrix& x, const Context& context) const = 0;
  virtual void save(StateWriter& out) const = 0;
  /// Throws unless the state fits `shape`, so that predict can trust it.
  virtual void load(const StateReader& in, const Shape& shape) = 0;
};

/// The rows of a head that count, with their folds.
struct Sample {
  std::vector<Index> rows;
  Matrix x;
  Vector y;
  Folds folds;

  Sample(const Matrix& all, const Head& head, const Folds& folds);
  /// Held-out predictions of the sample spread over all rows, with their loss.
  HeadReport report(const Matrix& held_out, const Head& head, std::string knobs) const;
};

/// Fits on the training part of every fold and predicts the rest. `predict_fold(x, y, held_out)`
/// returns one row per row of `held_out`.
Matrix cross_validate(const Matrix& x, const Vector& y, const Folds& folds, Index outputs,
                      const std::function<Matrix(const Matrix& x, const Vector& y,
                                                 const Matrix& held_out)>& predict_fold);

}  // namespace omen::learn
