// SPDX-License-Identifier: Apache-2.0
// One walk over samples: an epoch of training, or the validation after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace omen::ensemble {

struct Pass {
  std::int64_t epoch = 0;
  bool training = true;
  std::int64_t block = 1;  // samples of a block
  std::vector<std::int64_t> samples;

  std::int64_t blocks() const {
    return (static_cast<std::int64_t>(samples.size()) + block - 1) / block;
  }
  std::span<const std::int64_t> block_samples(std::int64_t index) const {
    const auto size = static_cast<std::int64_t>(samples.size());
    const std::int64_t from = std::min(size, index * block), to = std::min(size, from + block);
    return {samples.data() + from, static_cast<std::size_t>(to - from)};
  }
};

// Which blocks of a pass one preprocessor makes: first, first + stride, ... below the end.
struct Share {
  std::int64_t first = 0, stride = 1, end = 0;
};

}  // namespace omen::ensemble
