// SPDX-License-Identifier: Apache-2.0
// Tables over Arrow structs: ownership, offsets, nulls, streams and copying operations.
#include "omen/table.hpp"

#include <gmock/gmock.h>

#include "omen/testing/errors.hpp"
#include "support/through_c.hpp"

namespace omen {
namespace {

using test::through_c;
using test::thrown_by;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts_in(const Table& table, std::string_view column) {
  std::vector<std::string> all;
  const StringColumn view = table.strings(column);
  for (std::int64_t i = 0; i < view.size(); ++i)
    all.push_back(view.is_null(i) ? "<null>" : std::string(view[i]));
  return all;
}

Table sample_table() {
  return TableBuilder()
      .metadata("omen.dialect", "ops/1")
      .add<std::int64_t>("id", {10, 11, 12, 13})
      .add<double>("x", {0.5, 1.5, 2.5, 3.5}, {{"omen.unit", "ms"}, {"omen.direction", "lower"}})
      .valid({true, false, true, true})
      .add_bools("flag", {true, false, false, true})
      .add_strings("text", {"a", "", "ccc", "dd"})
      .valid({true, true, false, true})
      .add_categories("kind", {"p", "q", "p", "r"})
      .add_list<float>("feat", 2, {0, 1, 2, 3, 4, 5, 6, 7})
      .add_list<std::int32_t>("shape", 1, {7, 8, 9, 10})
      .finish();
}

void expect_sample(const Table& table, std::int64_t first, std::int64_t count) {
  ASSERT_EQ(table.rows(), count);
  ASSERT_EQ(table.columns(), 7u);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = first + i;
    EXPECT_EQ(table.column<std::int64_t>("id")[i], 10 + row);
    EXPECT_EQ(table.is_null(1, i), row == 1);
    EXPECT_EQ(table.column<double>("x").is_null(i), row == 1);
    EXPECT_EQ(table.boolean(2, i), row == 0 || row == 3);
    EXPECT_EQ(table.strings("text").is_null(i), row == 2);
    EXPECT_EQ(table.strings("kind")[i], std::string(1, "pqpr"[row]));
    EXPECT_EQ(table.list<float>("feat")[i][1], static_cast<float>(2 * row + 1));
    EXPECT_EQ(table.list<std::int32_t>("shape")[i][0], 7 + row);
  }
  EXPECT_EQ(table.metadata("omen.dialect"), "ops/1");
  EXPECT_EQ(table.metadata(1, "omen.direction"), "lower");
  EXPECT_EQ(table.metadata(1, "missing"), "");
}

TEST(Table, CrossesTheCBoundaryUnchanged) {
  const Table table = sample_table();
  expect_sample(table, 0, 4);
  const Table back = through_c(table);
  expect_sample(back, 0, 4);
  back.validate();
  EXPECT_EQ(back.column<std::int64_t>("id").data(), table.column<std::int64_t>("id").data())
      << "without a copy";
}

TEST(Table, SlicesKeepTheirOffsetsEverywhere) {
  const Table part = sample_table().slice(1, 3);
  expect_sample(part, 1, 3);
  expect_sample(through_c(part), 1, 3);
  expect_sample(through_c(part.slice(1, 1)), 2, 1);
  expect_sample(select(part, {"id", "x", "flag", "text", "kind", "feat", "shape"}), 1, 3);
  expect_sample(through_c(select(part, {"id", "x", "flag", "text", "kind", "feat", "shape"})), 1,
                3);
  expect_sample(take(part, {0, 1, 2}), 1, 3);
  expect_sample(part.slice(3, 0), 4, 0);
  EXPECT_EQ(thrown_by([&] { part.slice(1, 3); }).code(), OMEN_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { part.slice(-1, 1); }).code(), OMEN_INVALID_ARGUMENT);
}

