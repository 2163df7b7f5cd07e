// SPDX-License-Identifier: Apache-2.0
// Checked reading of JSON: what is taken, and what each complaint names.
#include "omen/json/json_part.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <omen/error.hpp>

namespace omen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const nlohmann::json& sample_document() {
  static const nlohmann::json document = parse_json(
      R"({"count": 3, "half": 0.5, "list": [1, 2], "many": [7, 8, 9], "on": true, "name": "n",
          "inner": {"deep": -1}})",
      "sample.json");
  return document;
}

JsonPart sample_part() {
  return {sample_document(),
          "sample.json",
          "See the manual.",
          {"count", "half", "list", "many", "on", "name", "inner"}};
}

// The message of what `act` throws; the hint is always the document's.
template <class Act>
std::string complaint(Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    EXPECT_EQ(error.hint(), "See the manual.");
    return error.what();
  }
  return "none";
}

TEST(JsonPart, GivesWhatStandsThere) {
  const JsonPart part = sample_part();
  EXPECT_EQ(part.count("count"), 3);
  EXPECT_DOUBLE_EQ(part.number("half", 0, 1), 0.5);
  EXPECT_THAT(part.numbers("many", 0, 10, 3), ElementsAre(7, 8, 9));
  EXPECT_THAT(part.pair("list", 0), Pair(1, 2));
  EXPECT_THAT(part.pair("count", 0), Pair(3, 3));
  EXPECT_TRUE(part.flag("on", false));
  EXPECT_EQ(part.text("name"), "n");
  EXPECT_DOUBLE_EQ(part.part("inner", {"deep"}).number("deep", -2, 0), -1);
}

TEST(JsonPart, TakesTheOtherValueOnlyWhereNothingStands) {
  const JsonPart part = sample_part();
  EXPECT_EQ(part.count("absent", 5), 5);
  EXPECT_DOUBLE_EQ(part.number("absent", 0, 1, 0.25), 0.25);
  EXPECT_THAT(part.pair("absent", 4), Pair(4, 4));
  EXPECT_EQ(part.text("absent", "other"), "other");
  EXPECT_EQ(complaint([&] { part.count("half", 5); }),
            "sample.json: half is 0.5; allowed are 1 to 1.67772e+07");
}

TEST(JsonPart, ComplaintsNameThePlaceAndTheBounds) {
  const JsonPart part = sample_part();
  EXPECT_EQ(complaint([&] { part.at("absent"); }), "sample.json: absent is missing");
  EXPECT_EQ(complaint([&] { part.count("count", 1, 1, 2); }),
            "sample.json: count is 3; allowed are 1 to 2");
  EXPECT_EQ(complaint([&] { part.count("half", 1, 0); }),
            "sample.json: half is not a whole number");
  EXPECT_EQ(complaint([&] { part.number("name", 0, 1); }), "sample.json: name is not a number");
  EXPECT_EQ(complaint([&] { part.numbers("many", 0, 10, 2); }),
            "sample.json: many is not a list of 1 to 2 numbers");
  EXPECT_EQ(complaint([&] { part.pair("many", 1); }),
            "sample.json: many is neither a number nor a list of two");
  EXPECT_EQ(complaint([&] { part.flag("count", false); }),
            "sample.json: count is neither true nor false");
  EXPECT_EQ(complaint([&] { part.text("count"); }), "sample.json: count is not a string");
  EXPECT_EQ(complaint([&] { part.part("inner", {"deep"}).number("deep", 0, 1); }),
            "sample.json: inner.deep is -1; allowed are 0 to 1");
  EXPECT_EQ(complaint([&] { part.part_at(sample_document()["list"], "lists[2]", {}); }),
            "sample.json: lists[2] is not an object");
}

TEST(JsonPart, KeysThatNobodyReadsAreRefused) {
  EXPECT_EQ(complaint([&] { sample_part().part("inner", {"deeper"}); }),
            "sample.json: inner.deep is not known; known are deeper");
}

TEST(JsonPart, BadSyntaxSaysWhere) {
  try {
    parse_json("{\n  \"a\": 1,,\n}", "bad.json");
    FAIL() << "took what is no JSON";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("bad.json: not valid JSON at line 2, column"));
  }
}

}  // namespace
}  // namespace omen
