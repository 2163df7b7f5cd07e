// SPDX-License-Identifier: Apache-2.0
// Text for people: widths, clipping, numbers, tables on narrow terminals, and errors.
#include "text/render.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "omen/table.hpp"

namespace omen::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("\u00e9t\u00e9"), 3);
  EXPECT_EQ(display_width("\u6f22\u5b57"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width(""), 0);
}

TEST(DisplayWidth, SurvivesTextThatIsNotUtf8) {
  EXPECT_EQ(display_width("\xff\xfe"), 2);
  EXPECT_GT(display_width("\xe2\x82"), 0);
}

TEST(Clip, KeepsWhatFits) {
  EXPECT_EQ(clip("matmul", 6), "matmul");
}

TEST(Clip, EndsInAnEllipsisAndNeverSplitsACharacter) {
  EXPECT_EQ(clip("matmul", 4), "mat\u2026");
  const std::string wide = clip("\u6f22\u5b57\u6f22\u5b57", 4);
  EXPECT_LE(display_width(wide), 4);
  EXPECT_THAT(wide, EndsWith("\u2026"));
  EXPECT_EQ(clip("abc", 1), "\u2026");
  EXPECT_EQ(clip("abc", 0), "");
}

TEST(Wrap, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrap("one two three", 12, 4), "one two\n    three");
  EXPECT_EQ(wrap("unbreakable", 5, 2), "unbreakable");
}

TEST(FormatNumber, KeepsFourDigitsAndTheWholePart) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(12.3456), "12.35");
  EXPECT_EQ(format_number(0.0123456), "0.01235");
  EXPECT_EQ(format_number(1234567.4), "1234567");
  EXPECT_EQ(format_number(-2.5), "-2.5");
  EXPECT_EQ(format_number(1.2e-7), "1.2e-07");
  EXPECT_EQ(format_number(std::nan("")), "-");
  EXPECT_EQ(format_number(INFINITY), "inf");
}

TEST(FormatDuration, UsesUnitsThatPeopleRead) {
  EXPECT_EQ(format_duration(0.0123), "12 ms");
  EXPECT_EQ(format_duration(2.34), "2.3 s");
  EXPECT_EQ(format_duration(65), "1 min 05 s");
  EXPECT_EQ(format_duration(3 * 3600 + 120), "3 h 02 min");
}

TEST(FormatBytes, UsesPowersOfThousand) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1.5e6), "1.5 MB");
  EXPECT_EQ(format_bytes(250e9), "250 GB");
}

TextTable sample_rendering() {
  TextTable table({{"workload", false, true}, {"time_ms", true}, {"status"}});
  table.add({"a very long name of a workload that goes on", "1.5", "ok"});
  table.add({"b", "12.25", "extrapolating"});
  return table;
}

TEST(TextTableText, AlignsColumnsWithoutTrailingBlanks) {
  const auto rows = lines(sample_rendering().text(Terminal{}));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], StartsWith("workload "));
  EXPECT_EQ(rows[1].find("1.5") + 3, rows[2].find("12.25") + 5) << "numbers end in one column";
  for (const std::string& row : rows) EXPECT_THAT(row, Not(EndsWith(" ")));
}

TEST(TextTableText, ClipsOnlyOnATerminal) {
  const Terminal narrow{true, false, 40};
  for (const std::string& row : lines(sample_rendering().text(narrow)))
    EXPECT_LE(display_width(row), 40);
  EXPECT_THAT(sample_rendering().text(narrow), HasSubstr("\u2026"));
  EXPECT_THAT(sample_rendering().text(Terminal{false, false, 40}), HasSubstr("that goes on"));
}

TEST(TextTableText, NeverShrinksNumbers) {
  EXPECT_THAT(sample_rendering().text(Terminal{true, false, 20}), HasSubstr("12.25"));
}

TEST(TextTableText, PlainHasRowsOnly) {
  const std::string plain = sample_rendering().text(Terminal{true, true, 40}, false);
  EXPECT_THAT(plain, Not(HasSubstr("time_ms")));
  EXPECT_THAT(plain, HasSubstr("that goes on"));
}

TEST(TextTableText, ColoursOnlyWhereAsked) {
  TextTable table({{"a"}});
  table.add({{"x", Style::kBad}});
  EXPECT_THAT(table.text(Terminal{true, true, 80}), HasSubstr("\033[31m"));
  EXPECT_THAT(table.text(Terminal{true, false, 80}), Not(HasSubstr("\033")));
}

Table numbers() {
  TableBuilder builder;
  builder.add("t", std::vector<double>{1.5, 2.5, 3.5}, {{"omen.unit", "ms"}})
      .valid({true, false, true});
  builder.add("n", std::vector<std::int64_t>{1, 1234567890123, 3});
  builder.add_bools("fits", {true, false, true}).add_categories("op", {"add", "mul", "add"});
  builder.add_list("shape", 2, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  return builder.finish();
}

TEST(TableText, ShowsUnitsNullsAndLists) {
  const auto rows = lines(table_text(numbers(), Terminal{}));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_THAT(rows[0], HasSubstr("t [ms]"));
  EXPECT_THAT(rows[1], HasSubstr("yes"));
  EXPECT_THAT(rows[1], EndsWith("1 2"));
  EXPECT_THAT(rows[2], HasSubstr("1234567890123"));
  EXPECT_THAT(rows[2], HasSubstr(" -"));
}

TEST(TableText, SaysHowManyRowsAreLeftOnATerminalOnly) {
  const Table table = numbers();
  EXPECT_THAT(table_text(table, Terminal{true, false, 80}, true, 2), HasSubstr("1 more rows"));
  EXPECT_EQ(lines(table_text(table, Terminal{}, true, 2)).size(), 4u);
}

TEST(ErrorText, PutsEveryLineBehindTheFirstUnderIt) {
  const Error error(OMEN_NOT_FOUND, "plugin 'x' not found\nlooked in: a, b", "did you mean 'y'?");
  EXPECT_EQ(error_text(error, false),
            "error: plugin 'x' not found\n  looked in: a, b\n  did you mean 'y'?\n");
}

TEST(ErrorText, KeepsWhatACompilerPutsUnderALine) {
  const Error error(OMEN_INVALID_DATA,
                    "k.cl does not compile\nk.cl:1:5: error: no\n  x = 1\n    ^");
  EXPECT_EQ(error_text(error, false),
            "error: k.cl does not compile\n  k.cl:1:5: error: no\n    x = 1\n      ^\n");
  const Error listed(OMEN_NOT_FOUND, "nothing found\n  looked in: a\n  and in: b");
  EXPECT_EQ(error_text(listed, false), "error: nothing found\n  looked in: a\n  and in: b\n");
}

TEST(ErrorText, NamesAHintThatDoesNotNameItself) {
  EXPECT_EQ(error_text(Error(OMEN_IO, "no file", "check the path"), false),
            "error: no file\n  hint: check the path\n");
  EXPECT_EQ(error_text(Error(OMEN_IO, "no file"), false), "error: no file\n");
}

}  // namespace
}  // namespace omen::host