TEST(Table, ViewsSayWhatIsMissingOrOfAnotherType) {
  const Table table = sample_table();
  const Error missing = thrown_by([&] { table.column<double>("y"); });
  EXPECT_EQ(missing.code(), OMEN_NOT_FOUND);
  EXPECT_STREQ(missing.what(), "no column 'y'");
  EXPECT_EQ(missing.hint(), "The table has: id, x, flag, text, kind, feat, shape.");
  EXPECT_STREQ(thrown_by([&] { table.column<float>("x"); }).what(),
               "column 'x' is float64, not float32");
  EXPECT_STREQ(thrown_by([&] { table.strings("x"); }).what(), "column 'x' is float64, not text");
  EXPECT_STREQ(thrown_by([&] { table.list<float>("shape"); }).what(),
               "column 'shape' is int32 list, not float32 list");
  EXPECT_STREQ(thrown_by([&] { table.boolean(0, 0); }).what(), "column 'id' is int64, not bool");
  EXPECT_STREQ(thrown_by([&] { table.numbers("text"); }).what(),
               "column 'text' is utf8, not a number");
}

TEST(Table, NumbersReadEveryWidthWithNullsAsNan) {
  const Table table = TableBuilder()
                          .add<std::int8_t>("a", {-1})
                          .add<std::uint8_t>("b", {255})
                          .add<std::int16_t>("c", {-300})
                          .add<std::uint16_t>("d", {65535})
                          .add<std::int32_t>("e", {-70000})
                          .add<std::uint32_t>("f", {4294967295u})
                          .add<std::uint64_t>("g", {1ull << 63})
                          .add<float>("h", {0.5f})
                          .add_bools("i", {true})
                          .finish();
  const double wanted[] = {-1,  255, -300, 65535, -70000, 4294967295.0, 9223372036854775808.0,
                           0.5, 1};
  for (std::size_t c = 0; c < table.columns(); ++c)
    EXPECT_THAT(table.numbers(c), ElementsAre(wanted[c]));
  EXPECT_TRUE(std::isnan(sample_table().numbers("x")[1]));
}

TEST(Table, EmptyTablesCrossToo) {
  EXPECT_EQ(through_c(Table()).columns(), 0u);
  EXPECT_EQ(Table().rows(), 0);
  expect_sample(through_c(sample_table().slice(0, 0)), 0, 0);
  const Table none = TableBuilder()
                         .add_strings("t", {})
                         .add_categories("d", {})
                         .add_list<float>("l", 3, {})
                         .finish();
  through_c(none).validate();
  const Table back = through_c(none);
  EXPECT_EQ(back.strings("d").value_count(), 0);
}

TEST(Table, MemoryLivesAsLongAsAnythingUsesIt) {
  const auto values = std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 3});
  ArrowArray array{};
  ArrowSchema schema{};
  {
    const Table table = TableBuilder()
                            .add_shared("x", values->data(), 3, values)
                            .add<float>("y", {1, 2, 3})
                            .finish();
    table.export_schema(&schema);
    table.slice(1, 2).export_array(&array);
  }
  EXPECT_EQ(values.use_count(), 2);
  // A consumer may move a child out and release the rest first.
  ArrowArray child = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(values.use_count(), 2);
  EXPECT_EQ(static_cast<const double*>(child.buffers[1])[2], 3);
  child.release(&child);
  EXPECT_EQ(values.use_count(), 1);
  ArrowSchema name = *schema.children[1];
  schema.children[1]->release = nullptr;
  schema.release(&schema);
  EXPECT_STREQ(name.name, "y");
  name.release(&name);
}

TEST(Table, MovedOutDictionariesAndListItemsLiveOn) {
  ArrowArray array{};
  sample_table().export_array(&array);
  ArrowArray dictionary = *array.children[4]->dictionary;
  array.children[4]->dictionary->release = nullptr;
  ArrowArray items = *array.children[5]->children[0];
  array.children[5]->children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(dictionary.length, 3);
  EXPECT_EQ(std::string(static_cast<const char*>(dictionary.buffers[2]), 3), "pqr");
  EXPECT_EQ(static_cast<const float*>(items.buffers[1])[7], 7);
  dictionary.release(&dictionary);
  items.release(&items);
}

// ----------------------------------------------------------------------------------------- builder

