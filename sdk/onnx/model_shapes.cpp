// SPDX-License-Identifier: Apache-2.0
// Lets libonnx infer shapes; operations newer than it are replaced by ones with the same shape
// rule.
#include "model_shapes.hpp"

#include <algorithm>

#include "contained_inference.hpp"

namespace omen::onnxgraph {
namespace {

constexpr int kNewestOpset = 17;

// The output has the shape of the first input.
constexpr const char* kShapeKeepers[] = {"Gelu",
                                         "Mish",
                                         "Swish",
                                         "RMSNormalization",
                                         "RotaryEmbedding",
                                         "Attention",
                                         "GroupNormalization",
                                         "FastGelu",
                                         "BiasGelu",
                                         "SkipLayerNormalization",
                                         "SimplifiedLayerNormalization",
                                         "SkipSimplifiedLayerNormalization",
                                         "MultiHeadAttention",
                                         "GroupQueryAttention",
                                         "QuickGelu",
                                         "BitwiseNot"};
constexpr const char* kReductions[] = {"ReduceMean",   "ReduceMax",       "ReduceMin",
                                       "ReduceProd",   "ReduceL2",        "ReduceL1",
                                       "ReduceLogSum", "ReduceSumSquare", "ReduceLogSumExp"};

template <std::size_t N>
bool is_one_of(const char* const (&names)[N], const std::string& op) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return op == name; });
}

Sizes numbers_in(const ::onnx::TensorProto& tensor) {
  Sizes numbers(tensor.int64_data().begin(), tensor.int64_data().end());
  const std::string& raw = tensor.raw_data();
  for (std::size_t at = 0; at + 8 <= raw.size() && tensor.data_type() == ::onnx::TensorProto::INT64;
       at += 8) {
    std::int64_t value = 0;
    std::copy_n(raw.data() + at, 8, reinterpret_cast<char*>(&value));
    numbers.push_back(value);
  }
  return numbers;
}

// Since opset 18 the axes are an input, before they were an attribute.
void lower_axes(const ::onnx::GraphProto& graph, ::onnx::NodeProto& node) {
  if (node.input_size() < 2) return;
  for (const ::onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.name() != node.input(1)) continue;
    ::onnx::AttributeProto* axes = node.add_attribute();
    axes->set_name("axes");
    axes->set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t axis : numbers_in(tensor)) axes->add_ints(axis);
  }
  while (node.input_size() > 1) node.mutable_input()->RemoveLast();
}

void drop_attribute(::onnx::NodeProto& node, const char* name) {
  auto* all = node.mutable_attribute();
  for (int i = all->size() - 1; i >= 0; --i)
    if ((*all)[i].name() == name) all->DeleteSubrange(i, 1);
}

void lower_node(const ::onnx::GraphProto& graph, ::onnx::NodeProto& node) {
  if (node.input_size() > 0 &&
      (is_one_of(kShapeKeepers, node.op_type()) || !node.domain().empty())) {
    node.set_op_type("Identity");
    node.clear_domain();
    node.clear_attribute();
    while (node.input_size() > 1) node.mutable_input()->RemoveLast();
    while (node.output_size() > 1) node.mutable_output()->RemoveLast();
  } else if (is_one_of(kReductions, node.op_type())) {
    lower_axes(graph, node);
  } else if (node.op_type() == "Split") {
    drop_attribute(node, "num_outputs");
  } else if (node.op_type() == "Cast" || node.op_type() == "CastLike") {
    drop_attribute(node, "saturate");
  } else if (node.op_type() == "Reshape") {
    drop_attribute(node, "allowzero");
  }
}

void fill_open_sizes(::onnx::GraphProto& graph, const OnnxRun& run) {
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) {
    if (!input.type().has_tensor_type()) continue;
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape->dim_size(); ++i)
      if (!shape->dim(i).has_dim_value() || shape->dim(i).dim_value() < 0)
        shape->mutable_dim(i)->set_dim_value(i == 0 ? run.batch : run.sequence);
  }
  // What the file says of later tensors was told with open sizes.
  graph.clear_value_info();
  for (::onnx::ValueInfoProto& output : *graph.mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
}

// A size that no tensor has is a mistake of the file; products of what is left fit 64 bits.
constexpr double kMostElements = 1LL << 40;

void put_sizes(const std::string& name, Sizes sizes, ShapeTable& table) {
  double elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0 || static_cast<double>(size) > kMostElements) return;
    elements *= static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  if (elements <= kMostElements) table[name] = std::move(sizes);
}

void collect(const ::onnx::ValueInfoProto& info, ShapeTable& table) {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return;
  Sizes sizes;
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return;
    sizes.push_back(dim.dim_value());
  }
  put_sizes(info.name(), std::move(sizes), table);
}

}  // namespace

ShapeTable model_shapes(const ::onnx::ModelProto& model, const OnnxRun& run) {
  ::onnx::ModelProto copy = model;
  ::onnx::GraphProto& graph = *copy.mutable_graph();
  fill_open_sizes(graph, run);
  for (::onnx::NodeProto& node : *graph.mutable_node()) lower_node(graph, node);
  copy.clear_opset_import();
  ::onnx::OperatorSetIdProto* opset = copy.add_opset_import();
  opset->set_version(kNewestOpset);
  for (const auto& import : model.opset_import())
    if (import.domain().empty())
      opset->set_version(std::min<std::int64_t>(import.version(), kNewestOpset));
  infer_shapes(copy);
  ShapeTable table;
  for (const auto& info : graph.input()) collect(info, table);
  for (const auto& info : graph.value_info()) collect(info, table);
  for (const auto& info : graph.output()) collect(info, table);
  for (const auto& tensor : graph.initializer())
    put_sizes(tensor.name(), Sizes(tensor.dims().begin(), tensor.dims().end()), table);
  return table;
}

}  // namespace omen::onnxgraph
