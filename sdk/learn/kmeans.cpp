// SPDX-License-Identifier: Apache-2.0
// Seeds, Lloyd's iterations, and the best of several starts.
#include "omen/learn/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <omen/error.hpp>
#include <string>

#include "omen/learn/parallel.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

struct Nearest {
  Index centre = 0;
  double squared = std::numeric_limits<double>::infinity();
};

Nearest nearest_centre(const Matrix& centres, const Matrix& x, Index row) {
  Nearest best;
  for (Index centre = 0; centre < centres.rows(); ++centre) {
    const double squared = (x.row(row) - centres.row(centre)).squaredNorm();
    if (squared < best.squared) best = {centre, squared};
  }
  return best;
}

// The row at which the running sum of `weights` passes a random share of their total.
Index weighted_row(const Vector& weights, Random& random) {
  const double total = weights.sum();
  if (!(total > 0))
    return static_cast<Index>(random.below(static_cast<std::uint64_t>(weights.size())));
  double left = random.uniform() * total;
  for (Index row = 0; row + 1 < weights.size(); ++row) {
    left -= weights[row];
    if (left < 0) return row;
  }
  return weights.size() - 1;
}

// Each seed is the best of a few draws, the greedy variant of doi:10.5555/1283383.1283494.
Matrix seeded_centres(const Matrix& x, Index count, Random& random) {
  const int draws = 2 + static_cast<int>(std::log(static_cast<double>(count)));
  Matrix centres(count, x.cols());
  centres.row(0) = x.row(static_cast<Index>(random.below(static_cast<std::uint64_t>(x.rows()))));
  Vector squared = (x.rowwise() - centres.row(0)).rowwise().squaredNorm();
  for (Index centre = 1; centre < count; ++centre) {
    Vector least;
    for (int draw = 0; draw < draws; ++draw) {
      const Index row = weighted_row(squared, random);
      Vector left = squared.cwiseMin((x.rowwise() - x.row(row)).rowwise().squaredNorm());
      if (draw > 0 && left.sum() >= least.sum()) continue;
      centres.row(centre) = x.row(row);
      least = std::move(left);
    }
    squared = std::move(least);
  }
  return centres;
}

// True where a row changed its cluster.
bool assign_rows(const Matrix& x, KMeans& clusters, Vector& squared) {
  bool changed = false;
  for (Index row = 0; row < x.rows(); ++row) {
    const Nearest best = nearest_centre(clusters.centres, x, row);
    Index& own = clusters.of_row[static_cast<std::size_t>(row)];
    changed |= own != best.centre;
    own = best.centre;
    squared[row] = best.squared;
  }
  return changed;
}

void move_centres(const Matrix& x, KMeans& clusters, Vector& squared) {
  Matrix sums = Matrix::Zero(clusters.centres.rows(), x.cols());
  std::vector<Index> members(static_cast<std::size_t>(sums.rows()), 0);
  for (Index row = 0; row < x.rows(); ++row) {
    const Index own = clusters.of_row[static_cast<std::size_t>(row)];
    sums.row(own) += x.row(row);
    ++members[static_cast<std::size_t>(own)];
  }
  for (Index centre = 0; centre < sums.rows(); ++centre) {
    const Index count = members[static_cast<std::size_t>(centre)];
    if (count > 0) {
      clusters.centres.row(centre) = sums.row(centre) / static_cast<double>(count);
      continue;
    }
    Index farthest = 0;
    squared.maxCoeff(&farthest);
    clusters.centres.row(centre) = x.row(farthest);
    squared[farthest] = 0;
  }
}

KMeans one_start(const Matrix& x, const KMeansOptions& options, std::uint64_t start) {
  Random random(options.seed, start);
  KMeans clusters;
  clusters.centres = seeded_centres(x, options.clusters, random);
  clusters.of_row.assign(static_cast<std::size_t>(x.rows()), -1);
  Vector squared(x.rows());
  bool changed = assign_rows(x, clusters, squared);
  while (changed && clusters.iterations < options.most_iterations) {
    move_centres(x, clusters, squared);
    changed = assign_rows(x, clusters, squared);
    ++clusters.iterations;
  }
  clusters.inertia = squared.sum();
  return clusters;
}

}  // namespace

std::vector<Index> KMeans::assign(const Matrix& x) const {
  std::vector<Index> nearest;
  for (Index row = 0; row < x.rows(); ++row)
    nearest.push_back(nearest_centre(centres, x, row).centre);
  return nearest;
}

KMeans kmeans(const Matrix& x, const KMeansOptions& options) {
  if (options.clusters < 1 || x.rows() < options.clusters) {
    throw Error(OMEN_INVALID_ARGUMENT, std::to_string(x.rows()) + " rows cannot form " +
                                           std::to_string(options.clusters) + " clusters");
  }
  if (!x.allFinite())
    throw Error(OMEN_INVALID_ARGUMENT, "clusters need finite values", "fill or drop nulls first");
  std::vector<KMeans> starts(static_cast<std::size_t>(std::max(options.restarts, 1)));
  for_each_job(starts.size(), options.threads,
               [&](std::size_t start) { starts[start] = one_start(x, options, start); });
  const auto better = [](const KMeans& a, const KMeans& b) { return a.inertia < b.inertia; };
  return std::move(*std::min_element(starts.begin(), starts.end(), better));
}

}  // namespace omen::learn
