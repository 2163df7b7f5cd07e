// SPDX-License-Identifier: Apache-2.0
// Ranks of absolute residuals, of all rows or of rows that are alike.
#include "omen/learn/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

constexpr std::size_t kMaxKept = 2001;
constexpr int kMostParts = 1'000;

std::vector<double> thinned(const std::vector<double>& sorted) {
  if (sorted.size() <= kMaxKept) return sorted;
  std::vector<double> kept;
  for (std::size_t i = 0; i < kMaxKept; ++i) {
    kept.push_back(sorted[i * (sorted.size() - 1) / (kMaxKept - 1)]);
  }
  return kept;
}

Vector numbers_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace

ResidualQuantiles::ResidualQuantiles(const Vector& held_out, const Vector& y) {
  std::vector<double> residuals;
  for (Index row = 0; row < y.size(); ++row) {
    const double residual = std::abs(y[row] - held_out[row]);
    if (std::isfinite(residual)) residuals.push_back(residual);
  }
  std::sort(residuals.begin(), residuals.end());
  sorted_ = thinned(residuals);
}

double ResidualQuantiles::half_width(double level) const {
  if (sorted_.empty()) return kUnknown;
  const double rank = std::ceil((static_cast<double>(sorted_.size()) + 1) * level);
  const double last = static_cast<double>(sorted_.size());
  return sorted_[static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1];
}

ConditionalQuantiles::ConditionalQuantiles(const Vector& held_out, const Vector& y,
                                           const Vector& knowledge, int most_bins) {
  constexpr Index kFewestOfABin = 20;
  std::vector<Index> order;
  for (Index row = 0; row < y.size(); ++row)
    if (std::isfinite(y[row] - held_out[row]) && !std::isnan(knowledge[row])) order.push_back(row);
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return knowledge[a] < knowledge[b]; });
  const auto count = static_cast<Index>(order.size());
  const Index bins = std::clamp<Index>(count / kFewestOfABin, 1, most_bins);
  Index begin = 0;
  for (Index bin = 0; bin < bins && begin < count; ++bin) {
    Index end = bin + 1 == bins ? count : std::max((bin + 1) * count / bins, begin + 1);
    const auto at = [&](Index place) { return knowledge[order[static_cast<std::size_t>(place)]]; };
    while (end < count && at(end) == at(end - 1)) ++end;  // equal knowledge, equal bin
    Vector said(end - begin), measured(end - begin);
    for (Index i = begin; i < end; ++i) {
      said[i - begin] = held_out[order[static_cast<std::size_t>(i)]];
      measured[i - begin] = y[order[static_cast<std::size_t>(i)]];
    }
    bins_.emplace_back(said, measured);
    if (end < count) edges_.push_back(at(end));
    begin = end;
  }
}

double ConditionalQuantiles::half_width(double level, double knowledge) const {
  if (bins_.empty()) return kUnknown;
  const auto bin = std::upper_bound(edges_.begin(), edges_.end(), knowledge) - edges_.begin();
  return bins_[static_cast<std::size_t>(bin)].half_width(level);
}

void ConditionalQuantiles::save(StateWriter& out, const std::string& name) const {
  out.put_numbers(name + ".edges", numbers_of(edges_));
  out.put_integers(name + ".bins", {static_cast<std::int64_t>(bins_.size())});
  for (std::size_t bin = 0; bin < bins_.size(); ++bin)
    out.put_numbers(name + ".residuals." + std::to_string(bin), numbers_of(bins_[bin].sorted()));
}

