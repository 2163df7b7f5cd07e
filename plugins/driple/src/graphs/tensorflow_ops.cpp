// SPDX-License-Identifier: Apache-2.0
// A table of operations, and costs of those that are more than reading and writing.
#include "tensorflow_ops.hpp"

#include <algorithm>

namespace omen::driple {
namespace {

using opgraph::Op;
using opgraph::OpClass;
using opgraph::Phase;
using opgraph::Precision;
using opgraph::Shape;

struct NamedClass {
  std::string_view op;
  OpClass kind;
};
// Names that end in '*' stand for all that begin so; the first that fits holds.
constexpr NamedClass kClasses[] = {{"Placeholder*", OpClass::input},
                                   {"Const", OpClass::parameter},
                                   {"Variable*", OpClass::parameter},
                                   {"VarHandleOp", OpClass::parameter},
                                   {"ReadVariableOp", OpClass::view},
                                   {"MatMul*", OpClass::matmul},
                                   {"BatchMatMul*", OpClass::matmul},
                                   {"Einsum", OpClass::matmul},
                                   {"Conv2D*", OpClass::conv},
                                   {"Conv3D*", OpClass::conv},
                                   {"DepthwiseConv2d*", OpClass::depthwise_conv},
                                   {"_FusedConv2D", OpClass::conv},
                                   {"_FusedMatMul", OpClass::matmul},
                                   {"LSTMBlockCell*", OpClass::matmul},
                                   {"Softmax", OpClass::softmax},
                                   {"LogSoftmax", OpClass::softmax},
                                   {"FusedBatchNorm*", OpClass::norm},
                                   {"LRN*", OpClass::norm},
                                   {"Relu*", OpClass::activation},
                                   {"Sigmoid*", OpClass::activation},
                                   {"Tanh*", OpClass::activation},
                                   {"Elu*", OpClass::activation},
                                   {"Selu*", OpClass::activation},
                                   {"LeakyRelu*", OpClass::activation},
                                   {"Softplus*", OpClass::activation},
                                   {"MaxPool*", OpClass::pool},
                                   {"AvgPool*", OpClass::pool},
                                   {"Mean", OpClass::reduce},
                                   {"Sum", OpClass::reduce},
                                   {"Max", OpClass::reduce},
                                   {"Min", OpClass::reduce},
                                   {"Prod", OpClass::reduce},
                                   {"All", OpClass::reduce},
                                   {"Any", OpClass::reduce},
                                   {"ArgMax", OpClass::reduce},
                                   {"ArgMin", OpClass::reduce},
                                   {"BiasAddGrad", OpClass::reduce},
                                   {"L2Loss", OpClass::reduce},
                                   {"Cumsum", OpClass::reduce},
                                   {"SparseSoftmaxCrossEntropyWithLogits", OpClass::loss},
                                   {"SoftmaxCrossEntropyWithLogits", OpClass::loss},
                                   {"Gather*", OpClass::gather},
                                   {"Scatter*", OpClass::gather},
                                   {"ResourceGather*", OpClass::gather},
                                   {"ResourceScatter*", OpClass::gather},
                                   {"UnsortedSegmentSum", OpClass::gather},
                                   {"OneHot", OpClass::gather},
                                   {"Apply*", OpClass::update},
                                   {"ResourceApply*", OpClass::update},
                                   {"SparseApply*", OpClass::update},
                                   {"AssignVariableOp", OpClass::move},
                                   {"Assign*", OpClass::elementwise},
                                   {"Concat*", OpClass::move},
                                   {"Split*", OpClass::move},
                                   {"Slice", OpClass::move},
                                   {"StridedSlice*", OpClass::move},
                                   {"Transpose", OpClass::move},
                                   {"Pad*", OpClass::move},
                                   {"Tile", OpClass::move},
                                   {"Pack", OpClass::move},
                                   {"Unpack", OpClass::move},
                                   {"Stage", OpClass::move},
                                   {"Unstage", OpClass::move},
                                   {"Cast", OpClass::move},
                                   {"Fill", OpClass::move},
                                   {"ZerosLike", OpClass::move},
                                   {"OnesLike", OpClass::move},
                                   {"Range", OpClass::move},
                                   {"Where", OpClass::move},
                                   {"DynamicStitch", OpClass::move},
                                   {"Reverse*", OpClass::move},
                                   {"Resize*", OpClass::move},
                                   {"ConcatOffset", OpClass::other},
                                   {"Reshape", OpClass::view},
                                   {"Identity*", OpClass::view},
                                   {"Squeeze", OpClass::view},
                                   {"ExpandDims", OpClass::view},
                                   {"Shape*", OpClass::view},
                                   {"Size", OpClass::view},
                                   {"Rank", OpClass::view},
                                   {"StopGradient", OpClass::view},
                                   {"PreventGradient", OpClass::view},
                                   {"NoOp", OpClass::view},
                                   {"Enter", OpClass::view},
                                   {"Exit", OpClass::view},
                                   {"Merge", OpClass::view},
                                   {"Switch", OpClass::view},
                                   {"NextIteration", OpClass::view},
                                   {"LoopCond", OpClass::view},
                                   {"InvertPermutation", OpClass::other},
                                   {"BroadcastGradientArgs", OpClass::other},
                                   {"BroadcastTo", OpClass::move},
                                   {"Add*", OpClass::elementwise},
                                   {"BiasAdd", OpClass::elementwise},
                                   {"Sub", OpClass::elementwise},
                                   {"Mul", OpClass::elementwise},
                                   {"Div*", OpClass::elementwise},
                                   {"RealDiv", OpClass::elementwise},
                                   {"FloorDiv", OpClass::elementwise},
                                   {"FloorMod", OpClass::elementwise},
                                   {"Maximum", OpClass::elementwise},
                                   {"Minimum", OpClass::elementwise},
                                   {"Neg", OpClass::elementwise},
                                   {"Sqrt*", OpClass::elementwise},
                                   {"Rsqrt*", OpClass::elementwise},
                                   {"Square*", OpClass::elementwise},
                                   {"Pow", OpClass::elementwise},
                                   {"Exp*", OpClass::elementwise},
                                   {"Log", OpClass::elementwise},
                                   {"Log1p", OpClass::elementwise},
                                   {"Abs", OpClass::elementwise},
                                   {"Sign", OpClass::elementwise},
                                   {"Floor", OpClass::elementwise},
                                   {"Reciprocal*", OpClass::elementwise},
                                   {"Inv*", OpClass::elementwise},
                                   {"Select*", OpClass::elementwise},
                                   {"Greater*", OpClass::elementwise},
                                   {"Less*", OpClass::elementwise},
                                   {"Equal", OpClass::elementwise},
                                   {"NotEqual", OpClass::elementwise},
                                   {"Logical*", OpClass::elementwise},
                                   {"Random*", OpClass::elementwise},
                                   {"Truncated*", OpClass::elementwise},
                                   {"Multinomial", OpClass::elementwise},
                                   {"Erf", OpClass::activation},
                                   {"NcclAllReduce", OpClass::all_reduce},
                                   {"CollectiveReduce*", OpClass::all_reduce}};

constexpr double kMostNumbers = 1e15;  // a larger tensor is a mistake of the file

bool fits(std::string_view pattern, std::string_view op) {
  if (pattern.back() != '*') return pattern == op;
  return op.substr(0, pattern.size() - 1) == pattern.substr(0, pattern.size() - 1);
}

double elements(const Shape& shape) {
  return opgraph::elements_of(shape);
}
std::int64_t last_of(const Shape& shape) {
  std::int64_t last = 0;
  for (const std::int64_t size : shape)
    if (size > 0) last = size;
  return last;
}

bool in_reverse(const GraphNode& node, std::string_view what) {
  return node.op.find(what) != std::string::npos;
}

// Products and sizes of a 2-D convolution, from the three tensors that take part.
void set_conv(const GraphNode& node, const Shape& output, std::span<const Shape> in, Op& op) {
  const bool to_filter = in_reverse(node, "BackpropFilter"),
             to_input = in_reverse(node, "BackpropInput");
  if (in.size() < (to_filter || to_input ? 3U : 2U)) return;
  const Shape& filter = to_filter ? output : in[1];
  const Shape& images = to_filter ? in[0] : to_input ? output : in[0];
  const Shape& result = to_filter || to_input ? in[2] : output;
  const double outputs = double(std::max<std::int64_t>(1, filter[3]));
  const double fan = elements(filter) / outputs;
  op.flops = 2 * elements(result) * fan;
  op.batch = images[0];
  op.kernel = filter[0] * filter[1];
  op.n = filter[3];
  op.k = static_cast<std::int64_t>(fan);
  op.m =
      op.batch > 0 ? static_cast<std::int64_t>(elements(result) / (double(op.batch) * outputs)) : 0;
  op.groups = 1;
  if (const GraphAttribute* strides = node.find("strides"); strides != nullptr)
    for (const std::int64_t each : strides->numbers) op.stride = std::max(op.stride, each);
  if (!to_filter) op.parameter_bytes = 4 * elements(filter);
}

void set_matmul(const GraphNode& node, const Shape& output, std::span<const Shape> in, Op& op) {
  if (in.empty()) return;
  const GraphAttribute* turned = node.find("transpose_a");
  const bool swapped = turned != nullptr && turned->flag;
  const Shape& left = in[0];
  op.batch = 1;
  op.m = output[0];
  op.n = last_of(output);
  op.k = swapped ? left[0] : last_of(left);
  if (output[2] > 0) {  // the leading sizes are a batch
    op.n = last_of(output);
    op.m = static_cast<std::int64_t>(1);
    for (std::size_t i = 0; i + 1 < output.size() && output[i + 1] > 0; ++i) op.m = output[i];
    op.batch = static_cast<std::int64_t>(elements(output) / (double(op.m) * double(op.n)));
    op.k = last_of(left);
  }
  op.flops = 2 * elements(output) * double(op.k);
}

}  // namespace

const OpClass* class_of_tensorflow(std::string_view op) {
  for (const NamedClass& each : kClasses)
    if (fits(each.op, op)) return &each.kind;
  return nullptr;
}

Shape known_shape(const TensorShape& shape, std::int64_t unknown) {
  Shape known{};
  if (!shape.known_rank) return known;
  if (shape.sizes.empty()) {
    known[0] = 1;
    return known;
  }
  double product = 1;
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    const std::int64_t size = shape.sizes[i] < 0 ? unknown : shape.sizes[i];
    if (size == 0) return {};  // no numbers at all
    product *= double(size);
    if (product > kMostNumbers) return {};
    const std::size_t extra =
        shape.sizes.size() > known.size() ? shape.sizes.size() - known.size() : 0;
    const std::size_t to = i > extra ? i - extra : 0;
    known[to] = to == 0 && i > 0 && i <= extra ? known[0] * size : size;
  }
  return known;
}

