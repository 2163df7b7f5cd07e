// SPDX-License-Identifier: Apache-2.0
// Operations from their dimensions: arithmetic and traffic of each class stand here and nowhere
// else.
#ifndef OMEN_OPGRAPH_COSTS_HPP
#define OMEN_OPGRAPH_COSTS_HPP

#include <initializer_list>

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph {

using Shape = std::array<std::int64_t, kMostDimensions>;

// Dimensions beyond the sixth are multiplied into the first.
Shape shape_of(std::initializer_list<std::int64_t> dimensions);
double elements_of(const Shape& shape);

// A batch of products of m x k with k x n. `right_bytes` is what the right factors take in memory,
// `parameters` tells that they are parameters.
struct MatmulDims {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double right_bytes = 0;
  bool parameters = false;
};
Op matmul_op(Precision precision, double activation_width, const MatmulDims& dims);

struct ConvDims {
  std::int64_t images = 0, inputs = 0, outputs = 0;  // channels
  std::int64_t in_pixels = 0, out_pixels = 0;
  std::int64_t kernel = 1, stride = 1, groups = 1;
};
// Depthwise where every channel is a group of its own.
Op conv_op(Precision precision, const ConvDims& dims);

// Flash attention: one kernel that never writes the scores. `pairs` counts the pairs of query and
// key that one head of one sequence looks at.
struct AttentionDims {
  std::int64_t sequences = 0, heads = 0, key_heads = 0, queries = 0, keys = 0;
  std::int64_t width = 0, value_width = 0;  // of a head
  double pairs = 0;
  double key_value_width = 0;  // bytes of a number in the cache
};
Op attention_op(Precision precision, const AttentionDims& dims);

// `inputs` tensors of this shape are read and one is written.
Op elementwise_op(OpClass kind, Precision precision, const Shape& shape, double inputs = 1);
// Reads a tensor of `in` numbers and writes one of this shape.
Op shrinking_op(OpClass kind, Precision precision, double in, const Shape& shape);
Op input_op(double bytes, const Shape& shape);
Op view_op(const Shape& shape);
// `bytes` is what each rank holds before an all-reduce or all-to-all, and after an all-gather.
Op collective_op(OpClass kind, Precision precision, double bytes, std::int64_t ranks);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_COSTS_HPP
