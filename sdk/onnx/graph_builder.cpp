// SPDX-License-Identifier: Apache-2.0
// A table of simple operations, and those with costs of their own.
#include "graph_builder.hpp"

#include <algorithm>
#include <omen/join.hpp>
#include <omen/opgraph/words.hpp>

namespace omen::onnxgraph {
namespace {

using namespace omen::opgraph;

struct SimpleOp {
  const char* name;
  OpClass kind;
  Gradient gradient;
};
constexpr SimpleOp kSimple[] = {{"Relu", OpClass::activation, Gradient::from_output},
                                {"LeakyRelu", OpClass::activation, Gradient::from_output},
                                {"Sigmoid", OpClass::activation, Gradient::from_output},
                                {"Tanh", OpClass::activation, Gradient::from_output},
                                {"Clip", OpClass::activation, Gradient::from_input},
                                {"Elu", OpClass::activation, Gradient::from_output},
                                {"Gelu", OpClass::activation, Gradient::from_input},
                                {"FastGelu", OpClass::activation, Gradient::from_input},
                                {"QuickGelu", OpClass::activation, Gradient::from_input},
                                {"Swish", OpClass::activation, Gradient::from_input},
                                {"Mish", OpClass::activation, Gradient::from_input},
                                {"Erf", OpClass::activation, Gradient::from_input},
                                {"HardSwish", OpClass::activation, Gradient::from_input},
                                {"HardSigmoid", OpClass::activation, Gradient::from_input},
                                {"Softplus", OpClass::activation, Gradient::from_input},
                                {"PRelu", OpClass::activation, Gradient::from_input},
                                {"Softmax", OpClass::softmax, Gradient::from_output},
                                {"LogSoftmax", OpClass::softmax, Gradient::from_output},
                                {"Add", OpClass::elementwise, Gradient::pass},
                                {"Sub", OpClass::elementwise, Gradient::pass},
                                {"Mul", OpClass::elementwise, Gradient::factors},
                                {"Div", OpClass::elementwise, Gradient::factors},
                                {"Pow", OpClass::elementwise, Gradient::from_input},
                                {"Sqrt", OpClass::elementwise, Gradient::from_output},
                                {"Reciprocal", OpClass::elementwise, Gradient::from_output},
                                {"Exp", OpClass::elementwise, Gradient::from_output},
                                {"Log", OpClass::elementwise, Gradient::from_input},
                                {"Neg", OpClass::elementwise, Gradient::same},
                                {"Abs", OpClass::elementwise, Gradient::from_input},
                                {"Cos", OpClass::elementwise, Gradient::from_input},
                                {"Sin", OpClass::elementwise, Gradient::from_input},
                                {"Min", OpClass::elementwise, Gradient::from_input},
                                {"Max", OpClass::elementwise, Gradient::from_input},
                                {"Where", OpClass::elementwise, Gradient::same},
                                {"Equal", OpClass::elementwise, Gradient::none},
                                {"Less", OpClass::elementwise, Gradient::none},
                                {"Greater", OpClass::elementwise, Gradient::none},
                                {"Not", OpClass::elementwise, Gradient::none},
                                {"And", OpClass::elementwise, Gradient::none},
                                {"Or", OpClass::elementwise, Gradient::none},
                                {"LessOrEqual", OpClass::elementwise, Gradient::none},
                                {"GreaterOrEqual", OpClass::elementwise, Gradient::none},
                                {"RotaryEmbedding", OpClass::elementwise, Gradient::same},
                                {"Sum", OpClass::elementwise, Gradient::pass},
                                {"MaxPool", OpClass::pool, Gradient::from_both},
                                {"AveragePool", OpClass::pool, Gradient::same},
                                {"GlobalAveragePool", OpClass::reduce, Gradient::same},
                                {"GlobalMaxPool", OpClass::reduce, Gradient::from_both},
                                {"ReduceMean", OpClass::reduce, Gradient::same},
                                {"ReduceSum", OpClass::reduce, Gradient::same},
                                {"ReduceMax", OpClass::reduce, Gradient::from_both},
                                {"ReduceL2", OpClass::reduce, Gradient::from_both},
                                {"ArgMax", OpClass::reduce, Gradient::none},
                                {"TopK", OpClass::reduce, Gradient::same},
                                {"Concat", OpClass::move, Gradient::same},
                                {"Pad", OpClass::move, Gradient::same},
                                {"Expand", OpClass::move, Gradient::same},
                                {"Tile", OpClass::move, Gradient::same},
                                {"Cast", OpClass::move, Gradient::same},
                                {"Trilu", OpClass::move, Gradient::same},
                                {"Resize", OpClass::move, Gradient::same},
                                {"Reshape", OpClass::view, Gradient::pass},
                                {"Flatten", OpClass::view, Gradient::pass},
                                {"Unsqueeze", OpClass::view, Gradient::pass},
                                {"Squeeze", OpClass::view, Gradient::pass},
                                {"Identity", OpClass::view, Gradient::pass},
                                {"Dropout", OpClass::view, Gradient::pass},
                                {"Split", OpClass::view, Gradient::same},
                                {"Slice", OpClass::view, Gradient::same},
                                {"Transpose", OpClass::move, Gradient::same},
                                {"ScatterND", OpClass::gather, Gradient::same},
                                {"GatherElements", OpClass::gather, Gradient::same},
                                {"GatherND", OpClass::gather, Gradient::same},
                                {"LRN", OpClass::norm, Gradient::from_input},
                                {"SoftmaxCrossEntropyLoss", OpClass::loss, Gradient::from_output}};

constexpr const char* kNorms[] = {"BatchNormalization",     "LayerNormalization",
                                  "InstanceNormalization",  "GroupNormalization",
                                  "RMSNormalization",       "SimplifiedLayerNormalization",
                                  "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"};
constexpr const char* kMakers[] = {"Constant", "ConstantOfShape", "Shape",
                                   "Size",     "Range",           "EyeLike"};

template <std::size_t N>
bool listed(const char* const (&names)[N], const std::string& op) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return op == name; });
}

