// SPDX-License-Identifier: Apache-2.0
// Centres side by side in wide registers, two rows at a time.
#include "nearest_centres.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "omen/learn/instruction_sets.hpp"
#include "omen/learn/parallel.hpp"

namespace omen::learn {
namespace {

using CentreLanes [[gnu::vector_size(32)]] = double;
using CentreNumbers [[gnu::vector_size(32)]] = std::int64_t;
constexpr Index kCentreLanes = 4, kRegisters = 4, kAtOnce = kCentreLanes * kRegisters;
constexpr Index kPairRows = 2;
constexpr Index kRowsOfPart = 4096, kMostRowParts = 256;
constexpr double kNoCentre = std::numeric_limits<double>::infinity();

// |x - c|^2 is smallest where |c|^2 / 2 - x c is. Everything is relative to the middle of the
// centres: far from 0 the difference of two large numbers would leave no digits.
struct PackedCentres {
  Index columns = 0, groups = 0;
  Vector middle;
  std::vector<double> values;  // of each group: the halves of |c|^2, then column by column

  explicit PackedCentres(const Matrix& centres)
      : columns(centres.cols()),
        groups((centres.rows() + kAtOnce - 1) / kAtOnce),
        middle(centres.colwise().mean()),
        values(static_cast<std::size_t>(groups * kAtOnce * (columns + 1)), 0) {
    for (Index centre = 0; centre < groups * kAtOnce; ++centre) {
      double* at = values.data() + centre / kAtOnce * kAtOnce * (columns + 1) + centre % kAtOnce;
      *at = kNoCentre;
      if (centre >= centres.rows()) continue;
      const Vector moved = centres.row(centre).transpose() - middle;
      *at = moved.squaredNorm() / 2;
      for (Index column = 0; column < columns; ++column) at[(column + 1) * kAtOnce] = moved[column];
    }
  }
};

struct BestOfRow {
  CentreLanes least = {kNoCentre, kNoCentre, kNoCentre, kNoCentre};
  CentreNumbers which = {0, 1, 2, 3};

  // The first of equally near ones.
  Index centre() const {
    int best = 0;
    for (int lane = 1; lane < kCentreLanes; ++lane)
      if (least[lane] < least[best] || (least[lane] == least[best] && which[lane] < which[best]))
        best = lane;
    return which[best];
  }
};

OMEN_KERNEL_BODY void find_nearest(const PackedCentres& packed, const double* moved,
                                   std::array<BestOfRow, kPairRows>& best) {
  for (Index group = 0; group < packed.groups; ++group) {
    const double* at = packed.values.data() + group * kAtOnce * (packed.columns + 1);
    CentreLanes score[kPairRows][kRegisters];
    for (Index r = 0; r < kRegisters; ++r) {
      std::memcpy(&score[0][r], at + r * kCentreLanes, sizeof(CentreLanes));
      score[1][r] = score[0][r];
    }
    for (Index column = 0; column < packed.columns; ++column) {
      at += kAtOnce;
      const double first = moved[column], second = moved[packed.columns + column];
      for (Index r = 0; r < kRegisters; ++r) {
        CentreLanes centre;
        std::memcpy(&centre, at + r * kCentreLanes, sizeof centre);
        score[0][r] -= first * centre;
        score[1][r] -= second * centre;
      }
    }
    for (Index row = 0; row < kPairRows; ++row)
      for (Index r = 0; r < kRegisters; ++r) {
        BestOfRow& own = best[static_cast<std::size_t>(row)];
        const CentreNumbers number =
            CentreNumbers{0, 1, 2, 3} + (group * kAtOnce + r * kCentreLanes);
        const CentreNumbers nearer = score[row][r] < own.least;
        own.least = nearer ? score[row][r] : own.least;
        own.which = nearer ? number : own.which;
      }
  }
}

OMEN_KERNEL_BODY void add_row(const double* x, Index columns, double* sum) {
  Index column = 0;
  for (; column + kCentreLanes <= columns; column += kCentreLanes) {
    CentreLanes a, b;
    std::memcpy(&a, sum + column, sizeof a);
    std::memcpy(&b, x + column, sizeof b);
    a += b;
    std::memcpy(sum + column, &a, sizeof a);
  }
  for (; column < columns; ++column) sum[column] += x[column];
}

OMEN_KERNEL_BODY void walk_rows(const PackedCentres& packed, const Matrix& x, Index first,
                                Index last, std::vector<Index>& of_row, NearestSums& sums) {
  const Index columns = packed.columns;
  std::vector<double> moved(static_cast<std::size_t>(kPairRows * columns), 0);
  for (Index row = first; row < last; row += kPairRows) {
    const Index rows = std::min(kPairRows, last - row);
    const double* at = x.data() + row * columns;
    for (Index r = 0; r < rows; ++r)
      for (Index column = 0; column < columns; ++column)
        moved[static_cast<std::size_t>(r * columns + column)] =
            at[r * columns + column] - packed.middle[column];
    std::array<BestOfRow, kPairRows> best;
    find_nearest(packed, moved.data(), best);
    for (Index r = 0; r < rows; ++r) {
      const Index centre = best[static_cast<std::size_t>(r)].centre();
      Index& own = of_row[static_cast<std::size_t>(row + r)];
      sums.changed |= own != centre;
      own = centre;
      ++sums.members[static_cast<std::size_t>(centre)];
      add_row(at + r * columns, columns, sums.sums.data() + centre * columns);
    }
  }
}

void nearest_in_part(const PackedCentres& packed, const Matrix& x, Index first, Index last,
                     std::vector<Index>& of_row, NearestSums& sums) {
  OMEN_DISPATCH(walk_rows(packed, x, first, last, of_row, sums));
}

}  // namespace

NearestSums nearest_centres(const Matrix& centres, const Matrix& x, unsigned threads,
                            std::vector<Index>& of_row) {
  const PackedCentres packed(centres);
  // Parts are the same for any number of threads, so that their sums are.
  const Index size = std::max(kRowsOfPart, (x.rows() + kMostRowParts - 1) / kMostRowParts);
  const auto parts = static_cast<std::size_t>((x.rows() + size - 1) / size);
  const NearestSums nothing{Matrix::Zero(centres.rows(), centres.cols()),
                            std::vector<Index>(static_cast<std::size_t>(centres.rows()), 0), false};
  std::vector<NearestSums> found(parts, nothing);
  for_each_job(parts, threads, [&](std::size_t part) {
    const Index first = static_cast<Index>(part) * size;
    nearest_in_part(packed, x, first, std::min(first + size, x.rows()), of_row, found[part]);
  });
  NearestSums all = nothing;
  for (const NearestSums& part : found) {
    all.sums += part.sums;
    all.changed |= part.changed;
    for (std::size_t centre = 0; centre < all.members.size(); ++centre)
      all.members[centre] += part.members[centre];
  }
  return all;
}

}  // namespace omen::learn
