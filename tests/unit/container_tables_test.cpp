// SPDX-License-Identifier: Apache-2.0
// Tables in container files: round trips of every type, and damage with the message it earns.
#include <gmock/gmock.h>

#include <functional>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "support/container_bytes.hpp"

namespace omen::container {
namespace {

using bytes::file;
using bytes::put;
using bytes::read_bytes;
using test::thrown_by;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table every_type() {
  TableBuilder builder;
  builder.metadata("omen.dialect", "test/1").metadata("k", "ü");
  builder.add_bools("flag", {true, false, true}, {{"omen.unit", ""}});
  builder.add<std::int8_t>("i8", {-1, 0, 1}).add<std::uint8_t>("u8", {0, 1, 255});
  builder.add<std::int16_t>("i16", {-300, 0, 300}).add<std::uint16_t>("u16", {0, 1, 65535});
  builder.add<std::int32_t>("i32", {-70000, 0, 70000})
      .add<std::uint32_t>("u32", {0, 1, 4294967295u});
  builder.add<std::int64_t>("i64", {INT64_MIN, 0, INT64_MAX})
      .add<std::uint64_t>("u64", {0, 1, UINT64_MAX});
  builder.add<float>("f32", {-0.5f, 0, 2})
      .add<double>("f64", {1e300, 0, -1e-300}, {{"omen.unit", "ms"}});
  builder.valid({true, false, true});
  builder.add_strings("text", {"", "héllo", "z"}).valid({false, true, true});
  builder.add_dictionary("kind", {1, 0, 1}, {"data", "control"}).valid({true, true, false});
  builder.add_list<float>("feat", 2, {1, 2, 3, 4, 5, 6})
      .add_list<std::int32_t>("ids", 1, {7, 8, 9});
  builder.add<double>("odd#name/with/slash", {1, 2, 3});
  return builder.finish();
}

// Everything a reader of the table can see, as text.
std::string describe(const Table& table) {
  std::string out = std::to_string(table.rows()) + " rows\n";
  for (const auto& [key, value] : table.metadata()) out += key + "=" + value + "\n";
  for (std::size_t c = 0; c < table.columns(); ++c) {
    out += std::string(table.name(c)) + ":" + type_name(table.type(c));
    for (const auto& [key, value] : table.metadata(c)) out += " " + key + "=" + value;
    for (std::int64_t i = 0; i < table.rows(); ++i) {
      out += " ";
      if (table.is_null(c, i))
        out += "null";
      else if (is_text(table.type(c)))
        out += table.strings(c)[i];
      else if (table.type(c) == Type::kFloatList)
        for (std::int64_t k = 0; k < table.list_size(c); ++k)
          out += std::to_string(table.list<float>(c)[i][k]) + ",";
      else if (table.type(c) == Type::kIntList)
        for (std::int64_t k = 0; k < table.list_size(c); ++k)
          out += std::to_string(table.list<int>(c)[i][k]) + ",";
      else if (table.type(c) == Type::kBool)
        out += table.boolean(c, i) ? "true" : "false";
      else
        omen::detail::visit_number(table.type(c), [&](auto zero) {
          out += std::to_string(table.column<decltype(zero)>(c)[i]);
        });
    }
    out += "\n";
  }
  return out;
}

TEST(ContainerTables, TablesOfEveryTypeComeBackEqual) {
  const Table table = every_type();
  Writer writer;
  put_table(writer, "all", table);
  put_table(writer, "middle", table.slice(1, 2));
  put_table(writer, "none", table.slice(0, 0));
  put_table(writer, "no columns", Table());
  const test::TempDir directory;
  writer.write(directory.path() / "t.omt");
  const Reader reader = Reader::open(directory.path() / "t.omt");
  EXPECT_THAT(table_names(reader), ElementsAre("all", "middle", "no columns", "none"));
  EXPECT_EQ(describe(get_table(reader, "all")), describe(table));
  EXPECT_EQ(describe(get_table(reader, "middle")), describe(table.slice(1, 2)));
  EXPECT_EQ(describe(get_table(reader, "none")), describe(table.slice(0, 0)));
  EXPECT_EQ(get_table(reader, "no columns").columns(), 0u);
}

TEST(ContainerTables, TablesAreReadInPlaceAndOutliveTheReader) {
  Writer writer;
  put_table(writer, "t", every_type());
  Table table;
  {
    const std::string bytes = writer.serialise();
    const Reader reader = read_bytes(bytes);
    table = get_table(reader, "t");
    EXPECT_EQ(static_cast<const void*>(table.column<double>("f64").data()),
              reader.bytes(*reader.find("t/f64")));
    EXPECT_EQ(static_cast<const void*>(table.list<float>("feat").data()),
              reader.bytes(*reader.find("t/feat")));
    EXPECT_EQ(static_cast<const void*>(table.strings("kind").codes()),
              reader.bytes(*reader.find("t/kind")));
  }
  EXPECT_EQ(describe(table), describe(every_type()));
}

TEST(ContainerTables, MisalignedColumnsOfForeignWritersAreCopied) {
  const std::string schema =
      R"({\"rows\":1,\"metadata\":[],\"columns\":[{\"name\":\"x\",\"type\":\"float64\",\"metadata\":[]}]})";
  std::string header =
      R"({"__metadata__":{"omen.table.t":")" + schema + R"("},"pad":{"dtype":"U8","shape":[1],)" +
      R"("data_offsets":[0,1]},"t/x":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  const double value = 2.5;
  const std::string data = "p" + std::string(reinterpret_cast<const char*>(&value), sizeof value);
  const Table table = get_table(read_bytes(file(header, data)), "t");
  EXPECT_EQ(table.column<double>("x")[0], 2.5);
}

TEST(ContainerTables, MissingTablesNameWhatThereIs) {
  Writer writer;
  put_table(writer, "nodes", every_type());
  const Reader reader = read_bytes(writer.serialise());
  const Error error = thrown_by([&] { get_table(reader, "edges"); });
  EXPECT_EQ(error.code(), OMEN_NOT_FOUND);
  EXPECT_EQ(error.hint(), "The file has: nodes.");
  EXPECT_THROW(put_table(writer, "a/b", every_type()), Error);
  EXPECT_THROW(put_table(writer, "", every_type()), Error);
}

TEST(ContainerTables, ColumnsOfOneNameAreRefused) {
  Writer writer;
  const Table table = TableBuilder().add<double>("x", {1}).add<double>("x", {2}).finish();
  EXPECT_THAT(thrown_by([&] { put_table(writer, "t", table); }).what(),
              HasSubstr("'t/x' was put twice"));
}

// A text column `x` and a dictionary column `d` whose tensors the test may replace one by one.
struct TableFile {
  std::string columns =
      R"([{"name":"x","type":"utf8","metadata":[]},{"name":"d","type":"dictionary","metadata":[]}])";
  std::string rows = "2";
  std::vector<std::int32_t> offsets{0, 1, 3}, value_offsets{0, 1}, codes{0, 0};
  std::string bytes = "abc", values = "v";

