// SPDX-License-Identifier: Apache-2.0
// Figures that need the public corpora: how much of them the vocabularies know, how our counts rank
// kernels beside the published ones, and whether labels are distributed as published.
//   loadbalance_corpora vocabularies SHIPPED_VOCABULARY
//   loadbalance_corpora counts
//   loadbalance_corpora labels NVIDIA_TABLES AMD_TABLES
#include <omen/container.hpp>
#include <omen/learn/correlation.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

#include "graph/vocabulary.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/grewe_counts.hpp"
#include "llvm/read_module.hpp"
#include "omen/testing/csv_table.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"
#include "support/track_data.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using testing::track_data;
using testing::unpacked;

using test::broken;

// Prints figures and remembers whether one of them missed its goal.
class Figures {
 public:
  void show(const std::string& name, double value, const char* unit) {
    test::show(name, value, unit);
  }
  void show(const std::string& name, double value, const char* unit, const std::string& op,
            double bound) {
    missed_ |= test::show(name, value, unit, op, bound) != 0;
  }
  bool missed() const { return missed_; }

 private:
  bool missed_ = false;
};

// How often each text occurs in the modules of an archive.
std::map<std::string, std::int64_t> texts_of(const fs::path& archive, TextCounts& normalised) {
  std::map<std::string, std::int64_t> counts;
  std::set<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(unpacked(archive)))
    files.insert(entry.path());
  for (const fs::path& file : files) {
    const IrModule module = read_module_file(file.string());
    const ProgramGraph graph = build_graph(module.get(), file.stem().string());
    for (const Node& node : graph.nodes) ++counts[std::string(graph.text(node))];
    count_texts(graph, normalised);
  }
  return counts;
}

double unknown_percent(const std::map<std::string, std::int64_t>& counts,
                       const Vocabulary& vocabulary) {
  double all = 0, unknown = 0;
  for (const auto& [text, count] : counts) {
    all += static_cast<double>(count);
    if (vocabulary.id(text) == vocabulary.unknown()) unknown += static_cast<double>(count);
  }
  return 100 * unknown / all;
}

// A vocabulary that lost its most frequent text.
Vocabulary damaged(const Vocabulary& whole) {
  std::vector<std::string> texts = whole.texts();
  texts[0] = "lost";
  return {texts, Vocabulary::Lookup::kExact};
}

int different_lines(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = testing::fields(a, '\n'), right = testing::fields(b, '\n');
  int count = 0;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    count += i >= left.size() || i >= right.size() || left[i] != right[i];
  return count;
}

void check_vocabularies(const std::string& shipped, Figures& figures) {
  const fs::path data = *track_data();
  Vocabulary published = Vocabulary::read((data / "vocab" / "programl.csv").string());
  Vocabulary own = Vocabulary::own();
  if (broken()) {
    published = damaged(published);
    own = damaged(own);
  }
  struct Corpus {
    const char* name;
    fs::path archive;
    double published_percent;
  };
  TextCounts counts;
  for (const Corpus& corpus : {Corpus{"devmap", data / "devmap" / "kernels_ir.tar.bz2", 2.80},
                               {"llvm_1000", data / "llvm_ir_1000" / "llvm_ir.tar.bz2", 0.91}}) {
    const auto texts = texts_of(corpus.archive, counts);
    const double percent = unknown_percent(texts, published);
    const std::string name = std::string("unknown_") + corpus.name;
    figures.show(name, percent, "%");
    figures.show(name + "_from_published", std::abs(percent - corpus.published_percent), "points",
                 "<=", 0.005);
    figures.show(std::string("unknown_to_own_") + corpus.name, unknown_percent(texts, own), "%",
                 "<=", 0.1);
  }
  // Texts that occur once are too rare to learn from; they have stand-ins.
  constexpr std::int64_t kLeast = 2;
  figures.show("own_vocabulary_changed_lines",
               different_lines(vocabulary_file(counts, broken() ? 1000 : kLeast),
                               testing::file_text(shipped)),
               "lines", "==", 0);
}

struct CountColumn {
  const char* name;
  double GreweCounts::*count;
  double least;
};
constexpr CountColumn kCounts[] = {{"comp", &GreweCounts::comp, 0.9},
                                   {"rational", &GreweCounts::rational, 0.98},
                                   {"mem", &GreweCounts::mem, 0.95},
                                   {"localmem", &GreweCounts::localmem, 0.98},
                                   {"coalesced", &GreweCounts::coalesced, 0.9}};

