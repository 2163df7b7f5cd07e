// SPDX-License-Identifier: Apache-2.0
// The dense types that every learner shares.
#pragma once

#include <Eigen/Core>

namespace omen::baseline {

using Eigen::Index;
using Vector = Eigen::VectorXd;
/// Row major, because rows are workloads and are read one by one.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace omen::baseline
