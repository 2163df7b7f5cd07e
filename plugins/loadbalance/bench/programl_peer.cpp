// SPDX-License-Identifier: Apache-2.0
// Graphs of generated modules against those of the published ProGraML binary.
#include <sys/wait.h>

#include <unistd.h>
#include <fstream>
#include <map>
#include <tuple>

#include "graph/digest.hpp"
#include "ir_generator.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/read_module.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance::bench {
namespace {

using test::broken;
using test::kSkipped;
using test::show;

constexpr std::uint64_t kModules = 200;

// Reads the wire format of protocol buffers; enough of it for nodes and edges.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}

  // Moves to the next field; false at the end.
  bool next() {
    if (at_ >= bytes_.size()) return false;
    const std::uint64_t key = varint();
    field = static_cast<int>(key >> 3);
    text = {};
    number = 0;
    switch (key & 7) {
      case 0:
        number = varint();
        return true;
      case 2: {
        const std::size_t size = varint();
        text = bytes_.substr(at_, size);
        at_ += size;
        return true;
      }
      default:
        std::fputs("the published binary wrote a field of another kind\n", stderr);
        std::exit(1);
    }
  }

  int field = 0;
  std::uint64_t number = 0;
  std::string_view text;

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; at_ < bytes_.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

ProgramGraph graph_from(std::string_view bytes) {
  ProgramGraph graph;
  TextTable texts(graph);
  for (Message message(bytes); message.next();) {
    if (message.field == 1) {
      Node node;
      for (Message part(message.text); part.next();) {
        if (part.field == 1) node.type = static_cast<NodeType>(part.number);
        if (part.field == 2) node.text = texts.code(part.text);
        if (part.field == 4) node.function = static_cast<std::int32_t>(part.number);
        if (part.field == 7) node.block = static_cast<std::int32_t>(part.number);
      }
      graph.nodes.push_back(node);
    } else if (message.field == 2) {
      Edge edge;
      for (Message part(message.text); part.next();) {
        const auto value = static_cast<std::int32_t>(part.number);
        if (part.field == 1) edge.flow = static_cast<Flow>(part.number);
        if (part.field == 2) edge.position = value;
        if (part.field == 3) edge.source = value;
        if (part.field == 4) edge.target = value;
      }
      graph.edges.push_back(edge);
    }
  }
  return graph;
}

// What the command prints; empty where it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string bytes;
  char part[65536];
  while (const std::size_t size = std::fread(part, 1, sizeof part, pipe)) bytes.append(part, size);
  return ::pclose(pipe) == 0 ? bytes : std::string();
}

// Text, function and block of every node, sorted; nodes of no function read as those of the first.
auto places(const ProgramGraph& graph) {
  std::vector<std::tuple<std::string_view, std::int32_t, std::int32_t>> list;
  for (const Node& node : graph.nodes)
    list.emplace_back(graph.text(node), std::max(node.function, 0), node.block);
  std::sort(list.begin(), list.end());
  return list;
}

bool equal(const ProgramGraph& a, const ProgramGraph& b) {
  const auto flows = [](const ProgramGraph& graph) {
    std::map<Flow, std::size_t> counts;
    for (const Edge& edge : graph.edges) ++counts[edge.flow];
    return counts;
  };
  return places(a) == places(b) && flows(a) == flows(b) &&
         node_text_digest(a) == node_text_digest(b) && structure_digest(a) == structure_digest(b);
}

// The control gives one edge another position.
void damage(ProgramGraph& graph) {
  if (!graph.edges.empty()) graph.edges.back().position += 1;
}

int compare(const std::string& binary, const std::string& scratch, std::uint64_t first_seed) {
  std::size_t same = 0, nodes = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + kModules; ++seed) {
    const std::string text = random_module(seed), path = scratch + "/module.ll";
    std::ofstream(path) << text;
    const std::string theirs =
        output_of("'" + binary + "' -stdout_fmt=pb '" + path + "' 2>/dev/null");
    if (theirs.empty()) {
      std::printf("the published binary refuses module %llu, kept as %s\n",
                  static_cast<unsigned long long>(seed), path.c_str());
      return 1;
    }
    const IrModule module = read_module(text, path);
    ProgramGraph ours = build_graph(module.get(), "module");
    if (broken()) damage(ours);
    nodes += ours.nodes.size();
    if (equal(ours, graph_from(theirs)))
      ++same;
    else
      std::printf("module %llu differs\n", static_cast<unsigned long long>(seed));
  }
  std::printf("%zu of %llu modules with %zu nodes are equal\n", same,
              static_cast<unsigned long long>(kModules), nodes);
  return show("generated_modules_equal", static_cast<double>(same), "modules", ">=", kModules);
}

}  // namespace
}  // namespace omen::loadbalance::bench

int main(int argc, char** argv) {
  using namespace omen::loadbalance::bench;
  if (argc < 3) {
    std::fputs("usage: programl_peer BINARY SCRATCH [SEED] | --print SEED\n", stderr);
    return 2;
  }
  if (std::string(argv[1]) == "--print") {
    std::fputs(random_module(std::stoull(argv[2])).c_str(), stdout);
    return 0;
  }
  if (std::system((std::string(argv[1]) + " --version > /dev/null 2>&1").c_str()) != 0) {
    std::puts("skipped: the published binary does not start; it needs libtinfo5");
    return kSkipped;
  }
  return compare(argv[1], argv[2], argc > 3 ? std::stoull(argv[3]) : 1);
}
