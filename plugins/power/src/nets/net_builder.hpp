// SPDX-License-Identifier: Apache-2.0
// Puts primitive layers behind each other and checks that they fit; composites in terms of it.
#pragma once

#include <string>

#include "nets/net.hpp"

namespace omen::power {

// A place in the network: the layer that made a tensor (-1: the input) and the tensor's shape.
struct Place {
  std::int32_t layer = -1;
  Shape shape;
};

struct ConvShape {
  std::int64_t cout = 1, kh = 1, kw = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1, groups = 1;
  bool bias = false;
};
// A square window with the padding that keeps the size at stride 1.
ConvShape same_conv(std::int64_t cout, std::int64_t kernel, std::int64_t stride,
                    std::int64_t groups = 1);

class NetBuilder {
 public:
  explicit NetBuilder(Net& net) : net_(net) {}

  // What the following layers have in common.
  void begin_block(std::int32_t block, double share, double act_zero_frac);
  void set_expand(double expand) { expand_ = expand; }
  // Elements that stay alive beside the layers from here on.
  void hold(double elements) { held_ = elements; }

  Place conv(const Place& in, const ConvShape& shape);
  Place linear(const Place& in, std::int64_t cout, bool bias);
  // `rows` x `depth` times `depth` x `cols`, once for each head.
  Place product(const Place& left, const Place& right, std::int64_t rows, std::int64_t depth,
                std::int64_t cols, std::int64_t heads);
  Place pool(const Place& in, const ConvShape& window);
  Place global_pool(const Place& in);
  Place add(const Place& a, const Place& b);
  Place concat(const std::vector<Place>& parts);
  Place upsample(const Place& in, std::int64_t factor);
  Place elementwise(const Place& in, BlockType type, double ops_per_element);

  Place mbconv(const Place& in, std::int64_t cout, std::int64_t kernel, std::int64_t stride,
               double expand, double squeeze, bool skip);
  Place bottleneck(const Place& in, std::int64_t cout, std::int64_t mid, std::int64_t kernel,
                   std::int64_t stride);
  Place basic(const Place& in, std::int64_t cout, std::int64_t kernel, std::int64_t stride);
  Place shuffle(const Place& in, std::int64_t cout, std::int64_t kernel, std::int64_t stride);
  Place fire(const Place& in, std::int64_t cout, std::int64_t squeeze);
  // `context`: keys that are attended to, with those that a cache keeps.
  Place attention(const Place& in, std::int64_t heads, std::int64_t context, bool bias);
  Place ffn(const Place& in, std::int64_t hidden, bool gated, bool bias);

 private:
  Place put(Primitive layer, const std::vector<Place>& from);

  Net& net_;
  std::int32_t block_ = 0;
  double share_ = 1, zero_frac_ = 0, expand_ = 1, held_ = 0;
};

}  // namespace omen::power
