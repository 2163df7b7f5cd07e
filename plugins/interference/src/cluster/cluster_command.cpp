// SPDX-License-Identifier: Apache-2.0
// Tries numbers of clusters, chooses one, and says where every row belongs.
#include "cluster/cluster_command.hpp"

#include <cmath>
#include <omen/figure.hpp>

#include "characterise/job_table.hpp"
#include "cluster/clusters.hpp"

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;

Matrix matrix_of(const JobTable& table, const std::vector<std::string>& columns, bool scale) {
  Matrix x(static_cast<Index>(table.rows()), static_cast<Index>(columns.size()));
  for (Index c = 0; c < x.cols(); ++c) {
    const std::vector<double>& values = table.column(columns[static_cast<std::size_t>(c)]);
    for (Index row = 0; row < x.rows(); ++row) x(row, c) = values[static_cast<std::size_t>(row)];
    if (!scale) continue;
    x.col(c).array() -= x.col(c).mean();
    const double deviation = std::sqrt(x.col(c).array().square().mean());
    if (deviation > 0) x.col(c) /= deviation;
  }
  return x;
}

struct Tried {
  std::vector<int> k;
  std::vector<double> distortion, silhouette;
};

Tried try_all(const Matrix& x, const ClusterOptions& options, const Run& run) {
  Tried tried;
  for (int k = options.least_k; k <= std::min<Index>(options.most_k, x.rows()); ++k) {
    run.step(-1, "cluster");
    const FittedClusters fitted = fit_clusters(x, k, options.restarts, run.seed());
    tried.k.push_back(k);
    tried.distortion.push_back(fitted.found.inertia);
    tried.silhouette.push_back(silhouette(x, fitted.found.of_row, k));
  }
  return tried;
}

Table tried_table(const Tried& tried, std::optional<int> bend) {
  std::vector<std::int32_t> k(tried.k.begin(), tried.k.end());
  std::vector<bool> known, is_bend;
  std::vector<double> shown;
  for (std::size_t i = 0; i < k.size(); ++i) {
    known.push_back(std::isfinite(tried.silhouette[i]));
    shown.push_back(known.back() ? tried.silhouette[i] : 0);
    is_bend.push_back(bend && *bend == k[i]);
  }
  return TableBuilder()
      .add("k", std::move(k))
      .add("distortion", tried.distortion)
      .add("silhouette", std::move(shown))
      .valid(known)
      .add_bools("elbow", is_bend)
      .finish();
}

Table member_table(const JobTable& table, const std::vector<Membership>& members) {
  std::vector<std::string> job;
  std::vector<std::int32_t> cluster;
  std::vector<double> share, distance, margin;
  std::vector<bool> known;
  for (std::size_t row = 0; row < members.size(); ++row) {
    job.push_back(table.name(row));
    cluster.push_back(static_cast<std::int32_t>(members[row].cluster));
    share.push_back(members[row].share);
    distance.push_back(members[row].distance);
    margin.push_back(members[row].margin);
    known.push_back(!members[row].is_unknown);
  }
  return TableBuilder()
      .add_strings("job", job)
      .add("cluster", std::move(cluster))
      .valid(known)
      .add("share", std::move(share))
      .add("distance", std::move(distance))
      .add("margin", std::move(margin))
      .finish();
}

void draw(const Run& run, const Tried& tried, const Matrix& x, const FittedClusters& fitted,
          const std::vector<std::string>& columns) {
  Figure curve("distortion over the number of clusters");
  curve.x_axis({"clusters"}).y_axis(FigureAxis("distortion").from_zero());
  curve.lines("distortion", {tried.k.begin(), tried.k.end()}, tried.distortion);
  put_figure(run, "elbow", curve.json());
  if (columns.size() < 2) return;
  Figure points("clusters");
  points.x_axis({columns[0]}).y_axis({columns[1]});
  for (Index c = 0; c < fitted.found.centres.rows(); ++c) {
    std::vector<double> a, b;
    for (Index row = 0; row < x.rows(); ++row)
      if (fitted.found.of_row[static_cast<std::size_t>(row)] == c) {
        a.push_back(x(row, 0));
        b.push_back(x(row, 1));
      }
    points.markers("cluster " + std::to_string(c), a, b);
  }
  put_figure(run, "clusters", points.json());
}

}  // namespace

int ClusterCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "cluster needs a table of jobs or recordings",
                "Use: omen interference cluster JOBS.csv --columns util_pct,memory_pct.");
  const JobTable table = JobTable::of(args);
  const std::vector<std::string> columns = listed_columns(options_.columns);
  const Matrix x = matrix_of(table, columns, options_.scale);
  if (!x.allFinite())
    throw Error(OMEN_INVALID_DATA, "a row has no value in one of " + options_.columns,
                "Fill or leave out such rows; omen interference densify fills batch sizes.");
  const Tried tried = try_all(x, options_, run);
  const std::optional<int> bend = elbow(tried.k, tried.distortion);
  const int k =
      options_.k > 0 ? options_.k : bend.value_or(std::min<int>(3, static_cast<int>(x.rows())));
  const FittedClusters fitted = fit_clusters(x, k, options_.restarts, run.seed());
  out.put("tried", tried_table(tried, bend));
  out.put("jobs", member_table(table, fitted.members(x)));
  draw(run, tried, x, fitted, columns);
  return 0;
}

Component cluster_component() {
  return command<ClusterCommand, ClusterOptions>("interference.cluster",
                                                 "groups of jobs by k-means, with elbow and plots");
}

}  // namespace omen::interference
