// SPDX-License-Identifier: Apache-2.0
// Draws networks until enough are distinct, and accelerators until enough can be clocked.
#include "corpus/corpus.hpp"

#include <cmath>
#include <set>

#include "hardware/design_space.hpp"

namespace omen::power {
namespace {

void add_nets(Corpus& corpus, std::set<std::string>& known, Part part, std::int64_t count,
              learn::Random& random) {
  for (std::int64_t added = 0; added < count;) {
    const Family family =
        part == Part::absent ? Family::squeezed : static_cast<Family>(random.below(4));
    Net net = sample_net(family, random);
    std::string key = net_key(net);
    if (!known.insert(key).second) continue;
    net.id = static_cast<std::int64_t>(corpus.nets.size());
    net.name =
        std::string(kFamilyNames[static_cast<std::size_t>(family)]) + "-" + std::to_string(net.id);
    corpus.nets.push_back(std::move(net));
    corpus.family.push_back(family);
    corpus.part.push_back(part);
    corpus.key.push_back(std::move(key));
    ++added;
  }
}

}  // namespace

Corpus make_corpus(const CorpusOptions& options, const std::function<void(double)>& step) {
  Corpus corpus;
  std::set<std::string> known;
  learn::Random random(options.seed);
  const std::pair<std::int64_t, std::int64_t> sizes[] = {
      {options.train_nets, options.train_rows},
      {options.test_nets, options.test_rows},
      {options.absent_nets, options.absent_rows}};
  for (std::size_t part = 0; part < std::size(sizes); ++part)
    add_nets(corpus, known, static_cast<Part>(part), sizes[part].first, random);
  std::vector<ArrayNet> prepared(corpus.nets.begin(), corpus.nets.end());
  const EnergyProfile profile = named_profile("tetris-65").value();
  learn::Random noise(options.seed, 1);
  std::uint64_t point = 0;
  std::size_t first = 0;
  for (const auto& [nets, rows] : sizes) {
    for (std::int64_t i = 0; i < rows && nets > 0; ++i) {
      if (i % 2048 == 0) step(static_cast<double>(corpus.rows.size()));
      CorpusRow row;
      row.net = first + static_cast<std::size_t>(i % nets);
      Hardware fixed;
      fixed.zero_gate = false;
      do {
        row.hardware = hardware_of(spread_design(point++, options.seed), fixed);
        corpus.illegal += !illegal_because(row.hardware).empty();
      } while (!illegal_because(row.hardware).empty());
      const NetCost cost = simulate(prepared[row.net], row.hardware, profile);
      const auto noisy = [&](double value) {
        return options.noise > 0 ? value * std::exp(options.noise * noise.normal()) : value;
      };
      row.core_w = noisy(cost.core_w);
      row.memory_w = noisy(cost.memory_w);
      row.latency_s = noisy(cost.latency_s);
      corpus.rows.push_back(row);
    }
    first += static_cast<std::size_t>(nets);
  }
  return corpus;
}

}  // namespace omen::power