TEST(TableBuilder, RefusesColumnsThatDoNotFit) {
  TableBuilder builder;
  builder.add<double>("x", {1, 2});
  EXPECT_STREQ(thrown_by([&] { builder.add<double>("y", {1}); }).what(),
               "column 'y' has 1 rows, the others have 2");
  EXPECT_THAT(thrown_by([&] {
                builder.add_list<float>("l", 2, {1, 2, 3});
              }).what(),
              HasSubstr("does not divide"));
  EXPECT_THAT(thrown_by([&] { builder.add_list<float>("l", 0, {}); }).what(),
              HasSubstr("does not divide"));
  EXPECT_THAT(thrown_by([&] { builder.valid({true}); }).what(), HasSubstr("does not match"));
  EXPECT_THAT(thrown_by([&] { builder.add_column(sample_table(), 0); }).what(),
              HasSubstr("has 4 rows, the others have 2"));
  EXPECT_EQ(builder.finish().columns(), 1u);
  EXPECT_THAT(thrown_by([&] { builder.valid_shared(nullptr, 0, nullptr); }).what(),
              HasSubstr("before any column"));
  builder.add_column(sample_table(), 0);
  EXPECT_THAT(thrown_by([&] {
                builder.valid({true, true, true, true});
              }).what(),
              HasSubstr("keeps its own validity"));
}

TEST(TableBuilder, IsEmptyAgainAfterFinish) {
  TableBuilder builder;
  builder.add<double>("x", {1}).metadata("k", "v");
  builder.finish();
  const Table second = builder.add<float>("y", {1, 2}).finish();
  EXPECT_EQ(second.columns(), 1u);
  EXPECT_TRUE(second.metadata().empty());
}

// ----------------------------------------------------------------------------------------- streams

TableStream batches(std::vector<Table> tables, std::optional<Error> error = {}) {
  const Table schema = tables[0];
  auto at = std::make_shared<std::size_t>(0);
  return TableStream(schema, [tables = std::move(tables), error, at]() -> std::optional<Table> {
    if (*at < tables.size()) return tables[(*at)++];
    if (error) throw *error;
    return std::nullopt;
  });
}

TableStream through_c(TableStream stream) {
  ArrowArrayStream c{};
  std::move(stream).export_to(&c);
  TableStream back = TableStream::import(&c);
  EXPECT_EQ(c.release, nullptr);
  return back;
}

TEST(TableStream, CarriesBatchesAndJoinsThem) {
  TableStream stream = through_c(batches(
      {sample_table().slice(0, 1), sample_table().slice(1, 0), sample_table().slice(1, 3)}));
  expect_sample(stream.read_all(), 0, 4);
  EXPECT_EQ(stream.next(), std::nullopt) << "the end stays the end";
}

TEST(TableStream, OneBatchIsNotCopied) {
  const Table table = sample_table();
  const Table back = through_c(TableStream(table)).read_all();
  EXPECT_EQ(back.column<double>("x").data(), table.column<double>("x").data());
}

TEST(TableStream, NoBatchStillHasItsSchema) {
  TableStream stream =
      through_c(TableStream(sample_table(), [] { return std::optional<Table>(); }));
  EXPECT_EQ(stream.schema().columns(), 7u);
  EXPECT_EQ(stream.schema().numbers("x").size(), 0u);
  EXPECT_EQ(stream.schema().strings("kind").size(), 0);
  expect_sample(stream.read_all(), 0, 0);
}

TEST(TableStream, ErrorsKeepCodeMessageAndHint) {
  for (const omen_status code :
       {OMEN_CANCELLED, OMEN_TIMEOUT, OMEN_INVALID_ARGUMENT, OMEN_INVALID_STATE, OMEN_INVALID_DATA,
        OMEN_NOT_FOUND, OMEN_UNSUPPORTED, OMEN_UNAVAILABLE, OMEN_OUT_OF_MEMORY, OMEN_IO,
        OMEN_INTERNAL}) {
    TableStream stream =
        through_c(batches({sample_table()}, Error(code, "row 5 is bad", "Look at it.")));
    expect_sample(*stream.next(), 0, 4);
    const Error error = thrown_by([&] { stream.next(); });
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.what(), "row 5 is bad");
    EXPECT_EQ(error.hint(), "Look at it.");
  }
}

TEST(TableStream, ForeignExceptionsBecomeInternalErrors) {
  TableStream stream = through_c(TableStream(
      sample_table(), []() -> std::optional<Table> { throw std::runtime_error("boom"); }));
  const Error error = thrown_by([&] { stream.next(); });
  EXPECT_EQ(error.code(), OMEN_INTERNAL);
  EXPECT_STREQ(error.what(), "boom");
}