void ConditionalQuantiles::load(const StateReader& in, const std::string& name) {
  const auto list = [&](const std::string& key) {
    const Vector values = in.numbers(key);
    return std::vector<double>(values.data(), values.data() + values.size());
  };
  edges_ = list(name + ".edges");
  const std::vector<std::int64_t> count = in.integers(name + ".bins");
  const std::size_t bins =
      edges_.empty() && count == std::vector<std::int64_t>{0} ? 0 : edges_.size() + 1;
  if (count.size() != 1 || static_cast<std::size_t>(count[0]) != bins)
    throw_bad_data("the model's '" + name + "' has bins that do not fit", "train the model again");
  bins_.clear();
  for (std::size_t bin = 0; bin < bins; ++bin)
    bins_.emplace_back(list(name + ".residuals." + std::to_string(bin)));
}

LocalQuantiles::LocalQuantiles(const Vector& held_out, const Vector& y, const Vector& knowledge,
                               const Vector& weights, int parts)
    : parts_(std::max(parts, 1)) {
  std::vector<Index> order;
  for (Index row = 0; row < y.size(); ++row)
    if (std::isfinite(y[row] - held_out[row]) && !std::isnan(knowledge[row])) order.push_back(row);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return knowledge[a] < knowledge[b]; });
  const std::size_t kept = std::min(order.size(), kMaxKept);
  for (std::size_t i = 0; i < kept; ++i) {
    const Index row = order[kept < order.size() ? i * (order.size() - 1) / (kept - 1) : i];
    knowledge_.push_back(knowledge[row]);
    residuals_.push_back(std::abs(y[row] - held_out[row]));
    weights_.push_back(weights[row]);
  }
}

double LocalQuantiles::half_width(double level, double knowledge) const {
  if (knowledge_.empty()) return kUnknown;
  constexpr std::size_t kFewest = 20;
  const std::size_t count = knowledge_.size();
  const std::size_t window =
      std::min(count, std::max(kFewest, count / static_cast<std::size_t>(parts_)));
  const auto [below, above] = std::equal_range(knowledge_.begin(), knowledge_.end(), knowledge);
  const auto middle =
      static_cast<std::size_t>((below - knowledge_.begin()) + (above - knowledge_.begin())) / 2;
  const std::size_t begin = std::min(middle > window / 2 ? middle - window / 2 : 0, count - window);
  std::vector<std::size_t> rows(window);
  std::iota(rows.begin(), rows.end(), begin);
  std::sort(rows.begin(), rows.end(),
            [this](std::size_t a, std::size_t b) { return residuals_[a] < residuals_[b]; });
  double all = 0, sum = 0;
  for (const std::size_t row : rows) all += weights_[row];
  // The new row is one of those that the level speaks of, and the worst for all that is known.
  const double wanted = level * (1 + 1 / static_cast<double>(window)) * all;
  for (const std::size_t row : rows)
    if ((sum += weights_[row]) >= wanted) return residuals_[row];
  return residuals_[rows.back()];
}

void LocalQuantiles::save(StateWriter& out, const std::string& name) const {
  out.put_integers(name + ".parts", {parts_});
  out.put_numbers(name + ".knowledge", numbers_of(knowledge_));
  out.put_numbers(name + ".residuals", numbers_of(residuals_));
  out.put_numbers(name + ".weights", numbers_of(weights_));
}

void LocalQuantiles::load(const StateReader& in, const std::string& name) {
  const auto list = [&](const std::string& key, Index count) {
    const Vector values = in.numbers(name + key, count);
    return std::vector<double>(values.data(), values.data() + values.size());
  };
  knowledge_ = list(".knowledge", -1);
  residuals_ = list(".residuals", static_cast<Index>(knowledge_.size()));
  weights_ = list(".weights", static_cast<Index>(knowledge_.size()));
  const std::vector<std::int64_t> parts = in.integers(name + ".parts");
  const bool ascending = std::is_sorted(knowledge_.begin(), knowledge_.end());
  if (parts.size() != 1 || parts[0] < 1 || parts[0] > kMostParts || !ascending)
    throw_bad_data("the model's '" + name + "' has intervals that do not fit",
                   "train the model again");
  parts_ = static_cast<int>(parts[0]);
}

}  // namespace omen::learn