Op op_of_node(const GraphNode& node, const Shape& output, std::span<const Shape> inputs) {
  const OpClass* found = class_of_tensorflow(node.op);
  Op op;
  op.kind = found != nullptr ? *found : OpClass::other;
  op.shape = output;
  op.name = node.name;
  const bool gradient = node.name.find("gradients") != std::string::npos ||
                        in_reverse(node, "Grad") || in_reverse(node, "Backprop");
  op.phase = op.kind == OpClass::update       ? Phase::update
             : op.kind == OpClass::all_reduce ? Phase::communication
             : gradient                       ? Phase::backward
                                              : Phase::forward;
  const double out = 4 * elements(output);
  op.output_bytes = out;
  if (op.kind == OpClass::view || op.kind == OpClass::input || op.kind == OpClass::parameter) {
    op.kernels = 0;
    if (op.kind != OpClass::input) op.output_bytes = 0;
    if (op.kind == OpClass::parameter) op.parameter_bytes = out;
    return op;
  }
  op.bytes_written = out;
  for (const Shape& each : inputs) op.bytes_read += 4 * elements(each);
  op.flops = op.kind == OpClass::move || op.kind == OpClass::gather || op.kind == OpClass::other
                 ? 0
                 : elements(output);
  if (op.kind == OpClass::conv || op.kind == OpClass::depthwise_conv)
    set_conv(node, output, inputs, op);
  if (op.kind == OpClass::matmul) set_matmul(node, output, inputs, op);
  if (op.kind == OpClass::update) {
    op.output_bytes = 0;
    op.bytes_written = op.bytes_read > 0 && !inputs.empty() ? 4 * elements(inputs[0]) : 0;
  }
  if (op.kind == OpClass::reduce && !inputs.empty()) op.flops = elements(inputs[0]);
  return op;
}

}  // namespace omen::driple
