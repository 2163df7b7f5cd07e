// SPDX-License-Identifier: Apache-2.0
// Composite blocks in terms of primitive layers; the one place that knows what they are made of.
#include <algorithm>
#include <cmath>
#include <omen/error.hpp>

#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

constexpr double kSoftmaxOps = 5;

[[noreturn]] void refuse_block(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, what, "See \"Networks\" in plugins/power/README.md.");
}

}  // namespace

Place NetBuilder::mbconv(const Place& in, std::int64_t cout, std::int64_t kernel,
                         std::int64_t stride, double expand, double squeeze, bool skip) {
  if (skip && (stride != 1 || in.shape.c != cout))
    refuse_block("a skip needs stride 1 and as many channels out as in, not stride " +
                 std::to_string(stride) + " and " + std::to_string(in.shape.c) + " to " +
                 std::to_string(cout));
  set_expand(expand);
  if (skip) hold(in.shape.elements());
  const auto wide =
      static_cast<std::int64_t>(std::llround(expand * static_cast<double>(in.shape.c)));
  Place at = in;
  if (expand > 1) at = conv(at, same_conv(wide, 1, 1));
  at = conv(at, same_conv(wide, kernel, stride, wide));
  if (squeeze > 0) {
    const std::int64_t narrow =
        std::max<std::int64_t>(1, std::llround(squeeze * static_cast<double>(in.shape.c)));
    const Place pooled = global_pool(at);
    const Place gate = linear(linear(pooled, narrow, true), wide, true);
    at = elementwise(at, BlockType::act, 1);
    net_.edges.emplace_back(gate.layer, at.layer);
  }
  at = conv(at, same_conv(cout, 1, 1));
  return skip ? add(at, in) : at;
}

Place NetBuilder::bottleneck(const Place& in, std::int64_t cout, std::int64_t mid,
                             std::int64_t kernel, std::int64_t stride) {
  hold(in.shape.elements());
  Place at = conv(in, same_conv(mid, 1, 1));
  at = conv(at, same_conv(mid, kernel, stride));
  at = conv(at, same_conv(cout, 1, 1));
  const bool same = stride == 1 && in.shape.c == cout;
  return add(at, same ? in : conv(in, same_conv(cout, 1, stride)));
}

Place NetBuilder::basic(const Place& in, std::int64_t cout, std::int64_t kernel,
                        std::int64_t stride) {
  hold(in.shape.elements());
  Place at = conv(in, same_conv(cout, kernel, stride));
  at = conv(at, same_conv(cout, kernel, 1));
  const bool same = stride == 1 && in.shape.c == cout;
  return add(at, same ? in : conv(in, same_conv(cout, 1, stride)));
}

Place NetBuilder::shuffle(const Place& in, std::int64_t cout, std::int64_t kernel,
                          std::int64_t stride) {
  if (cout % 2 != 0 || in.shape.c % 2 != 0)
    refuse_block("a shuffle block halves its channels, and " + std::to_string(in.shape.c) + " to " +
                 std::to_string(cout) + " cannot be halved");
  const std::int64_t half = cout / 2;
  Place left = in, right = in;
  if (stride == 1) {
    left.shape.c = right.shape.c = in.shape.c / 2;
  } else {
    left = conv(in, same_conv(in.shape.c, kernel, stride, in.shape.c));
    left = conv(left, same_conv(half, 1, 1));
  }
  right = conv(right, same_conv(half, 1, 1));
  right = conv(right, same_conv(half, kernel, stride, half));
  right = conv(right, same_conv(half, 1, 1));
  return concat({left, right});
}

Place NetBuilder::fire(const Place& in, std::int64_t cout, std::int64_t squeeze) {
  const Place narrow = conv(in, same_conv(squeeze, 1, 1));
  const Place ones = conv(narrow, same_conv(cout / 2, 1, 1));
  const Place threes = conv(narrow, same_conv(cout - cout / 2, 3, 1));
  return concat({ones, threes});
}

Place NetBuilder::attention(const Place& in, std::int64_t heads, std::int64_t context, bool bias) {
  const std::int64_t width = in.shape.c, tokens = in.shape.h * in.shape.w;
  if (width % heads != 0)
    refuse_block("an attention of width " + std::to_string(width) + " cannot have " +
                 std::to_string(heads) + " heads");
  if (context < tokens)
    refuse_block("an attention to " + std::to_string(context) + " keys cannot have " +
                 std::to_string(tokens) + " tokens");
  hold(in.shape.elements());
  const Place query = linear(in, width, bias), key = linear(in, width, bias),
              value = linear(in, width, bias);
  const std::int64_t depth = width / heads;
  const Place scores = product(query, key, tokens, depth, context, heads);
  const Place weights = elementwise(scores, BlockType::act, kSoftmaxOps);
  const Place mixed = product(weights, value, tokens, context, depth, heads);
  return linear(mixed, width, bias);
}

Place NetBuilder::ffn(const Place& in, std::int64_t hidden, bool gated, bool bias) {
  hold(in.shape.elements());
  Place at = linear(in, hidden, bias);
  if (gated) {
    const Place gate = linear(in, hidden, bias);
    at = elementwise(at, BlockType::act, 2);
    net_.edges.emplace_back(gate.layer, at.layer);
  } else {
    at = elementwise(at, BlockType::act, 1);
  }
  return linear(at, in.shape.c, bias);
}

}  // namespace omen::power