Shape shape_from(const Sizes& sizes) {
  Shape shape{};
  if (sizes.empty()) shape[0] = 1;
  const std::size_t extra = sizes.size() > shape.size() ? sizes.size() - shape.size() : 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0) return {};
    const std::size_t to = i > extra ? i - extra : 0;
    shape[to] = to == 0 && i > 0 && i <= extra ? shape[0] * sizes[i] : sizes[i];
  }
  return shape;
}

std::int64_t product(const Sizes& sizes, std::size_t from) {
  std::int64_t all = 1;
  for (std::size_t i = from; i < sizes.size(); ++i) all *= sizes[i];
  return all;
}

std::int64_t number_of(const ::onnx::NodeProto& node, const char* name, std::int64_t otherwise) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.has_i() ? attribute.i() : otherwise;
  return otherwise;
}
// Of strides and windows, whose squares are taken.
constexpr std::int64_t kMostWindow = 1 << 20;
std::int64_t largest_of(const ::onnx::NodeProto& node, const char* name) {
  std::int64_t largest = 1;
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name)
      for (const std::int64_t each : attribute.ints()) largest = std::max(largest, each);
  return std::min(largest, kMostWindow);
}

// Whether a filter has as many inputs for each group as its tensor holds.
bool filter_fits(const ConvDims& dims, const Sizes& filter) {
  const double each =
      double(dims.inputs) / double(std::max<std::int64_t>(dims.groups, 1)) * double(dims.kernel);
  return each <= double(product(filter, 0));
}

}  // namespace

GraphBuilder::GraphBuilder(const ::onnx::GraphProto& graph, ShapeTable shapes, const OnnxRun& run,
                           Precision precision)
    : graph_(graph),
      shapes_(std::move(shapes)),
      run_(run),
      precision_(precision),
      out_(bytes_of(precision)) {
  for (const auto& tensor : graph.initializer()) weights_[tensor.name()] = &tensor;
  for (const auto& node : graph.node())
    for (const auto& input : node.input()) readers_[input].push_back(&node);
}

