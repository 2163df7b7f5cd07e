// SPDX-License-Identifier: Apache-2.0
// Sums and the key of a network.
#include "nets/net.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace omen::power {
namespace {

// FNV-1a over whole numbers, so that the key does not depend on how a file was written.
class KeyHash {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ ^= (value >> (8 * byte)) & 0xff;
      state_ *= 0x100000001b3ULL;
    }
  }
  void add(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

NetTotals totals_of(const Net& net) {
  NetTotals totals;
  double bytes = 0;
  for (const Primitive& layer : net.layers) {
    const Amounts amounts = amounts_of(layer);
    totals.macs += layer.share * amounts.macs;
    totals.ops += layer.share * amounts.ops;
    totals.weights += layer.share * amounts.weights;
    totals.activations += layer.share * amounts.outputs;
    totals.peak_live =
        std::max(totals.peak_live, amounts.inputs + amounts.outputs + layer.held_elements);
    bytes +=
        (amounts.weights * net.bits.weight + (amounts.inputs + amounts.outputs) * net.bits.act) / 8;
  }
  totals.intensity = bytes > 0 ? totals.macs / bytes : 0;
  return totals;
}

std::string net_key(const Net& net) {
  KeyHash hash;
  for (const int bits : {net.bits.weight, net.bits.act, net.bits.psum})
    hash.add(static_cast<std::uint64_t>(bits));
  for (const Primitive& layer : net.layers) {
    hash.add(static_cast<std::uint64_t>(layer.type));
    for (const std::int64_t value :
         {layer.cin, layer.cout, layer.h, layer.w, layer.kh, layer.kw, layer.stride_h,
          layer.stride_w, layer.pad_h, layer.pad_w, layer.dilation_h, layer.dilation_w,
          layer.groups, layer.ho, layer.wo, static_cast<std::int64_t>(layer.bias)})
      hash.add(static_cast<std::uint64_t>(value));
    hash.add(layer.act_zero_frac);
    hash.add(layer.share);
  }
  for (const auto& [from, to] : net.edges) {
    hash.add(static_cast<std::uint64_t>(from));
    hash.add(static_cast<std::uint64_t>(to));
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash.state()));
  return text;
}

}  // namespace omen::power
