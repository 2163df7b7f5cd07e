// SPDX-License-Identifier: Apache-2.0
// CSV and JSON readers and writers: types, places of errors, round trips.
#include "tables/table_io.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "omen/container.hpp"
#include "omen/join.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Read = TableStream (*)(std::istream&, const std::string&, const ReadOptions&);

Table read(Read reader, const std::string& text, const ReadOptions& options = {}) {
  std::istringstream in(text);
  return reader(in, "f", options).read_all();
}
Table csv(const std::string& text, const ReadOptions& options = {}) {
  return read(stream_csv, text, options);
}
Table jsonl(const std::string& text, const ReadOptions& options = {}) {
  return read(stream_json_lines, text, options);
}

std::string error(Read reader, const std::string& text, const ReadOptions& options = {}) {
  try {
    read(reader, text, options);
  } catch (const Error& error) {
    EXPECT_NE(error.hint(), "") << error.what();
    return error.what();
  }
  return "no error";
}
std::string csv_error(const std::string& text, const ReadOptions& options = {}) {
  return error(stream_csv, text, options);
}
std::string jsonl_error(const std::string& text, const ReadOptions& options = {}) {
  return error(stream_json_lines, text, options);
}

std::string schema(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns(); ++c)
    out += (c ? " " : "") + std::string(table.name(c)) + ":" + type_name(table.type(c));
  return out;
}

std::vector<std::string> texts(const Table& table, const std::string& column) {
  std::vector<std::string> all;
  const StringColumn view = table.strings(column);
  for (std::int64_t i = 0; i < view.size(); ++i)
    all.emplace_back(view.is_null(i) ? "<null>" : std::string(view[i]));
  return all;
}

std::vector<std::string> lines_of(int count, const std::string& line) {
  return std::vector<std::string>(count, line);
}

// --------------------------------------------------------------------------------------- CSV: fine

TEST(Csv, SettlesTypesByValues) {
  const Table table = csv("i,f,b,t,n\n1,1.5,true,x,\n-2,2,FALSE,7,\n");
  EXPECT_EQ(schema(table), "i:int64 f:float64 b:bool t:dictionary n:float64");
  EXPECT_THAT(table.numbers("i"), ElementsAre(1, -2));
  EXPECT_THAT(table.numbers("f"), ElementsAre(1.5, 2));
  EXPECT_TRUE(table.boolean(2, 0));
  EXPECT_FALSE(table.boolean(2, 1));
  EXPECT_THAT(texts(table, "t"), ElementsAre("x", "7"));
  EXPECT_TRUE(table.is_null(4, 0));
}

TEST(Csv, AcceptsByteOrderMarkCrlfQuotedNewlinesAndBlankLines) {
  const Table table =
      csv("\xef\xbb\xbf"
          "a,\"b\"\"q\"\r\n\"x\r\ny\",1\r\n\r\n\"say \"\"hi\"\"\",2\r\n\r\n");
  EXPECT_EQ(schema(table), "a:dictionary b\"q:int64");
  EXPECT_THAT(texts(table, "a"), ElementsAre("x\r\ny", "say \"hi\""));
  EXPECT_THAT(table.numbers("b\"q"), ElementsAre(1, 2));
}

TEST(Csv, LastLineNeedsNoNewline) {
  EXPECT_THAT(csv("a,b\n1,2").numbers("b"), ElementsAre(2));
  EXPECT_THAT(csv("a\n\"1\"").numbers("a"), ElementsAre(1));
  EXPECT_TRUE(csv("a,b\n1,").is_null(1, 0));
}

TEST(Csv, TellsNullsFromEmptyTexts) {
  const Table table = csv("t,x\n,1\n\"\",\nz, \n");
  EXPECT_THAT(texts(table, "t"), ElementsAre("<null>", "", "z"));
  EXPECT_TRUE(table.is_null(1, 1));
  EXPECT_TRUE(table.is_null(1, 2)) << "blanks are no number";
}