  std::string message() const {
    Writer writer;
    writer.put_meta("omen.table.t",
                    R"({"rows":)" + rows + R"(,"metadata":[],"columns":)" + columns + "}");
    put(writer, "t/x#offsets", "I32", offsets);
    writer.put_tensor("t/x#bytes", "U8", {static_cast<std::int64_t>(bytes.size())}, bytes.data(),
                      bytes.size());
    put(writer, "t/d", "I32", codes);
    put(writer, "t/d#offsets", "I32", value_offsets);
    writer.put_tensor("t/d#bytes", "U8", {static_cast<std::int64_t>(values.size())}, values.data(),
                      values.size());
    const Reader reader = read_bytes(writer.serialise());
    const Error error = thrown_by([&] { get_table(reader, "t"); });
    if (error.code() == OMEN_OK) return "ok";
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    EXPECT_THAT(error.what(), HasSubstr("table 't' in '<memory>' is damaged: "));
    return error.what();
  }
};

std::string damaged(const std::function<void(TableFile&)>& change) {
  TableFile table;
  change(table);
  return table.message();
}

TEST(ContainerTables, DamagedTablesAreRefusedWithTheirReason) {
  using F = TableFile;
  EXPECT_EQ(damaged([](F&) {}), "ok");
  EXPECT_THAT(damaged([](F& f) { f.offsets = {0, 2, 1}; }), HasSubstr("do not span"));
  EXPECT_THAT(damaged([](F& f) {
                f.offsets = {0, 4, 3};
              }),
              HasSubstr("decreasing text offsets in row 1"));
  EXPECT_THAT(damaged([](F& f) { f.offsets = {1, 2, 3}; }), HasSubstr("do not span"));
  EXPECT_THAT(damaged([](F& f) { f.offsets = {0, 3}; }), HasSubstr("dtype or shape differs"));
  EXPECT_THAT(damaged([](F& f) { f.bytes = "ab\xff"; }), HasSubstr("not UTF-8"));
  EXPECT_THAT(damaged([](F& f) { f.bytes = "\xc3\xa9z"; }), HasSubstr("cuts a character in row 1"));
  EXPECT_THAT(damaged([](F& f) {
                f.codes = {0, 1};
              }),
              HasSubstr("code 1 in row 1 but only 1 dictionary values"));
  EXPECT_THAT(damaged([](F& f) { f.codes = {-1, 0}; }), HasSubstr("code -1"));
  EXPECT_THAT(damaged([](F& f) { f.codes = {0}; }), HasSubstr("dtype or shape differs"));
  EXPECT_THAT(damaged([](F& f) { f.value_offsets = {}; }), HasSubstr("impossible shape"));
  EXPECT_THAT(damaged([](F& f) { f.rows = "-1"; }), HasSubstr("number of rows is impossible"));
  EXPECT_THAT(damaged([](F& f) { f.rows = "3"; }), HasSubstr("dtype or shape differs"));
  EXPECT_THAT(damaged([](F& f) { f.rows = "\"2\""; }), HasSubstr("schema is not what"));
  EXPECT_THAT(damaged([](F& f) { f.columns = "[{}]"; }), HasSubstr("schema is not what"));
  EXPECT_THAT(damaged([](F& f) { f.columns = "["; }), HasSubstr("schema is not what"));
  EXPECT_THAT(damaged([](F& f) { f.columns = R"([{"name":"x","type":"map","metadata":[]}])"; }),
              HasSubstr("unknown type 'map'"));
  EXPECT_THAT(damaged([](F& f) { f.columns = R"([{"name":"y","type":"int8","metadata":[]}])"; }),
              HasSubstr("has no tensor 't/y'"));
  EXPECT_THAT(damaged([](F& f) {
                f.columns = R"([{"name":"d","type":"int32 list","width":0,"metadata":[]}])";
              }),
              HasSubstr("impossible list width"));
  EXPECT_THAT(damaged([](F& f) {
                f.columns = R"([{"name":"d","type":"int32","nulls":true,"metadata":[]}])";
              }),
              HasSubstr("has no tensor 't/d#valid'"));
}

}  // namespace
}  // namespace omen::container
