// SPDX-License-Identifier: Apache-2.0
// GraphFrontend `power.corpus`: makes a corpus, or reads one from its files.
#pragma once

#include <omen/plugin.hpp>

#include "corpus/corpus.hpp"

namespace omen::power {

struct CorpusFrontendOptions {
  std::int64_t train_nets = 1360, test_nets = 200, absent_nets = 40;
  std::int64_t train_rows = 68000, test_rows = 4000, absent_rows = 2000, corpus_seed = 1;
  double noise = 0;

  static auto spec() {
    using O = CorpusFrontendOptions;
    return options(
        opt(&O::train_nets, "train_nets", "networks to learn from").range(1, 1e6),
        opt(&O::train_rows, "train_rows", "their rows").range(0, 1e8),
        opt(&O::test_nets, "test_nets", "further networks of the same families").range(0, 1e6),
        opt(&O::test_rows, "test_rows", "their rows").range(0, 1e8),
        opt(&O::absent_nets, "absent_nets", "networks of a family apart").range(0, 1e6),
        opt(&O::absent_rows, "absent_rows", "their rows").range(0, 1e8),
        opt(&O::noise, "noise", "deviation of the logarithm of each cost, as meters have")
            .range(0, 1),
        opt(&O::corpus_seed, "corpus_seed", "what everything is drawn from").range(0, 1e15));
  }
};

class CorpusFrontend final : public GraphFrontend {
 public:
  explicit CorpusFrontend(CorpusFrontendOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  CorpusFrontendOptions options_;
};

Component corpus_component();

// The tables of a corpus: each network once, its rows by graph_id.
void put_corpus(const Corpus& corpus, const TablesOut& out);

}  // namespace omen::power
