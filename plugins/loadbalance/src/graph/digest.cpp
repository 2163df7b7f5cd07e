// SPDX-License-Identifier: Apache-2.0
// Order-free digests of program graphs, by the rule that published golden values follow. The rule
// sorts and hashes lines of text; here the lines are sorted as numbers and never put together.
#include "graph/digest.hpp"

#include <algorithm>

namespace omen::loadbalance {
namespace {

// FNV-1a over bytes that come one after the other.
class Hash {
 public:
  Hash& add(char c) {
    value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return *this;
  }
  Hash& add(std::string_view text) {
    for (const char c : text) add(c);
    return *this;
  }
  Hash& add_hex(std::uint64_t number) {
    for (int shift = 60; shift >= 0; shift -= 4) add("0123456789abcdef"[number >> shift & 15]);
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

std::vector<std::string> node_lines(const ProgramGraph& graph) {
  std::vector<std::string> lines;
  lines.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    lines.push_back(std::to_string(static_cast<int>(node.type)) + "\t");
    lines.back() += graph.text(node);
  }
  return lines;
}

// The line of one end of an edge without the neighbour's state: direction, flow and position, as
// numbers that sort like their text. The digits of the position stand left, so that 10 comes
// before 2; the first six count.
struct Label {
  std::uint64_t order;
  std::uint8_t length;

  Label(char direction, const Edge& edge) {
    const std::string digits = std::to_string(edge.position);
    length = static_cast<std::uint8_t>(std::min<std::size_t>(digits.size(), 6));
    order = static_cast<std::uint64_t>(direction) << 56 |
            static_cast<std::uint64_t>('0' + static_cast<int>(edge.flow)) << 48;
    for (std::size_t i = 0; i < length; ++i)
      order |= static_cast<std::uint64_t>(digits[i]) << (40 - 8 * i);
  }
  char byte(int index) const { return static_cast<char>(order >> (56 - 8 * index)); }
};

struct Line {
  Label label;
  std::int32_t neighbour;
  std::uint64_t state;

  bool operator<(const Line& other) const {
    return label.order != other.label.order ? label.order < other.label.order : state < other.state;
  }
  void add_to(Hash& hash) const {
    hash.add('\n').add(label.byte(0)).add('\t').add(label.byte(1)).add('\t');
    for (int i = 0; i < label.length; ++i) hash.add(label.byte(2 + i));
    hash.add('\t').add_hex(state);
  }
};

// Lines of all nodes, one node after the other; those of node n begin at starts[n].
struct Lines {
  std::vector<Line> lines;
  std::vector<std::size_t> starts;
};

Lines lines_of(const ProgramGraph& graph) {
  Lines all;
  all.starts.assign(graph.nodes.size() + 1, 0);
  for (const Edge& edge : graph.edges)
    for (const std::int32_t end : {edge.source, edge.target})
      ++all.starts[static_cast<std::size_t>(end) + 1];
  for (std::size_t n = 1; n < all.starts.size(); ++n) all.starts[n] += all.starts[n - 1];
  std::vector<std::size_t> next(all.starts.begin(), all.starts.end() - 1);
  all.lines.assign(2 * graph.edges.size(), Line{Label('i', Edge{}), 0, 0});
  for (const Edge& edge : graph.edges) {
    all.lines[next[static_cast<std::size_t>(edge.target)]++] = {Label('i', edge), edge.source, 0};
    all.lines[next[static_cast<std::size_t>(edge.source)]++] = {Label('o', edge), edge.target, 0};
  }
  return all;
}

}  // namespace

std::uint64_t fnv1a(std::string_view bytes) {
  return Hash().add(bytes).value();
}

std::string node_text_digest(const ProgramGraph& graph) {
  std::vector<std::string> lines = node_lines(graph);
  std::sort(lines.begin(), lines.end());
  Hash hash;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) hash.add('\n');
    hash.add(lines[i]);
  }
  return hex(hash.value());
}

std::string structure_digest(const ProgramGraph& graph) {
  std::vector<std::uint64_t> states;
  for (const std::string& line : node_lines(graph)) states.push_back(fnv1a(line));
  Lines all = lines_of(graph);
  for (int round = 0; round < 3; ++round) {
    for (Line& line : all.lines) line.state = states[static_cast<std::size_t>(line.neighbour)];
    std::vector<std::uint64_t> next(states.size());
    for (std::size_t n = 0; n < states.size(); ++n) {
      const auto first = all.lines.begin() + static_cast<std::ptrdiff_t>(all.starts[n]);
      const auto last = all.lines.begin() + static_cast<std::ptrdiff_t>(all.starts[n + 1]);
      std::sort(first, last);
      Hash hash;
      hash.add_hex(states[n]);
      for (auto line = first; line != last; ++line) line->add_to(hash);
      next[n] = hash.value();
    }
    states = std::move(next);
  }
  std::sort(states.begin(), states.end());
  Hash hash;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (i > 0) hash.add('\n');
    hash.add_hex(states[i]);
  }
  return hex(hash.value());
}

}  // namespace omen::loadbalance