TEST(Csv, NumbersInManyFormsAreExact) {
  const Table table = csv("x\n+1.5\n 2e3 \nnan\n-inf\nInfinity\n1e-400\n0.1\n");
  const std::vector<double> x = table.numbers("x");
  EXPECT_EQ(x[0], 1.5);
  EXPECT_EQ(x[1], 2000);
  EXPECT_TRUE(std::isnan(x[2]));
  EXPECT_FALSE(table.is_null(0, 2)) << "nan is a value";
  EXPECT_EQ(x[3], -INFINITY);
  EXPECT_EQ(x[4], INFINITY);
  EXPECT_EQ(x[5], 0);
  EXPECT_EQ(x[6], 0.1);
  EXPECT_EQ(schema(csv("x\n9223372036854775807\n")), "x:int64");
  EXPECT_EQ(schema(csv("x\n9223372036854775808\n")), "x:float64");
  for (const char* text : {"nan(1)", "0x10", "1_000", "--1", "+-1", "1e", "."})
    EXPECT_EQ(schema(csv("x\n" + std::string(text) + "\n")), "x:dictionary") << text;
}

TEST(Csv, HeaderOnlyMakesAnEmptyTable) {
  const Table table = csv("a,b\n");
  EXPECT_EQ(table.rows(), 0);
  EXPECT_EQ(table.columns(), 2u);
}

TEST(Csv, ColumnsCanBeForced) {
  ReadOptions options;
  options.text_columns = {"id"};
  options.number_columns = {"x"};
  const Table table = csv("id,x\n007,1\n", options);
  EXPECT_EQ(schema(table), "id:dictionary x:float64");
  EXPECT_THAT(texts(table, "id"), ElementsAre("007"));
  EXPECT_THAT(csv_error("id,x\n1,abc\n", options), StartsWith("f:2:3: 'abc' is not a number"));
  options.text_columns = {"missing"};
  EXPECT_THAT(csv_error("id,x\n1,2\n", options), HasSubstr("'f' has no column 'missing'"));
}

TEST(Csv, DelimiterCanBeATab) {
  ReadOptions options;
  options.delimiter = '\t';
  EXPECT_THAT(texts(csv("a\tb\nx,y\t1\n", options), "a"), ElementsAre("x,y"));
}

// ------------------------------------------------------------------------------------ CSV: refused

TEST(Csv, RowsCanTellTheirLine) {
  ReadOptions options;
  options.line_column = "line";
  EXPECT_THAT(csv("a,b\n1,x\n\n2,\"y\nz\"\n3,w\n", options).numbers("line"), ElementsAre(2, 4, 6));
  EXPECT_THAT(jsonl("{\"a\": 1}\n\n{\"a\": 2}\n", options).numbers("line"), ElementsAre(1, 3));
  const test::TempDir dir;
  std::ofstream(dir.path() / "rows.json") << "[\n {\"a\": 1},\n\n {\"a\":\n 2}, {\"a\": 3}]";
  EXPECT_THAT(read_table(dir.path() / "rows.json", {}, options).numbers("line"),
              ElementsAre(2, 4, 5));
}

TEST(Csv, AColumnWithoutANameCanBeGivenOne) {
  ReadOptions options;
  options.unnamed_column = "row";
  EXPECT_EQ(schema(csv(",a\n0,1\n", options)), "row:int64 a:int64");
  EXPECT_THAT(csv_error("row,,a\n0,1,2\n", options), HasSubstr("both named 'row'"));
}

