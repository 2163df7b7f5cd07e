// SPDX-License-Identifier: Apache-2.0
// A collection of networks, accelerators and simulated costs, from a seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corpus/net_sampler.hpp"
#include "sim/simulate.hpp"

namespace omen::power {

// Networks to learn from, networks of the same families to be asked about, and those of a family
// that nobody learnt from.
enum class Part : std::uint8_t { train, test, absent };
inline constexpr std::array kPartNames = {"train", "test", "absent"};

struct CorpusOptions {
  std::int64_t train_nets = 1360, test_nets = 200, absent_nets = 40;
  std::int64_t train_rows = 68000, test_rows = 4000, absent_rows = 2000;
  double noise = 0;  // deviation of the logarithm of each cost
  std::uint64_t seed = 1;
};

struct CorpusRow {
  std::size_t net = 0;
  Hardware hardware;
  double core_w = 0, memory_w = 0, latency_s = 0;
};

struct Corpus {
  std::vector<Net> nets;  // distinct by key
  std::vector<Family> family;
  std::vector<Part> part;
  std::vector<std::string> key;
  std::vector<CorpusRow> rows;
  std::int64_t illegal = 0;  // accelerators that were drawn and cannot be clocked
};

Corpus make_corpus(const CorpusOptions& options, const std::function<void(double)>& step);

}  // namespace omen::power
