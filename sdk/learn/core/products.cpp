// SPDX-License-Identifier: Apache-2.0
// Tiles of a few columns by a few others, whose sums stay in registers.
#include "products.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "omen/learn/instruction_sets.hpp"
#include "omen/learn/parallel.hpp"

namespace omen::learn {
namespace {

using Lanes [[gnu::vector_size(32)]] = double;
constexpr std::size_t kLanes = 4;
constexpr std::size_t kTileRows = 3, kTileColumns = 4;
constexpr std::size_t kBlockRows = 512;  // of the data: those of all columns stay in the cache
constexpr std::size_t kMostParts = 16, kFewestParts = 4, kPartSums = std::size_t{1} << 22;

using Sums = std::array<double, kTileRows * kTileColumns>;

OMEN_KERNEL_BODY void add_tile(const std::array<const double*, kTileRows>& a,
                               const std::array<const double*, kTileColumns>& b, std::size_t count,
                               Sums& sums) {
  Lanes part[kTileRows][kTileColumns] = {};
  std::size_t row = 0;
  for (; row + kLanes <= count; row += kLanes) {
    Lanes left[kTileRows];
    for (std::size_t i = 0; i < kTileRows; ++i) std::memcpy(&left[i], a[i] + row, sizeof(Lanes));
    for (std::size_t j = 0; j < kTileColumns; ++j) {
      Lanes right;
      std::memcpy(&right, b[j] + row, sizeof right);
      for (std::size_t i = 0; i < kTileRows; ++i) part[i][j] += left[i] * right;
    }
  }
  for (std::size_t i = 0; i < kTileRows; ++i)
    for (std::size_t j = 0; j < kTileColumns; ++j) {
      double sum = (part[i][j][0] + part[i][j][1]) + (part[i][j][2] + part[i][j][3]);
      for (std::size_t rest = row; rest < count; ++rest) sum += a[i][rest] * b[j][rest];
      sums[i * kTileColumns + j] += sum;
    }
}

void tile(const std::array<const double*, kTileRows>& a,
          const std::array<const double*, kTileColumns>& b, std::size_t count, Sums& sums) {
  OMEN_DISPATCH(add_tile(a, b, count, sums));
}

// Adds the rows from `first` on to the lower triangle.
void add_block(const std::vector<std::vector<double>>& columns, std::size_t first,
               std::size_t count, std::vector<double>& matrix) {
  const std::size_t n = columns.size();
  const std::vector<double> nothing(count, 0);
  const auto at = [&](std::size_t column) {
    return column < n ? columns[column].data() + first : nothing.data();
  };
  for (std::size_t i = 0; i < n; i += kTileRows) {
    std::array<const double*, kTileRows> a{};
    for (std::size_t k = 0; k < kTileRows; ++k) a[k] = at(i + k);
    for (std::size_t j = 0; j < std::min(i + kTileRows, n); j += kTileColumns) {
      std::array<const double*, kTileColumns> b{};
      for (std::size_t k = 0; k < kTileColumns; ++k) b[k] = at(j + k);
      Sums sums{};
      tile(a, b, count, sums);
      for (std::size_t row = i; row < std::min(i + kTileRows, n); ++row)
        for (std::size_t column = j; column < std::min(j + kTileColumns, row + 1); ++column)
          matrix[row * n + column] += sums[(row - i) * kTileColumns + column - j];
    }
  }
}

}  // namespace

std::vector<double> column_products(const std::vector<std::vector<double>>& columns,
                                    unsigned threads) {
  const std::size_t n = columns.size(), rows = n > 0 ? columns[0].size() : 0;
  const std::size_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  // Parts are the same for any number of threads, so that their sums are.
  const std::size_t parts = std::min(
      blocks, std::clamp(kPartSums / std::max<std::size_t>(n * n, 1), kFewestParts, kMostParts));
  std::vector<std::vector<double>> sums(parts);
  for_each_job(parts, threads, [&](std::size_t part) {
    sums[part].assign(n * n, 0);
    for (std::size_t block = part; block < blocks; block += parts)
      add_block(columns, block * kBlockRows, std::min(kBlockRows, rows - block * kBlockRows),
                sums[part]);
  });
  std::vector<double> matrix(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (const std::vector<double>& part : sums) sum += part[i * n + j];
      matrix[i * n + j] = matrix[j * n + i] = sum;
    }
  return matrix;
}

}  // namespace omen::learn
