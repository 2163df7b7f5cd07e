// SPDX-License-Identifier: Apache-2.0
// The rows of a collection network by network: watts, and errors of a model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "statistics/population.hpp"

namespace omen::power {

// Quantiles of one column over the rows of a network; not a number without rows.
struct Spread {
  double low = NetFacts::kUnknown, middle = NetFacts::kUnknown, high = NetFacts::kUnknown;
};

struct NetSummary {
  std::size_t net = 0;
  std::string part;
  std::size_t rows = 0;
  std::map<std::string, Spread> watts;          // 10, 50 and 90 %
  std::map<std::string, double> error_percent;  // mean absolute, of predicted columns
};

// A network that stands in two parts is summed up in each.
std::vector<NetSummary> summaries_of(const Population& population);

Table network_table(const Population& population, const std::vector<NetSummary>& nets);

}  // namespace omen::power