void check_counts(Figures& figures) {
  const Table rows = test::csv_table(test::read_file(*track_data() / "devmap" / "nvidia.csv"));
  const StringColumn source = rows.strings("src");
  std::set<std::string> seen;
  std::vector<std::size_t> row_of;
  std::vector<GreweCounts> ours;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    if (!seen.emplace(source[row]).second) continue;
    try {
      const auto list = count_grewe(std::string(source[row]), "src.cl", {});
      if (list.empty()) continue;
      ours.push_back(list.back());
      row_of.push_back(static_cast<std::size_t>(row));
    } catch (const Error&) {
      continue;  // the published text of many kernels lacks their helper functions
    }
  }
  figures.show("counted_kernels", static_cast<double>(ours.size()), "kernels", "==", 190);
  for (const CountColumn& column : kCounts) {
    const std::vector<double> published = rows.numbers(column.name);
    std::vector<double> left, right;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      left.push_back(ours[i].*column.count);
      right.push_back(published[row_of[broken() ? (i + 7) % ours.size() : i]]);
    }
    figures.show(std::string("rank_correlation_") + column.name, learn::spearman(left, right), "1",
                 ">=", column.least);
  }
}

// What section 4.1 of the thesis and our own count of the other table say.
struct Platform {
  const char* name;
  std::vector<int> classes, deciles;
};

void check_labels(const Platform& platform, const std::string& path, Figures& figures) {
  const container::Reader file = container::Reader::open(path);
  const Table rows = container::get_table(file, "workloads");
  const Table nodes = container::get_table(file, "nodes");
  std::set<std::int64_t> graphs;
  for (const std::int64_t id : nodes.column<std::int64_t>("graph_id")) graphs.insert(id);
  const std::vector<double> cpu = rows.numbers(broken() ? "t_gpu_ms" : "t_cpu_ms"),
                            gpu = rows.numbers(broken() ? "t_cpu_ms" : "t_gpu_ms"),
                            share = rows.numbers("share"), graph = rows.numbers("graph_id");
  const StringColumn share_class = rows.strings("share_class"), device = rows.strings("device");
  std::vector<int> classes(5, 0), deciles(10, 0);
  double resolved = 0, faster = 0, wrong_labels = 0;
  for (std::size_t row = 0; row < share.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    const double label = std::round(100 * gpu[row] / (gpu[row] + cpu[row]));
    const auto nearest = static_cast<std::size_t>(std::lround(label / 25));
    ++classes[nearest];
    ++deciles[std::min<std::size_t>(static_cast<std::size_t>(label / 10), 9)];
    wrong_labels += share_class[at] != std::to_string(nearest * 25) || share[row] != label;
    resolved += graphs.count(static_cast<std::int64_t>(graph[row]));
    faster += device[at] == (gpu[row] < cpu[row] ? "GPU" : "CPU");
  }
  int off = 0;
  for (std::size_t i = 0; i < classes.size(); ++i)
    off += std::abs(classes[i] - platform.classes[i]);
  for (std::size_t i = 0; i < platform.deciles.size(); ++i)
    off += std::abs(deciles[i] - platform.deciles[i]);
  const std::string name = platform.name;
  figures.show(name + "_histogram_differences", off, "rows", "==", 0);
  figures.show(name + "_labels_unlike_ours", wrong_labels, "rows", "==", 0);
  figures.show(name + "_rows_with_a_graph", resolved, "rows", "==", 680);
  figures.show(name + "_devices_that_are_faster", faster, "rows", "==", 680);
}

int run(const std::vector<std::string>& arguments) {
  if (!track_data()) {
    std::printf("skipped: %s\n", testing::kNoData);
    return 77;
  }
  Figures figures;
  const std::string mode = arguments.empty() ? "" : arguments[0];
  if (mode == "vocabularies" && arguments.size() == 2) {
    check_vocabularies(arguments[1], figures);
  } else if (mode == "counts") {
    check_counts(figures);
  } else if (mode == "labels" && arguments.size() == 3) {
    check_labels({"nvidia", {108, 170, 244, 155, 3}, {64, 86, 52, 95, 87, 106, 94, 61, 35, 0}},
                 arguments[1], figures);
    check_labels({"amd", {67, 121, 169, 234, 89}, {}}, arguments[2], figures);
  } else {
    std::fprintf(stderr, "usage: loadbalance_corpora vocabularies FILE | counts | labels A B\n");
    return 2;
  }
  return figures.missed() ? 1 : 0;
}

}  // namespace
}  // namespace omen::loadbalance

int main(int argc, char** argv) {
  try {
    return omen::loadbalance::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
