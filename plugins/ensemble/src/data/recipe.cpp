// SPDX-License-Identifier: Apache-2.0
// The training recipes of the published pipelines, on planes of floats.
#include "data/recipe.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/colours.hpp"
#include "data/resize.hpp"

namespace omen::ensemble {
namespace {

struct RecipeEntry {
  Recipe recipe;
  const char* name;
};
constexpr RecipeEntry kRecipeTable[] = {{Recipe::kInception, "inception"},
                                        {Recipe::kFast, "fast"},
                                        {Recipe::kCifar, "cifar"},
                                        {Recipe::kLenet, "lenet"}};

constexpr int kCropTries = 100;

// Area 5-100 % of the image at an aspect of 3:4 to 4:3; the whole image where none fits.
Box random_box(const Image& image, CounterRandom& random) {
  const double area = static_cast<double>(image.width) * image.height;
  for (int attempt = 0; attempt < kCropTries; ++attempt) {
    const double wanted = area * random.uniform(0.05, 1), aspect = random.uniform(0.75, 4.0 / 3);
    const int width = static_cast<int>(std::lround(std::sqrt(wanted * aspect)));
    const int height = static_cast<int>(std::lround(std::sqrt(wanted / aspect)));
    if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
    const auto left =
        static_cast<int>(random.below(static_cast<std::uint64_t>(image.width - width + 1)));
    const auto top =
        static_cast<int>(random.below(static_cast<std::uint64_t>(image.height - height + 1)));
    return {left, top, width, height};
  }
  return {0, 0, image.width, image.height};
}

// The largest square in the middle.
Box centre_box(const Image& image) {
  const int side = std::min(image.width, image.height);
  return {(image.width - side) / 2, (image.height - side) / 2, side, side};
}

// Sizes that differ from the wanted one go through a resize; equal ones keep their pixels.
Planes centre_planes(const Image& image, int side) {
  if (image.width == side && image.height == side) return planes_of(image, {0, 0, side, side});
  return resize(image, centre_box(image), side, Resampling::kBilinear);
}

void inception(const Image& image, int side, CounterRandom* random, bool fast, Planes& planes) {
  if (!random) {
    planes = centre_planes(image, side);
    planes.scale(1.0f / 255);
  } else {
    const Box box = random_box(image, *random);
    const auto method = fast ? Resampling::kBilinear : static_cast<Resampling>(random->below(4));
    planes = resize(image, box, side, method);
    planes.scale(1.0f / 255);
    if (random->below(2)) planes.flip();
    distort_colours(planes, *random, fast);
    planes.clamp(0, 1);
  }
  for (float& value : planes.values) value = value * 2 - 1;
}

void cifar(const Image& image, int side, CounterRandom* random, Planes& planes) {
  planes = centre_planes(image, side);
  if (random) {
    const int across = static_cast<int>(random->below(9)) - 4;
    planes.shift(across, static_cast<int>(random->below(9)) - 4);
    if (random->below(2)) planes.flip();
    planes.add(static_cast<float>(random->uniform(-63, 63)));
    planes.contrast(static_cast<float>(random->uniform(0.2, 1.8)));
  }
  planes.standardise();
}

}  // namespace

const char* recipe_name(Recipe recipe) {
  for (const RecipeEntry& entry : kRecipeTable)
    if (entry.recipe == recipe) return entry.name;
  return "";
}
std::optional<Recipe> parse_recipe(std::string_view text) {
  for (const RecipeEntry& entry : kRecipeTable)
    if (text == entry.name) return entry.recipe;
  return {};
}
std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const RecipeEntry& entry : kRecipeTable) names.emplace_back(entry.name);
  return names;
}

void apply_recipe(Recipe recipe, const Image& image, int channels, int side,
                  std::optional<CounterRandom> random, float* out) {
  CounterRandom* draws = random ? &*random : nullptr;
  Planes planes;
  switch (recipe) {
    case Recipe::kInception:
    case Recipe::kFast:
      inception(image, side, draws, recipe == Recipe::kFast, planes);
      break;
    case Recipe::kCifar:
      cifar(image, side, draws, planes);
      break;
    case Recipe::kLenet:
      planes = centre_planes(image, side);
      for (float& value : planes.values) value = (value - 128) / 128;
      break;
  }
  planes.copy_channels(channels, out);
}

}  // namespace omen::ensemble
