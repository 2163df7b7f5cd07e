// SPDX-License-Identifier: Apache-2.0
// Features of layers, added up.
#include "sums/net_sums.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hardware/hardware_columns.hpp"
#include "nets/block_features.hpp"

namespace omen::power {
namespace {

constexpr const char* kAmounts[] = {"log_macs", "log_weights", "log_inputs", "log_outputs"};
constexpr std::size_t kAmountCount = std::size(kAmounts), kKinds = 8;
constexpr double kBitsInByte = 8;

std::size_t feature_place(std::string_view name) {
  return static_cast<std::size_t>(
      std::find(kBlockFeatureNames.begin(), kBlockFeatureNames.end(), name) -
      kBlockFeatureNames.begin());
}

// Binary logarithm of a parameter of the accelerator.
double parameter(const LearnedRow& row, std::string_view name) {
  const auto* at = std::find_if(std::begin(kHardwareColumns), std::end(kHardwareColumns),
                                [&](const HardwareColumn& column) { return name == column.name; });
  return row.hardware[static_cast<std::size_t>(at - std::begin(kHardwareColumns))];
}

}  // namespace

std::vector<std::string> sum_names() {
  std::vector<std::string> names = {"layers"};
  for (const char* amount : kAmounts) names.push_back(std::string("net_") + amount);
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    names.push_back(std::string("macs_in_") + kBlockFeatureNames[kind]);
  for (std::size_t f = kKinds; f < kBlockFeatures; ++f) {
    names.push_back(std::string("mean_") + kBlockFeatureNames[f]);
    names.push_back(std::string("most_") + kBlockFeatureNames[f]);
  }
  names.insert(names.end(), {"log_compute_s", "log_memory_s"});
  for (const std::string& name : hardware_input_names()) names.push_back("at_" + name);
  return names;
}

std::vector<double> sums_of(const LearnedNet& net, const LearnedRow& row) {
  static const std::size_t places[kAmountCount] = {
      feature_place(kAmounts[0]), feature_place(kAmounts[1]), feature_place(kAmounts[2]),
      feature_place(kAmounts[3])};
  double layers = 0, amounts[kAmountCount] = {}, macs_of[kKinds] = {};
  std::vector<double> mean(kBlockFeatures, 0), most(kBlockFeatures, 0);
  for (std::size_t layer = 0; layer < net.layers(); ++layer) {
    const float* features = &net.features[layer * kBlockFeatures];
    const double share = std::exp(double{net.log_share[layer]});
    layers += share;
    for (std::size_t a = 0; a < kAmountCount; ++a)
      amounts[a] += share * std::expm1(double{features[places[a]]});
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      macs_of[kind] += share * double{features[kind]} * std::expm1(double{features[places[0]]});
    for (std::size_t f = 0; f < kBlockFeatures; ++f) {
      mean[f] += share * double{features[f]};
      most[f] = std::max(most[f], double{features[f]});
    }
  }
  std::vector<double> made = {layers};
  for (const double amount : amounts) made.push_back(std::log1p(amount));
  for (const double part : macs_of) made.push_back(part / std::max(amounts[0], 1.0));
  for (std::size_t f = kKinds; f < kBlockFeatures; ++f) {
    made.push_back(mean[f] / std::max(layers, 1e-12));
    made.push_back(most[f]);
  }
  // A product of each element of the array in each cycle, and every byte moved once.
  const double bytes =
      amounts[1] * std::exp2(parameter(row, "bits_w")) / kBitsInByte +
      (amounts[2] + amounts[3]) * std::exp2(parameter(row, "bits_a")) / kBitsInByte;
  made.push_back(std::log1p(amounts[0]) -
                 std::log(2.0) * (parameter(row, "rows") + parameter(row, "cols") +
                                  parameter(row, "freq_mhz")));
  made.push_back(std::log1p(bytes) - std::log(2.0) * parameter(row, "bw_gbps"));
  made.insert(made.end(), row.hardware.begin(), row.hardware.end());
  return made;
}

}  // namespace omen::power
