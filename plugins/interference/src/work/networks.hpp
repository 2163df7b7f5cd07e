// SPDX-License-Identifier: Apache-2.0
// The five cases of the study at CPU size, trained on data that is drawn from a seed.
#pragma once

#include "measure/load.hpp"

namespace omen::interference {

// classify: a frozen extractor of depthwise convolutions and a dense layer on top, 43 signs.
std::unique_ptr<Load> make_classification(int batch, std::uint64_t seed);
// segment: a U-Net whose encoder is frozen, three classes for each pixel.
std::unique_ptr<Load> make_segmentation(int batch, std::uint64_t seed);
// gan: two networks against each other on pictures of strokes.
std::unique_ptr<Load> make_gan(int batch, std::uint64_t seed);
// cartpole: a network that learns to balance a pole from its replay memory.
std::unique_ptr<Load> make_cartpole(int batch, std::uint64_t seed);
// bert: a small transformer, fine-tuned as a whole.
std::unique_ptr<Load> make_bert(int batch, std::uint64_t seed);

}  // namespace omen::interference
