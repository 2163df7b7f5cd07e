// SPDX-License-Identifier: Apache-2.0
// Counts by one pass over nodes and edges, after loops were found in the control flow.
#include "graph/features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <unordered_map>
#include <utility>

namespace omen::loadbalance {
namespace {

constexpr std::int32_t kNone = -1;

// Control flow between blocks, numbered from 0.
struct BlockGraph {
  std::vector<std::int32_t> blocks;  // number in the graph
  std::vector<std::vector<std::int32_t>> next;

  explicit BlockGraph(const ProgramGraph& graph) {
    std::unordered_map<std::int32_t, std::int32_t> place;
    std::vector<std::int32_t> of_node(graph.nodes.size(), kNone);
    for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (node.type != NodeType::kInstruction) continue;
      const auto [at, fresh] =
          place.try_emplace(node.block, static_cast<std::int32_t>(blocks.size()));
      if (fresh) blocks.push_back(node.block);
      of_node[i] = at->second;
    }
    next.resize(blocks.size());
    for (const Edge& edge : graph.edges) {
      if (edge.flow != Flow::kControl) continue;
      const std::int32_t from = of_node[static_cast<std::size_t>(edge.source)];
      const std::int32_t to = of_node[static_cast<std::size_t>(edge.target)];
      // Within a block control runs forward; only a terminator goes back to its own block.
      const bool within = from == to && edge.source < edge.target;
      if (from != kNone && to != kNone && !within)
        next[static_cast<std::size_t>(from)].push_back(to);
    }
  }
};

// Strongly connected parts with a cycle (Tarjan's algorithm with its own stack, because kernels may
// have more blocks than the call stack has room for).
class CyclicParts {
 public:
  CyclicParts(const BlockGraph& graph, const std::vector<std::int32_t>& within)
      : graph_(graph), inside_(graph.next.size(), false), state_(graph.next.size()) {
    for (const std::int32_t block : within) inside_[static_cast<std::size_t>(block)] = true;
    for (const std::int32_t block : within)
      if (state_[static_cast<std::size_t>(block)].index == kNone) visit(block);
  }
  std::vector<std::vector<std::int32_t>> parts;

 private:
  struct State {
    std::int32_t index = kNone, low = kNone;
    std::size_t child = 0;
    bool open = false;
  };

  void visit(std::int32_t root) {
    std::vector<std::int32_t> path;
    enter(root, path);
    while (!path.empty()) {
      const std::int32_t block = path.back();
      State& state = state_[static_cast<std::size_t>(block)];
      const auto& next = graph_.next[static_cast<std::size_t>(block)];
      if (state.child < next.size()) {
        const std::int32_t child = next[state.child++];
        if (!inside_[static_cast<std::size_t>(child)]) continue;
        State& other = state_[static_cast<std::size_t>(child)];
        if (other.index == kNone)
          enter(child, path);
        else if (other.open)
          state.low = std::min(state.low, other.index);
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        State& parent = state_[static_cast<std::size_t>(path.back())];
        parent.low = std::min(parent.low, state.low);
      }
      if (state.low == state.index) close(block);
    }
  }
  void enter(std::int32_t block, std::vector<std::int32_t>& path) {
    State& state = state_[static_cast<std::size_t>(block)];
    state.index = state.low = count_++;
    state.open = true;
    open_.push_back(block);
    path.push_back(block);
  }
  void close(std::int32_t block) {
    std::vector<std::int32_t> part;
    do {
      part.push_back(open_.back());
      state_[static_cast<std::size_t>(open_.back())].open = false;
      open_.pop_back();
    } while (part.back() != block);
    const auto& next = graph_.next[static_cast<std::size_t>(block)];
    const bool cyclic = part.size() > 1 || std::find(next.begin(), next.end(), block) != next.end();
    if (!cyclic) return;
    // The first block of a part in program order is where it is entered.
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }

