// SPDX-License-Identifier: Apache-2.0
// The elbow, the silhouette and soft membership.
#include "cluster/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <omen/learn/quantile.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;

constexpr double kKnownShare = 0.99;

// Points that are no lower (or no higher) than both neighbours; an end has one.
std::vector<bool> extrema(const std::vector<double>& d, double sign) {
  std::vector<bool> found;
  for (std::size_t i = 0; i < d.size(); ++i)
    found.push_back((i == 0 || sign * d[i] >= sign * d[i - 1]) &&
                    (i + 1 == d.size() || sign * d[i] >= sign * d[i + 1]));
  return found;
}

// Moves rows one by one while that lowers the sum of squares (doi:10.2307/2346830): where Lloyd's
// algorithm stops, a single row may still be better off elsewhere, because centres follow it.
void move_single_rows(const Matrix& x, learn::KMeans& clusters) {
  const Index count = clusters.centres.rows();
  std::vector<double> size(static_cast<std::size_t>(count), 0);
  for (const Index own : clusters.of_row) ++size[static_cast<std::size_t>(own)];
  for (bool moved = true; moved;) {
    moved = false;
    for (Index row = 0; row < x.rows(); ++row) {
      Index& own = clusters.of_row[static_cast<std::size_t>(row)];
      const double here = size[static_cast<std::size_t>(own)];
      if (here < 2) continue;
      const double saved =
          here / (here - 1) * (x.row(row) - clusters.centres.row(own)).squaredNorm();
      Index best = own;
      double least = saved * (1 - 1e-9);
      for (Index c = 0; c < count; ++c) {
        const double there = size[static_cast<std::size_t>(c)];
        const double paid =
            there / (there + 1) * (x.row(row) - clusters.centres.row(c)).squaredNorm();
        if (c == own || paid >= least) continue;
        least = paid;
        best = c;
      }
      if (best == own) continue;
      const double there = size[static_cast<std::size_t>(best)];
      clusters.centres.row(own) -= (x.row(row) - clusters.centres.row(own)) / (here - 1);
      clusters.centres.row(best) += (x.row(row) - clusters.centres.row(best)) / (there + 1);
      --size[static_cast<std::size_t>(own)];
      ++size[static_cast<std::size_t>(best)];
      own = best;
      moved = true;
    }
  }
  clusters.inertia = 0;
  for (Index row = 0; row < x.rows(); ++row)
    clusters.inertia +=
        (x.row(row) - clusters.centres.row(clusters.of_row[static_cast<std::size_t>(row)]))
            .squaredNorm();
}

}  // namespace

std::optional<int> elbow(const std::vector<int>& k, const std::vector<double>& distortion) {
  if (k.size() < 3) return std::nullopt;
  const auto [least, most] = std::minmax_element(distortion.begin(), distortion.end());
  if (!(*most > *least)) return std::nullopt;
  const double first = k.front(), range = k.back() - k.front();
  std::vector<double> difference;
  for (std::size_t i = 0; i < k.size(); ++i)
    difference.push_back(1 - (distortion[i] - *least) / (*most - *least) - (k[i] - first) / range);
  const std::vector<bool> maxima = extrema(difference, 1), minima = extrema(difference, -1);
  const double step = 1 / static_cast<double>(k.size() - 1);
  std::optional<std::size_t> candidate;
  double threshold = 0;
  for (std::size_t i = 0; i + 1 < k.size(); ++i) {
    if (maxima[i]) {
      candidate = i;
      threshold = difference[i] - step;
    }
    if (!candidate) continue;
    if (minima[i]) threshold = 0;
    if (difference[i + 1] < threshold) return k[*candidate];
  }
  return std::nullopt;
}

double silhouette(const Matrix& x, const std::vector<Index>& of_row, int clusters) {
  if (clusters < 2) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> size(static_cast<std::size_t>(clusters), 0);
  for (const Index own : of_row) ++size[static_cast<std::size_t>(own)];
  double sum = 0;
  for (Index row = 0; row < x.rows(); ++row) {
    std::vector<double> distance(size.size(), 0);
    for (Index other = 0; other < x.rows(); ++other)
      distance[static_cast<std::size_t>(of_row[static_cast<std::size_t>(other)])] +=
          (x.row(row) - x.row(other)).norm();
    const auto own = static_cast<std::size_t>(of_row[static_cast<std::size_t>(row)]);
    if (size[own] < 2) continue;  // alone in its cluster counts 0
    const double inside = distance[own] / (size[own] - 1);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < size.size(); ++c)
      if (c != own && size[c] > 0) nearest = std::min(nearest, distance[c] / size[c]);
    sum += (nearest - inside) / std::max(nearest, inside);
  }
  return sum / static_cast<double>(x.rows());
}

FittedClusters fit_clusters(const Matrix& x, int clusters, int restarts, std::uint64_t seed) {
  FittedClusters made;
  for (int start = 0; start < restarts; ++start) {
    learn::KMeansOptions options;
    options.clusters = clusters;
    options.restarts = 1;
    options.seed = seed + static_cast<std::uint64_t>(start);
    learn::KMeans found = learn::kmeans(x, options);
    move_single_rows(x, found);
    if (start == 0 || found.inertia < made.found.inertia) made.found = std::move(found);
  }
  made.spread = std::max(made.found.inertia / static_cast<double>(x.rows() * x.cols()), 1e-12);
  for (int cluster = 0; cluster < clusters; ++cluster) {
    std::vector<double> distances;
    for (Index row = 0; row < x.rows(); ++row)
      if (made.found.of_row[static_cast<std::size_t>(row)] == cluster)
        distances.push_back((x.row(row) - made.found.centres.row(cluster)).norm());
    std::sort(distances.begin(), distances.end());
    made.radius.push_back(distances.empty() ? 0 : learn::quantile(distances, kKnownShare));
  }
  return made;
}

std::vector<Membership> FittedClusters::members(const Matrix& x) const {
  std::vector<Membership> all;
  for (Index row = 0; row < x.rows(); ++row) {
    Membership made;
    double nearest = std::numeric_limits<double>::infinity(), next = nearest;
    for (Index c = 0; c < found.centres.rows(); ++c) {
      const double distance = (x.row(row) - found.centres.row(c)).norm();
      if (distance < nearest) {
        next = nearest;
        nearest = distance;
        made.cluster = c;
      } else {
        next = std::min(next, distance);
      }
    }
    double weights = 0;
    for (Index c = 0; c < found.centres.rows(); ++c)
      weights += std::exp((nearest * nearest - (x.row(row) - found.centres.row(c)).squaredNorm()) /
                          (2 * spread));
    made.share = 1 / weights;
    made.distance = nearest;
    made.margin = std::isfinite(next) ? next - nearest : 0;
    // A little beyond the radius, because the row that defines it is known.
    made.is_unknown = nearest > radius[static_cast<std::size_t>(made.cluster)] * (1 + 1e-9);
    all.push_back(made);
  }
  return all;
}

}  // namespace omen::interference
