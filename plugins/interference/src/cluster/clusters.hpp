// SPDX-License-Identifier: Apache-2.0
// How many clusters there are, how well rows belong to theirs, and which belong to none.
#pragma once

#include <omen/learn/kmeans.hpp>
#include <optional>
#include <vector>

namespace omen::interference {

// Where a falling curve bends most (Kneedle, doi:10.1109/ICDCSW.2011.20, sensitivity 1); nothing
// where it does not. `k` ascending.
std::optional<int> elbow(const std::vector<int>& k, const std::vector<double>& distortion);

// Mean over the rows of how much nearer their own cluster is than the next one, from -1 to 1; NaN
// with one cluster.
double silhouette(const learn::Matrix& x, const std::vector<learn::Index>& of_row, int clusters);

struct Membership {
  learn::Index cluster = 0;
  double share = 1;     // of the own cluster among all, by a Gaussian of the clusters' spread
  double distance = 0;  // to the own centre
  double margin = 0;    // by which the next centre is farther
  bool is_unknown = false;
};

// Radii beyond which a row belongs to no cluster: the 99 % quantile of each cluster's own rows.
struct FittedClusters {
  learn::KMeans found;
  std::vector<double> radius;
  double spread = 1;

  std::vector<Membership> members(const learn::Matrix& x) const;
};
FittedClusters fit_clusters(const learn::Matrix& x, int clusters, int restarts, std::uint64_t seed);

}  // namespace omen::interference
