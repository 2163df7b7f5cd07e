// SPDX-License-Identifier: Apache-2.0
// Regression by a Gaussian process over a kernel of named blocks.
#pragma once

#include <string>
#include <vector>

#include "omen/learn/kernel.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

/// What a process says about some rows.
struct Opinions {
  Matrix mean;      ///< one column an answer
  Vector variance;  ///< near 0: much like rows of training; the most is what the kernel starts from
};

/// The rows of training are kept, and answers follow from how alike a new row is to each of them
/// (doi:10.7551/mitpress/3206.001.0001, chapter 2). All answers share kernel and noise.
class GaussianProcess {
 public:
  /// `noise`: variance of a measurement.
  GaussianProcess(Kernel kernel, double noise) : kernel_(std::move(kernel)), scale_(noise) {}

  /// One answer for each column of `y`; `noise`: factor of the noise of each row. Returns what is
  /// said about each row by all others.
  Opinions fit(const Blocks& x, const Matrix& y, const Vector& noise);
  Opinions predict(const Blocks& x) const;
  /// Of the answers given the rows (eq. 2.30), summed over the answers: kernels may be compared by
  /// it. After fit() only.
  double log_likelihood() const { return log_likelihood_; }

  void save(StateWriter& out, const std::string& prefix) const;
  /// Blocks of another model have no place here: `layout` has the name and the number of columns of
  /// each, in the order of fit(). OMEN_INVALID_DATA where the state does not fit.
  struct BlockShape {
    std::string name;
    Index columns;
  };
  void load(const StateReader& in, const std::string& prefix, const std::vector<BlockShape>& layout,
            Index answers);

 private:
  void invert();

  Kernel kernel_;
  double scale_;
  Blocks rows_;
  Vector noise_;    ///< variance of each row
  Matrix inverse_;  ///< of the kernel with noise; from the rows again after load()
  Matrix weights_;  ///< one column an answer
  Vector mean_;
  double log_determinant_ = 0, log_likelihood_ = 0;
};

}  // namespace omen::learn
