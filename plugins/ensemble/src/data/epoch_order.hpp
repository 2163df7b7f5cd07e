// SPDX-License-Identifier: Apache-2.0
// Which samples train and validate, and in which order each epoch visits them.
#pragma once

#include <cstdint>
#include <vector>

namespace omen::ensemble {

// A part of the samples, chosen by the seed alone, is held out for validation.
struct SampleSplit {
  std::vector<std::int64_t> train, valid;
};
SampleSplit split_samples(std::int64_t samples, double valid_share, std::uint64_t seed);

// The training samples in the order of one epoch: Fisher-Yates by seed and epoch.
std::vector<std::int64_t> epoch_order(const std::vector<std::int64_t>& train, std::uint64_t seed,
                                      std::int64_t epoch);

}  // namespace omen::ensemble
