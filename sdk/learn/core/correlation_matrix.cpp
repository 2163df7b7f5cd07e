// SPDX-License-Identifier: Apache-2.0
// Correlations of many columns, and of columns with gaps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "inversions.hpp"
#include "omen/learn/correlation.hpp"
#include "omen/learn/parallel.hpp"
#include "products.hpp"
#include "sorted_order.hpp"

namespace omen::learn {
namespace {

using Columns = std::vector<std::vector<double>>;

bool has_gaps(const std::vector<double>& column) {
  return std::any_of(column.begin(), column.end(), [](double v) { return std::isnan(v); });
}

double correlation_of(Correlation kind, std::span<const double> x, std::span<const double> y) {
  switch (kind) {
    case Correlation::kPearson:
      return pearson(x, y);
    case Correlation::kSpearman:
      return spearman(x, y);
    case Correlation::kKendall:
      return kendall(x, y);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Sums in parts, so that many rows cost no digits and each part is a fast loop.
double mean_of(const std::vector<double>& column) {
  constexpr std::size_t kPart = 1024;
  double sum = 0;
  for (std::size_t first = 0; first < column.size(); first += kPart) {
    double part[4] = {};
    const std::size_t last = std::min(first + kPart, column.size());
    std::size_t i = first;
    for (; i + 4 <= last; i += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) part[lane] += column[i + lane];
    for (; i < last; ++i) part[0] += column[i];
    sum += (part[0] + part[1]) + (part[2] + part[3]);
  }
  return sum / static_cast<double>(std::max<std::size_t>(column.size(), 1));
}

std::vector<double> centred(const std::vector<double>& column) {
  const double mean = mean_of(column);
  std::vector<double> made(column.size());
  for (std::size_t i = 0; i < column.size(); ++i) made[i] = column[i] - mean;
  return made;
}

bool is_constant(const std::vector<double>& column) {
  return std::all_of(column.begin(), column.end(), [&](double v) { return v == column[0]; });
}

// Products of columns with mean 0 over their lengths; NaN where a column is constant.
void scale_products(const std::vector<bool>& constant, std::vector<double>& matrix) {
  const std::size_t n = constant.size();
  std::vector<double> scale(n, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < n; ++i)
    if (!constant[i] && matrix[i * n + i] > 0) scale[i] = 1 / std::sqrt(matrix[i * n + i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      matrix[i * n + j] = std::clamp(matrix[i * n + j] * scale[i] * scale[j], -1.0, 1.0);
}

// A column as whole numbers: equal values share one, and they rise with the values.
struct Ranked {
  std::vector<std::int32_t> rank;
  std::vector<std::uint32_t> order;  // rows by rank
  std::int64_t tied_pairs = 0;
};

Ranked ranked(const std::vector<double>& column) {
  Ranked made;
  made.order = sorted_order(column);
  made.rank.resize(column.size());
  std::int32_t rank = 0;
  std::int64_t run = 0;
  for (std::size_t i = 0; i < made.order.size(); ++i) {
    const bool same = i > 0 && column[made.order[i]] == column[made.order[i - 1]];
    run = same ? run + 1 : 0;
    made.tied_pairs += run;
    if (!same && i > 0) ++rank;
    made.rank[made.order[i]] = rank;
  }
  return made;
}

// Knight's algorithm, doi:10.1080/01621459.1966.10480879, on columns that were sorted before.
double kendall_of(const Ranked& x, const Ranked& y, std::vector<std::int32_t>& values,
                  std::vector<std::int32_t>& other) {
  const std::size_t n = x.rank.size();
  values.resize(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = y.rank[x.order[i]];
  std::int64_t tied_both = 0;
  if (x.tied_pairs > 0)
    for (std::size_t first = 0, last; first < n; first = last) {
      last = first + 1;
      while (last < n && x.rank[x.order[last]] == x.rank[x.order[first]]) ++last;
      if (last == first + 1) continue;
      std::sort(values.begin() + static_cast<std::ptrdiff_t>(first),
                values.begin() + static_cast<std::ptrdiff_t>(last));
      std::int64_t run = 0;
      for (std::size_t i = first + 1; i < last; ++i) {
        run = values[i] == values[i - 1] ? run + 1 : 0;
        tied_both += run;
      }
    }
  const std::int64_t discordant = count_inversions(values, other);
  const auto rows = static_cast<std::int64_t>(n);
  const std::int64_t pairs = rows * (rows - 1) / 2;
  if (pairs == x.tied_pairs || pairs == y.tied_pairs)
    return std::numeric_limits<double>::quiet_NaN();
  const std::int64_t balance = pairs - x.tied_pairs - y.tied_pairs + tied_both - 2 * discordant;
  return static_cast<double>(balance) / std::sqrt(static_cast<double>(pairs - x.tied_pairs)) /
         std::sqrt(static_cast<double>(pairs - y.tied_pairs));
}

void fill_kendall(const Columns& columns, unsigned threads, std::vector<double>& matrix) {
  const std::size_t n = columns.size();
  std::vector<Ranked> all(n);
  for_each_job(n, threads, [&](std::size_t i) { all[i] = ranked(columns[i]); });
  for_each_job(n, threads, [&](std::size_t i) {
    std::vector<std::int32_t> values, other;
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * n + j] = matrix[j * n + i] = kendall_of(all[i], all[j], values, other);
  });
}

}  // namespace

Correlated correlate(Correlation kind, std::span<const double> x, std::span<const double> y) {
  std::vector<double> both_x, both_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || std::isnan(y[i])) continue;
    both_x.push_back(x[i]);
    both_y.push_back(y[i]);
  }
  return {correlation_of(kind, both_x, both_y), both_x.size()};
}

std::vector<double> correlation_matrix(Correlation kind, const Columns& columns, unsigned threads) {
  const std::size_t n = columns.size();
  std::vector<double> matrix(n * n, std::numeric_limits<double>::quiet_NaN());
  if (std::any_of(columns.begin(), columns.end(), has_gaps)) {
    for_each_job(n, threads, [&](std::size_t i) {
      for (std::size_t j = 0; j <= i; ++j)
        matrix[i * n + j] = matrix[j * n + i] = correlate(kind, columns[i], columns[j]).value;
    });
    return matrix;
  }
  if (kind == Correlation::kKendall) {
    fill_kendall(columns, threads, matrix);
    return matrix;
  }
  Columns shifted(n);
  std::vector<char> constant(n);  // threads write neighbours, which bits of a word do not survive
  for_each_job(n, threads, [&](std::size_t i) {
    constant[i] = is_constant(columns[i]) ? 1 : 0;
    shifted[i] = centred(kind == Correlation::kSpearman ? midranks(columns[i]) : columns[i]);
  });
  matrix = column_products(shifted, threads);
  scale_products({constant.begin(), constant.end()}, matrix);
  return matrix;
}

}  // namespace omen::learn