const Sizes* GraphBuilder::sizes(const std::string& name) const {
  const auto found = shapes_.find(name);
  return found == shapes_.end() ? nullptr : &found->second;
}

Shape GraphBuilder::shape(const std::string& name) const {
  const Sizes* found = sizes(name);
  return found != nullptr ? shape_from(*found) : Shape{};
}

std::vector<OpId> GraphBuilder::inputs(const Node& node) const {
  std::vector<OpId> ids;
  for (const auto& input : node.input())
    if (const auto found = made_.find(input); found != made_.end()) ids.push_back(found->second);
  return ids;
}

Parameters GraphBuilder::parameters(std::initializer_list<std::string> names) {
  Parameters all;
  bool fresh = false;
  for (const std::string& name : names) {
    if (!is_weight(name)) continue;
    all.count += elements_of(shape(name));
    all.variables += 1;
    fresh = used_weights_.insert(name).second || fresh;
  }
  all.shared = all.count > 0 && !fresh;
  return all;
}

void GraphBuilder::put(const Node& node, Op op, Gradient gradient, Parameters parameters) {
  if (elements_of(op.shape) == 0) ++without_shape_;
  const std::string& output = node.output(0);
  const OpId id = out_.add(node.name().empty() ? output : node.name(), std::move(op), gradient,
                           inputs(node), parameters);
  for (const auto& each : node.output()) made_[each] = id;
}

void GraphBuilder::build() {
  for (const auto& input : graph_.input()) {
    if (is_weight(input.name())) continue;
    const Shape known = shape(input.name());
    if (batch_ == 0) batch_ = double(known[0]);
    made_[input.name()] = out_.add(input.name(), input_op(out_.width() * elements_of(known), known),
                                   Gradient::none, {});
  }
  for (const auto& node : graph_.node())
    if (node.output_size() > 0) add_node(node);
}

void GraphBuilder::add_node(const Node& node) {
  const std::string& op = node.op_type();
  // What depends on constants alone is computed once, before the step.
  if (listed(kMakers, op) || inputs(node).empty()) {
    for (const auto& output : node.output()) constants_.insert(output);
    return;
  }
  if (op == "Conv" || op == "ConvTranspose") return add_conv(node);
  if (op == "MatMul" || op == "Gemm") return add_product(node);
  if (op == "Add" && folded_bias(node)) return;
  if (listed(kNorms, op)) return add_norm(node);
  if (op == "Attention" || op == "MultiHeadAttention" || op == "GroupQueryAttention")
    return add_attention(node);
  if (op == "Gather") return add_gather(node);
  add_simple(node);
}

void GraphBuilder::add_conv(const Node& node) {
  const Sizes* in = sizes(node.input(0));
  const Sizes* filter = node.input_size() > 1 ? sizes(node.input(1)) : nullptr;
  const Sizes* result = sizes(node.output(0));
  if (in == nullptr || filter == nullptr || result == nullptr || in->size() < 3 ||
      filter->size() < 3 || result->size() < 3)
    return add_simple(node);
  const std::int64_t channels = (*result)[1];
  const ConvDims dims{(*in)[0],
                      (*in)[1],
                      channels,
                      product(*in, 2),
                      product(*result, 2),
                      product(*filter, 2),
                      largest_of(node, "strides"),
                      number_of(node, "group", 1)};
  if (!filter_fits(dims, *filter)) return add_simple(node);
  Op op = conv_op(precision_, dims);
  if (node.op_type() == "ConvTranspose")
    op.flops *= double(dims.in_pixels) / double(std::max<std::int64_t>(1, dims.out_pixels));
  op.shape = shape_of({dims.images, channels, dims.out_pixels});
  put(node, op, Gradient::conv, parameters({node.input(1)}));
  if (node.input_size() < 3) return;
  Op added = elementwise_op(OpClass::elementwise, precision_, op.shape);
  added.parameter_bytes = out_.width() * double(channels);
  added.bytes_read += added.parameter_bytes;
  Parameters bias = parameters({node.input(2)});
  bias.bias = bias.count;
  const OpId from = made_[node.output(0)];
  made_[node.output(0)] = out_.add(node.output(0) + "/bias", added, Gradient::pass, {from}, bias);
}

