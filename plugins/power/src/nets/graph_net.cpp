// SPDX-License-Identifier: Apache-2.0
// One or two layers for each operation that computes; the others pass on where their inputs are
// from.
#include "nets/graph_net.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <omen/opgraph/costs.hpp>
#include <omen/opgraph/words.hpp>
#include <set>
#include <tuple>

namespace omen::power {
namespace {

using opgraph::Op;
using opgraph::OpClass;

constexpr double kSoftmaxOps = 5, kNormOps = 2;
constexpr int kBitsOfByte = 8, kSumBits = 32;
constexpr double kAlmost = 1e-6;

// Two whole numbers with this product; their quotient is as near to `ratio` as whole numbers allow.
std::pair<std::int64_t, std::int64_t> divided(std::int64_t pixels, double ratio) {
  const double wanted = std::sqrt(static_cast<double>(pixels) * ratio);
  std::int64_t best = 1;
  for (std::int64_t i = 1; i * i <= pixels; ++i) {
    if (pixels % i != 0) continue;
    for (const std::int64_t side : {i, pixels / i})
      if (std::abs(std::log(static_cast<double>(side) / wanted)) <
          std::abs(std::log(static_cast<double>(best) / wanted)))
        best = side;
  }
  return {best, pixels / best};
}

// Graphs keep the number of a window's places; most windows are squares.
std::pair<std::int64_t, std::int64_t> window_sides(std::int64_t places) {
  return divided(std::max<std::int64_t>(1, places), 1);
}

// Channels come second in images and last in sequences.
Shape shape_of_op(const Op& op, std::int64_t images) {
  std::size_t rank = 0;
  while (rank < op.shape.size() && op.shape[rank] > 0) ++rank;
  if (rank == 0) return {0, 0, 0};
  if (rank == 4) return {op.shape[1], op.shape[2] * op.shape[0] / images, op.shape[3]};
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < rank; ++i) rows *= op.shape[i];
  return {op.shape[rank - 1], std::max<std::int64_t>(1, rows / images), 1};
}

bool divides(const opgraph::OpGraph& graph, std::int64_t images) {
  return std::all_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
    if (op.kind == OpClass::conv || op.kind == OpClass::depthwise_conv)
      return op.batch % images == 0;
    if (op.kind == OpClass::matmul) return (op.parameter_bytes > 0 ? op.m : op.batch) % images == 0;
    if (op.kind == OpClass::attention)
      return op.batch / std::max<std::int64_t>(1, op.groups) % images == 0;
    return op.shape[0] == 0 || op.shape[0] % images == 0;
  });
}

class LayerMaker {
 public:
  LayerMaker(const opgraph::Job& job, std::int64_t images, double weight_width, Net& net)
      : job_(job), images_(images), weight_width_(weight_width), net_(net) {}