TEST(TableStream, RefusesStreamsThatWereNotFilled) {
  ArrowArrayStream empty{};
  EXPECT_STREQ(thrown_by([&] { TableStream::import(&empty); }).what(), "stream was not filled");
  ArrowArrayStream lying{};
  static int released = 0;
  lying.get_schema = [](ArrowArrayStream*, ArrowSchema*) { return 0; };
  lying.get_next = [](ArrowArrayStream*, ArrowArray*) { return 0; };
  lying.release = [](ArrowArrayStream* s) {
    ++released;
    s->release = nullptr;
  };
  EXPECT_STREQ(thrown_by([&] { TableStream::import(&lying); }).what(),
               "schema was released or never filled");
  EXPECT_EQ(released, 1);
}

TEST(TableStream, FailuresWithoutAMessageAreNamed) {
  ArrowArrayStream silent{};
  silent.get_schema = [](ArrowArrayStream*, ArrowSchema*) { return EIO; };
  silent.get_next = [](ArrowArrayStream*, ArrowArray*) { return 0; };
  silent.release = [](ArrowArrayStream* s) { s->release = nullptr; };
  const Error error = thrown_by([&] { TableStream::import(&silent); });
  EXPECT_EQ(error.code(), OMEN_IO);
  EXPECT_STREQ(error.what(), "stream failed without a message");
}

// ----------------------------------------------------------------------------------------- copying

TEST(Copies, TakePicksRowsInAnyOrder) {
  const Table taken = take(sample_table(), {3, 1, 1});
  EXPECT_THAT(taken.numbers("id"), ElementsAre(13, 11, 11));
  EXPECT_TRUE(taken.is_null(1, 1));
  EXPECT_THAT(texts_in(taken, "text"), ElementsAre("dd", "", ""));
  EXPECT_THAT(texts_in(taken, "kind"), ElementsAre("r", "q", "q"));
  EXPECT_EQ(taken.strings("kind").value_count(), 2) << "unused values are dropped";
  EXPECT_EQ(taken.metadata(1, "omen.unit"), "ms");
}

TEST(Copies, ConcatJoinsDictionariesAndNulls) {
  const Table a = TableBuilder().add_categories("k", {"x", "y"}).finish();
  const Table b = TableBuilder().add_categories("k", {"y", "z"}).valid({true, false}).finish();
  const Table joined = concat({a, b});
  EXPECT_THAT(texts_in(joined, "k"), ElementsAre("x", "y", "y", "<null>"));
  EXPECT_EQ(joined.strings("k").codes()[2], 1);
  joined.validate();
  EXPECT_EQ(concat({}).columns(), 0u);
}

TEST(Copies, ConcatRefusesDifferentColumns) {
  const auto message = [](const Table& a, const Table& b) {
    return std::string(thrown_by([&] { concat({a, b}); }).what());
  };
  const Table x = TableBuilder().add<double>("x", {1}).finish();
  EXPECT_THAT(message(x, TableBuilder().add<double>("y", {1}).finish()),
              HasSubstr("differ in their columns"));
  EXPECT_THAT(message(x, TableBuilder().add<float>("x", {1}).finish()),
              HasSubstr("differ in their columns"));
  EXPECT_THAT(message(x, sample_table()), HasSubstr("differ in their columns"));
  EXPECT_THAT(message(TableBuilder().add_list<float>("l", 1, {1}).finish(),
                      TableBuilder().add_list<float>("l", 2, {1, 2}).finish()),
              HasSubstr("differ in their columns"));
}

TEST(Copies, SelectSharesMemoryAndKeepsMetadata) {
  const Table table = sample_table();
  const Table some = select(table, {"x", "id"});
  EXPECT_EQ(some.name(0), "x");
  EXPECT_EQ(some.metadata(0, "omen.unit"), "ms");
  EXPECT_EQ(some.metadata("omen.dialect"), "ops/1");
  EXPECT_EQ(some.column<double>("x").data(), table.column<double>("x").data());
  EXPECT_EQ(thrown_by([&] { select(table, {"nope"}); }).code(), OMEN_NOT_FOUND);
}

}  // namespace
}  // namespace omen
