// SPDX-License-Identifier: Apache-2.0
// Regression by a Gaussian process whose kernel multiplies likeness of code and of launch.
#pragma once

#include "cost/encoder.hpp"

namespace omen::loadbalance::cost {

// k = (kr R + kc C + kg G + k1) A with Matern 3/2 kernels R, C, G and A over the blocks of ratios,
// counts, Grewe's counts and launch (doi:10.7551/mitpress/3206.001.0001, eq. 4.17). Two kernels are
// alike as far as their code is, at launches that are alike.
struct ProcessScales {
  double ratios = 1.0, counts = 0.5, grewe = 0.5, launch = 0.3;  // amplitudes
  double code_length = 0.7, launch_length = 2.0;
  double noise = 0.03;  // variance of a measurement relative to an amplitude of 1
};

// What the process says about some rows.
struct Opinions {
  Matrix mean;      // one column an answer
  Vector variance;  // near 0: much like rows of training; the most is the sum of the amplitudes
};

class GaussianProcess {
 public:
  explicit GaussianProcess(ProcessScales scales = {}) : scales_(scales) {}

  // One answer for each column of `y`; `noise`: factor of the noise of each row. Returns what is
  // said about each row by all others.
  Opinions fit(const Encoded& x, const Matrix& y, const Vector& noise);
  Opinions predict(const Encoded& x) const;

  void save(ArtifactWriter& out, const std::string& prefix) const;
  void load(const ArtifactReader& in, const std::string& prefix, const KernelEncoder& encoder,
            Index answers);

 private:
  Matrix kernel(const std::array<Matrix, kBlocks>& a, const std::array<Matrix, kBlocks>& b) const;
  double amplitude() const;
  void invert();

  ProcessScales scales_;
  std::array<Matrix, kBlocks> rows_;
  Vector noise_;    // variance of each row
  Matrix inverse_;  // of the kernel with noise; from the rows again after load()
  Matrix weights_;  // one column an answer
  Vector mean_;
};

}  // namespace omen::loadbalance::cost
