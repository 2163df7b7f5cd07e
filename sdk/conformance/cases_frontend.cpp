// SPDX-License-Identifier: Apache-2.0
// Cases about front ends: what they recognise, what they lower, and what they do with rubbish.
#include <filesystem>
#include <fstream>
#include <set>

#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

namespace fs = std::filesystem;
using Frontend = Checked<omen_graph_frontend_vt>;
using Tables = std::map<std::string, Table>;

Tables lower(Frontend& frontend, const char* path, const TestRun& run) {
  TableCollector tables;
  ErrorOut error;
  error.check(frontend.vt().lower(frontend.get(), run.c(), path, tables.c(), error));
  return tables.take();
}

void check_workloads(const Table& workloads) {
  const auto id = workloads.column<std::int64_t>("workload_id");
  for (std::int64_t i = 1; i < id.size(); ++i)
    require(id[i] > id[i - 1], "workload_id does not ascend");
}

// Node counts by graph; nodes are numbered from 0 within each.
std::map<std::int64_t, std::int32_t> check_nodes(const Table& nodes) {
  const auto graph = nodes.column<std::int64_t>("graph_id");
  const auto node = nodes.column<std::int32_t>("node_id");
  nodes.strings("op");
  std::map<std::int64_t, std::int32_t> sizes;
  for (std::int64_t i = 0; i < nodes.rows(); ++i) {
    require(i == 0 || graph[i] >= graph[i - 1], "graph_id of the nodes does not ascend");
    require(node[i] == sizes[graph[i]]++,
            "nodes of graph " + std::to_string(graph[i]) + " are not numbered from 0");
  }
  require(!nodes.metadata("omen.dialect").empty(), "the nodes do not name their dialect");
  return sizes;
}

void check_edges(const Table& edges, const std::map<std::int64_t, std::int32_t>& sizes) {
  const auto graph = edges.column<std::int64_t>("graph_id");
  const auto source = edges.column<std::int32_t>("src");
  const auto destination = edges.column<std::int32_t>("dst");
  for (std::int64_t i = 0; i < edges.rows(); ++i) {
    const auto size = sizes.find(graph[i]);
    require(size != sizes.end(), "an edge belongs to no graph");
    for (const std::int32_t end : {source[i], destination[i]})
      require(end >= 0 && end < size->second, "an edge of graph " + std::to_string(graph[i]) +
                                                  " ends at node " + std::to_string(end));
  }
}

void check_tables(const Tables& tables) {
  const auto workloads = tables.find("workloads");
  require(workloads != tables.end(), "lower gives no workloads");
  check_workloads(workloads->second);
  const auto nodes = tables.find("nodes");
  if (nodes == tables.end()) return;
  const auto sizes = check_nodes(nodes->second);
  if (const auto edges = tables.find("edges"); edges != tables.end())
    check_edges(edges->second, sizes);
}

// Sources are named relative to plugin.json.
fs::path place_of(Trial& trial, const fs::path& source) {
  return trial.plugin_quirks().plugin_json().parent_path() / source;
}

void sniff(Trial& trial) {
  const auto& vt = trial.vtable<omen_graph_frontend_vt>();
  static const char kHead[] = "\x7f\0rubbish\n{\"nodes\": [";
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, sizeof kHead - 1}) {
    const std::int32_t confidence =
        across("sniff", [&] { return vt.sniff("some/file.bin", kHead, length); });
    require(confidence >= 0 && confidence <= 100,
            "sniff gives " + std::to_string(confidence) + ", not 0 to 100");
    require(confidence < 100, "sniff is certain of rubbish");
  }
  const std::int32_t name =
      across("sniff", [&] { return vt.sniff("no_such_name_anywhere", nullptr, 0); });
  require(name >= 0 && name <= 100, "sniff of a name gives " + std::to_string(name));
  for (const std::string& listed : trial.facts().names)
    require(across("sniff", [&] { return vt.sniff(listed.c_str(), nullptr, 0); }) > 0,
            "it lists the name '" + listed + "', but sniff does not know it");
}

void sources(Trial& trial) {
  if (trial.quirks().sources.empty()) skip("omen-verify.json names no 'sources'");
  const TestRun run(trial.seed());
  for (const fs::path& source : trial.quirks().sources) {
    const fs::path path = place_of(trial, source);
    Frontend frontend = trial.create<omen_graph_frontend_vt>();
    try {
      const Tables first = lower(frontend, path.c_str(), run);
      check_tables(first);
      const Tables again = lower(frontend, path.c_str(), run);
      for (const auto& [name, table] : first)
        require(again.count(name) && again.at(name).rows() == table.rows(),
                path.filename().string() + " lowers to other tables the second time");
    } catch (const Error& error) {
      if (error.code() == OMEN_UNAVAILABLE) skip(error.what());
      fail(path.filename().string() + ": " + error.what());
    }
  }
}