TEST(Csv, ErrorsNameTheirPlace) {
  EXPECT_THAT(csv_error(""), StartsWith("f:1:1: file is empty"));
  EXPECT_THAT(csv_error("\n\n"), StartsWith("f:1:1: file is empty"));
  EXPECT_THAT(csv_error("a,b,a\n"), StartsWith("f:1:5: columns 1 and 3 are both named 'a'"));
  EXPECT_THAT(csv_error("a,,c\n"), StartsWith("f:1:3: column 2 has no name"));
  EXPECT_THAT(csv_error("a,b\n1,2\n3\n"), StartsWith("f:3:1: row has 1 fields, the header has 2"));
  EXPECT_THAT(csv_error("a,b\n1,2,3\n"), StartsWith("f:2:1: row has 3 fields, the header has 2"));
  EXPECT_THAT(csv_error("a,b\n1,\"x\n\ny\n"),
              StartsWith("f:2:3: the quote that opens here is never closed"));
  EXPECT_THAT(csv_error("a,b\n1,x\"y\n"), StartsWith("f:2:4: a quote stands inside"));
  EXPECT_THAT(csv_error("a,b\n\"x\"y,1\n"), StartsWith("f:2:4: text follows a closing quote"));
  EXPECT_THAT(csv_error("a,b\n1\r2,3\n"), StartsWith("f:2:2: a carriage return stands alone"));
  EXPECT_THAT(csv_error(std::string("a,b\n1,\0\n", 8)),
              StartsWith("f:2:3: the file holds a NUL byte"));
  EXPECT_THAT(csv_error(std::string("a\n\"x\0y\"\n", 9)),
              StartsWith("f:2:3: the file holds a NUL byte"));
  EXPECT_THAT(csv_error("\xff\xfe"
                        "a\0"),
              StartsWith("f:1:1: file is UTF-16"));
  EXPECT_THAT(csv_error("a\ncaf\xe9\n"), StartsWith("f:2:1: field is not UTF-8"));
  EXPECT_THAT(csv_error("caf\xe9\n"), StartsWith("f:1:1: field is not UTF-8"));
  EXPECT_THAT(csv_error("x\n1e400\n"), StartsWith("f:2:1: '1e400' is too large"));
}

TEST(Csv, PlacesCountNewlinesInsideQuotes) {
  EXPECT_THAT(csv_error("a,b\n\"1\n2\n3\",\"x\n\n"), StartsWith("f:4:4: the quote"));
  EXPECT_THAT(csv_error("a,b\n\"1\n2\",x\n3\n"), StartsWith("f:4:1: row has 1 fields"));
}

TEST(Csv, ATypingErrorDoesNotTurnNumbersIntoText) {
  std::vector<std::string> lines = lines_of(30, "1,2.5");
  lines[0] = "a,b";
  lines[17] = "1,2.5.1";
  EXPECT_THAT(csv_error(join_lines(lines)),
              StartsWith("f:18:3: '2.5.1' is not a number; 28 of 29 values of column 'b' are"));
  for (int i = 0; i < 15; ++i) lines[i + 1] = "1,v" + std::to_string(i);
  EXPECT_EQ(schema(csv(join_lines(lines))), "a:int64 b:dictionary") << "half text is text";
}

TEST(Csv, LaterBatchesMustFitTheFirst) {
  ReadOptions options;
  options.batch_rows = 2;
  EXPECT_THAT(csv_error("a\n1\n2\n3.5\n", options),
              StartsWith("f:4:1: '3.5' is not a 64-bit integer, as column 'a'"));
  EXPECT_THAT(csv_error("a\n1.5\n2\nx\n", options),
              StartsWith("f:4:1: 'x' is not a number, as column 'a'"));
  EXPECT_THAT(csv_error("a\ntrue\nfalse\n1\n", options),
              StartsWith("f:4:1: '1' is not true or false"));
  EXPECT_THAT(texts(csv("a\nx\ny\n3\n", options), "a"), ElementsAre("x", "y", "3"));
  options.batch_rows = 3;
  EXPECT_EQ(schema(csv("a\n1\n2\n3.5\n", options)), "a:float64");
}

TEST(Csv, ShowsLongAndUnprintableValuesShort) {
  ReadOptions options;
  options.number_columns = {"a"};
  const std::string message = csv_error("a\n\"" + std::string(100, 'x') + "\"\n", options);
  EXPECT_THAT(message, HasSubstr("'" + std::string(40, 'x') + "...'"));
  EXPECT_THAT(csv_error("a\n\"x\ny\"\n", options), HasSubstr("'x?y'"));
}

