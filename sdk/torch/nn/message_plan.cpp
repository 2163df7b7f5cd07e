// SPDX-License-Identifier: Apache-2.0
// Sorting by counting, and colour refinement by hashes of multisets.
#include "omen/torch/nn/message_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "omen/error.hpp"

namespace omen::torch_kit::nn {
namespace {

using Ints = std::vector<std::int32_t>;

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

// Incoming edges of every node, with gates in place of positions.
struct Incoming {
  Ints begin, source, relation, gate;
  Ints positions;
};

void require_edges(const TypedEdges& edges, std::int64_t nodes, std::int64_t relations) {
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto inside = [](std::int32_t value, std::int64_t end) {
      return value >= 0 && value < end;
    };
    if (inside(edges.source[e], nodes) && inside(edges.target[e], nodes) &&
        inside(edges.relation[e], relations) && edges.position[e] >= 0)
      continue;
    throw Error(OMEN_INVALID_DATA,
                "edge " + std::to_string(e) + " (" + std::to_string(edges.source[e]) + " to " +
                    std::to_string(edges.target[e]) + ", relation " +
                    std::to_string(edges.relation[e]) + ", position " +
                    std::to_string(edges.position[e]) + ") does not fit " + std::to_string(nodes) +
                    " nodes and " + std::to_string(relations) + " relations");
  }
}

Ints distinct_positions(const TypedEdges& edges) {
  std::vector<bool> seen(at(kMaxPosition) + 1, false);
  for (const std::int32_t position : edges.position)
    seen[at(std::min(position, kMaxPosition))] = true;
  Ints list;
  for (std::int32_t p = 0; p <= kMaxPosition; ++p)
    if (seen[at(p)]) list.push_back(p);
  return list;
}

Incoming sort_by_target(const TypedEdges& edges, std::int64_t nodes, std::int64_t relations) {
  require_edges(edges, nodes, relations);
  Incoming in;
  in.positions = distinct_positions(edges);
  Ints gate_of(at(kMaxPosition) + 1, 0);
  for (std::size_t g = 0; g < in.positions.size(); ++g)
    gate_of[at(in.positions[g])] = static_cast<std::int32_t>(g);
  in.begin.assign(at(nodes) + 1, 0);
  for (const std::int32_t target : edges.target) ++in.begin[at(target) + 1];
  std::partial_sum(in.begin.begin(), in.begin.end(), in.begin.begin());
  for (Ints* list : {&in.source, &in.relation, &in.gate}) list->resize(edges.size());
  Ints next(in.begin.begin(), in.begin.end() - 1);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::size_t slot = at(next[at(edges.target[e])]++);
    in.source[slot] = edges.source[e];
    in.relation[slot] = edges.relation[e];
    in.gate[slot] = gate_of[at(std::min(edges.position[e], kMaxPosition))];
  }
  return in;
}

// Rows of a level: one for each node, or one for each class with a node that stands for it.
struct Rows {
  Ints of_node;         // empty: every node has its own row
  Ints representative;  // likewise
  std::int64_t count = 0;

  std::int32_t row(std::int32_t node) const { return of_node.empty() ? node : of_node[at(node)]; }
  std::int32_t node(std::int64_t row) const {
    return representative.empty() ? static_cast<std::int32_t>(row) : representative[at(row)];
  }
};

// Numbers the pairs that occur, relation by relation; returns the number of each possible pair.
Ints number_pairs(MessagePlan& plan, const Incoming& in, const Rows& before, const Rows& after) {
  Ints number(at(before.count * plan.relations), -1);
  for (std::int64_t row = 0; row < after.count; ++row) {
    const std::int32_t node = after.node(row);
    for (std::int32_t e = in.begin[at(node)]; e < in.begin[at(node) + 1]; ++e)
      number[at(in.relation[at(e)] * before.count + before.row(in.source[at(e)]))] = 0;
  }
  plan.relation_begin.assign(1, 0);
  for (std::int64_t relation = 0; relation < plan.relations; ++relation) {
    for (std::int64_t row = 0; row < before.count; ++row) {
      std::int32_t& pair = number[at(relation * before.count + row)];
      if (pair < 0) continue;
      pair = static_cast<std::int32_t>(plan.senders.size());
      plan.senders.push_back(static_cast<std::int32_t>(row));
    }
    plan.relation_begin.push_back(plan.pairs());
  }
  return number;
}

void sort_by_sender(MessagePlan& plan) {
  plan.out_begin.assign(plan.senders.size() + 1, 0);
  for (const std::int32_t pair : plan.in_pair) ++plan.out_begin[at(pair) + 1];
  std::partial_sum(plan.out_begin.begin(), plan.out_begin.end(), plan.out_begin.begin());
  plan.out_row.resize(plan.in_pair.size());
  plan.out_gate.resize(plan.in_pair.size());
  Ints next(plan.out_begin.begin(), plan.out_begin.end() - 1);
  for (std::int64_t row = 0; row < plan.rows_out; ++row)
    for (std::int32_t e = plan.in_begin[at(row)]; e < plan.in_begin[at(row) + 1]; ++e) {
      const std::size_t slot = at(next[at(plan.in_pair[at(e)])]++);
      plan.out_row[slot] = static_cast<std::int32_t>(row);
      plan.out_gate[slot] = plan.in_gate[at(e)];
    }
}

