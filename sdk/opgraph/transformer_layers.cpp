// SPDX-License-Identifier: Apache-2.0
// The small parts that blocks are made of.
#include "omen/opgraph/words.hpp"
#include "transformer_builder.hpp"

namespace omen::opgraph {

Shape TransformerBuilder::rows(std::int64_t width) const {
  return shape_of({sizes_.tokens, width});
}

double TransformerBuilder::bytes_for(double parameters, bool quantised) {
  const double bytes = parameters * (quantised ? sizes_.weight_width : sizes_.width);
  weight_bytes_ += bytes;
  return bytes;
}

OpId TransformerBuilder::linear(const char* name, OpId x, std::int64_t in, std::int64_t out,
                                bool bias, bool quantised) {
  const double weights = double(in) * double(out), added = bias ? double(out) : 0;
  MatmulDims dims{
      1, sizes_.tokens, out, in, bytes_for(weights, quantised) + bytes_for(added, false), true};
  Op op = matmul_op(quantised ? sizes_.matmul : sizes_.activations, sizes_.width, dims);
  op.shape = rows(out);
  return graph_.add(named(name), op, Gradient::matmul, {x},
                    {weights + added, bias ? 2.0 : 1.0, added, false});
}

OpId TransformerBuilder::norm(const char* name, OpId x, std::int64_t width, bool counted) {
  const double parameters = double(width) * (config_.norm == NormKind::layer ? 2 : 1);
  Op op = elementwise_op(OpClass::norm, sizes_.activations, graph_.op(x).shape);
  op.flops *= 5;
  op.parameter_bytes = counted ? bytes_for(parameters, false) : 0;
  op.bytes_read += op.parameter_bytes;
  return graph_.add(named(name), op, Gradient::from_input, {x},
                    {counted ? parameters : 0, config_.norm == NormKind::layer ? 2.0 : 1.0});
}

OpId TransformerBuilder::add(const char* name, OpId a, OpId b) {
  return graph_.add(named(name),
                    elementwise_op(OpClass::elementwise, sizes_.activations, graph_.op(a).shape, 2),
                    Gradient::pass, {a, b});
}

OpId TransformerBuilder::dropped(const char* name, OpId x, const Shape& shape, double share) {
  if (run_.mode != Mode::train || !run_.dropout || share == 0) return x;
  // The mask is what backward needs; it is written by the same kernel.
  Op mask = view_op(shape);
  mask.kind = OpClass::other;
  mask.output_bytes = elements_of(shape);
  const OpId kept = graph_.add(named(name), mask, Gradient::none, {});
  Op op = elementwise_op(OpClass::elementwise, sizes_.activations, shape);
  op.bytes_written += mask.output_bytes;
  return graph_.add(named(name), op, Gradient::mask, {x, kept});
}

OpId TransformerBuilder::activation(OpId x, const Shape& shape) {
  const auto step = [&](const char* name, Gradient gradient, std::initializer_list<OpId> inputs) {
    return graph_.add(
        named(name),
        elementwise_op(OpClass::elementwise, sizes_.activations, shape, double(inputs.size())),
        gradient, inputs);
  };
  if (config_.activation == ActivationKind::gelu_steps) {
    const OpId cube = step("gelu/pow", Gradient::from_input, {x});
    const OpId scaled = step("gelu/scale", Gradient::same, {cube});
    const OpId sum = step("gelu/add", Gradient::pass, {x, scaled});
    const OpId inner = step("gelu/scale2", Gradient::same, {sum});
    const OpId bent = graph_.add(named("gelu/tanh"),
                                 elementwise_op(OpClass::activation, sizes_.activations, shape),
                                 Gradient::from_output, {inner});
    const OpId shifted = step("gelu/one", Gradient::pass, {bent});
    const OpId half = step("gelu/half", Gradient::same, {x});
    return step("gelu/mul", Gradient::factors, {half, shifted});
  }
  const bool relu = config_.activation == ActivationKind::relu;
  return graph_.add(named("activation"),
                    elementwise_op(OpClass::activation, sizes_.activations, shape),
                    relu ? Gradient::from_output : Gradient::from_input, {x});
}

// Ranks of tensor parallelism read the same rows; backward their gradients are added up.
OpId TransformerBuilder::split_ranks(OpId x) {
  if (run_.tensor_ranks < 2 || run_.mode != Mode::train) return x;
  Op op = view_op(graph_.op(x).shape);
  op.precision = sizes_.activations;
  op.ranks = run_.tensor_ranks;
  return graph_.add(named("split"), op, Gradient::all_reduce, {x});
}

OpId TransformerBuilder::join_ranks(const char* name, OpId x) {
  if (run_.tensor_ranks < 2) return x;
  Op op =
      collective_op(OpClass::all_reduce, sizes_.activations, graph_.size_of(x), run_.tensor_ranks);
  op.shape = graph_.op(x).shape;
  return graph_.add(named(name), op, Gradient::pass, {x});
}

}  // namespace omen::opgraph