// --------------------------------------------------------------------------------------- streaming

TEST(Csv, RecordsAcrossBufferEdgesAreWhole) {
  std::string text = "a,b\n";
  std::vector<std::string> wanted;
  for (int i = 0; i < 20000; ++i) {
    std::string value(static_cast<std::size_t>(i % 97), static_cast<char>('a' + i % 26));
    text += "\"" + value + "\"\"\n\"," + std::to_string(i) + "\r\n";
    wanted.push_back(value + "\"\n");
  }
  ReadOptions options;
  options.batch_rows = 777;
  const Table table = csv(text, options);
  EXPECT_EQ(texts(table, "a"), wanted);
  EXPECT_EQ(table.column<std::int64_t>("b")[19999], 19999);
}

// -------------------------------------------------------------------------------------- JSON lines

TEST(JsonLines, SettlesTypesAndFillsNulls) {
  const Table table = jsonl(
      "{\"i\":1,\"f\":1,\"b\":true,\"t\":\"x\",\"l\":[1,2],\"m\":[1,2.5]}\r\n\n"
      "{\"f\":2.5,\"i\":null,\"m\":[NaN,-Infinity],\"late\":\"y\"}\n");
  EXPECT_EQ(schema(table),
            "i:int64 f:float64 b:bool t:dictionary l:int32 list m:float32 list late:dictionary");
  EXPECT_EQ(table.column<std::int64_t>("i")[0], 1);
  EXPECT_TRUE(table.is_null(0, 1));
  EXPECT_THAT(table.numbers("f"), ElementsAre(1, 2.5));
  EXPECT_TRUE(table.is_null(2, 1));
  EXPECT_THAT(texts(table, "late"), ElementsAre("<null>", "y"));
  EXPECT_EQ(table.list<std::int32_t>("l")[0][1], 2);
  EXPECT_TRUE(table.is_null(4, 1));
  EXPECT_EQ(table.list<float>("m")[0][1], 2.5f);
  EXPECT_TRUE(std::isnan(table.list<float>("m")[1][0]));
}

TEST(JsonLines, DecodesEscapes) {
  const Table table = jsonl(R"({"t":"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00"})");
  EXPECT_THAT(texts(table, "t"), ElementsAre("a\"\\/\b\f\n\r\té€\xf0\x9f\x98\x80"));
}

