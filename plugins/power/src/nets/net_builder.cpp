// SPDX-License-Identifier: Apache-2.0
// Primitive layers in their order.
#include "nets/net_builder.hpp"

#include <algorithm>
#include <omen/error.hpp>

namespace omen::power {
namespace {

constexpr std::size_t kMostLayers = 100000;

std::string shape_text(const Shape& shape) {
  return std::to_string(shape.c) + " x " + std::to_string(shape.h) + " x " +
         std::to_string(shape.w);
}

[[noreturn]] void refuse_layer(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, what, "See \"Networks\" in plugins/power/README.md.");
}

}  // namespace

ConvShape same_conv(std::int64_t cout, std::int64_t kernel, std::int64_t stride,
                    std::int64_t groups) {
  ConvShape made;
  made.cout = cout;
  made.kh = made.kw = kernel;
  made.stride_h = made.stride_w = stride;
  made.pad_h = made.pad_w = (kernel - 1) / 2;
  made.groups = groups;
  return made;
}

void NetBuilder::begin_block(std::int32_t block, double share, double act_zero_frac) {
  block_ = block;
  share_ = share;
  zero_frac_ = act_zero_frac;
  expand_ = 1;
  held_ = 0;
}

Place NetBuilder::put(Primitive layer, const std::vector<Place>& from) {
  if (net_.layers.size() == kMostLayers)
    refuse_layer("a network has more than " + std::to_string(kMostLayers) + " layers");
  layer.block = block_;
  layer.share = share_;
  layer.act_zero_frac = zero_frac_;
  layer.expand = expand_;
  layer.held_elements = held_;
  const auto id = static_cast<std::int32_t>(net_.layers.size());
  for (const Place& place : from)
    if (place.layer >= 0) net_.edges.emplace_back(place.layer, id);
  net_.layers.push_back(layer);
  return {id, layer.out()};
}

Place NetBuilder::conv(const Place& in, const ConvShape& shape) {
  if (in.shape.c % shape.groups != 0 || shape.cout % shape.groups != 0)
    refuse_layer("a convolution of " + std::to_string(in.shape.c) + " to " +
                 std::to_string(shape.cout) + " channels cannot have " +
                 std::to_string(shape.groups) + " groups");
  Primitive layer;
  layer.type = shape.groups > 1 && shape.groups == in.shape.c ? BlockType::dwconv : BlockType::conv;
  layer.cin = in.shape.c;
  layer.h = in.shape.h;
  layer.w = in.shape.w;
  layer.cout = shape.cout;
  layer.kh = shape.kh;
  layer.kw = shape.kw;
  layer.stride_h = shape.stride_h;
  layer.stride_w = shape.stride_w;
  layer.pad_h = shape.pad_h;
  layer.pad_w = shape.pad_w;
  layer.dilation_h = shape.dilation_h;
  layer.dilation_w = shape.dilation_w;
  layer.groups = shape.groups;
  layer.bias = shape.bias;
  layer.ho = slid(layer.h, layer.kh, layer.stride_h, layer.pad_h, layer.dilation_h);
  layer.wo = slid(layer.w, layer.kw, layer.stride_w, layer.pad_w, layer.dilation_w);
  if (layer.ho < 1 || layer.wo < 1)
    refuse_layer("a window of " + std::to_string(layer.kh) + " x " + std::to_string(layer.kw) +
                 " does not fit into " + shape_text(in.shape));
  return put(layer, {in});
}

Place NetBuilder::linear(const Place& in, std::int64_t cout, bool bias) {
  Primitive layer;
  layer.type = BlockType::linear;
  layer.cin = in.shape.c;
  layer.h = layer.ho = in.shape.h * in.shape.w;
  layer.cout = cout;
  layer.bias = bias;
  return put(layer, {in});
}

Place NetBuilder::product(const Place& left, const Place& right, std::int64_t rows,
                          std::int64_t depth, std::int64_t cols, std::int64_t heads) {
  Primitive layer;
  layer.type = BlockType::matmul;
  layer.cin = heads * depth;
  layer.cout = heads * cols;
  layer.groups = heads;
  layer.h = layer.ho = rows;
  return put(layer, {left, right});
}

Place NetBuilder::pool(const Place& in, const ConvShape& window) {
  Primitive layer;
  layer.type = BlockType::pool;
  layer.cin = layer.cout = in.shape.c;
  layer.h = in.shape.h;
  layer.w = in.shape.w;
  layer.kh = window.kh;
  layer.kw = window.kw;
  layer.stride_h = window.stride_h;
  layer.stride_w = window.stride_w;
  layer.pad_h = window.pad_h;
  layer.pad_w = window.pad_w;
  layer.ho = slid(layer.h, layer.kh, layer.stride_h, layer.pad_h, 1);
  layer.wo = slid(layer.w, layer.kw, layer.stride_w, layer.pad_w, 1);
  if (layer.ho < 1 || layer.wo < 1)
    refuse_layer("a pool of " + std::to_string(layer.kh) + " x " + std::to_string(layer.kw) +
                 " does not fit into " + shape_text(in.shape));
  return put(layer, {in});
}

Place NetBuilder::global_pool(const Place& in) {
  Primitive layer;
  layer.type = BlockType::globalpool;
  layer.cin = layer.cout = in.shape.c;
  layer.h = layer.kh = in.shape.h;
  layer.w = layer.kw = in.shape.w;
  return put(layer, {in});
}

Place NetBuilder::elementwise(const Place& in, BlockType type, double ops_per_element) {
  Primitive layer;
  layer.type = type;
  layer.cin = layer.cout = in.shape.c;
  layer.h = layer.ho = in.shape.h;
  layer.w = layer.wo = in.shape.w;
  layer.ops_per_element = ops_per_element;
  return put(layer, {in});
}

Place NetBuilder::add(const Place& a, const Place& b) {
  if (!(a.shape == b.shape))
    refuse_layer("tensors of " + shape_text(a.shape) + " and " + shape_text(b.shape) +
                 " cannot be added");
  Place made = elementwise(a, BlockType::add, 1);
  if (b.layer >= 0) net_.edges.emplace_back(b.layer, made.layer);
  return made;
}

Place NetBuilder::concat(const std::vector<Place>& parts) {
  Shape shape = parts.front().shape;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].shape.h != shape.h || parts[i].shape.w != shape.w)
      refuse_layer("tensors of " + shape_text(parts[0].shape) + " and " +
                   shape_text(parts[i].shape) + " cannot be joined");
    shape.c += parts[i].shape.c;
  }
  Primitive layer;
  layer.type = BlockType::concat;
  layer.cin = layer.cout = shape.c;
  layer.h = layer.ho = shape.h;
  layer.w = layer.wo = shape.w;
  layer.ops_per_element = 0;
  return put(layer, parts);
}

Place NetBuilder::upsample(const Place& in, std::int64_t factor) {
  Primitive layer;
  layer.type = BlockType::upsample;
  layer.cin = layer.cout = in.shape.c;
  layer.h = in.shape.h;
  layer.w = in.shape.w;
  layer.ho = layer.h * factor;
  layer.wo = layer.w * factor;
  return put(layer, {in});
}

}  // namespace omen::power