void GraphBuilder::add_product(const Node& node) {
  const Sizes* left = sizes(node.input(0));
  const Sizes* right = node.input_size() > 1 ? sizes(node.input(1)) : nullptr;
  const Sizes* result = sizes(node.output(0));
  if (left == nullptr || right == nullptr || result == nullptr || left->empty() || right->empty() ||
      result->empty())
    return add_simple(node);
  const bool swapped = node.op_type() == "Gemm" && number_of(node, "transA", 0) != 0;
  const std::int64_t k = swapped ? left->front() : left->back(), n = result->back();
  const std::int64_t rows = n > 0 ? product(*result, 0) / std::max<std::int64_t>(1, n) : 0;
  const bool learns = is_weight(node.input(1)) || constants_.count(node.input(1)) > 0;
  MatmulDims dims{1, rows, n, k, out_.width() * double(product(*right, 0)), learns};
  if (!learns && result->size() > 2) {
    dims.m = (*result)[result->size() - 2];
    dims.batch = rows / std::max<std::int64_t>(1, dims.m);
  }
  Parameters all = parameters({node.input(1)});
  if (learns && all.count == 0) all = {double(product(*right, 0)), 1, 0, true};
  if (node.input_size() > 2 && is_weight(node.input(2))) {
    const Parameters bias = parameters({node.input(2)});
    all.count += bias.count, all.variables += 1, all.bias = bias.count;
    dims.right_bytes += out_.width() * bias.count;
  }
  Op op = matmul_op(precision_, out_.width(), dims);
  op.shape = shape_from(*result);
  put(node, op, Gradient::matmul, all);
  if (learns) product_of_[node.output(0)] = node.output(0);
}

// The sum of a product with a vector of weights is part of the product.
bool GraphBuilder::folded_bias(const Node& node) {
  for (int i = 0; i < 2 && node.input_size() == 2; ++i) {
    const std::string& from = node.input(i);
    const std::string& vector = node.input(1 - i);
    const Sizes* width = sizes(vector);
    if (product_of_.count(from) == 0 || !is_weight(vector) || width == nullptr ||
        width->size() != 1)
      continue;
    if (readers_[from].size() != 1) continue;
    const OpId id = made_[from];
    Op& op = out_.op(id);
    const double count = double(width->front());
    op.parameter_bytes += out_.width() * count;
    op.bytes_read += out_.width() * count;
    out_.add_bias(id, used_weights_.insert(vector).second ? count : 0);
    made_[node.output(0)] = id;
    return true;
  }
  return false;
}

void GraphBuilder::add_norm(const Node& node) {
  const bool batch_norm = node.op_type() == "BatchNormalization";
  const Shape known = shape(node.output(0));
  Op op = elementwise_op(OpClass::norm, precision_, known,
                         batch_norm && run_.mode == Mode::train ? 2 : 1);
  op.flops = 5 * elements_of(known);
  const std::string scale = node.input_size() > 1 ? node.input(1) : "";
  const std::string shift = node.input_size() > 2 ? node.input(2) : "";
  const Parameters all = parameters({scale, shift});
  op.parameter_bytes = out_.width() * all.count;
  op.bytes_read += op.parameter_bytes;
  put(node, op, Gradient::from_input, all);
}