  const BlockGraph& graph_;
  std::vector<bool> inside_;
  std::vector<State> state_;
  std::vector<std::int32_t> open_;
  std::int32_t count_ = 0;
};

struct Loops {
  std::vector<int> depth;         // per block of the BlockGraph
  std::array<double, 4> found{};  // loops at depth 1..3
};

Loops find_loops(const BlockGraph& graph, int most) {
  Loops loops;
  loops.depth.assign(graph.blocks.size(), 0);
  std::vector<std::int32_t> all(graph.blocks.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  std::vector<std::vector<std::int32_t>> level = {std::move(all)};
  for (int depth = 1; depth <= most && !level.empty(); ++depth) {
    std::vector<std::vector<std::int32_t>> inner;
    for (const std::vector<std::int32_t>& within : level)
      for (std::vector<std::int32_t>& part : CyclicParts(graph, within).parts) {
        for (const std::int32_t block : part) loops.depth[static_cast<std::size_t>(block)] = depth;
        loops.found[static_cast<std::size_t>(std::min(depth, 3))] += 1;
        part.erase(part.begin());
        if (!part.empty()) inner.push_back(std::move(part));
      }
    level = std::move(inner);
  }
  return loops;
}

bool starts_with(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

// "double" for "[13 x [5 x double]]*", "<4 x float>" and "double*": what is computed with.
std::string_view scalar_of(std::string_view type) {
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.remove_suffix(1);
  if (const std::size_t space = type.find(" addrspace("); space != std::string_view::npos)
    type = type.substr(0, space);
  while (!type.empty() && (type.front() == '[' || type.front() == '<')) {
    const std::size_t x = type.find(" x ");
    if (x == std::string_view::npos) break;
    type.remove_prefix(x + 3);
    while (!type.empty() && (type.back() == ']' || type.back() == '>' || type.back() == '*'))
      type.remove_suffix(1);
  }
  if (starts_with(type, "%") || starts_with(type, "struct")) return "struct";
  for (const char* known : {"double", "float", "half", "i1", "i8", "i16", "i32", "i64"})
    if (type == known) return known;
  return "other";
}

// With opaque pointers the type does not say what is pointed to.
bool is_pointer(std::string_view type) {
  return type.find('*') != std::string_view::npos || type == "ptr" ||
         starts_with(type, "ptr addrspace(");
}

double lanes_of(std::string_view type) {
  if (!starts_with(type, "<")) return 1;
  return std::max(1, std::atoi(std::string(type.substr(1, 4)).c_str()));
}

bool is_special(std::string_view function) {
  for (const char* prefix : {"native_", "half_"})
    if (starts_with(function, prefix)) function.remove_prefix(std::string_view(prefix).size());
  static const std::set<std::string_view> kSpecial = {
      "sqrt",  "rsqrt", "exp",  "exp2", "exp10", "log",  "log2", "log10", "sin",
      "cos",   "tan",   "asin", "acos", "atan",  "pow",  "powr", "pown",  "cbrt",
      "hypot", "sinh",  "cosh", "tanh", "erf",   "erfc", "atan2"};
  return kSpecial.count(function) > 0;
}

const char* class_of_opcode(std::string_view op) {
  static const std::map<std::string_view, const char*> kClasses = {{"load", "load"},
                                                                   {"store", "store"},
                                                                   {"add", "integer"},
                                                                   {"sub", "integer"},
                                                                   {"mul", "integer"},
                                                                   {"shl", "integer"},
                                                                   {"lshr", "integer"},
                                                                   {"ashr", "integer"},
                                                                   {"and", "integer"},
                                                                   {"or", "integer"},
                                                                   {"xor", "integer"},
                                                                   {"sdiv", "divide"},
                                                                   {"udiv", "divide"},
                                                                   {"srem", "divide"},
                                                                   {"urem", "divide"},
                                                                   {"br", "branch"},
                                                                   {"switch", "branch"},
                                                                   {"phi", "choice"},
                                                                   {"select", "choice"},
                                                                   {"icmp", "choice"},
                                                                   {"fcmp", "choice"},
                                                                   {"alloca", "private"},
                                                                   {"getelementptr", "address"},
                                                                   {"sext", "cast"},
                                                                   {"zext", "cast"},
                                                                   {"trunc", "cast"},
                                                                   {"bitcast", "cast"},
                                                                   {"sitofp", "cast"},
                                                                   {"uitofp", "cast"},
                                                                   {"fptosi", "cast"},
                                                                   {"fptoui", "cast"},
                                                                   {"fpext", "cast"},
                                                                   {"fptrunc", "cast"},
                                                                   {"inttoptr", "cast"},
                                                                   {"ptrtoint", "cast"},
                                                                   {"atomicrmw", "atomic"},
                                                                   {"cmpxchg", "atomic"},
                                                                   {"fence", "barrier"}};
  const auto at = kClasses.find(op);
  return at == kClasses.end() ? nullptr : at->second;
}

const char* class_of_call(std::string_view function, bool wide) {
  if (function.find("fmuladd") != std::string_view::npos || function == "fma" ||
      starts_with(function, "llvm.fma") || function == "mad")
    return wide ? "fp64" : "fp32";
  if (is_special(function) || starts_with(function, "llvm.sqrt") ||
      starts_with(function, "llvm.exp") || starts_with(function, "llvm.log") ||
      starts_with(function, "llvm.sin") || starts_with(function, "llvm.cos") ||
      starts_with(function, "llvm.pow"))
    return "special";
  if (function.find("barrier") != std::string_view::npos || function == "mem_fence")
    return "barrier";
  if (starts_with(function, "atom")) return "atomic";
  if (starts_with(function, "get_")) return "index";
  return "call";
}

// What edges say about an instruction.
struct Uses {
  std::vector<std::string_view> first_type;  // of operand 0
  std::vector<std::int32_t> callee;          // node that a call leads to
  std::vector<bool> defined;                 // variables that an instruction writes

  explicit Uses(const ProgramGraph& graph)
      : first_type(graph.nodes.size()),
        callee(graph.nodes.size(), kNone),
        defined(graph.nodes.size(), false) {
    for (const Edge& edge : graph.edges) {
      const auto source = static_cast<std::size_t>(edge.source);
      const auto target = static_cast<std::size_t>(edge.target);
      const bool to_instruction = graph.nodes[target].type == NodeType::kInstruction;
      if (edge.flow == Flow::kData && to_instruction && edge.position == 0)
        first_type[target] = graph.text(graph.nodes[source]);
      if (edge.flow == Flow::kData && !to_instruction) defined[target] = true;
      // Calls come before the returns that lead back to them.
      if (edge.flow == Flow::kCall && source > 0 && callee[source] == kNone &&
          graph.text(graph.nodes[source]) == "call")
        callee[source] = edge.target;
    }
  }
};

class Counter {
 public:
  explicit Counter(const ProgramGraph& graph)
      : graph_(graph), blocks_(graph), loops_(find_loops(blocks_, 3)), uses_(graph) {
    for (std::size_t i = 0; i < blocks_.blocks.size(); ++i)
      depth_of_[blocks_.blocks[i]] = loops_.depth[i];
  }

  FeatureCounts run() {
    count_sizes();
    for (std::size_t i = 1; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].type == NodeType::kInstruction)
        count_instruction(i);
      else
        count_value(i);
    }
    if (dimension_sum_ > 0) counts_["dimension.log"] = std::log1p(dimension_sum_);
    return std::move(counts_);
  }

 private:
  void count_sizes() {
    counts_["nodes"] = static_cast<double>(graph_.nodes.size());
    counts_["functions"] = static_cast<double>(graph_.functions.size());
    counts_["blocks"] = static_cast<double>(blocks_.blocks.size());
    for (const Edge& edge : graph_.edges)
      counts_[std::string("edges.") + kFlowNames[static_cast<std::size_t>(edge.flow)]] += 1;
    int deepest = 0;
    for (const int depth : loops_.depth) deepest = std::max(deepest, depth);
    counts_["depth"] = deepest;
    for (std::size_t depth = 1; depth <= 3; ++depth)
      if (loops_.found[depth] > 0) counts_["loops." + std::to_string(depth)] = loops_.found[depth];
  }

  void count_instruction(std::size_t node) {
    const std::string_view op = graph_.text(graph_.nodes[node]);
    if (starts_with(op, ";") || starts_with(op, "[")) return;  // declarations
    counts_["instructions"] += 1;
    counts_["op." + std::string(op)] += 1;
    const std::string_view type = uses_.first_type[node];
    const bool wide = scalar_of(type) == "double";
    const char* group = class_of_opcode(op);
    double weight = 1;
    if (op == "fadd" || op == "fsub" || op == "fmul" || op == "fdiv" || op == "frem" ||
        op == "fneg") {
      group = wide ? "fp64" : "fp32";
      weight = lanes_of(type);
    } else if (op == "call") {
      group = count_call(node, wide, &weight);
    } else if (op == "load" || op == "store") {
      counts_["memory." + std::string(scalar_of(type))] += lanes_of(type);
    }
    if (!group) group = "other";
    const int depth = depth_of_[graph_.nodes[node].block];
    counts_["class." + std::string(group) + "." + std::to_string(depth)] += weight;
  }

  const char* count_call(std::size_t node, bool wide, double* weight) {
    const std::int32_t callee = uses_.callee[node];
    if (callee == kNone) return "call";
    const std::int32_t function = graph_.nodes[static_cast<std::size_t>(callee)].function;
    if (function < 0) return "call";
    const std::string_view name = unmangled(graph_.functions[static_cast<std::size_t>(function)]);
    counts_["call." + std::string(name)] += 1;
    const char* group = class_of_call(name, wide);
    if (starts_with(group, "fp")) *weight = 2;
    return group;
  }

  void count_value(std::size_t node) {
    const std::string_view type = graph_.text(graph_.nodes[node]);
    counts_["type." + std::string(scalar_of(type))] += 1;
    if (is_pointer(type)) counts_["type.pointer"] += 1;
    if (starts_with(type, "<")) counts_["type.vector"] += 1;
    if (graph_.nodes[node].type == NodeType::kVariable && !uses_.defined[node]) {
      counts_["arguments"] += 1;
      if (is_pointer(type)) counts_["pointer_arguments"] += 1;
    }
    count_dimensions(type);
  }

  void count_dimensions(std::string_view type) {
    for (std::size_t at = type.find('['); at != std::string_view::npos;
         at = type.find('[', at + 1)) {
      const double size = std::atof(std::string(type.substr(at + 1, 12)).c_str());
      dimension_sum_ += size;
      double& largest = counts_["dimension.largest"];
      largest = std::max(largest, size);
    }
  }

  const ProgramGraph& graph_;
  const BlockGraph blocks_;
  const Loops loops_;
  const Uses uses_;
  std::unordered_map<std::int32_t, int> depth_of_;
  FeatureCounts counts_;
  double dimension_sum_ = 0;
};

double at_depths(const FeatureCounts& counts, const std::string& group, double trips) {
  double sum = 0, times = 1;
  for (int depth = 0; depth <= 3; ++depth, times *= trips) {
    const auto at = counts.find("class." + group + "." + std::to_string(depth));
    if (at != counts.end()) sum += at->second * times;
  }
  return sum;
}

}  // namespace

