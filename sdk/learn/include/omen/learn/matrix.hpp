// SPDX-License-Identifier: Apache-2.0
// The dense types that every learner shares.
#pragma once

#include <Eigen/Core>
#include <limits>

namespace omen::learn {

using Eigen::Index;
using Vector = Eigen::VectorXd;
/// Row major, because rows are workloads and are read one by one.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A number that nobody knows: a null of a table, a row without a label.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace omen::learn
