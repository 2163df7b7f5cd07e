// SPDX-License-Identifier: Apache-2.0
// From a decoded image to the numbers that a network reads: crops, sizes, flips and colours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/counter_random.hpp"
#include "data/image.hpp"

namespace omen::ensemble {

enum class Recipe {
  kInception,  // random box, any aspect, flip, brightness, saturation, hue and contrast; [-1, 1]
  kFast,       // the same with bilinear sizes, brightness and saturation only
  kCifar,      // pad 4, crop, flip, brightness, contrast; zero mean, unit deviation
  kLenet,      // centre, (v - 128) / 128
};
const char* recipe_name(Recipe recipe);
std::optional<Recipe> parse_recipe(std::string_view text);
std::vector<std::string> recipe_names();

// Writes channels x side x side floats. Everything random comes from `random`; without it, as for
// validation, the image is cut in the centre and nothing is drawn. Images of another number of
// channels are turned grey or repeated.
void apply_recipe(Recipe recipe, const Image& image, int channels, int side,
                  std::optional<CounterRandom> random, float* out);

}  // namespace omen::ensemble
