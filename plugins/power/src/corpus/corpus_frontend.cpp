// SPDX-License-Identifier: Apache-2.0
// Corpora as tables.
#include "corpus/corpus_frontend.hpp"

#include <filesystem>

#include "corpus/corpus_files.hpp"
#include "hardware/hardware_columns.hpp"
#include "nets/net_tables.hpp"

namespace omen::power {
namespace {

Table corpus_workloads(const Corpus& corpus) {
  std::vector<std::int64_t> id, graph;
  std::vector<std::int32_t> key, family, part;
  std::vector<Hardware> hardware;
  for (const CorpusRow& row : corpus.rows) {
    id.push_back(static_cast<std::int64_t>(id.size()));
    graph.push_back(static_cast<std::int64_t>(row.net));
    key.push_back(static_cast<std::int32_t>(row.net));
    family.push_back(static_cast<std::int32_t>(corpus.family[row.net]));
    part.push_back(static_cast<std::int32_t>(corpus.part[row.net]));
    hardware.push_back(row.hardware);
  }
  TableBuilder table;
  table.add("workload_id", std::move(id))
      .add_dictionary("group", std::move(key), corpus.key)
      .add("graph_id", std::move(graph))
      .add_dictionary("family", std::move(family), {kFamilyNames.begin(), kFamilyNames.end()})
      .add_dictionary("part", std::move(part), {kPartNames.begin(), kPartNames.end()});
  add_hardware(table, hardware, ConstantColumns::left_out);
  return table.finish();
}

Table corpus_targets(const Corpus& corpus) {
  std::vector<std::int64_t> id;
  std::vector<double> core, memory, latency;
  // Single precision: the last digits of a power differ from one processor to the next, and the
  // digest of the data must not.
  const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  for (const CorpusRow& row : corpus.rows) {
    id.push_back(static_cast<std::int64_t>(id.size()));
    core.push_back(rounded(row.core_w));
    memory.push_back(rounded(row.memory_w));
    latency.push_back(rounded(row.latency_s));
  }
  const auto described = [](const char* unit) {
    return Metadata{{"omen.unit", unit}, {"omen.direction", "lower"}};
  };
  return TableBuilder()
      .add("workload_id", std::move(id))
      .add("p_core_w", std::move(core), described("W"))
      .add("p_bw_w", std::move(memory), described("W"))
      .add("latency_s", std::move(latency), described("s"))
      .finish();
}

}  // namespace

void put_corpus(const Corpus& corpus, const TablesOut& out) {
  out.put("workloads", corpus_workloads(corpus));
  out.put("nodes", node_table(corpus.nets, false));
  out.put("edges", edge_table(corpus.nets));
  out.put("targets", corpus_targets(corpus));
}

int CorpusFrontend::sniff(const char* path, std::string_view head) {
  (void)head;
  return path && holds_corpus_files(path) ? 90 : 0;
}

void CorpusFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (path && *path) return put_corpus(read_corpus_files(path), out);
  CorpusOptions made;
  made.train_nets = options_.train_nets;
  made.test_nets = options_.test_nets;
  made.absent_nets = options_.absent_nets;
  made.train_rows = options_.train_rows;
  made.test_rows = options_.test_rows;
  made.absent_rows = options_.absent_rows;
  made.noise = options_.noise;
  made.seed = static_cast<std::uint64_t>(options_.corpus_seed);
  const auto all = static_cast<double>(made.train_rows + made.test_rows + made.absent_rows);
  put_corpus(make_corpus(made, [&](double rows) { run.step(rows / all, "simulate"); }), out);
}

Component corpus_component() {
  return frontend<CorpusFrontend, CorpusFrontendOptions>(
             "power.corpus",
             "networks on accelerators with simulated costs: made, or read from files")
      .writes("workloads", "nodes@pw-blocks/1", "edges", "targets")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_GENERATES);
}

}  // namespace omen::power
