// SPDX-License-Identifier: Apache-2.0
// How often each kind of operation occurs: the node feature of the published networks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

class OpFrequencies {
 public:
  OpFrequencies() = default;
  // Counts of kinds; a frequency is the share of all.
  explicit OpFrequencies(const std::map<std::string, std::int64_t, std::less<>>& counts);

  // Reads `Operation,Frequency` lines as published: the header, a byte order mark and quotes may be
  // there. OMEN_INVALID_DATA with the line for anything else.
  static OpFrequencies parse(std::string_view csv, const std::string& where);
  // A line each, as parse() reads them.
  std::string csv() const;

  // A kind that the table does not name counts like the rarest one that it does.
  double of(std::string_view op) const;
  bool knows(std::string_view op) const { return shares_.find(op) != shares_.end(); }
  std::size_t size() const { return shares_.size(); }
  const std::map<std::string, double, std::less<>>& shares() const { return shares_; }

 private:
  std::map<std::string, double, std::less<>> shares_;
  double other_ = 0;
};

}  // namespace omen::driple
