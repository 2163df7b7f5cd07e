// SPDX-License-Identifier: Apache-2.0
// One network a family; operations that are alike are asked about once.
#include "step/operator_model.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace omen::driple {
namespace {

using opgraph::Op;
using Floats = EfficiencyNet::Floats;
using learn::Index;
using learn::Vector;

// What the time of an operation depends on.
auto key_of(const Op& op) {
  return std::tuple(op.kind, op.precision, op.flops, op.bytes_read, op.bytes_written, op.batch,
                    op.m, op.n, op.k, op.kernel, op.stride, op.groups, op.ranks, op.shape);
}

// Different operations of one family, and which of them each operation is.
struct Asked {
  std::vector<const Op*> distinct;
  std::vector<std::pair<std::size_t, std::size_t>> place;  // operation, its distinct one
};

std::array<Asked, kFamilyCount> sort_by_family(std::span<const Op> ops) {
  std::array<Asked, kFamilyCount> families;
  std::array<std::map<decltype(key_of(Op{})), std::size_t>, kFamilyCount> seen;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::optional<Family> family = family_of(ops[i]);
    if (!family) continue;
    const auto f = static_cast<std::size_t>(*family);
    const auto [at, fresh] = seen[f].emplace(key_of(ops[i]), families[f].distinct.size());
    if (fresh) families[f].distinct.push_back(&ops[i]);
    families[f].place.emplace_back(i, at->second);
  }
  return families;
}

Floats features_of(const std::vector<const Op*>& ops, Family family, const Device& device) {
  Floats x(static_cast<Index>(ops.size()), static_cast<Index>(kOpFeatures));
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpFeatures f = op_features(*ops[i], family, device);
    for (std::size_t c = 0; c < kOpFeatures; ++c)
      x(static_cast<Index>(i), static_cast<Index>(c)) = f[c];
  }
  return x;
}

Vector references_of(const std::vector<const Op*>& ops, const Device& device) {
  Vector reference(static_cast<Index>(ops.size()));
  for (std::size_t i = 0; i < ops.size(); ++i)
    reference[static_cast<Index>(i)] = reference_of(*ops[i], device);
  return reference;
}

// Collectives have a tenth of the rows of other tables and are passed over more often instead.
constexpr Index kStepsOfCollectives = 4000;

constexpr int kMembersOfAView = 2;

// Without measurements of a family: half of what the device could do, behind a usual launch.
constexpr double kUnknownUse = 0.5, kUnknownFloor = 4e-6;

}  // namespace

void OperatorModel::fit(std::span<const MeasuredOp> rows, const EfficiencyOptions& options) {
  for (std::size_t f = 0; f < kFamilyCount; ++f) {
    const auto family = static_cast<Family>(f);
    std::vector<const MeasuredOp*> own;
    std::map<int, double> count;
    for (const MeasuredOp& row : rows)
      if (family_of(row.op) == family) {
        own.push_back(&row);
        ++count[row.group];
      }
    if (own.empty()) continue;
    EfficiencyNet::Rows table;
    const auto size = static_cast<Index>(own.size());
    table.x.resize(size, static_cast<Index>(kOpFeatures));
    table.bound.resize(size);
    table.seconds.resize(size);
    table.weight.resize(size);
    for (Index r = 0; r < size; ++r) {
      const MeasuredOp& row = *own[static_cast<std::size_t>(r)];
      const OpFeatures x = op_features(row.op, family, row.device);
      for (std::size_t c = 0; c < kOpFeatures; ++c) table.x(r, static_cast<Index>(c)) = x[c];
      table.bound[r] = reference_of(row.op, row.device);
      table.seconds[r] = row.seconds;
      table.weight[r] =
          static_cast<double>(size) / static_cast<double>(count.size()) / count[row.group];
    }
    EfficiencyOptions own_options = options;
    own_options.hidden_columns = hidden_features(family);
    if (!own_options.hidden_columns.empty()) own_options.members = kMembersOfAView;
    if (family == Family::collective) {
      const Index steps_of_a_pass = std::max<Index>(size / std::max(own_options.batch, 1), 1);
      own_options.epochs =
          std::max(own_options.epochs, static_cast<int>(kStepsOfCollectives / steps_of_a_pass));
    }
    nets_[f].fit(table, own_options);
  }
}

std::vector<double> OperatorModel::seconds(std::span<const Op> ops, const Device& device) const {
  std::vector<double> answer(ops.size(), 0);
  const auto families = sort_by_family(ops);
  for (std::size_t f = 0; f < kFamilyCount; ++f) {
    const Asked& asked = families[f];
    if (asked.distinct.empty()) continue;
    const auto family = static_cast<Family>(f);
    const Vector bound = references_of(asked.distinct, device);
    const Vector said = nets_[f].fitted()
                            ? nets_[f].seconds(features_of(asked.distinct, family, device), bound)
                            : Vector((bound.array() / kUnknownUse + kUnknownFloor).matrix());
    for (const auto& [op, at] : asked.place)
      answer[op] = std::max(said[static_cast<Index>(at)], bound[static_cast<Index>(at)]);
  }
  return answer;
}

double OperatorModel::beyond(std::span<const Op> ops, const Device& device,
                             std::span<const double> seconds) const {
  double sum = 0, total = 0;
  const auto families = sort_by_family(ops);
  for (std::size_t f = 0; f < kFamilyCount; ++f) {
    const Asked& asked = families[f];
    // Convolutions are known from jobs, which say themselves how far they reach.
    if (asked.distinct.empty() || static_cast<Family>(f) == Family::convolution) continue;
    Vector far = Vector::Ones(static_cast<Index>(asked.distinct.size()));
    if (nets_[f].fitted())
      far = nets_[f].beyond(features_of(asked.distinct, static_cast<Family>(f), device));
    for (const auto& [op, at] : asked.place) {
      sum += seconds[op] * std::max(far[static_cast<Index>(at)], 0.0);
      total += seconds[op];
    }
  }
  return total > 0 ? sum / total : 0;
}

void OperatorModel::save(learn::StateWriter& out) const {
  std::vector<std::int64_t> fitted;
  for (std::size_t f = 0; f < kFamilyCount; ++f) {
    fitted.push_back(nets_[f].fitted() ? 1 : 0);
    if (nets_[f].fitted()) nets_[f].save(out, family_word(static_cast<Family>(f)));
  }
  out.put_integers("operators", fitted);
}

void OperatorModel::load(const learn::StateReader& in) {
  const std::vector<std::int64_t> fitted = in.integers("operators");
  for (std::size_t f = 0; f < std::min(kFamilyCount, fitted.size()); ++f)
    if (fitted[f])
      nets_[f].load(in, family_word(static_cast<Family>(f)), static_cast<Index>(kOpFeatures));
}

}  // namespace omen::driple
