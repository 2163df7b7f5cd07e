// SPDX-License-Identifier: Apache-2.0
// Correlations of many columns, and of columns with gaps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "omen/learn/correlation.hpp"
#include "omen/learn/instruction_sets.hpp"
#include "omen/learn/parallel.hpp"

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

// Mean 0 and length 1, so that a product of two is their correlation; NaN where constant.
void normalise(std::vector<double>& column) {
  const double mean = std::accumulate(column.begin(), column.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(column.size(), 1));
  double squares = 0;
  for (double& value : column) {
    value -= mean;
    squares += value * value;
  }
  const double scale =
      squares > 0 ? 1 / std::sqrt(squares) : std::numeric_limits<double>::quiet_NaN();
  for (double& value : column) value *= scale;
}

// Eight sums side by side, which is what lets the loop use wide registers.
OMEN_KERNEL_BODY void add_products(const double* x, const double* y, std::size_t count,
                                   double& sum) {
  double part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t lane = 0; lane < 8; ++lane) part[lane] += x[i + lane] * y[i + lane];
  for (const double value : part) sum += value;
  for (; i < count; ++i) sum += x[i] * y[i];
}

void dot(const double* x, const double* y, std::size_t count, double& sum) {
  OMEN_DISPATCH(add_products(x, y, count, sum));
}

// Columns by parts of the rows that stay in the cache while all pairs use them.
void fill_products(const Columns& columns, unsigned threads, std::vector<double>& matrix) {
  constexpr std::size_t kRows = 2048;
  const std::size_t n = columns.size(), rows = n > 0 ? columns[0].size() : 0;
  for_each_job(n, threads, [&](std::size_t i) {
    std::vector<double> sums(i + 1, 0);
    for (std::size_t first = 0; first < rows; first += kRows) {
      const std::size_t count = std::min(kRows, rows - first);
      for (std::size_t j = 0; j <= i; ++j)
        dot(columns[i].data() + first, columns[j].data() + first, count, sums[j]);
    }
    for (std::size_t j = 0; j <= i; ++j)
      matrix[i * n + j] = matrix[j * n + i] = std::clamp(sums[j], -1.0, 1.0);
  });
}

// A column as whole numbers: equal values share one, and they rise with the values.
struct Ranked {
  std::vector<std::uint32_t> rank, order;  // order: rows by rank
  std::int64_t tied_pairs = 0;
};

Ranked ranked(const std::vector<double>& column) {
  Ranked made;
  made.order.resize(column.size());
  std::iota(made.order.begin(), made.order.end(), 0U);
  std::sort(made.order.begin(), made.order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return column[a] < column[b]; });
  made.rank.resize(column.size());
  std::uint32_t rank = 0;
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

// Pairs in the wrong order; `values` are sorted afterwards. Short runs by insertion, then merging.
std::int64_t count_inversions(std::vector<std::uint32_t>& values,
                              std::vector<std::uint32_t>& other) {
  constexpr std::size_t kRun = 16;
  const std::size_t n = values.size();
  std::int64_t inversions = 0;
  for (std::size_t first = 0; first < n; first += kRun)
    for (std::size_t i = first + 1; i < std::min(first + kRun, n); ++i) {
      const std::uint32_t value = values[i];
      std::size_t at = i;
      for (; at > first && values[at - 1] > value; --at) values[at] = values[at - 1];
      values[at] = value;
      inversions += static_cast<std::int64_t>(i - at);
    }
  other.resize(n);
  for (std::size_t width = kRun; width < n; width *= 2) {
    for (std::size_t first = 0; first < n; first += 2 * width) {
      const std::size_t middle = std::min(first + width, n), last = std::min(first + 2 * width, n);
      std::size_t left = first, right = middle, out = first;
      // Without branches: which side is smaller cannot be guessed.
      while (left < middle && right < last) {
        const bool take_right = values[right] < values[left];
        other[out++] = take_right ? values[right] : values[left];
        inversions += take_right ? static_cast<std::int64_t>(middle - left) : 0;
        right += take_right ? 1 : 0;
        left += take_right ? 0 : 1;
      }
      std::copy(values.begin() + static_cast<std::ptrdiff_t>(left),
                values.begin() + static_cast<std::ptrdiff_t>(middle),
                other.begin() + static_cast<std::ptrdiff_t>(out));
      out += middle - left;
      std::copy(values.begin() + static_cast<std::ptrdiff_t>(right),
                values.begin() + static_cast<std::ptrdiff_t>(last),
                other.begin() + static_cast<std::ptrdiff_t>(out));
    }
    values.swap(other);
  }
  return inversions;
}

// Knight's algorithm, doi:10.1080/01621459.1966.10480879, on columns that were sorted before.
double kendall_of(const Ranked& x, const Ranked& y, std::vector<std::uint32_t>& values,
                  std::vector<std::uint32_t>& other) {
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
    std::vector<std::uint32_t> values, other;
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
  Columns scaled(n);
  for_each_job(n, threads, [&](std::size_t i) {
    scaled[i] = kind == Correlation::kSpearman ? midranks(columns[i]) : columns[i];
    normalise(scaled[i]);
  });
  fill_products(scaled, threads, matrix);
  return matrix;
}

}  // namespace omen::learn
