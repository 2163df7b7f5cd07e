// SPDX-License-Identifier: Apache-2.0
// Layers to operations, and the job around them.
#include "image_network.hpp"

#include <omen/error.hpp>

#include "omen/opgraph/words.hpp"

namespace omen::opgraph {
namespace {

std::int64_t out_size(std::int64_t in, std::int64_t window, std::int64_t stride, Padding padding) {
  const std::int64_t out =
      padding == Padding::same ? (in + stride - 1) / stride : (in - window) / stride + 1;
  if (out < 1 || (padding == Padding::valid && in < window))
    throw Error(
        OMEN_INVALID_ARGUMENT,
        "a window of " + std::to_string(window) + " pixels does not fit into " + std::to_string(in),
        "Use a larger image_size.");
  return out;
}

}  // namespace

ImageNetwork::ImageNetwork(const ZooRun& run) : run_(run), graph_(bytes_of(run.precision)) {
  graph_.reserve(1024);
}

std::string ImageNetwork::numbered(const char* what) {
  return std::string(what) + std::to_string(count_++);
}

Shape ImageNetwork::shape_of_image(const Image& x) const {
  return shape_of({run_.batch, x.channels, x.height * x.width});
}

Image ImageNetwork::put(const char* what, Op op, Gradient gradient,
                        std::initializer_list<OpId> inputs, Image out, Parameters parameters) {
  op.shape = shape_of_image(out);
  parameters.shared = shared_ && parameters.count > 0;
  out.id = graph_.add(numbered(what), op, gradient, inputs, parameters);
  return out;
}

Image ImageNetwork::input(std::int64_t channels, std::int64_t size) {
  Image x{0, channels, size, size};
  return put("input", input_op(graph_.width() * elements_of(shape_of_image(x)), {}), Gradient::none,
             {}, x);
}

Image ImageNetwork::conv(Image x, const ConvShape& shape) {
  Image out{0, shape.outputs, out_size(x.height, shape.height, shape.stride, shape.padding),
            out_size(x.width, shape.width, shape.stride, shape.padding)};
  const ConvDims dims{run_.batch,
                      x.channels,
                      shape.outputs,
                      x.height * x.width,
                      out.height * out.width,
                      shape.height * shape.width,
                      shape.stride,
                      1};
  const double count = double(x.channels * shape.outputs * shape.height * shape.width);
  return put("conv", conv_op(run_.precision, dims), Gradient::conv, {x.id}, out, {count, 1});
}

Image ImageNetwork::bias(Image x) {
  Op op = elementwise_op(OpClass::elementwise, run_.precision, shape_of_image(x));
  op.parameter_bytes = graph_.width() * double(x.channels);
  op.bytes_read += op.parameter_bytes;
  return put("bias", op, Gradient::pass, {x.id}, x, {double(x.channels), 1, double(x.channels)});
}

Image ImageNetwork::batch_norm(Image x) {
  // In training the statistics need a pass of their own.
  Op op = elementwise_op(OpClass::norm, run_.precision, shape_of_image(x), training() ? 2 : 1);
  op.flops = 5 * elements_of(shape_of_image(x));
  op.parameter_bytes = graph_.width() * 2 * double(x.channels);
  op.bytes_read += op.parameter_bytes;
  return put("norm", op, Gradient::from_input, {x.id}, x, {2 * double(x.channels), 2});
}

Image ImageNetwork::relu(Image x) {
  return put("relu", elementwise_op(OpClass::activation, run_.precision, shape_of_image(x)),
             Gradient::from_output, {x.id}, x);
}

Image ImageNetwork::activation(Image x) {
  return put("activation", elementwise_op(OpClass::activation, run_.precision, shape_of_image(x)),
             Gradient::from_output, {x.id}, x);
}

Image ImageNetwork::conv_bias_relu(Image x, const ConvShape& shape) {
  return relu(bias(conv(x, shape)));
}
Image ImageNetwork::conv_norm_relu(Image x, const ConvShape& shape) {
  return relu(batch_norm(conv(x, shape)));
}
Image ImageNetwork::conv_norm(Image x, const ConvShape& shape) {
  return batch_norm(conv(x, shape));
}

Image ImageNetwork::pool(Image x, Pool kind, std::int64_t window, std::int64_t stride,
                         Padding padding) {
  const Image out{0, x.channels, out_size(x.height, window, stride, padding),
                  out_size(x.width, window, stride, padding)};
  Op op = shrinking_op(OpClass::pool, run_.precision, elements_of(shape_of_image(x)),
                       shape_of_image(out));
  op.flops = elements_of(shape_of_image(out)) * double(window * window);
  op.kernel = window * window;
  op.stride = stride;
  return put("pool", op, kind == Pool::largest ? Gradient::from_both : Gradient::same, {x.id}, out);
}

Image ImageNetwork::global_pool(Image x) {
  const Image out{0, x.channels, 1, 1};
  Op op = shrinking_op(OpClass::reduce, run_.precision, elements_of(shape_of_image(x)),
                       shape_of_image(out));
  return put("mean", op, Gradient::same, {x.id}, out);
}

Image ImageNetwork::concat(const std::vector<Image>& parts) {
  Image out = parts.front();
  std::vector<OpId> ids;
  out.channels = 0;
  for (const Image& part : parts) out.channels += part.channels, ids.push_back(part.id);
  Op op = elementwise_op(OpClass::move, run_.precision, shape_of_image(out));
  op.flops = 0;
  out.id = graph_.add(numbered("concat"), op, Gradient::same, ids);
  return out;
}

Image ImageNetwork::add(Image a, Image b) {
  return put("add", elementwise_op(OpClass::elementwise, run_.precision, shape_of_image(a), 2),
             Gradient::pass, {a.id, b.id}, a);
}

Image ImageNetwork::pad_channels(Image x, std::int64_t channels) {
  Image out = x;
  out.channels = channels;
  Op op = shrinking_op(OpClass::move, run_.precision, elements_of(shape_of_image(x)),
                       shape_of_image(out));
  return put("pad", op, Gradient::same, {x.id}, out);
}

Image ImageNetwork::linear(Image x, std::int64_t outputs) {
  const std::int64_t in = x.numbers();
  const double count = double(in) * double(outputs), added = double(outputs);
  Op op = matmul_op(run_.precision, graph_.width(),
                    {1, run_.batch, outputs, in, graph_.width() * (count + added), true});
  return put("linear", op, Gradient::matmul, {x.id}, {0, outputs, 1, 1}, {count + added, 2, added});
}

Image ImageNetwork::dropout(Image x) {
  if (!training()) return x;
  Op mask = view_op(shape_of_image(x));
  mask.kind = OpClass::other;
  mask.output_bytes = elements_of(shape_of_image(x));
  const OpId kept = graph_.add(numbered("mask"), mask, Gradient::none, {});
  Op op = elementwise_op(OpClass::elementwise, run_.precision, shape_of_image(x));
  op.bytes_written += mask.output_bytes;
  return put("dropout", op, Gradient::mask, {x.id, kept}, x);
}

Image ImageNetwork::conv_transposed(Image x, std::int64_t outputs, std::int64_t kernel,
                                    std::int64_t stride) {
  const Image out{0, outputs, x.height * stride, x.width * stride};
  ConvDims dims{run_.batch,         x.channels,      outputs, x.height * x.width,
                x.height * x.width, kernel * kernel, stride,  1};
  Op op = conv_op(run_.precision, dims);
  op.bytes_written = op.output_bytes = graph_.width() * elements_of(shape_of_image(out));
  const double count = double(x.channels * outputs * kernel * kernel);
  return put("conv_transposed", op, Gradient::conv, {x.id}, out, {count, 1});
}

Image ImageNetwork::upsample(Image x) {
  const Image out{0, x.channels, 2 * x.height, 2 * x.width};
  Op op = shrinking_op(OpClass::move, run_.precision, elements_of(shape_of_image(x)),
                       shape_of_image(out));
  return put("upsample", op, Gradient::same, {x.id}, out);
}

Image ImageNetwork::reshape(Image x, std::int64_t channels, std::int64_t height,
                            std::int64_t width) {
  const Image out{0, channels, height, width};
  return put("view", view_op({}), Gradient::pass, {x.id}, out);
}

Image ImageNetwork::detached(Image x) {
  return put("detached", view_op({}), Gradient::none, {x.id}, x);
}

void ImageNetwork::loss(const std::vector<Image>& outputs) {
  std::vector<OpId> ids;
  std::int64_t numbers = 0;
  for (const Image& each : outputs) ids.push_back(each.id), numbers += each.numbers();
  Op op = elementwise_op(OpClass::loss, run_.precision, shape_of({run_.batch, numbers}));
  op.flops *= 4;
  graph_.add("loss", op, Gradient::from_output, ids);
}

Job ImageNetwork::finish(const std::string& name) {
  Job job;
  job.name = name;
  StepFacts& facts = job.facts;
  facts.mode = run_.mode;
  facts.precision = run_.precision;
  facts.batch = double(run_.batch);
  facts.parameters = facts.active_parameters = graph_.parameter_count();
  facts.weight_bytes = facts.parameters * graph_.width();
  if (!training()) {
    job.graph = graph_.take();
    return job;
  }
  TrainingOptions options;
  options.optimizer = run_.optimizer;
  options.precision = run_.precision;
  options.weight_decay_as_loss = run_.weight_decay;
  const StateBytes states = state_bytes(facts.parameters, options);
  facts.weight_bytes = states.weights;
  facts.gradient_bytes = states.gradients;
  facts.optimizer_bytes = states.optimizer;
  facts.optimizer = word(run_.optimizer);
  job.graph = training_graph(std::move(graph_), options);
  return job;
}

}  // namespace omen::opgraph
