// SPDX-License-Identifier: Apache-2.0
// Each family draws its sizes from what published networks of its kind have.
#include "corpus/net_sampler.hpp"

#include <algorithm>
#include <initializer_list>

#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

class Draw {
 public:
  explicit Draw(learn::Random& random) : random_(random) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + random_.below(values.size()));
  }
  bool chance(double share) { return random_.uniform() < share; }
  double real(double low, double high) { return low + (high - low) * random_.uniform(); }
  std::int64_t eights(double wanted) {
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted / 8 + 0.5) * 8);
  }

 private:
  learn::Random& random_;
};

// Numbers the blocks of a network while they are put.
class Blocks {
 public:
  explicit Blocks(Net& net) : build_(net) {}
  NetBuilder& next(double zero_frac = 0) {
    build_.begin_block(number_++, 1, zero_frac);
    return build_;
  }

 private:
  NetBuilder build_;
  std::int32_t number_ = 0;
};

Place classifier(Blocks& blocks, Place at, Draw& draw) {
  at = blocks.next().global_pool(at);
  return blocks.next().linear(at, draw.one_of<std::int64_t>({10, 100, 1000}), true);
}

void image(Net& net, Draw& draw) {
  const std::int64_t size = draw.one_of<std::int64_t>({64, 96, 128, 160, 192, 224});
  net.input = {3, size, size};
}

void build_mobile(Net& net, Draw& draw) {
  image(net, draw);
  Blocks blocks(net);
  const double width = draw.real(0.35, 1.4);
  Place at = blocks.next().conv({-1, net.input}, same_conv(draw.eights(32 * width), 3, 2));
  const double channels[] = {16, 24, 40, 80, 112, 192};
  for (int stage = 0; stage < 6; ++stage) {
    const std::int64_t cout = draw.eights(channels[stage] * width * draw.real(0.8, 1.25));
    const std::int64_t repeats = draw.between(1, stage == 0 ? 2 : 4);
    const double expand = stage == 0 ? 1 : draw.one_of({3.0, 4.0, 6.0});
    const std::int64_t kernel = draw.one_of<std::int64_t>({3, 5, 7});
    const double squeeze = draw.chance(0.3) ? 0.25 : 0;
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::int64_t stride = i == 0 && stage > 0 && stage != 4 ? 2 : 1;
      at = blocks.next(draw.chance(0.5) ? draw.real(0, 0.7) : 0)
               .mbconv(at, cout, kernel, at.shape.h > 4 ? stride : 1, expand, squeeze,
                       (stride == 1 || at.shape.h <= 4) && at.shape.c == cout);
    }
  }
  at = blocks.next().conv(at, same_conv(draw.eights(1280 * std::max(1.0, width)), 1, 1));
  classifier(blocks, at, draw);
}

void build_residual(Net& net, Draw& draw) {
  image(net, draw);
  Blocks blocks(net);
  const std::int64_t width = draw.eights(draw.real(16, 72));
  const bool deep = draw.chance(0.5);
  Place at = blocks.next().conv({-1, net.input}, same_conv(width, draw.chance(0.5) ? 7 : 3, 2));
  if (draw.chance(0.5)) {
    ConvShape window = same_conv(1, 3, 2);
    at = blocks.next().pool(at, window);
  }
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t wide = width << stage, repeats = draw.between(1, 4);
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::int64_t stride = i == 0 && stage > 0 && at.shape.h > 4 ? 2 : 1;
      NetBuilder& build = blocks.next(draw.real(0, 0.6));
      at =
          deep ? build.bottleneck(at, 4 * wide, wide, 3, stride) : build.basic(at, wide, 3, stride);
    }
  }
  classifier(blocks, at, draw);
}

void build_plain(Net& net, Draw& draw) {
  image(net, draw);
  Blocks blocks(net);
  const std::int64_t width = draw.eights(draw.real(16, 64));
  Place at{-1, net.input};
  const std::int64_t stages = draw.between(3, 5);
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t repeats = draw.between(1, 3), kernel = draw.one_of<std::int64_t>({3, 3, 5});
    for (std::int64_t i = 0; i < repeats; ++i)
      at = blocks.next(draw.real(0, 0.7))
               .conv(at, same_conv(width << std::min<std::int64_t>(stage, 3), kernel, 1));
    ConvShape window;
    window.kh = window.kw = window.stride_h = window.stride_w = 2;
    if (at.shape.h >= 2) at = blocks.next().pool(at, window);
  }
  at = blocks.next().global_pool(at);
  if (draw.chance(0.7)) at = blocks.next().linear(at, draw.eights(draw.real(128, 2048)), true);
  blocks.next().linear(at, draw.one_of<std::int64_t>({10, 100, 1000}), true);
}

void build_transformer(Net& net, Draw& draw) {
  const std::int64_t heads = draw.one_of<std::int64_t>({2, 4, 8}),
                     depth = draw.one_of<std::int64_t>({16, 32, 48, 64}),
                     tokens = draw.one_of<std::int64_t>({16, 32, 49, 64, 128, 196, 256});
  net.input = {heads * depth, tokens, 1};
  Blocks blocks(net);
  Place at{-1, net.input};
  const bool gated = draw.chance(0.3);
  const std::int64_t layers = draw.between(2, 8), hidden = heads * depth * draw.between(2, 4);
  // One token against a cache of keys is what answering word by word looks like.
  const bool decode = draw.chance(0.25);
  if (decode) at.shape.h = 1;
  net.input = at.shape;
  for (std::int64_t i = 0; i < layers; ++i) {
    const Place in = at;
    at = blocks.next().elementwise(at, BlockType::norm, 2);
    at = blocks.next().attention(at, heads, tokens, false);
    if (in.layer >= 0) at = blocks.next().add(at, in);
    const Place middle = at;
    at = blocks.next().ffn(at, hidden, gated, false);
    at = blocks.next().add(at, middle);
  }
}

void build_squeezed(Net& net, Draw& draw) {
  image(net, draw);
  Blocks blocks(net);
  Place at = blocks.next().conv({-1, net.input}, same_conv(draw.eights(draw.real(24, 64)), 3, 2));
  const bool shuffled = draw.chance(0.5);
  std::int64_t wide = draw.eights(draw.real(48, 128));
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t repeats = draw.between(1, 3);
    for (std::int64_t i = 0; i < repeats; ++i) {
      NetBuilder& build = blocks.next();
      at = shuffled
               ? build.shuffle(at, i == 0 ? wide : at.shape.c, 3, i == 0 && at.shape.h > 4 ? 2 : 1)
               : build.fire(at, wide, std::max<std::int64_t>(8, wide / 8));
    }
    ConvShape window = same_conv(1, 3, 2);
    if (!shuffled && at.shape.h > 4) at = blocks.next().pool(at, window);
    wide += wide / 2 / 8 * 8;
  }
  classifier(blocks, at, draw);
}

}  // namespace

Net sample_net(Family family, learn::Random& random) {
  Net net;
  Draw draw(random);
  switch (family) {
    case Family::mobile:
      build_mobile(net, draw);
      break;
    case Family::residual:
      build_residual(net, draw);
      break;
    case Family::plain:
      build_plain(net, draw);
      break;
    case Family::transformer:
      build_transformer(net, draw);
      break;
    case Family::squeezed:
      build_squeezed(net, draw);
      break;
  }
  return net;
}

}  // namespace omen::power