FeatureCounts count_features(const ProgramGraph& graph) {
  return Counter(graph).run();
}

std::map<std::int32_t, int> loop_depths(const ProgramGraph& graph, int most) {
  const BlockGraph blocks(graph);
  const Loops loops = find_loops(blocks, most);
  std::map<std::int32_t, int> depths;
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) depths[blocks.blocks[i]] = loops.depth[i];
  return depths;
}

std::string_view unmangled(std::string_view function) {
  if (!starts_with(function, "_Z")) return function;
  std::size_t at = 2, length = 0;
  while (at < function.size() && function[at] >= '0' && function[at] <= '9' && length < 1000)
    length = length * 10 + static_cast<std::size_t>(function[at++] - '0');
  return length > 0 && at + length <= function.size() ? function.substr(at, length) : function;
}

Operations count_operations(const FeatureCounts& counts, double trips) {
  Operations operations;
  operations.fp32 = at_depths(counts, "fp32", trips);
  operations.fp64 = at_depths(counts, "fp64", trips);
  operations.integer = at_depths(counts, "integer", trips) + at_depths(counts, "divide", trips) +
                       at_depths(counts, "address", trips);
  operations.special = at_depths(counts, "special", trips);
  double wide = 0, all = 0;
  for (const char* type : {"double", "i64", "float", "i32", "i16", "i8", "half", "other", "struct"})
    if (const auto at = counts.find(std::string("memory.") + type); at != counts.end()) {
      const std::string_view name = type;
      all += at->second;
      wide += at->second * (name == "double" || name == "i64" ? 8 : name == "i8" ? 1 : 4);
    }
  const double moves = at_depths(counts, "load", trips) + at_depths(counts, "store", trips);
  operations.bytes = all > 0 ? moves * wide / all : 0;
  return operations;
}

}  // namespace omen::loadbalance