  void make() {
    const opgraph::OpGraph& graph = job_.graph;
    from_.resize(graph.ops.size());
    shapes_.resize(graph.ops.size());
    for (const opgraph::Edge& edge : graph.edges) inputs_of(edge.dst).push_back(edge.src);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) add(static_cast<std::int32_t>(i));
    if (!skipped_.empty())
      warnings_.push_back("operations that an array does not run are left out: " + join(skipped_));
  }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

 private:
  std::vector<std::int32_t>& inputs_of(std::int32_t op) {
    inputs_.resize(job_.graph.ops.size());
    return inputs_[static_cast<std::size_t>(op)];
  }

  // Layers whose outputs the operation reads, each once.
  std::vector<std::int32_t> read_layers(std::int32_t id) {
    std::vector<std::int32_t> layers;
    for (const std::int32_t src : inputs_of(id))
      for (const std::int32_t layer : from_[static_cast<std::size_t>(src)])
        if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(layer);
    return layers;
  }
  Shape input_shape(std::int32_t id) {
    const std::vector<std::int32_t>& inputs = inputs_of(id);
    return inputs.empty() ? Shape{0, 0, 0} : shapes_[static_cast<std::size_t>(inputs.front())];
  }

  std::int32_t put(Primitive layer, const std::vector<std::int32_t>& from) {
    layer.block = block_;
    for (const std::int64_t size : {layer.cin, layer.cout, layer.h, layer.w, layer.ho, layer.wo})
      if (size < 1 || size > std::numeric_limits<std::int32_t>::max())
        throw Error(OMEN_INVALID_DATA,
                    job_.name + ": a layer has a size of " + std::to_string(size),
                    "Give smaller sizes with --batch and --sequence.");
    const auto id = static_cast<std::int32_t>(net_.layers.size());
    for (const std::int32_t source : from) net_.edges.emplace_back(source, id);
    net_.layers.push_back(layer);
    return id;
  }

  void add(std::int32_t id) {
    const auto at = static_cast<std::size_t>(id);
    const Op& op = job_.graph.ops[at];
    std::vector<std::int32_t> from = read_layers(id);
    Shape made = shape_of_op(op, images_);
    block_ = id;
    switch (op.kind) {
      case OpClass::input:
        if (net_.input == Shape{} && made.elements() > 0) net_.input = made;
        break;
      case OpClass::parameter:
      case OpClass::view:
        break;
      case OpClass::conv:
      case OpClass::depthwise_conv:
        from = {conv(op, input_shape(id), from)};
        made = net_.layers.back().out();
        break;
      case OpClass::matmul:
        from = matmul(op, from);
        break;
      case OpClass::attention:
        from = attention(op, from);
        break;
      case OpClass::update:
      case OpClass::all_reduce:
      case OpClass::all_gather:
      case OpClass::reduce_scatter:
      case OpClass::all_to_all:
      case OpClass::send:
        skipped_.insert(std::string(opgraph::word(op.kind)));
        break;
      default:
        if (made.elements() > 0) from = beside_array(op, made, input_shape(id), from);
    }
    // What cannot be told about a view is what it reads.
    if (made.elements() == 0) made = input_shape(id);
    from_[at] = std::move(from);
    shapes_[at] = made;
  }

  std::int32_t conv(const Op& op, const Shape& in, const std::vector<std::int32_t>& from) {
    const std::int64_t folded = std::max<std::int64_t>(1, op.batch / images_);
    Primitive layer;
    layer.groups = std::max<std::int64_t>(1, op.groups);
    const std::int64_t window = std::max<std::int64_t>(1, op.kernel);
    layer.cin = op.k / window * layer.groups;
    layer.cout = op.n;
    layer.type =
        layer.groups > 1 && layer.groups == layer.cin ? BlockType::dwconv : BlockType::conv;
    std::tie(layer.kh, layer.kw) = window_sides(window);
    layer.stride_h = layer.stride_w = std::max<std::int64_t>(1, op.stride);
    // A transposed convolution multiplies each pixel that it reads, not each that it writes.
    const double each =
        static_cast<double>(op.n) * static_cast<double>(op.k) * static_cast<double>(op.batch);
    const auto pixels = std::max<std::int64_t>(1, std::llround(op.flops / 2 / each));
    const bool known = in.c == layer.cin && in.elements() > 0;
    std::tie(layer.ho, layer.wo) =
        divided(pixels, known ? static_cast<double>(in.h) / static_cast<double>(in.w) : 1);
    layer.h = known ? in.h : layer.ho * layer.stride_h;
    layer.w = known ? in.w : layer.wo * layer.stride_w;
    const auto padding = [](std::int64_t out, std::int64_t stride, std::int64_t kernel,
                            std::int64_t size) {
      return std::max<std::int64_t>(0, ((out - 1) * stride + kernel - size + 1) / 2);
    };
    layer.pad_h = padding(layer.ho, layer.stride_h, layer.kh, layer.h);
    layer.pad_w = padding(layer.wo, layer.stride_w, layer.kw, layer.w);
    // The images that a batch does not divide stand below each other.
    if (!known) layer.h *= folded;
    layer.ho *= folded;
    const std::int32_t made = put(layer, from);
    if (pixels == op.m) return made;
    const auto [high, wide] =
        divided(op.m, static_cast<double>(layer.h) / static_cast<double>(layer.w));
    Primitive spread;
    spread.type = BlockType::upsample;
    spread.cin = spread.cout = layer.cout;
    spread.h = layer.ho, spread.w = layer.wo;
    spread.ho = high * folded, spread.wo = wide;
    return put(spread, {made});
  }

  // `count` products of `rows` x `depth` with weights of `depth` x `cols`.
  Primitive linear(std::int64_t count, std::int64_t rows, std::int64_t depth,
                   std::int64_t cols) const {
    Primitive layer;
    layer.type = BlockType::linear;
    layer.groups = count;
    layer.cin = count * depth;
    layer.cout = count * cols;
    layer.h = layer.ho = rows;
    return layer;
  }

  Primitive product(std::int64_t count, std::int64_t rows, std::int64_t depth,
                    std::int64_t cols) const {
    Primitive layer = linear(count, rows, depth, cols);
    layer.type = BlockType::matmul;
    return layer;
  }

  std::vector<std::int32_t> matmul(const Op& op, const std::vector<std::int32_t>& from) {
    if (op.parameter_bytes <= 0)
      return {put(product(std::max<std::int64_t>(1, op.batch / images_), op.m, op.k, op.n), from)};
    if (op.batch == 1) {
      Primitive layer = linear(1, std::max<std::int64_t>(1, op.m / images_), op.k, op.n);
      const double own = weight_width_ * static_cast<double>(op.k) * static_cast<double>(op.n);
      layer.bias = op.parameter_bytes > own * (1 + kAlmost);
      return {put(layer, from)};
    }
    // Experts: the rows are dealt out evenly, and some of the experts get one more.
    const auto rows =
        std::llround(op.flops / 2 / static_cast<double>(op.k) / static_cast<double>(op.n));
    const std::int64_t each = rows / op.batch, more = rows % op.batch;
    std::vector<std::int32_t> made;
    if (more > 0) made.push_back(put(linear(more, each + 1, op.k, op.n), from));
    if (each > 0) made.push_back(put(linear(op.batch - more, each, op.k, op.n), from));
    return made;
  }

  // Queries of the heads that share keys are rows of one product, so keys are read once.
  std::vector<std::int32_t> attention(const Op& op, const std::vector<std::int32_t>& from) {
    const std::int64_t shared = std::max<std::int64_t>(1, op.groups);
    const std::int64_t count = std::max<std::int64_t>(1, op.batch / shared / images_);
    const double heads = static_cast<double>(op.batch) * static_cast<double>(op.m);
    const double depth = op.flops / 2 / heads / static_cast<double>(op.n);
    const auto value = std::llround(opgraph::elements_of(op.shape) / heads);
    // A state of fixed size is read, corrected and written by several products of its sizes.
    if (depth > static_cast<double>(op.k + value) * (1 + kAlmost))
      return {put(product(std::max<std::int64_t>(1, op.batch / images_),
                          op.m * std::llround(depth / static_cast<double>(op.k)), op.k, op.n),
                  from)};
    const std::int64_t rows = op.m * shared;
    const std::int32_t scores = put(product(count, rows, op.k, op.n), from);
    Primitive softmax;
    softmax.type = BlockType::act;
    softmax.cin = softmax.cout = op.n;
    softmax.h = softmax.ho = rows;
    softmax.w = softmax.wo = count;
    softmax.ops_per_element = kSoftmaxOps;
    const std::int32_t soft = put(softmax, {scores});
    if (value < 1) return {soft};
    std::vector<std::int32_t> read = {soft};
    if (from.size() > 1) read.push_back(from.back());
    return {put(product(count, rows, op.n, value), read)};
  }

  // The sum with a vector of weights is part of the convolution that it follows.
  bool is_bias(const Op& op, const std::vector<std::int32_t>& from) const {
    if (op.kind != OpClass::elementwise || op.parameter_bytes <= 0 || from.size() != 1)
      return false;
    const BlockType type = net_.layers[static_cast<std::size_t>(from[0])].type;
    return type == BlockType::conv || type == BlockType::dwconv || type == BlockType::upsample;
  }

  std::vector<std::int32_t> beside_array(const Op& op, Shape& made, const Shape& in,
                                         const std::vector<std::int32_t>& from) {
    if (is_bias(op, from)) {
      net_.layers[static_cast<std::size_t>(from[0])].bias = true;
      made = in;
      return from;
    }
    if (made.c != in.c && made.elements() == in.elements()) made = in;
    Primitive layer;
    layer.type = BlockType::act;
    layer.cin = layer.cout = made.c;
    layer.h = layer.ho = made.h;
    layer.w = layer.wo = made.w;
    layer.ops_per_element = op.flops / opgraph::elements_of(op.shape);
    const bool shrinks = in.c == made.c && in.elements() > made.elements();
    if (op.kind == OpClass::pool) {
      layer.type = BlockType::pool;
      std::tie(layer.kh, layer.kw) = window_sides(op.kernel);
      layer.stride_h = layer.stride_w = std::max<std::int64_t>(1, op.stride);
      if (in.c == made.c) layer.h = in.h, layer.w = in.w;
    } else if (op.kind == OpClass::reduce && shrinks && made.h * made.w == 1) {
      layer.type = BlockType::globalpool;
      layer.h = layer.kh = in.h;
      layer.w = layer.kw = in.w;
    } else if (op.kind == OpClass::norm) {
      layer.type = BlockType::norm;
      layer.ops_per_element = kNormOps;
    } else if (op.kind == OpClass::elementwise && from.size() > 1) {
      layer.type = BlockType::add;
    } else if (op.kind == OpClass::move && from.size() > 1) {
      layer.type = BlockType::concat;
    }
    if (op.kind == OpClass::move || op.kind == OpClass::gather || op.kind == OpClass::other)
      layer.ops_per_element = 0;
    return {put(layer, from)};
  }

  const opgraph::Job& job_;
  const std::int64_t images_;
  const double weight_width_;
  Net& net_;
  std::int32_t block_ = 0;
  std::vector<std::vector<std::int32_t>> inputs_, from_;
  std::vector<Shape> shapes_;
  std::set<std::string> skipped_;
  std::vector<std::string> warnings_;
};

}  // namespace

GraphNet net_of_graph(const opgraph::Job& job, std::int64_t images, opgraph::Precision weights) {
  GraphNet made;
  made.net.name = job.name;
  made.net.bits = {static_cast<int>(kBitsOfByte * opgraph::bytes_of(weights)),
                   static_cast<int>(kBitsOfByte * opgraph::bytes_of(job.facts.precision)),
                   kSumBits};
  made.net.parameters = job.facts.parameters;
  made.net.cache_bytes = job.facts.cache_bytes;
  if (images > 1 && !divides(job.graph, images)) images = 1;
  made.net.batch = static_cast<int>(images);
  LayerMaker maker(job, images, opgraph::bytes_of(weights), made.net);
  maker.make();
  made.warnings = maker.take_warnings();
  const bool computes = std::any_of(made.net.layers.begin(), made.net.layers.end(),
                                    [](const Primitive& layer) { return has_macs(layer.type); });
  if (!computes)
    throw Error(OMEN_INVALID_DATA, job.name + ": no operation multiplies",
                "Check that the model has convolutions or products with known shapes.");
  return made;
}

}  // namespace omen::power