TEST(JsonLines, ErrorsNameTheirPlace) {
  EXPECT_THAT(jsonl_error(""), HasSubstr("'f' holds no rows"));
  EXPECT_THAT(jsonl_error("{}\n"), HasSubstr("no columns"));
  EXPECT_THAT(jsonl_error("[1]\n"), StartsWith("f:1:1: expected an object"));
  EXPECT_THAT(jsonl_error("{\"a\":1}\n{\"a\":1,\"a\":2}\n"),
              StartsWith("f:2:8: member 'a' appears twice"));
  EXPECT_THAT(jsonl_error("{\"a\":{\"b\":1}}\n"), StartsWith("f:1:6: member 'a' is an object"));
  EXPECT_THAT(jsonl_error("{\"a\":[[1]]}\n"), StartsWith("f:1:7: list 'a' holds something else"));
  EXPECT_THAT(jsonl_error("{\"a\":[\"x\"]}\n"), StartsWith("f:1:7: list 'a' holds something else"));
  EXPECT_THAT(jsonl_error("{\"a\":[]}\n"), StartsWith("f:1:7: member 'a' is an empty list"));
  EXPECT_THAT(jsonl_error("{\"a\":[1]}\n{\"a\":[1,2]}\n"),
              StartsWith("f:2:6: list 'a' has 2 values here but 1"));
  EXPECT_THAT(jsonl_error("{\"a\":[1e39]}\n"), StartsWith("f:1:7: '1e39' is too large for a list"));
  EXPECT_THAT(jsonl_error("{\"a\":1}\n{\"a\":\"x\"}\n"),
              StartsWith("f:2:6: member 'a' is text here but an integer"));
  EXPECT_THAT(jsonl_error("{\"a\":1} {\"a\":2}\n"), StartsWith("f:1:9: text follows the object"));
  EXPECT_THAT(jsonl_error("{\"a\":01x}\n"), StartsWith("f:1:8: expected ',' or '}'"));
  EXPECT_THAT(jsonl_error("{\"a\":1.2.3}\n"), StartsWith("f:1:6: '1.2.3' is not a number"));
  EXPECT_THAT(jsonl_error("{\"a\":1e999}\n"), StartsWith("f:1:6: '1e999' is too large"));
  EXPECT_THAT(jsonl_error("{\"a\":tru}\n"), StartsWith("f:1:6: expected a value"));
  EXPECT_THAT(jsonl_error("{\"a\" 1}\n"), StartsWith("f:1:6: expected ':'"));
  EXPECT_THAT(jsonl_error("{a:1}\n"), StartsWith("f:1:2: expected a quoted name"));
  EXPECT_THAT(jsonl_error("{\"a\":\"x\n"),
              StartsWith("f:1:6: the text that starts here does not end"));
  EXPECT_THAT(jsonl_error("{\"a\":\"x\ty\"}\n"), StartsWith("f:1:8: a control character"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\x\"}\n"), StartsWith("f:1:7: unknown escape"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\u12g4\"}\n"), StartsWith("f:1:7: \\u needs four"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\ud800\"}\n"), StartsWith("f:1:7: half of a surrogate pair"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\ud800\\u0041\"}\n"),
              StartsWith("f:1:7: half of a surrogate pair"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\u0000\"}\n"), StartsWith("f:1:7: a text holds a NUL"));
  EXPECT_THAT(jsonl_error("{\"a\":\"caf\xe9\"}\n"), StartsWith("f:1:10: file is not UTF-8"));
  EXPECT_THAT(jsonl_error("{\"a\":1"), StartsWith("f:1:7: expected ',' or '}'"));
  EXPECT_THAT(jsonl_error("{\"a\":\"\\"), StartsWith("f:1:7: unknown escape"));
}

TEST(JsonLines, LaterBatchesMustFitTheFirst) {
  ReadOptions options;
  options.batch_rows = 1;
  EXPECT_THAT(jsonl_error("{\"a\":1}\n{\"b\":1}\n", options),
              StartsWith("f:2:2: member 'b' is unknown"));
  EXPECT_THAT(jsonl_error("{\"a\":1}\n{\"a\":1.5}\n", options),
              StartsWith("f:2:6: member 'a' is a number here but an integer"));
  EXPECT_THAT(jsonl_error("{\"a\":1}\n{\"a\":1,\"a\":1}\n", options),
              StartsWith("f:2:8: member 'a' appears twice"));
  EXPECT_THAT(jsonl_error("{\"a\":\"x\"}\n{\"a\":1}\n", options),
              StartsWith("f:2:6: member 'a' is an integer here but text"));
  EXPECT_THAT(jsonl_error("{\"a\":true}\n{\"a\":1}\n", options), HasSubstr("but a boolean"));
  EXPECT_THAT(jsonl_error("{\"a\":1.5}\n{\"a\":[1]}\n", options),
              HasSubstr("is a list here but a number"));
  EXPECT_THAT(jsonl_error("{\"a\":[1]}\n{\"a\":[1.5]}\n", options),
              HasSubstr("but a list of 32-bit integers"));
  EXPECT_THAT(jsonl_error("{\"a\":[1]}\n{\"a\":1}\n", options), HasSubstr("but a list in"));
  EXPECT_THAT(jsonl_error("{\"a\":[1]}\n{\"a\":[1,2]}\n", options),
              HasSubstr("has 2 values here but 1"));
  EXPECT_THAT(jsonl("{\"a\":1.5}\n{\"a\":2}\n{}\n", options).rows(), 3);
}

