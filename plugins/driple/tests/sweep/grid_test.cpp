// SPDX-License-Identifier: Apache-2.0
// Grids as text and files, and commands with places.
#include "sweep/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::driple {
namespace {

using test::error_of;
using test::IsError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(GridTest, TheLastDimensionChangesFastest) {
  const Grid grid = Grid::parse("model=vgg11,lenet batch=8,16,32");
  ASSERT_EQ(grid.size(), 6U);
  EXPECT_THAT(grid.point(1), ElementsAre(Pair("model", "vgg11"), Pair("batch", "16")));
  EXPECT_THAT(grid.point(3), ElementsAre(Pair("model", "lenet"), Pair("batch", "8")));
  EXPECT_EQ(point_name(grid.point(5)), "lenet_32");
}

TEST(GridTest, ReadsFilesWithComments) {
  const test::TempDir dir;
  const std::string path = (dir.path() / "grid.txt").string();
  std::ofstream(path) << "# jobs\nmodel=vgg11,lenet\noptimizer=sgd  # one\n";
  EXPECT_EQ(Grid::parse(path).size(), 2U);
}

TEST(GridTest, NamesWhatIsWrong) {
  EXPECT_THAT(error_of([] { Grid::parse("model"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("'model'"), HasSubstr("NAME=VALUE")));
  EXPECT_THAT(error_of([] { Grid::parse("a=1 a=2"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("twice"), ::testing::_));
  EXPECT_THAT(error_of([] { Grid::parse(" "); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("empty"), ::testing::_));
}

TEST(GridTest, AMillionPointsAreTheLimit) {
  std::string values = "1";
  for (int i = 2; i <= 200; ++i) values += "," + std::to_string(i);
  EXPECT_THAT(error_of([&] { Grid::parse("a=" + values + " b=" + values + " c=" + values); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("million"), ::testing::_));
}

TEST(GridTest, FileNamesHoldNoSlashes) {
  EXPECT_EQ(point_name({{"model", "org/net v1"}, {"batch", "8"}}), "org-net-v1_8");
}

TEST(FilledInTest, ReplacesPlacesAndKeepsOtherBraces) {
  EXPECT_THAT(filled_in({"train", "--net={model}", "{batch}{batch}", "{\"a\": 1}", "{"},
                        {{"model", "vgg11"}, {"batch", "8"}}),
              ElementsAre("train", "--net=vgg11", "88", "{\"a\": 1}", "{"));
  EXPECT_THAT(error_of([] { filled_in({"{epochs}"}, {}); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("{epochs}"), HasSubstr("epochs=VALUE")));
}

}  // namespace
}  // namespace omen::driple
