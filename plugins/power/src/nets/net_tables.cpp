// SPDX-License-Identifier: Apache-2.0
// One row for each layer.
#include "nets/net_tables.hpp"

namespace omen::power {
namespace {

struct WholeColumn {
  const char* name;
  std::int64_t Primitive::*field;
};
constexpr WholeColumn kWholeColumns[] = {{"cin", &Primitive::cin},
                                         {"cout", &Primitive::cout},
                                         {"h", &Primitive::h},
                                         {"w", &Primitive::w},
                                         {"kh", &Primitive::kh},
                                         {"kw", &Primitive::kw},
                                         {"stride_h", &Primitive::stride_h},
                                         {"stride_w", &Primitive::stride_w},
                                         {"groups", &Primitive::groups},
                                         {"ho", &Primitive::ho},
                                         {"wo", &Primitive::wo}};

struct RealColumn {
  const char* name;
  double Primitive::*field;
};
constexpr RealColumn kRealColumns[] = {{"expand", &Primitive::expand},
                                       {"act_zero_frac", &Primitive::act_zero_frac},
                                       {"ops_per_element", &Primitive::ops_per_element},
                                       {"share", &Primitive::share}};

constexpr double kLargestSize = 1e12;

std::string label_of(const Primitive& layer) {
  std::string text = type_name(layer.type);
  if (layer.kh * layer.kw > 1)
    text += " " + std::to_string(layer.kh) + "x" + std::to_string(layer.kw);
  return text + " " + std::to_string(layer.cin) + " > " + std::to_string(layer.cout);
}

}  // namespace

Table node_table(const std::vector<Net>& nets, bool labels) {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> node, block;
  std::vector<std::string> op, text;
  std::vector<std::int32_t> whole[std::size(kWholeColumns)];
  std::vector<float> real[std::size(kRealColumns)];
  std::vector<bool> bias;
  for (std::size_t net = 0; net < nets.size(); ++net)
    for (std::size_t i = 0; i < nets[net].layers.size(); ++i) {
      const Primitive& layer = nets[net].layers[i];
      graph.push_back(static_cast<std::int64_t>(net));
      node.push_back(static_cast<std::int32_t>(i));
      block.push_back(layer.block);
      op.emplace_back(type_name(layer.type));
      if (labels) text.push_back(label_of(layer));
      for (std::size_t c = 0; c < std::size(kWholeColumns); ++c)
        whole[c].push_back(static_cast<std::int32_t>(layer.*kWholeColumns[c].field));
      for (std::size_t c = 0; c < std::size(kRealColumns); ++c)
        real[c].push_back(static_cast<float>(layer.*kRealColumns[c].field));
      bias.push_back(layer.bias);
    }
  TableBuilder table;
  table.metadata("omen.dialect", kDialect)
      .add("graph_id", std::move(graph))
      .add("node_id", std::move(node))
      .add_categories("op", op)
      .add("block", std::move(block));
  for (std::size_t c = 0; c < std::size(kWholeColumns); ++c)
    table.add(kWholeColumns[c].name, std::move(whole[c]));
  for (std::size_t c = 0; c < std::size(kRealColumns); ++c)
    table.add(kRealColumns[c].name, std::move(real[c]));
  table.add_bools("bias", bias);
  if (labels) table.add_strings("full_text", text);
  return table.finish();
}

Table edge_table(const std::vector<Net>& nets) {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> src, dst;
  for (std::size_t net = 0; net < nets.size(); ++net)
    for (const auto& [from, to] : nets[net].edges) {
      graph.push_back(static_cast<std::int64_t>(net));
      src.push_back(from);
      dst.push_back(to);
    }
  return TableBuilder()
      .metadata("omen.dialect", kDialect)
      .add("graph_id", std::move(graph))
      .add("src", std::move(src))
      .add("dst", std::move(dst))
      .finish();
}

std::map<std::int64_t, ReadNet> read_net_tables(const Dataset& in) {
  std::map<std::int64_t, ReadNet> nets;
  const Table nodes = in.table("nodes");
  const std::vector<double> graph = nodes.numbers("graph_id");
  const StringColumn op = nodes.strings("op");
  std::vector<std::vector<double>> whole, real;
  for (const WholeColumn& column : kWholeColumns) whole.push_back(nodes.numbers(column.name));
  for (const RealColumn& column : kRealColumns)
    real.push_back(nodes.has(column.name) ? nodes.numbers(column.name) : std::vector<double>());
  const std::vector<double> bias =
      nodes.has("bias") ? nodes.numbers("bias") : std::vector<double>(graph.size(), 0);
  for (std::int64_t row = 0; row < nodes.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    ReadNet& made = nets[static_cast<std::int64_t>(graph[at])];
    Primitive layer;
    const auto type = parse_type(op[row]);
    if (type && !is_composite(*type))
      layer.type = *type;
    else
      made.fault = "'" + std::string(op[row]) + "' is no primitive layer";
    for (std::size_t c = 0; c < std::size(kWholeColumns); ++c) {
      const double value = whole[c][at];
      if (value >= 1 && value <= kLargestSize)
        layer.*kWholeColumns[c].field = static_cast<std::int64_t>(value);
      else
        made.fault = std::string("a layer has no ") + kWholeColumns[c].name + " of 1 or more";
    }
    for (std::size_t c = 0; c < std::size(kRealColumns); ++c)
      if (!real[c].empty() && real[c][at] >= 0) layer.*kRealColumns[c].field = real[c][at];
    layer.bias = bias[at] > 0;
    made.net.layers.push_back(layer);
  }
  return nets;
}

}  // namespace omen::power
