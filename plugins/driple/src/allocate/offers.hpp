// SPDX-License-Identifier: Apache-2.0
// What can be had: GPUs by name and number, their prices, and the ways to share a job among them.
#pragma once

#include <map>
#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

#include "step/divide.hpp"

namespace omen::driple {

struct Offer {
  std::string gpu;
  std::int64_t most = 1;  // of them in one job
};

// "a100-80:8,h100:8,l4". OMEN_INVALID_ARGUMENT with the piece that is wrong.
std::vector<Offer> parse_offers(const std::string& text);
// USD an hour of one GPU: "a100=2.5,h100=4", or the path of a file with such lines.
std::map<std::string, double> parse_prices(const std::string& text);

// Splits for 1, 2, 4 ... GPUs up to what is offered; jobs that cannot be cut are only repeated.
std::vector<Split> splits_of(const opgraph::Job& job, std::int64_t most);
// "a100 x8 (tensor 2, data 4)"
std::string offer_name(const std::string& gpu, const Split& split);

}  // namespace omen::driple
