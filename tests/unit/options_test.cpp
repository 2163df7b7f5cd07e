// SPDX-License-Identifier: Apache-2.0
// Options: types, suffixes, ranges, precedence, repetition, and the canonical text that is hashed.
#include "components/options.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "omen/testing/errors.hpp"

namespace omen::host {
namespace {

using test::error_of;
using test::IsError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OptionInfo option(const char* key, std::uint32_t type, const char* value, std::uint32_t flags = 0) {
  OptionInfo info;
  info.key = key;
  info.type = type;
  info.flags = flags;
  if (value) info.default_text = value;
  return info;
}

ComponentInfo gcn() {
  ComponentInfo info;
  info.kind = OMEN_PREDICTOR;
  info.id = "driple.gcn";
  info.options = {option("hidden_width", OMEN_OPT_INT, "64"),
                  option("lr", OMEN_OPT_REAL, "0.001"),
                  option("readout", OMEN_OPT_CHOICE, "mean"),
                  option("bias", OMEN_OPT_BOOL, "true"),
                  option("note", OMEN_OPT_STRING, ""),
                  option("jobs", OMEN_OPT_INT, "1", OMEN_OPTF_NO_EFFECT_ON_RESULT),
                  option("define", OMEN_OPT_STRING, nullptr, OMEN_OPTF_REPEATED)};
  info.options[0].min = 1;
  info.options[0].max = 4096;
  info.options[1].min = 0;
  info.options[2].choices = {"mean", "sum", "max"};
  return info;
}

using Flags = std::vector<std::pair<std::string, std::string>>;

OptionValues resolve(Flags flags, std::string config = {}) {
  return resolve_options(gcn(), {std::move(flags), std::move(config), true});
}

const omen_option& find(const OptionValues& values, std::string_view key) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values.data()[i].key == key) return values.data()[i];
  throw std::runtime_error("no option " + std::string(key));
}

std::int64_t hidden(const char* text) {
  return find(resolve({{"hidden_width", text}}), "hidden_width").i;
}
double rate(const char* text) {
  return find(resolve({{"lr", text}}), "lr").r;
}

TEST(Options, DefaultsAreCompleteAndTyped) {
  const OptionValues values = resolve({});
  EXPECT_EQ(values.size(), 6u) << "a repeated option arrives as often as it was given";
  EXPECT_EQ(find(values, "hidden_width").i, 64);
  EXPECT_EQ(find(values, "lr").r, 0.001);
  EXPECT_STREQ(find(values, "readout").s, "mean");
  EXPECT_EQ(find(values, "bias").i, 1);
  EXPECT_STREQ(find(values, "note").s, "");
}

TEST(Options, NumbersTakeSuffixes) {
  EXPECT_EQ(hidden("2k"), 2000);
  EXPECT_EQ(hidden("2Ki"), 2048);
  EXPECT_EQ(hidden("+7"), 7);
  EXPECT_EQ(hidden("1e3"), 1000);
  EXPECT_EQ(hidden("1.5k"), 1500);
  EXPECT_EQ(rate("3M"), 3e6);
  EXPECT_EQ(rate("2G"), 2e9);
  EXPECT_EQ(rate("1Mi"), 1048576);
  EXPECT_EQ(rate("1e-4"), 1e-4);
  EXPECT_EQ(rate("0.5Gi"), 536870912);
}

TEST(Options, BadNumbersAreRefused) {
  for (const char* text : {"", "x", "12x", "1.5", "k", "1m", "0x10", "1 2", "99999999999999999999",
                           "nan", "9223372036854775807k"})
    EXPECT_THAT(error_of([&] { hidden(text); }),
                IsError(OMEN_INVALID_ARGUMENT, HasSubstr("expected a whole number")))
        << text;
  for (const char* text : {"", "nan", "inf", "1e999", "--1", "1,5"})
    EXPECT_THAT(error_of([&] { rate(text); }),
                IsError(OMEN_INVALID_ARGUMENT, HasSubstr("expected a number")))
        << text;
}