TEST(JsonLines, ColumnsCanBeForced) {
  ReadOptions options;
  options.text_columns = {"id"};
  options.number_columns = {"x"};
  const Table table =
      jsonl("{\"id\":007,\"x\":1}\n{\"id\":true,\"x\":2}\n{\"id\":\"z\",\"x\":3}\n", options);
  EXPECT_EQ(schema(table), "id:dictionary x:float64");
  EXPECT_THAT(texts(table, "id"), ElementsAre("007", "true", "z"));
  EXPECT_THAT(jsonl_error("{\"x\":\"1\"}\n", options), HasSubstr("is text here but a number"));
}

// ------------------------------------------------------------------------------------- whole files

class TableFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return temporary_.write(name, text);
  }
  std::string error(const std::filesystem::path& path, const std::string& table = {}) const {
    try {
      read_table(path, table);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  test::TempDir temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(TableFiles, SuffixesPickTheReader) {
  EXPECT_EQ(schema(read_table(write("a.csv", "x,y\n1,2\n"))), "x:int64 y:int64");
  EXPECT_EQ(schema(read_table(write("a.TSV", "x\ty\n1\t2\n"))), "x:int64 y:int64");
  EXPECT_EQ(schema(read_table(write("a.jsonl", "{\"x\":1}\n"))), "x:int64");
  EXPECT_EQ(schema(read_table(write("a.ndjson", "{\"x\":1}\n"))), "x:int64");
  EXPECT_EQ(read_table(write("a.json", " [ {\"x\":1} ,\n {\"x\":2.5} ] \n")).numbers("x")[1], 2.5);
  EXPECT_EQ(read_table(write("one.json", "{\"x\":1}\n")).rows(), 1);
  EXPECT_THAT(error(write("a.xlsx", "")), HasSubstr("no table that can be read by its suffix"));
  EXPECT_THAT(error(directory_ / "missing.csv"), HasSubstr("No such file"));
  std::filesystem::create_directories(directory_ / "d.csv");
  EXPECT_THAT(error(directory_ / "d.csv"), HasSubstr("Is a directory"));
}

TEST_F(TableFiles, JsonArraysSayTheirPlaceToo) {
  EXPECT_THAT(error(write("a.json", "[{\"x\":1},\n {\"x\":\"t\"}]")),
              HasSubstr("a.json:2:7: member 'x' is text here"));
  EXPECT_THAT(error(write("a.json", "[{\"x\":1}\n{\"x\":2}]")),
              HasSubstr("a.json:2:1: expected ',' or ']'"));
  EXPECT_THAT(error(write("a.json", "[{\"x\":1}] 5")),
              HasSubstr("a.json:1:11: text follows the array"));
  EXPECT_THAT(error(write("a.json", "{\"x\":1} 5")),
              HasSubstr("a.json:1:9: text follows the object"));
  EXPECT_THAT(error(write("a.json", "[{\"x\":1}")), HasSubstr("a.json:1:9: expected ',' or ']'"));
  EXPECT_THAT(error(write("a.json", "5")),
              HasSubstr("a.json:1:1: expected an array of row objects"));
  EXPECT_THAT(error(write("a.json", "[]")), HasSubstr("holds no rows"));
}

TEST_F(TableFiles, TheWholeFileSettlesTypes) {
  std::string text = "x\n";
  for (int i = 0; i < 70000; ++i) text += "1\n";
  EXPECT_EQ(schema(read_table(write("a.csv", text + "1.5\n"))), "x:float64");
}

TEST_F(TableFiles, ContainersGiveTheirOnlyOrTheNamedTable) {
  container::Writer writer;
  container::put_table(writer, "nodes", csv("x\n1\n"));
  writer.write(directory_ / "one.omt");
  EXPECT_EQ(schema(read_table(directory_ / "one.omt")), "x:int64");
  container::put_table(writer, "edges", csv("y\n1\n"));
  writer.write(directory_ / "two.omt");
  EXPECT_EQ(schema(read_table(directory_ / "two.omt", "edges")), "y:int64");
  EXPECT_THAT(error(directory_ / "two.omt"), HasSubstr("holds 2 tables"));
  EXPECT_THAT(error(directory_ / "two.omt", "z"), HasSubstr("has no table 'z'"));
}

// ----------------------------------------------------------------------------------------- writing

Table sample_rows() {
  TableBuilder builder;
  builder.add<std::int64_t>("i", {INT64_MIN, 0, INT64_MAX}).valid({true, false, true});
  builder.add<double>("f", {0.1, 1, 1e300}).add<double>("n", {NAN, INFINITY, -INFINITY});
  builder.add_bools("b", {true, false, true});
  builder.add_categories("t", {"a,b", "say \"hi\"\n", ""}).valid({true, true, true});
  builder.add_categories("u", {"x", "", "z"}).valid({true, false, true});
  return builder.finish();
}

TEST(Writers, CsvComesBackEqual) {
  std::ostringstream out;
  write_csv(out, sample_rows());
  EXPECT_THAT(
      out.str(),
      StartsWith("i,f,n,b,t,u\n-9223372036854775808,0.1,nan,true,\"a,b\",x\n,1.0,inf,false,"));
  const Table back = csv(out.str());
  EXPECT_EQ(schema(back), schema(sample_rows()));
  std::ostringstream again;
  write_csv(again, back);
  EXPECT_EQ(again.str(), out.str());
  EXPECT_THAT(texts(back, "t"), ElementsAre("a,b", "say \"hi\"\n", ""));
  EXPECT_THAT(texts(back, "u"), ElementsAre("x", "<null>", "z"));
  EXPECT_TRUE(back.is_null(0, 1));
}

TEST(Writers, CsvSpreadsListsAndKeepsOneColumnNulls) {
  std::ostringstream lists;
  write_csv(lists,
            TableBuilder().add_list<float>("v", 2, {1, 2, 3, 4.5f}).valid({false, true}).finish());
  EXPECT_EQ(lists.str(), "v.0,v.1\n,\n3.0,4.5\n");
  std::ostringstream one;
  write_csv(one, TableBuilder().add<double>("x", {1, 2}).valid({false, true}).finish());
  EXPECT_TRUE(csv(one.str()).is_null(0, 0));
  EXPECT_EQ(csv(one.str()).rows(), 2);
}

TEST(Writers, JsonLinesComeBackEqual) {
  const Table table = TableBuilder()
                          .add<std::int64_t>("i", {1, 2})
                          .add<double>("f", {0.1, 3})
                          .add_bools("b", {true, false})
                          .add_categories("t", {"é\"\\\n\x01", "z"})
                          .add_list<float>("v", 2, {1.5f, 2, 3, 4})
                          .add_list<std::int32_t>("w", 1, {7, 8})
                          .finish();
  std::ostringstream out;
  write_json_lines(out, table);
  const Table back = jsonl(out.str());
  EXPECT_EQ(schema(back), schema(table));
  std::ostringstream again;
  write_json_lines(again, back);
  EXPECT_EQ(again.str(), out.str());
  EXPECT_THAT(texts(back, "t"), ElementsAre("é\"\\\n\x01", "z"));
}

TEST(Writers, JsonHasNeitherNanNorBrokenText) {
  EXPECT_EQ(
      to_json_rows(sample_rows().slice(1, 1)),
      "[{\"i\":null,\"f\":1.0,\"n\":null,\"b\":false,\"t\":\"say \\\"hi\\\"\\n\",\"u\":null}]");
  const Table broken = TableBuilder()
                           .add_strings("t", {"a\xff\xfe"
                                              "b\xc3"})
                           .finish();
  EXPECT_EQ(to_json_rows(broken), "[{\"t\":\"a\\ufffd\\ufffdb\\ufffd\"}]");
  EXPECT_EQ(to_json_rows(Table()), "[]");
  EXPECT_EQ(to_json_rows(TableBuilder().add<float>("x", {0.1f, 2}).finish()),
            "[{\"x\":0.1},\n {\"x\":2.0}]");
}

}  // namespace
}  // namespace omen::host