void GraphBuilder::add_attention(const Node& node) {
  const Sizes* q = sizes(node.input(0));
  const Sizes* k = node.input_size() > 1 ? sizes(node.input(1)) : nullptr;
  if (q == nullptr || k == nullptr || q->size() < 3 || k->size() < q->size())
    return add_simple(node);
  const bool apart = q->size() == 4;  // batch, heads, tokens, width
  AttentionDims dims;
  dims.sequences = q->front();
  // A head has a width of one at least.
  const auto heads_of = [&](const char* name, std::int64_t otherwise, const Sizes& tensor) {
    return std::clamp<std::int64_t>(number_of(node, name, otherwise), 1,
                                    std::max<std::int64_t>(tensor.back(), 1));
  };
  dims.heads = apart ? (*q)[1] : heads_of("q_num_heads", number_of(node, "num_heads", 1), *q);
  dims.key_heads = apart ? (*k)[1] : heads_of("kv_num_heads", dims.heads, *k);
  dims.queries = (*q)[apart ? 2 : 1];
  dims.keys = (*k)[apart ? 2 : 1];
  dims.width = dims.value_width = apart ? q->back() : q->back() / dims.heads;
  const bool causal =
      number_of(node, "is_causal", node.op_type() == "GroupQueryAttention" ? 1 : 0) != 0;
  const auto s = double(dims.queries), all = double(dims.keys);
  dims.pairs = causal ? s * (all - s) + s * (s + 1) / 2 : s * all;
  dims.key_value_width = out_.width();
  Op op = attention_op(precision_, dims);
  if (run_.mode != Mode::train) op.output_bytes = op.bytes_written;
  op.shape = shape_from(*q);
  put(node, op, Gradient::attention);
}

void GraphBuilder::add_gather(const Node& node) {
  Op op = elementwise_op(OpClass::gather, precision_, shape(node.output(0)));
  op.flops = 0;
  const Parameters table = parameters({node.input(0)});
  op.parameter_bytes = table.shared ? 0 : out_.width() * table.count;
  put(node, op, table.count > 0 ? Gradient::gather : Gradient::same, table);
}

bool GraphBuilder::only_read_by_products(const std::string& name) const {
  const auto found = readers_.find(name);
  if (found == readers_.end()) return false;
  return std::all_of(found->second.begin(), found->second.end(), [](const Node* reader) {
    return reader->op_type() == "MatMul" || reader->op_type() == "Attention";
  });
}

void GraphBuilder::add_simple(const Node& node) {
  const SimpleOp* known = nullptr;
  for (const SimpleOp& each : kSimple)
    if (node.op_type() == each.name) known = &each;
  if (known == nullptr) unknown_.insert(node.op_type());
  OpClass kind = known != nullptr ? known->kind : OpClass::other;
  // Products read their factors in any order of sizes.
  if (node.op_type() == "Transpose" && only_read_by_products(node.output(0))) kind = OpClass::view;
  const Shape result = shape(node.output(0));
  if (kind == OpClass::view) {
    Op op = view_op(result);
    op.precision = precision_;
    return put(node, op, node.op_type() == "Transpose" ? Gradient::pass : known->gradient);
  }
  const auto from = inputs(node);
  double read = 0;
  for (const OpId id : from) read += out_.size_of(id);
  Op op = elementwise_op(kind, precision_, result);
  op.bytes_read = read;
  if (kind == OpClass::pool || kind == OpClass::reduce) op.flops = read / out_.width();
  if (kind == OpClass::softmax) op.flops *= 5;
  op.kernel = kind == OpClass::pool
                  ? largest_of(node, "kernel_shape") * largest_of(node, "kernel_shape")
                  : 0;
  op.stride = kind == OpClass::pool ? largest_of(node, "strides") : 0;
  Gradient gradient = known != nullptr ? known->gradient : Gradient::same;
  if (gradient == Gradient::factors && from.size() < 2) gradient = Gradient::same;
  put(node, op, gradient);
}

std::vector<std::string> GraphBuilder::warnings() const {
  std::vector<std::string> sentences;
  if (!unknown_.empty())
    sentences.push_back("operations that are not known count as copies: " + join(unknown_, ", "));
  if (without_shape_ > 0)
    sentences.push_back(std::to_string(without_shape_) + " nodes have no shape; they cost nothing");
  return sentences;
}

}  // namespace omen::onnxgraph