MessagePlan plan_step(const Incoming& in, const Rows& before, const Rows& after,
                      std::int64_t relations) {
  MessagePlan plan;
  plan.rows_in = before.count;
  plan.rows_out = after.count;
  plan.relations = relations;
  plan.positions = in.positions;
  const Ints number = number_pairs(plan, in, before, after);
  // Rows are numbered by their first node, so that as many rows are the same rows.
  const bool same_rows = before.count == after.count;
  plan.in_begin.assign(1, 0);
  for (std::int64_t row = 0; row < after.count; ++row) {
    const std::int32_t node = after.node(row);
    if (!same_rows) plan.previous.push_back(before.row(node));
    const std::int32_t begin = in.begin[at(node)], end = in.begin[at(node) + 1];
    for (std::int32_t e = begin; e < end; ++e) {
      plan.in_pair.push_back(
          number[at(in.relation[at(e)] * before.count + before.row(in.source[at(e)]))]);
      plan.in_gate.push_back(in.gate[at(e)]);
    }
    plan.in_begin.push_back(static_cast<std::int32_t>(plan.in_pair.size()));
    plan.inverse_degree.push_back(1.0f / static_cast<float>(std::max(1, end - begin)));
  }
  sort_by_sender(plan);
  return plan;
}

// ---------------------------------------------------------------------------- colour refinement

// The finaliser of splitmix64: neighbouring inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

using Colours = std::vector<std::uint64_t>;

Colours first_colours(const Ints& tokens) {
  Colours colours;
  colours.reserve(tokens.size());
  for (const std::int32_t token : tokens)
    colours.push_back(mix(static_cast<std::uint64_t>(static_cast<std::uint32_t>(token))));
  return colours;
}

// A sum of mixed numbers stands for the multiset of incoming messages.
Colours next_colours(const Colours& colours, const TypedEdges& edges) {
  Colours sums(colours.size(), 0);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto kind = static_cast<std::uint64_t>(edges.relation[e]) << 32 |
                      static_cast<std::uint64_t>(std::min(edges.position[e], kMaxPosition));
    sums[at(edges.target[e])] += mix(colours[at(edges.source[e])] ^ mix(kind));
  }
  for (std::size_t n = 0; n < colours.size(); ++n) sums[n] = mix(sums[n] + mix(colours[n]));
  return sums;
}

Rows number_colours(const Colours& colours) {
  Rows rows;
  std::unordered_map<std::uint64_t, std::int32_t> known;
  known.reserve(colours.size());
  rows.of_node.reserve(colours.size());
  for (std::size_t n = 0; n < colours.size(); ++n) {
    const auto [found, fresh] =
        known.try_emplace(colours[n], static_cast<std::int32_t>(known.size()));
    if (fresh) rows.representative.push_back(static_cast<std::int32_t>(n));
    rows.of_node.push_back(found->second);
  }
  rows.count = static_cast<std::int64_t>(known.size());
  return rows;
}

}  // namespace

TypedEdges with_backward_edges(const TypedEdges& edges, std::int64_t kinds) {
  TypedEdges both = edges;
  for (std::size_t e = 0; e < edges.size(); ++e)
    both.push(edges.target[e], edges.source[e],
              edges.relation[e] + static_cast<std::int32_t>(kinds), edges.position[e]);
  return both;
}

MessagePlan plan_messages(const TypedEdges& edges, std::int64_t nodes, std::int64_t relations) {
  const Rows rows{{}, {}, nodes};
  return plan_step(sort_by_target(edges, nodes, relations), rows, rows, relations);
}

RefinedPlan refine(const std::vector<std::int32_t>& tokens, const TypedEdges& edges,
                   std::int64_t relations, std::int64_t steps) {
  const Incoming in = sort_by_target(edges, static_cast<std::int64_t>(tokens.size()), relations);
  RefinedPlan plan;
  Colours colours = first_colours(tokens);
  Rows before = number_colours(colours);
  for (const std::int32_t node : before.representative) plan.tokens.push_back(tokens[at(node)]);
  plan.row_of.push_back(before.of_node);
  for (std::int64_t step = 0; step < steps; ++step) {
    // Once every node has its own row, more steps cannot tell more of them apart.
    const bool finest = before.count == static_cast<std::int64_t>(tokens.size());
    if (!finest) colours = next_colours(colours, edges);
    Rows after = finest ? before : number_colours(colours);
    plan.steps.push_back(plan_step(in, before, after, relations));
    plan.row_of.push_back(after.of_node);
    before = std::move(after);
  }
  return plan;
}

std::uint64_t network_digest(const std::vector<std::int32_t>& tokens, const TypedEdges& edges,
                             std::int64_t steps) {
  Colours colours = first_colours(tokens);
  for (std::int64_t step = 0; step < steps; ++step) colours = next_colours(colours, edges);
  std::uint64_t sum = tokens.size();
  for (const std::uint64_t colour : colours) sum += mix(colour);
  return mix(sum);
}

}  // namespace omen::torch_kit::nn
