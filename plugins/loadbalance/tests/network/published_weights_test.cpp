// SPDX-License-Identifier: Apache-2.0
// The published weights on all devmap rows, against what the original system answered.
#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>
#include <gmock/gmock.h>

#include <cmath>

#include "devmap_corpus.hpp"
#include "network/checkpoint.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

namespace track = omen::loadbalance::testing;

using ::testing::HasSubstr;
using ::testing::SizeIs;

Vocabulary programl_words() {
  return Vocabulary::read((*track::track_data() / "vocab" / "programl.csv").string());
}

track::fs::path raw_tensors(const char* task) {
  return track::unpacked(*track::track_data() / "checkpoints" /
                         (std::string("lb_") + task + "_tensors.tar.bz2"));
}

at::Tensor answers(const NetworkModel& model, const track::DevmapRows& rows) {
  return model.outputs(rows.kernels, [](double) {});
}

TEST(PublishedWeights, GiveTheSharesOfTheOriginalSystem) {
  if (!track::track_data()) GTEST_SKIP() << track::kNoData;
  const ConvertedCheckpoint converted =
      convert_checkpoint(read_checkpoint(raw_tensors("regr")), programl_words());
  EXPECT_EQ(converted.parameters, 364175);
  EXPECT_THAT(converted.unused, SizeIs(10));
  const track::DevmapRows rows = track::read_devmap(converted.model.words);
  ASSERT_THAT(rows.label, SizeIs(680));
  const at::Tensor shares = answers(converted.model, rows);
  double error = 0, largest = 0;
  for (std::size_t row = 0; row < rows.label.size(); ++row) {
    const double share = shares[static_cast<std::int64_t>(row)][0].item<double>();
    error += std::abs(share - rows.label[row]) / 680;
    largest = std::max(largest, std::abs(share - rows.share[row]));
  }
  EXPECT_NEAR(error, 5.4682, 0.0005);
  EXPECT_LT(largest, 1e-3);
}

TEST(PublishedWeights, GiveTheClassesOfTheOriginalSystem) {
  if (!track::track_data()) GTEST_SKIP() << track::kNoData;
  const ConvertedCheckpoint converted =
      convert_checkpoint(read_checkpoint(raw_tensors("disc")), programl_words());
  EXPECT_EQ(converted.parameters, 364435);
  const track::DevmapRows rows = track::read_devmap(converted.model.words);
  const at::Tensor best = answers(converted.model, rows).argmax(1);
  int right = 0;
  for (std::size_t row = 0; row < rows.label.size(); ++row) {
    const int answer = best[static_cast<std::int64_t>(row)].item<int>();
    EXPECT_EQ(answer, rows.predicted_class[row]) << "row " << row;
    right += answer == rows.label_class[row];
  }
  EXPECT_EQ(right, 645);
}

TEST(PublishedWeights, AreTheSameInTheFileOfTorch) {
  if (!track::track_data()) GTEST_SKIP() << track::kNoData;
  for (const char* task : {"regr", "disc"}) {
    const std::string file =
        (*track::track_data() / "checkpoints" / (std::string("lb_checkpoint_") + task + ".pt"))
            .string();
    const Vocabulary words = programl_words();
    const ConvertedCheckpoint zipped = convert_checkpoint(read_checkpoint(file), words);
    const ConvertedCheckpoint raw = convert_checkpoint(read_checkpoint(raw_tensors(task)), words);
    EXPECT_EQ(zipped.parameters, raw.parameters);
    const auto& a = zipped.model.network->state().entries();
    const auto& b = raw.model.network->state().entries();
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(a[i].tensor.equal(b[i].tensor)) << a[i].name;
  }
}

TEST(Checkpoints, ThatAreNoneAreRefused) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      read_checkpoint(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("/nowhere/at/all.pt"), HasSubstr("there is no checkpoint"));
  EXPECT_THAT(message(OMEN_TEST_SOURCE_DIR "/CMakeLists.txt"), HasSubstr("cannot be read"));
  EXPECT_THAT(message(OMEN_TEST_SOURCE_DIR), HasSubstr("has no manifest.txt"));
  EXPECT_THROW(convert_checkpoint({}, Vocabulary({}, Vocabulary::Lookup::kExact)), Error);
}

}  // namespace
}  // namespace omen::loadbalance
