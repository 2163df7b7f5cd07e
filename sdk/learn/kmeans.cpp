// SPDX-License-Identifier: Apache-2.0
// Seeds, Lloyd's iterations, and the best of several starts.
#include "omen/learn/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <omen/error.hpp>
#include <string>

#include "nearest_centres.hpp"
#include "omen/learn/parallel.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

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

// Row by row; the one farthest from its centre is where a cluster without rows begins anew.
Vector squared_distances(const Matrix& x, const KMeans& clusters) {
  Vector squared(x.rows());
  for (Index row = 0; row < x.rows(); ++row)
    squared[row] =
        (x.row(row) - clusters.centres.row(clusters.of_row[static_cast<std::size_t>(row)]))
            .squaredNorm();
  return squared;
}

void move_centres(const Matrix& x, const NearestSums& sums, KMeans& clusters) {
  Vector squared;
  const Matrix before = clusters.centres;
  for (Index centre = 0; centre < before.rows(); ++centre) {
    const Index count = sums.members[static_cast<std::size_t>(centre)];
    if (count > 0) {
      clusters.centres.row(centre) = sums.sums.row(centre) / static_cast<double>(count);
      continue;
    }
    if (squared.size() == 0) {
      KMeans old{before, clusters.of_row, 0, 0};
      squared = squared_distances(x, old);
    }
    Index farthest = 0;
    squared.maxCoeff(&farthest);
    clusters.centres.row(centre) = x.row(farthest);
    squared[farthest] = 0;
  }
}

KMeans one_start(const Matrix& x, const KMeansOptions& options, std::uint64_t start,
                 unsigned threads) {
  Random random(options.seed, start);
  KMeans clusters;
  clusters.centres =
      options.start.rows() > 0 ? options.start : seeded_centres(x, options.clusters, random);
  clusters.of_row.assign(static_cast<std::size_t>(x.rows()), -1);
  NearestSums sums = nearest_centres(clusters.centres, x, threads, clusters.of_row);
  while (sums.changed && clusters.iterations < options.most_iterations) {
    move_centres(x, sums, clusters);
    sums = nearest_centres(clusters.centres, x, threads, clusters.of_row);
    ++clusters.iterations;
  }
  clusters.inertia = squared_distances(x, clusters).sum();
  return clusters;
}

}  // namespace

std::vector<Index> KMeans::assign(const Matrix& x) const {
  std::vector<Index> nearest(static_cast<std::size_t>(x.rows()), -1);
  nearest_centres(centres, x, 1, nearest);
  return nearest;
}

KMeans kmeans(const Matrix& x, const KMeansOptions& options) {
  if (options.clusters < 1 || x.rows() < options.clusters) {
    throw Error(OMEN_INVALID_ARGUMENT, std::to_string(x.rows()) + " rows cannot form " +
                                           std::to_string(options.clusters) + " clusters");
  }
  if (!x.allFinite())
    throw Error(OMEN_INVALID_ARGUMENT, "clusters need finite values", "fill or drop nulls first");
  if (options.start.rows() > 0 && (options.start.rows() != options.clusters ||
                                   options.start.cols() != x.cols() || !options.start.allFinite()))
    throw Error(OMEN_INVALID_ARGUMENT, "clusters cannot start from these centres",
                "Give one row of finite values for each cluster.");
  const auto count =
      static_cast<std::size_t>(options.start.rows() > 0 ? 1 : std::max(options.restarts, 1));
  std::vector<KMeans> starts(count);
  // Many starts run side by side; few share the rows of each among the threads.
  const bool many = count >= options.threads;
  for_each_job(count, many ? options.threads : 1, [&](std::size_t start) {
    starts[start] = one_start(x, options, start, many ? 1 : options.threads);
  });
  const auto better = [](const KMeans& a, const KMeans& b) { return a.inertia < b.inertia; };
  return std::move(*std::min_element(starts.begin(), starts.end(), better));
}

}  // namespace omen::learn
