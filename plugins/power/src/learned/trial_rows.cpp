// SPDX-License-Identifier: Apache-2.0
// Draws networks and rows by a seed.
#include "learned/trial_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/learn/random.hpp>
#include <set>
#include <string>

namespace omen::power {
namespace {

constexpr std::size_t kFewestTrialNets = 4;
constexpr std::uint64_t kNetStream = 11, kRowStream = 12;

std::string network_of(const LearnedRow& row) {
  return row.group.empty() ? "net " + std::to_string(row.net) : row.group;
}

std::vector<std::string> shuffled_networks(const LearnedRows& rows, std::uint64_t seed) {
  std::set<std::string> names;
  for (const std::size_t row : measured_rows(rows)) names.insert(network_of(rows.rows[row]));
  const std::vector<std::string> sorted(names.begin(), names.end());
  std::vector<std::string> shuffled;
  for (const std::ptrdiff_t at :
       learn::Random(seed, kNetStream).permutation(static_cast<std::ptrdiff_t>(sorted.size())))
    shuffled.push_back(sorted[static_cast<std::size_t>(at)]);
  return shuffled;
}

LearnedRows rows_where(const LearnedRows& rows, const std::function<bool(std::size_t)>& taken) {
  LearnedRows made;
  made.nets = rows.nets;
  for (const std::size_t row : measured_rows(rows))
    if (taken(row)) made.rows.push_back(rows.rows[row]);
  return made;
}

std::size_t part_count(std::size_t all, double share) {
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(share * static_cast<double>(all))));
}

LearnedRows of_networks(const LearnedRows& rows, const std::set<std::string>& networks) {
  return rows_where(
      rows, [&](std::size_t row) { return networks.count(network_of(rows.rows[row])) > 0; });
}

}  // namespace

TrialRows split_trials(const LearnedRows& rows, double held_share, std::uint64_t seed) {
  const std::vector<std::string> order = shuffled_networks(rows, seed);
  if (order.size() < kFewestTrialNets)
    learn::throw_bad_data("trials need at least 4 networks with all costs, and there are " +
                              std::to_string(order.size()),
                          "omen data make --with power.corpus makes more.");
  const auto held = static_cast<std::ptrdiff_t>(part_count(order.size(), held_share));
  return {of_networks(rows, {order.begin() + held, order.end()}),
          of_networks(rows, {order.begin(), order.begin() + held})};
}

LearnedRows part_of_networks(const LearnedRows& rows, double share, std::uint64_t seed) {
  const std::vector<std::string> order = shuffled_networks(rows, seed);
  const auto kept = static_cast<std::ptrdiff_t>(part_count(order.size(), share));
  return of_networks(rows, {order.begin(), order.begin() + kept});
}

LearnedRows part_of_rows(const LearnedRows& rows, double share, std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> by_network;
  for (const std::size_t row : measured_rows(rows))
    by_network[network_of(rows.rows[row])].push_back(row);
  learn::Random random(seed, kRowStream);
  std::set<std::size_t> kept;
  for (const auto& [name, own] : by_network) {
    const std::size_t count = part_count(own.size(), share);
    const auto order = random.permutation(static_cast<std::ptrdiff_t>(own.size()));
    for (std::size_t i = 0; i < count; ++i) kept.insert(own[static_cast<std::size_t>(order[i])]);
  }
  return rows_where(rows, [&](std::size_t row) { return kept.count(row) > 0; });
}

std::size_t networks_in(const LearnedRows& rows) {
  std::set<std::string> names;
  for (const LearnedRow& row : rows.rows) names.insert(network_of(row));
  return names.size();
}

}  // namespace omen::power
