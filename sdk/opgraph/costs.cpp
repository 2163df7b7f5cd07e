// SPDX-License-Identifier: Apache-2.0
// FLOPs and bytes of each class of operation.
#include "omen/opgraph/costs.hpp"

#include <cmath>

#include "omen/opgraph/words.hpp"

namespace omen::opgraph {

Shape shape_of(std::initializer_list<std::int64_t> dimensions) {
  Shape shape{};
  const std::size_t rank = dimensions.size();
  std::size_t at = 0;
  for (const std::int64_t size : dimensions) {
    const std::size_t to = rank > kMostDimensions && at < rank - kMostDimensions + 1
                               ? 0
                               : at - (rank > kMostDimensions ? rank - kMostDimensions : 0);
    shape[to] = to == 0 && at > 0 ? shape[0] * size : size;
    ++at;
  }
  return shape;
}

double elements_of(const Shape& shape) {
  if (shape[0] == 0) return 0;
  double elements = 1;
  for (const std::int64_t size : shape)
    if (size > 0) elements *= static_cast<double>(size);
  return elements;
}

Op matmul_op(Precision precision, double activation_width, const MatmulDims& dims) {
  const auto batch = static_cast<double>(dims.batch), m = static_cast<double>(dims.m);
  const auto n = static_cast<double>(dims.n), k = static_cast<double>(dims.k);
  Op op;
  op.kind = OpClass::matmul;
  op.precision = precision;
  op.flops = 2 * batch * m * n * k;
  op.bytes_read = activation_width * batch * m * k + dims.right_bytes;
  op.bytes_written = op.output_bytes = activation_width * batch * m * n;
  op.parameter_bytes = dims.parameters ? dims.right_bytes : 0;
  op.batch = dims.batch, op.m = dims.m, op.n = dims.n, op.k = dims.k;
  op.shape = shape_of({dims.batch, dims.m, dims.n});
  return op;
}

Op conv_op(Precision precision, const ConvDims& dims) {
  const double width = bytes_of(precision);
  const auto images = static_cast<double>(dims.images);
  const std::int64_t fan = dims.inputs / std::max<std::int64_t>(dims.groups, 1) * dims.kernel;
  const double out =
      images * static_cast<double>(dims.out_pixels) * static_cast<double>(dims.outputs);
  const double in = images * static_cast<double>(dims.in_pixels) * static_cast<double>(dims.inputs);
  Op op;
  op.kind = dims.groups > 1 && dims.groups == dims.inputs ? OpClass::depthwise_conv : OpClass::conv;
  op.precision = precision;
  op.flops = 2 * out * static_cast<double>(fan);
  op.parameter_bytes = width * static_cast<double>(fan) * static_cast<double>(dims.outputs);
  op.bytes_read = width * in + op.parameter_bytes;
  op.bytes_written = op.output_bytes = width * out;
  op.batch = dims.images, op.m = dims.out_pixels, op.n = dims.outputs, op.k = fan;
  op.kernel = dims.kernel, op.stride = dims.stride, op.groups = dims.groups;
  op.shape = shape_of({dims.images, dims.outputs, dims.out_pixels});
  return op;
}

Op attention_op(Precision precision, const AttentionDims& dims) {
  const double width = bytes_of(precision);
  const auto sequences = static_cast<double>(dims.sequences);
  const double heads = sequences * static_cast<double>(dims.heads);
  const double key_heads = sequences * static_cast<double>(dims.key_heads);
  const auto queries = static_cast<double>(dims.queries), keys = static_cast<double>(dims.keys);
  const double widths = static_cast<double>(dims.width + dims.value_width);
  Op op;
  op.kind = OpClass::attention;
  op.precision = precision;
  op.flops = 2 * heads * widths * dims.pairs;
  op.bytes_read = width * heads * queries * static_cast<double>(dims.width) +
                  dims.key_value_width * key_heads * keys * widths;
  op.bytes_written = width * heads * queries * static_cast<double>(dims.value_width);
  op.output_bytes = op.bytes_written + 4 * heads * queries;  // with the normalisers of the softmax
  op.batch = dims.sequences * dims.heads;
  op.m = dims.queries, op.n = dims.keys, op.k = dims.width;
  op.groups = dims.heads / std::max<std::int64_t>(dims.key_heads, 1);
  op.shape = shape_of({dims.sequences, dims.queries, dims.heads, dims.value_width});
  return op;
}

Op elementwise_op(OpClass kind, Precision precision, const Shape& shape, double inputs) {
  Op op;
  const double elements = elements_of(shape), bytes = bytes_of(precision) * elements;
  op.kind = kind;
  op.precision = precision;
  op.flops = elements * std::max(1.0, inputs - 1);
  op.bytes_read = bytes * inputs;
  op.bytes_written = op.output_bytes = bytes;
  op.shape = shape;
  return op;
}

Op shrinking_op(OpClass kind, Precision precision, double in, const Shape& shape) {
  Op op = elementwise_op(kind, precision, shape, 1);
  op.flops = in;
  op.bytes_read = bytes_of(precision) * in;
  return op;
}

Op input_op(double bytes, const Shape& shape) {
  Op op;
  op.kind = OpClass::input;
  op.output_bytes = bytes;
  op.kernels = 0;
  op.shape = shape;
  return op;
}

Op view_op(const Shape& shape) {
  Op op;
  op.kind = OpClass::view;
  op.kernels = 0;
  op.shape = shape;
  return op;
}

Op collective_op(OpClass kind, Precision precision, double bytes, std::int64_t ranks) {
  Op op;
  op.kind = kind;
  op.phase = Phase::communication;
  op.precision = precision;
  op.bytes_read = op.bytes_written = bytes;
  // An all-reduce works in place, what the others give is another tensor.
  op.output_bytes = kind == OpClass::all_reduce ? 0 : bytes;
  op.ranks = ranks;
  op.shape = shape_of({static_cast<std::int64_t>(bytes / bytes_of(precision))});
  return op;
}

}  // namespace omen::opgraph
