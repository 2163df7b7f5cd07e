// SPDX-License-Identifier: Apache-2.0
// The small tools of the SDK for texts and numbers.
#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "omen/csv_line.hpp"
#include "omen/join.hpp"
#include "omen/json_text.hpp"
#include "omen/median.hpp"
#include "omen/reads.hpp"
#include "omen/scaled_number.hpp"

namespace omen {
namespace {

using testing::ElementsAre;
using Texts = std::vector<std::string>;

TEST(Join, PutsSeparatorsBetweenItems) {
  EXPECT_EQ(join(Texts{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join(Texts{"a"}), "a");
  EXPECT_EQ(join(Texts{}), "");
  EXPECT_EQ(join(Texts{"", "b"}, "|"), "|b") << "an empty text is an item too";
  EXPECT_EQ(join(std::array{"x", "y"}, ""), "xy");
  EXPECT_EQ(join(std::vector{1, 2}, "-", [](int n) { return std::to_string(n); }), "1-2");
  EXPECT_EQ(join_lines(Texts{"a", "b"}), "a\nb\n");
  EXPECT_EQ(join_lines(Texts{}), "");
}

TEST(Split, IsTheInverseOfJoin) {
  EXPECT_EQ(split("a,b,c", ','), (Texts{"a", "b", "c"}));
  EXPECT_EQ(split("", ','), Texts{""}) << "as the fields of an empty line";
  EXPECT_EQ(split(",b,", ','), (Texts{"", "b", ""}));
  EXPECT_EQ(join(split("x\x1fy z", '\x1f'), "\x1f"), "x\x1fy z");
}

TEST(CsvCells, QuotesHoldCommasAndDoubledQuotes) {
  EXPECT_THAT(csv_cells(""), ElementsAre(""));
  EXPECT_THAT(csv_cells("a,,b,\r\n"), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(csv_cells(R"("a, ""b""",c)"), ElementsAre(R"(a, "b")", "c"));
  EXPECT_THAT(csv_cells(R"(1,"open,2)"), ElementsAre("1", "open,2"));
}

TEST(Median, IsTheMiddleOrTheMeanOfBothMiddleOnes) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({1, std::numeric_limits<double>::infinity(), 2}), 2);
}

TEST(ScaledNumber, TakesSuffixesOfThousandsAndOf1024) {
  EXPECT_EQ(parse_scaled("64"), 64);
  EXPECT_EQ(parse_scaled("64k"), 64000);
  EXPECT_EQ(parse_scaled("64K"), 64000);
  EXPECT_EQ(parse_scaled("1.5M"), 1.5e6);
  EXPECT_EQ(parse_scaled("2G"), 2e9);
  EXPECT_EQ(parse_scaled("1Ki"), 1024);
  EXPECT_EQ(parse_scaled("1Mi"), 1048576);
  EXPECT_EQ(parse_scaled("2Gi"), 2147483648);
  EXPECT_EQ(parse_scaled("+5"), 5);
  EXPECT_EQ(parse_scaled("-1e3"), -1000);
}

TEST(ScaledNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "k", "1kB", "1T", "a1k", "1 k", "+-1", "1..2", "1e999", "nan"})
    EXPECT_EQ(parse_scaled(text), std::nullopt) << text;
}

TEST(ScaledNumber, BytesMayEndInB) {
  EXPECT_EQ(parse_bytes("2GB"), 2e9);
  EXPECT_EQ(parse_bytes("512B"), 512);
  EXPECT_EQ(parse_bytes("1MiB"), 1048576);
  EXPECT_EQ(parse_bytes("8k"), 8000);
  EXPECT_EQ(parse_bytes("B"), std::nullopt);
}

TEST(Reads, HaveTableColumnDialectAndOptional) {
  const ReadEntry column = parse_read("workloads.batch_size");
  EXPECT_EQ(column.table, "workloads");
  EXPECT_EQ(column.column, "batch_size");
  EXPECT_FALSE(column.optional || column.any_column());

  const ReadEntry graph = parse_read("nodes@org.lab.ops/1:optional");
  EXPECT_EQ(graph.table, "nodes");
  EXPECT_EQ(graph.column, "");
  EXPECT_EQ(graph.dialect, "org.lab.ops/1");
  EXPECT_TRUE(graph.optional && graph.any_column());

  const ReadEntry all = parse_read("workloads.*");
  EXPECT_EQ(all.column, "*");
  EXPECT_TRUE(all.any_column());
  EXPECT_EQ(parse_read("workloads.wgsize:optional").column, "wgsize");
  EXPECT_FALSE(parse_read("workloads.m:int64").optional) << "only that word makes it optional";
}

TEST(Reads, NameTables) {
  const Texts reads = {"nodes@ops/1", "edges:optional", "candidates.*"};
  EXPECT_TRUE(reads_table(reads, "nodes"));
  EXPECT_TRUE(reads_table(reads, "edges"));
  EXPECT_TRUE(reads_table(reads, "candidates"));
  EXPECT_FALSE(reads_table(reads, "candidate_costs"));
  EXPECT_FALSE(reads_table(Texts{}, "nodes"));
}

TEST(JsonText, ReadsBackAsTheSameText) {
  for (const std::string text : {"", "plain", "a \"quote\" \\ \n\r\t\x01\x1f end", "\u00fc \u20ac"})
    EXPECT_EQ(nlohmann::json::parse(json_quote(text)).get<std::string>(), text);
  EXPECT_EQ(json_quote("\x02"), "\"\\u0002\"");
}

TEST(JsonText, BytesThatAreNoTextStayWithinJson) {
  EXPECT_EQ(json_quote("a\xff\xfe"), "\"a\\ufffd\\ufffd\"");
  EXPECT_EQ(json_quote("\xe2\x82"), "\"\\ufffd\\ufffd\"");
}

TEST(JsonText, NumbersAreRoundedAndNeverNaN) {
  const auto rounded = [](double number, int digits) {
    std::string text;
    append_json_rounded(text, number, digits);
    return text;
  };
  EXPECT_EQ(rounded(0.1 + 0.2, 12), "0.3");
  EXPECT_EQ(rounded(1234567, 6), "1.23457e+06");
  EXPECT_EQ(rounded(-0.5, 6), "-0.5");
  EXPECT_EQ(rounded(std::numeric_limits<double>::quiet_NaN(), 6), "null");
  EXPECT_EQ(rounded(std::numeric_limits<double>::infinity(), 6), "null");
}

}  // namespace
}  // namespace omen
