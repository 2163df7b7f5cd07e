// SPDX-License-Identifier: Apache-2.0
// One primitive layer of a network, and the amounts that follow from its shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omen::power {

enum class BlockType : std::uint8_t {
  conv,
  dwconv,
  linear,
  matmul,
  pool,
  globalpool,
  add,
  concat,
  upsample,
  norm,
  act,
  mbconv,  // from here on composites, which are expanded to the types above
  bottleneck,
  basic,
  shuffle,
  fire,
  attention,
  ffn,
};

const char* type_name(BlockType type);
std::optional<BlockType> parse_type(std::string_view name);
constexpr bool is_composite(BlockType type) {
  return type >= BlockType::mbconv;
}
// Multiplies and accumulates; everything else runs on the way in or out of the array.
constexpr bool has_macs(BlockType type) {
  return type <= BlockType::matmul;
}

struct Shape {
  std::int64_t c = 1, h = 1, w = 1;
  bool operator==(const Shape&) const = default;
  double elements() const {
    return static_cast<double>(c) * static_cast<double>(h) * static_cast<double>(w);
  }
};

// Tokens of a linear layer and rows of a product stand in `h`; the heads of a product are groups,
// so that its inputs are `cin` = heads x depth wide and its outputs `cout` = heads x columns.
struct Primitive {
  BlockType type = BlockType::conv;
  std::int64_t cin = 1, cout = 1, h = 1, w = 1;
  std::int64_t kh = 1, kw = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1, groups = 1;
  std::int64_t ho = 1, wo = 1;
  bool bias = false;
  double expand = 1;         // of the composite that it comes from
  double act_zero_frac = 0;  // part of its inputs that is zero
  double ops_per_element = 1;
  double share = 1;          // probability of a choice that a search has not made yet
  double held_elements = 0;  // of skips that stay alive while it runs
  std::int32_t block = 0;    // which block of the description it comes from

  Shape in() const { return {cin, h, w}; }
  Shape out() const { return {cout, ho, wo}; }
};

// Amounts for one image; a batch multiplies all but the weights.
struct Amounts {
  double macs = 0, ops = 0, weights = 0;
  double inputs = 0, outputs = 0;  // elements; both operands of a product
  double second = 0;               // elements of the second operand of a product
  double m = 0, k = 0, n = 0;      // the product of one group
  double flops() const { return 2 * macs + ops; }
};

Amounts amounts_of(const Primitive& layer);

// Output length of a window that slides over `size` elements.
std::int64_t slid(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                  std::int64_t dilation);

}  // namespace omen::power
