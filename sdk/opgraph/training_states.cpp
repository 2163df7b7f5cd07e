// SPDX-License-Identifier: Apache-2.0
// What optimizers keep for each parameter, and what divides it.
#include <algorithm>

#include "omen/opgraph/training.hpp"
#include "omen/opgraph/words.hpp"
#include "optimizer_costs.hpp"

namespace omen::opgraph {
namespace {

constexpr std::array<std::string_view, 4> kOptimizers = {"none", "sgd", "momentum", "adam"};
constexpr std::array<double, 4> kSlots = {0, 0, 1, 2};
static_assert(kOptimizers.size() == static_cast<std::size_t>(Optimizer::adam) + 1);
constexpr std::array<std::string_view, 4> kShardings = {"none", "optimizer", "gradients",
                                                        "weights"};
static_assert(kShardings.size() == static_cast<std::size_t>(Sharding::weights) + 1);
constexpr double kStateWidth = 4;  // slots and master copies are fp32

bool keeps_master_copy(Precision precision) {
  return bytes_of(precision) < kStateWidth;
}

}  // namespace

std::span<const std::string_view> optimizer_words() {
  return kOptimizers;
}
std::string_view word(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}
std::optional<Optimizer> optimizer_of(std::string_view text) {
  const auto found = std::find(kOptimizers.begin(), kOptimizers.end(), text);
  if (found == kOptimizers.end()) return std::nullopt;
  return static_cast<Optimizer>(found - kOptimizers.begin());
}
std::span<const std::string_view> sharding_words() {
  return kShardings;
}
std::optional<Sharding> sharding_of(std::string_view text) {
  const auto found = std::find(kShardings.begin(), kShardings.end(), text);
  if (found == kShardings.end()) return std::nullopt;
  return static_cast<Sharding>(found - kShardings.begin());
}

UpdateTraffic update_traffic(const TrainingOptions& options) {
  const double width = bytes_of(options.precision);
  const double slots = kSlots[static_cast<std::size_t>(options.optimizer)] * kStateWidth;
  const bool master = keeps_master_copy(options.precision);
  return {(master ? kStateWidth : width) + width + slots,
          (master ? kStateWidth + width : width) + slots};
}

StateBytes state_bytes(double parameters, const TrainingOptions& options) {
  const double width = bytes_of(options.precision);
  const auto ranks = static_cast<double>(std::max<std::int64_t>(options.data_ranks, 1));
  double kept = kSlots[static_cast<std::size_t>(options.optimizer)] * kStateWidth;
  if (options.optimizer != Optimizer::none && keeps_master_copy(options.precision))
    kept += kStateWidth;
  const auto share = [&](Sharding from) { return options.sharding >= from ? 1 / ranks : 1.0; };
  return {parameters * width * share(Sharding::weights),
          parameters * width * share(Sharding::gradients),
          parameters * kept * share(Sharding::optimizer)};
}

}  // namespace omen::opgraph