TEST(Options, RangesAreInclusiveAndNamed) {
  EXPECT_EQ(hidden("1"), 1);
  EXPECT_EQ(hidden("4096"), 4096);
  EXPECT_THAT(
      error_of([] { hidden("0"); }),
      IsError(OMEN_INVALID_ARGUMENT, "option 'hidden_width' of driple.gcn is 0; allowed 1..4096"));
  EXPECT_THAT(error_of([] { hidden("5k"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("is 5k; allowed 1..4096")));
  EXPECT_THAT(error_of([] { rate("-1"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("allowed 0..")));
}

TEST(Options, ChoicesAndBools) {
  EXPECT_STREQ(find(resolve({{"readout", "sum"}}), "readout").s, "sum");
  EXPECT_THAT(error_of([] {
                resolve({{"readout", "maen"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("is maen; allowed mean, sum, max"),
                      "Did you mean 'mean'?"));
  for (const char* yes : {"true", "1", "YES", "on"})
    EXPECT_EQ(find(resolve({{"bias", yes}}), "bias").i, 1) << yes;
  for (const char* no : {"false", "0", "No", "off"})
    EXPECT_EQ(find(resolve({{"bias", no}}), "bias").i, 0) << no;
  EXPECT_THAT(error_of([] {
                resolve({{"bias", "maybe"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("true or false")));
}

TEST(Options, KeysMayHaveDashesAndScopes) {
  for (const char* key : {"hidden-width", "hidden_width", "driple.gcn.hidden-width",
                          "driple.hidden_width", "gcn.hidden_width"})
    EXPECT_EQ(find(resolve({{key, "9"}}), "hidden_width").i, 9) << key;
  EXPECT_THAT(error_of([] {
                resolve({{"power.hidden_width", "9"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("not one of driple.gcn"),
                      HasSubstr("driple.gcn.hidden_width")));
  EXPECT_THAT(error_of([] {
                resolve({{"hiden_width", "9"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, "driple.gcn has no option 'hiden_width'",
                      AllOf(HasSubstr("'hidden_width'"), HasSubstr("omen info driple.gcn"))));
}

TEST(Options, RepetitionOnlyWhereTheSpecSaysSo) {
  const OptionValues values = resolve({{"define", "a"}, {"define", "b=1"}, {"define", "a"}});
  std::vector<std::string> defines;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::string_view(values.data()[i].key) == "define")
      defines.emplace_back(values.data()[i].s);
  EXPECT_THAT(defines, ElementsAre("a", "b=1", "a"));
  EXPECT_THAT(error_of([] {
                resolve({{"lr", "1"}, {"driple.lr", "2"}});
              }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("was given 2 times"), "Give it once."));
}

class Precedence : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("OMEN_OPT_LR");
    ::unsetenv("OMEN_OPT_DRIPLE_GCN_LR");
  }
  static constexpr const char* kConfig =
      R"({"lr": 0.2, "driple.gcn": {"note": "mine"}, "other.thing": {"anything": 1}})";
};

TEST_F(Precedence, FlagThenEnvironmentThenFileThenDefault) {
  EXPECT_EQ(find(resolve({}), "lr").r, 0.001);
  EXPECT_EQ(find(resolve({}, kConfig), "lr").r, 0.2);
  EXPECT_STREQ(find(resolve({}, kConfig), "note").s, "mine");
  ::setenv("OMEN_OPT_LR", "0.3", 1);
  EXPECT_EQ(find(resolve({}, kConfig), "lr").r, 0.3);
  ::setenv("OMEN_OPT_DRIPLE_GCN_LR", "0.4", 1);
  EXPECT_EQ(find(resolve({}, kConfig), "lr").r, 0.4);
  EXPECT_EQ(find(resolve({{"lr", "0.5"}}, kConfig), "lr").r, 0.5);
  EXPECT_EQ(find(resolve_options(gcn(), {{}, "", false}), "lr").r, 0.001)
      << "the environment can be left out";
}

TEST_F(Precedence, ComponentSectionWinsOverTheTopOfTheFile) {
  EXPECT_EQ(find(resolve({}, R"({"lr": 0.2, "driple.gcn": {"lr": 0.6}})"), "lr").r, 0.6);
}

TEST_F(Precedence, ABadFileIsNamed) {
  EXPECT_THAT(error_of([] { resolve({}, "[1]"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("not a JSON object")));
  EXPECT_THAT(error_of([] { resolve({}, "{nope"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("not a JSON object")));
  EXPECT_THAT(
      error_of([] { resolve({}, R"({"lrr": 1})"); }),
      IsError(OMEN_INVALID_ARGUMENT, HasSubstr("(in the configuration file)"), HasSubstr("'lr'")));
  EXPECT_THAT(error_of([] { resolve({}, R"({"lr": null})"); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("neither text")));
}

TEST_F(Precedence, FileValuesMayBeNumbersBoolsAndLists) {
  const OptionValues values =
      resolve({}, R"({"hidden_width": 5, "bias": false, "define": ["x", "y"]})");
  EXPECT_EQ(find(values, "hidden_width").i, 5);
  EXPECT_EQ(find(values, "bias").i, 0);
  EXPECT_EQ(values.size(), 8u);
}

TEST(Options, RequiredOptionsMustBeGiven) {
  ComponentInfo info = gcn();
  info.options.push_back(option("data", OMEN_OPT_PATH, nullptr, OMEN_OPTF_REQUIRED));
  EXPECT_THAT(error_of([&] { resolve_options(info, {}); }),
              IsError(OMEN_INVALID_ARGUMENT, "option 'data' of driple.gcn is required",
                      HasSubstr("--data")));
}

TEST(Options, CanonicalTextIsSortedTypedAndWithoutSideOptions) {
  EXPECT_EQ(
      resolve({{"jobs", "8"}, {"hidden_width", "1k"}, {"define", "z"}}).canonical_json(),
      R"({"bias":true,"define":["z"],"hidden_width":1000,"lr":0.001,"note":"","readout":"mean"})");
  EXPECT_EQ(resolve({{"hidden_width", "1000"}}).hash(), resolve({{"hidden_width", "1k"}}).hash());
  EXPECT_EQ(resolve({{"jobs", "8"}}).hash(), resolve({}).hash());
  EXPECT_NE(resolve({{"lr", "0.002"}}).hash(), resolve({}).hash());
  EXPECT_NO_THROW(resolve({{"note", "\xff\xfe"}}).hash());
}

TEST(Options, ValuesSurviveMoving) {
  OptionValues first = resolve({{"note", "a long text that does not fit into a small string"}});
  const OptionValues second = std::move(first);
  EXPECT_STREQ(find(second, "note").s, "a long text that does not fit into a small string");
}

TEST(Options, RangesAreDescribed) {
  const ComponentInfo info = gcn();
  EXPECT_EQ(describe_range(info.options[0]), "1..4096");
  EXPECT_EQ(describe_range(info.options[1]), "0..");
  EXPECT_EQ(describe_range(info.options[2]), "mean|sum|max");
  EXPECT_EQ(describe_range(info.options[4]), "");
}

}  // namespace
}  // namespace omen::host
