// SPDX-License-Identifier: Apache-2.0
// MobileNet v1 to v3 (arXiv:1704.04861, arXiv:1801.04381, arXiv:1905.02244) and EfficientNet-lite
// (arXiv:1905.11946 without gates), at any width and resolution.
#include <algorithm>
#include <cmath>

#include "nets/mobile_names.hpp"
#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

constexpr std::int64_t kClasses = 1000;

// Channels are rounded to multiples of eight, and never by more than a tenth downwards.
std::int64_t channels(double wanted) {
  const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + 8 : rounded;
}

// Blocks are counted as they begin.
class MobileBuilder {
 public:
  explicit MobileBuilder(Net& net) : build_(net), at_{-1, net.input} {}

  void conv(std::int64_t cout, std::int64_t kernel, std::int64_t stride) {
    next();
    at_ = build_.conv(at_, same_conv(cout, kernel, stride));
  }
  void separable(std::int64_t cout, std::int64_t stride) {
    next();
    at_ = build_.conv(at_, same_conv(at_.shape.c, 3, stride, at_.shape.c));
    at_ = build_.conv(at_, same_conv(cout, 1, 1));
  }
  // `wide`: channels in the middle; `squeezed`: of its gate, 0 for none.
  void inverted(std::int64_t cout, std::int64_t kernel, std::int64_t stride, std::int64_t wide,
                std::int64_t squeezed) {
    next();
    const auto in = static_cast<double>(at_.shape.c);
    at_ = build_.mbconv(at_, cout, kernel, stride, static_cast<double>(wide) / in,
                        static_cast<double>(squeezed) / in, stride == 1 && at_.shape.c == cout);
  }
  void pool() {
    next();
    at_ = build_.global_pool(at_);
  }
  void linear(std::int64_t cout) {
    next();
    at_ = build_.linear(at_, cout, true);
  }
  std::int64_t channels_now() const { return at_.shape.c; }

 private:
  void next() { build_.begin_block(block_++, 1, 0); }

  NetBuilder build_;
  Place at_;
  std::int32_t block_ = 0;
};

void build_v1(MobileBuilder& build, double width) {
  struct Stage {
    std::int64_t cout, stride, repeats;
  };
  constexpr Stage kStages[] = {{64, 1, 1},  {128, 2, 1}, {128, 1, 1},  {256, 2, 1}, {256, 1, 1},
                               {512, 2, 1}, {512, 1, 5}, {1024, 2, 1}, {1024, 1, 1}};
  const auto scaled = [&](std::int64_t wide) {
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(static_cast<double>(wide) * width));
  };
  build.conv(scaled(32), 3, 2);
  for (const Stage& stage : kStages)
    for (std::int64_t i = 0; i < stage.repeats; ++i)
      build.separable(scaled(stage.cout), stage.stride);
  build.pool();
  build.linear(kClasses);
}

struct InvertedStage {
  std::int64_t expand, kernel, cout, repeats, stride;
};

void build_stage(MobileBuilder& build, const InvertedStage& stage, double width,
                 std::int64_t repeats) {
  for (std::int64_t i = 0; i < repeats; ++i)
    build.inverted(channels(static_cast<double>(stage.cout) * width), stage.kernel,
                   i == 0 ? stage.stride : 1, stage.expand * build.channels_now(), 0);
}

void build_v2(MobileBuilder& build, double width) {
  constexpr InvertedStage kStages[] = {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2}, {6, 3, 32, 3, 2},
                                       {6, 3, 64, 4, 2}, {6, 3, 96, 3, 1}, {6, 3, 160, 3, 2},
                                       {6, 3, 320, 1, 1}};
  build.conv(channels(32 * width), 3, 2);
  for (const InvertedStage& stage : kStages) build_stage(build, stage, width, stage.repeats);
  build.conv(std::max<std::int64_t>(1280, channels(1280 * width)), 1, 1);
  build.pool();
  build.linear(kClasses);
}

void build_v3(MobileBuilder& build, double width, bool large, bool minimal) {
  struct Row {
    std::int64_t kernel, wide, cout;
    bool gated;
    std::int64_t stride;
  };
  static constexpr Row kLarge[] = {
      {3, 16, 16, false, 1},  {3, 64, 24, false, 2},  {3, 72, 24, false, 1},
      {5, 72, 40, true, 2},   {5, 120, 40, true, 1},  {5, 120, 40, true, 1},
      {3, 240, 80, false, 2}, {3, 200, 80, false, 1}, {3, 184, 80, false, 1},
      {3, 184, 80, false, 1}, {3, 480, 112, true, 1}, {3, 672, 112, true, 1},
      {5, 672, 160, true, 2}, {5, 960, 160, true, 1}, {5, 960, 160, true, 1}};
  static constexpr Row kSmall[] = {
      {3, 16, 16, true, 2},  {3, 72, 24, false, 2}, {3, 88, 24, false, 1}, {5, 96, 40, true, 2},
      {5, 240, 40, true, 1}, {5, 240, 40, true, 1}, {5, 120, 48, true, 1}, {5, 144, 48, true, 1},
      {5, 288, 96, true, 2}, {5, 576, 96, true, 1}, {5, 576, 96, true, 1}};
  const auto scaled = [&](std::int64_t wide) {
    return channels(static_cast<double>(wide) * width);
  };
  build.conv(16, 3, 2);
  const auto put = [&](const Row& row) {
    const std::int64_t wide = scaled(row.wide);
    const bool gated = row.gated && !minimal;
    build.inverted(scaled(row.cout), minimal ? 3 : row.kernel, row.stride, wide,
                   gated ? channels(static_cast<double>(wide) / 4) : 0);
  };
  if (large)
    std::for_each(std::begin(kLarge), std::end(kLarge), put);
  else
    std::for_each(std::begin(kSmall), std::end(kSmall), put);
  build.conv(scaled(large ? 960 : 576), 1, 1);
  build.pool();
  build.linear(large ? 1280 : 1024);
  build.linear(kClasses);
}

void build_lite(MobileBuilder& build, std::size_t size) {
  constexpr double kWidth[] = {1, 1, 1.1, 1.2, 1.4}, kDepth[] = {1, 1.1, 1.2, 1.4, 1.8};
  constexpr InvertedStage kStages[] = {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2},  {6, 5, 40, 2, 2},
                                       {6, 3, 80, 3, 2}, {6, 5, 112, 3, 1}, {6, 5, 192, 4, 2},
                                       {6, 3, 320, 1, 1}};
  build.conv(32, 3, 2);
  // The first and the last stage keep their depth.
  for (const InvertedStage& stage : kStages) {
    const bool deepens = stage.repeats > 1;
    const double deep = deepens ? std::ceil(static_cast<double>(stage.repeats) * kDepth[size]) : 1;
    build_stage(build, stage, kWidth[size], static_cast<std::int64_t>(deep));
  }
  build.conv(1280, 1, 1);
  build.pool();
  build.linear(kClasses);
}

}  // namespace

Net mobile_layers(const MobileName& name) {
  Net net;
  net.input = {3, name.pixels, name.pixels};
  net.bits = name.whole ? Bits{8, 8, 32} : Bits{32, 32, 32};
  MobileBuilder build(net);
  const std::string& family = name.family;
  if (family == "v1")
    build_v1(build, name.width);
  else if (family == "v2")
    build_v2(build, name.width);
  else if (family.compare(0, 2, "v3") == 0)
    build_v3(build, name.width, family.find("large") != family.npos,
             family.find("min") != family.npos);
  else
    build_lite(build, static_cast<std::size_t>(family.back() - '0'));
  return net;
}

}  // namespace omen::power
