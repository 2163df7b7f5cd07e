// SPDX-License-Identifier: Apache-2.0
// Clusters of rows by k-means, started by k-means++ several times.
#pragma once

#include <cstdint>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

struct KMeansOptions {
  int clusters = 8;
  int restarts = 10;          ///< the best of so many starts is kept
  int most_iterations = 300;  ///< of Lloyd's algorithm; it ends when no row changes its cluster
  std::uint64_t seed = 0;
  unsigned threads = 1;  ///< the answer does not depend on it
  Matrix start;          ///< centres to begin with, one row a cluster; empty: k-means++
};

struct KMeans {
  Matrix centres;             ///< one row a cluster
  std::vector<Index> of_row;  ///< the cluster of each row that was fitted
  double inertia = 0;         ///< sum of squared distances to the centres
  int iterations = 0;         ///< of the start that was kept

  /// The nearest centre of each row; the first of equally near ones.
  std::vector<Index> assign(const Matrix& x) const;
};

/// Lloyd's algorithm from the seeding of doi:10.5555/1283383.1283494, where a row becomes a centre
/// with a chance that grows with its squared distance from the centres before it. A cluster that
/// loses its rows takes the row farthest from its centre. OMEN_INVALID_ARGUMENT where there are
/// fewer rows than clusters, or a value is not finite.
KMeans kmeans(const Matrix& x, const KMeansOptions& options);

}  // namespace omen::learn