// Rubbish may be refused or lowered to something sound.
void lower_rubbish(Trial& trial, const std::string& path) {
  Frontend frontend = trial.create<omen_graph_frontend_vt>();
  const TestRun run(trial.seed());
  try {
    check_tables(lower(frontend, path.c_str(), run));
  } catch (const Error& error) {
    require(error.code() != OMEN_INTERNAL,
            std::string("lower failed with 'internal error': ") + error.what());
  }
}

void missing(Trial& trial) {
  Frontend frontend = trial.create<omen_graph_frontend_vt>();
  const TestRun run(trial.seed());
  const std::string path = run.scratch_dir() + "/no_such_file.bin";
  try {
    lower(frontend, path.c_str(), run);
  } catch (const Error& error) {
    require(error.code() != OMEN_INTERNAL,
            std::string("a missing file gives 'internal error': ") + error.what());
    return;
  }
  fail("lower works on a file that does not exist");
}

void rubbish(Trial& trial) {
  const TestRun run(trial.seed());
  const std::vector<std::string> contents = {"", "{", std::string(4096, '\0'),
                                             std::string("\x7f") + "ELF\1\1\1", "digraph {"};
  for (const std::string& text : contents) {
    const std::string path = run.scratch_dir() + "/rubbish.bin";
    std::ofstream(path, std::ios::binary) << text;
    lower_rubbish(trial, path);
  }
}

void generate(Trial& trial) {
  Frontend frontend = trial.create<omen_graph_frontend_vt>();
  const TestRun run(trial.seed());
  const bool claims = trial.facts().has_cap("generates");
  try {
    check_tables(lower(frontend, nullptr, run));
  } catch (const Error& error) {
    require(!claims || error.code() == OMEN_UNAVAILABLE,
            std::string("it claims to generate, but: ") + error.what());
    require(error.code() != OMEN_INTERNAL,
            std::string("lower without a path gives 'internal error': ") + error.what());
    return;
  }
  require(claims, "lower works without a path, but 'generates' is not claimed");
}

// Sources with bytes changed, and random bytes.
void fuzz_files(Trial& trial) {
  std::vector<std::string> seeds = {std::string(64, 'a'), "{\"nodes\": [], \"edges\": []}"};
  for (const fs::path& source : trial.quirks().sources) {
    const fs::path path = place_of(trial, source);
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const TestRun run(trial.seed());
  std::uint64_t state = trial.seed() * 6364136223846793005U + 1442695040888963407U;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 100; ++round) {
    std::string text = seeds[draw(seeds.size())];
    for (std::uint64_t change = 0, changes = 1 + draw(8); change < changes && !text.empty();
         ++change)
      text[draw(text.size())] = static_cast<char>(draw(256));
    if (draw(4) == 0) text.resize(draw(text.size() + 1));
    const std::string path = run.scratch_dir() + "/fuzzed.bin";
    std::ofstream(path, std::ios::binary) << text;
    lower_rubbish(trial, path);
  }
}

}  // namespace

void use_frontend(Trial& trial) {
  Frontend frontend = trial.create<omen_graph_frontend_vt>();
  const TestRun run(trial.seed());
  std::vector<std::string> paths = {run.scratch_dir() + "/no_such_file.bin"};
  for (const fs::path& source : trial.quirks().sources) paths.push_back(place_of(trial, source));
  for (const std::string& path : paths) {
    try {
      lower(frontend, path.c_str(), run);
    } catch (const Error&) {
      continue;
    }
  }
}

std::vector<Case> frontend_cases() {
  return {
      {"frontend.sniff",
       "sniff gives 0 to 100, is not certain of rubbish, and knows the names that are listed.", 1,
       20, kFrontends, nullptr, sniff},
      {"frontend.sources", "its sample files lower to sound tables, twice the same.", 2, 60,
       kFrontends, nullptr, sources},
      {"frontend.missing", "a missing file is refused.", 2, 30, kFrontends, nullptr, missing},
      {"frontend.rubbish", "rubbish is refused or lowered to sound tables.", 2, 60, kFrontends,
       nullptr, rubbish},
      {"frontend.generate", "it lowers without a path exactly where it claims to.", 2, 60,
       kFrontends, nullptr, generate},
      {"stress.files", "damaged files never break it.", 3, 300, kFrontends, nullptr, fuzz_files},
  };
}

}  // namespace omen::conformance
