// SPDX-License-Identifier: Apache-2.0
// Trees that somebody else made: each is refused or answers, and none reaches beyond its memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "omen/boosting/booster.hpp"
#include "omen/error.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

constexpr Index kTreeFeatures = 3;

Matrix tree_rows(Index rows) {
  Random random(5);
  Matrix x(rows, kTreeFeatures);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.uniform();
  return x;
}

std::string saved_trees(const Booster::Parameters& objective) {
  const Matrix x = tree_rows(60);
  Vector y(60);
  for (Index row = 0; row < 60; ++row) y[row] = row % 3;
  const BoosterData data(x, y);
  Booster::Parameters parameters{{"verbosity", "0"}, {"nthread", "1"}, {"tree_method", "hist"}};
  parameters.insert(parameters.end(), objective.begin(), objective.end());
  Booster booster({&data}, parameters);
  for (int round = 0; round < 4; ++round) booster.update(round, data);
  return booster.save();
}

std::string trees_of_one_number() {
  return saved_trees({{"objective", "reg:squarederror"}, {"base_score", "0"}});
}
std::string trees_of_classes() {
  return saved_trees({{"objective", "multi:softprob"}, {"base_score", "0.5"}, {"num_class", "3"}});
}

// Overwrites the element `index` of the first array of this name, highest byte first.
std::string with_element(std::string trees, const std::string& key, std::size_t index,
                         std::string bytes) {
  const std::size_t at = trees.find(key + "[$");
  EXPECT_NE(at, std::string::npos) << key;
  const std::size_t first = at + key.size() + 5 + 8;  // "[$d#L" and the length
  return trees.replace(first + index * bytes.size(), bytes.size(), bytes);
}
// The group of the first tree; this array has elements of any type, int8 here.
std::string with_group(std::string trees, char group) {
  const std::string key = "tree_info[#L";
  const std::size_t at = trees.find(key);
  EXPECT_NE(at, std::string::npos);
  return trees.replace(at + key.size() + 8, 2, {'i', group});
}
std::string big_endian(std::int32_t value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<std::uint32_t>(value) >> (24 - 8 * i));
  return bytes;
}

void answer(const std::string& trees, Index outputs) {
  Booster(trees, kTreeFeatures).predict(BoosterData(tree_rows(20)), 0, outputs);
}

TEST(TreeCheck, WhatXgboostSavesIsAccepted) {
  EXPECT_NO_THROW(answer(trees_of_one_number(), 1));
  EXPECT_NO_THROW(answer(trees_of_classes(), 3));
}

TEST(TreeCheck, CraftedTreesAreRefused) {
  const std::string trees = trees_of_one_number();
  const std::string nan = big_endian(0x7fc00000), infinite = big_endian(0x7f800000);
  const std::vector<std::string> crafted = {
      with_group(trees, 100),
      with_group(trees, -7),
      with_element(trees, "left_children", 0, big_endian(0)),
      with_element(trees, "left_children", 1, big_endian(0)),
      with_element(trees, "right_children", 0, big_endian(1 << 28)),
      with_element(trees, "right_children", 0, big_endian(-5)),
      with_element(trees, "parents", 1, big_endian(1)),
      with_element(trees, "split_conditions", 0, nan),
      with_element(trees, "base_weights", 0, infinite)};
  for (std::size_t i = 0; i < crafted.size(); ++i)
    EXPECT_THROW(answer(crafted[i], 1), Error) << "number " << i;
}

TEST(TreeCheck, ThreeHundredMutationsAreRefusedOrAnswer) {
  int refused = 0;
  const std::string number = trees_of_one_number(), label = trees_of_classes();
  for (int i = 0; i < 300; ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    const bool classes = i % 3 == 0;
    std::string trees = classes ? label : number;
    const auto place = [&](std::size_t room) {
      return static_cast<std::size_t>(random.uniform() * static_cast<double>(trees.size() - room));
    };
    const std::int32_t extremes[] = {-1, 0, 1, 1 << 30, -(1 << 30), 0x7fc00000, 0x7f800000};
    for (int changes = 1 + i % 4; changes > 0; --changes) {
      if (i % 5 == 0)
        trees[place(1)] ^= static_cast<char>(1 << (i % 8));
      else if (i % 5 == 1)
        trees.erase(place(9), 8);
      else
        trees.replace(place(4), 4,
                      big_endian(extremes[static_cast<std::size_t>(random.uniform() * 6.99)]));
    }
    try {
      answer(trees, classes ? 3 : 1);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace omen::learn
