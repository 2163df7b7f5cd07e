// SPDX-License-Identifier: Apache-2.0
// Nodes of an ONNX graph to operations, one after the other.
#ifndef OMEN_ONNX_GRAPH_BUILDER_HPP
#define OMEN_ONNX_GRAPH_BUILDER_HPP

#include <set>

#include "model_shapes.hpp"

namespace omen::onnxgraph {

class GraphBuilder {
 public:
  GraphBuilder(const ::onnx::GraphProto& graph, ShapeTable shapes, const OnnxRun& run,
               opgraph::Precision precision);
  void build();

  opgraph::ForwardGraph take() { return std::move(out_); }
  double batch() const { return batch_; }
  std::vector<std::string> warnings() const;

 private:
  using Node = ::onnx::NodeProto;

  const Sizes* sizes(const std::string& name) const;
  opgraph::Shape shape(const std::string& name) const;
  bool is_weight(const std::string& name) const { return weights_.count(name) > 0; }
  std::vector<opgraph::OpId> inputs(const Node& node) const;
  // Shared where an earlier operation reads the same tensor.
  opgraph::Parameters parameters(std::initializer_list<std::string> names);

  void add_node(const Node& node);
  void add_conv(const Node& node);
  void add_product(const Node& node);
  bool folded_bias(const Node& node);
  void add_norm(const Node& node);
  void add_attention(const Node& node);
  void add_gather(const Node& node);
  void add_simple(const Node& node);
  bool only_read_by_products(const std::string& name) const;
  void put(const Node& node, opgraph::Op op, opgraph::Gradient gradient,
           opgraph::Parameters parameters = {});

  const ::onnx::GraphProto& graph_;
  ShapeTable shapes_;
  const OnnxRun& run_;
  opgraph::Precision precision_;
  opgraph::ForwardGraph out_;
  std::unordered_map<std::string, opgraph::OpId> made_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> weights_;
  std::unordered_map<std::string, std::vector<const Node*>> readers_;
  std::unordered_map<std::string, std::string> product_of_;  // a tensor that a product made
  std::set<std::string> constants_, used_weights_, unknown_;
  double batch_ = 0;
  int without_shape_ = 0;
};

}  // namespace omen::onnxgraph

#endif  // OMEN_ONNX_GRAPH_BUILDER_HPP
