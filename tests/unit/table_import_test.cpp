// SPDX-License-Identifier: Apache-2.0
// Tables of foreign producers: what the specification allows, and what is refused with its reason.
#include <gmock/gmock.h>

#include <array>
#include <functional>

#include "support/through_c.hpp"

namespace omen {
namespace {

using test::through_c;
using ::testing::HasSubstr;

// One table as a foreign producer might hand it over: every field can be bent before the import.
struct Raw {
  static constexpr int kColumns = 4;  // int32, utf8, dictionary, list of 2 floats; 3 rows
  alignas(8) std::array<std::int32_t, 8> ints{1, 2, 3};
  alignas(8) std::array<std::int32_t, 8> offsets{0, 1, 2, 3}, codes{0, 1, 0},
      value_offsets{0, 1, 2};
  std::array<char, 8> bytes{'a', 'b', 'c'}, values{'v', 'w'};
  alignas(8) std::array<float, 8> floats{1, 2, 3, 4, 5, 6};
  std::uint8_t bits = 0b101;

  std::array<ArrowSchema, kColumns> schemas{};
  std::array<ArrowArray, kColumns> arrays{};
  ArrowSchema value_schema{}, item_schema{}, schema{};
  ArrowArray value_array{}, item_array{}, array{};
  ArrowSchema *schema_children[kColumns], *item_schema_at = &item_schema;
  ArrowArray *array_children[kColumns], *item_array_at = &item_array;
  const void *int_buffers[2]{nullptr, ints.data()},
      *text_buffers[3]{nullptr, offsets.data(), bytes.data()},
      *code_buffers[2]{nullptr, codes.data()},
      *value_buffers[3]{nullptr, value_offsets.data(), values.data()}, *list_buffers[1]{nullptr},
      *item_buffers[2]{nullptr, floats.data()}, *no_buffers[1]{nullptr};
  int released = 0;

  Raw() {
    const char* formats[] = {"i", "u", "i", "+w:2"};
    const char* names[] = {"int", "text", "kind", "list"};
    const void** buffers[] = {int_buffers, text_buffers, code_buffers, list_buffers};
    const int counts[] = {2, 3, 2, 1};
    for (int c = 0; c < kColumns; ++c) {
      schemas[c].format = formats[c];
      schemas[c].name = names[c];
      arrays[c].length = 3;
      arrays[c].n_buffers = counts[c];
      arrays[c].buffers = buffers[c];
      schema_children[c] = &schemas[c];
      array_children[c] = &arrays[c];
    }
    value_schema.format = "u";
    schemas[2].dictionary = &value_schema;
    value_array.length = 2;
    value_array.n_buffers = 3;
    value_array.buffers = value_buffers;
    arrays[2].dictionary = &value_array;
    item_schema.format = "f";
    schemas[3].n_children = arrays[3].n_children = 1;
    schemas[3].children = &item_schema_at;
    item_array.length = 6;
    item_array.n_buffers = 2;
    item_array.buffers = item_buffers;
    arrays[3].children = &item_array_at;
    schema.format = "+s";
    schema.n_children = array.n_children = kColumns;
    schema.children = schema_children;
    array.children = array_children;
    array.length = 3;
    array.n_buffers = 1;
    array.buffers = no_buffers;
    schema.private_data = array.private_data = this;
    schema.release = [](ArrowSchema* s) {
      ++static_cast<Raw*>(s->private_data)->released;
      s->release = nullptr;
    };
    array.release = [](ArrowArray* a) {
      ++static_cast<Raw*>(a->private_data)->released;
      a->release = nullptr;
    };
  }
  Raw(const Raw&) = delete;
};

// What import + validate + reading of a bent table says; "ok" where they accept it.
std::string outcome(const std::function<void(Raw&)>& bend) {
  Raw raw;
  bend(raw);
  const int live = (raw.schema.release ? 1 : 0) + (raw.array.release ? 1 : 0);
  std::string said = "ok";
  try {
    const Table table = Table::import(&raw.schema, &raw.array);
    table.validate();
    const Table copy = concat({table, through_c(table)});
    EXPECT_EQ(copy.rows(), 2 * table.rows());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
    said = error.what();
  }
  EXPECT_EQ(raw.released, live) << "released exactly once, accepted or not";
  return said;
}

TEST(Import, AcceptsWhatTheSpecificationAllows) {
  EXPECT_EQ(outcome([](Raw&) {}), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.array.length = 2; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.array.offset = 1, r.array.length = 2; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.arrays[0].null_count = 1, r.int_buffers[0] = &r.bits; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.arrays[0].null_count = -1; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.arrays[1].offset = 1, r.offsets = {9, 0, 1, 2, 3}; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) { r.offsets = {0, 0, 0, 0}, r.text_buffers[2] = nullptr; }), "ok");
  EXPECT_EQ(outcome([](Raw& r) {
              r.codes[1] = 77, r.arrays[2].null_count = 1, r.code_buffers[0] = &r.bits;
            }),
            "ok")
      << "the code of a null row means nothing";
  EXPECT_EQ(outcome([](Raw& r) {
              r.array.length = 0;
              for (ArrowArray& a : r.arrays) a.length = 0;
              r.int_buffers[1] = r.text_buffers[1] = r.text_buffers[2] = r.code_buffers[1] =
                  nullptr;
            }),
            "ok");
}

TEST(Import, RefusesMalformedSchemas) {
  EXPECT_THAT(outcome([](Raw& r) { r.schema.release = nullptr; }),
              HasSubstr("schema was released"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.format = nullptr; }), HasSubstr("not a struct"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.format = "i"; }), HasSubstr("not a struct"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.n_children = -1; }),
              HasSubstr("impossible number of columns"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.n_children = 1 << 30; }),
              HasSubstr("impossible number of columns"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.children = nullptr; }),
              HasSubstr("impossible number of columns"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema.dictionary = &r.value_schema; }),
              HasSubstr("impossible"));
  EXPECT_THAT(outcome([](Raw& r) { r.schema_children[1] = nullptr; }),
              HasSubstr("column without a name"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[1].name = nullptr; }),
              HasSubstr("column without a name"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[0].format = "z"; }),
              HasSubstr("column 'int' has Arrow format 'z'"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[0].format = nullptr; }),
              HasSubstr("has Arrow format ''"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[0].n_children = 5; }),
              HasSubstr("outside the accepted subset"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[2].format = "l"; }), HasSubstr("not int32 over utf8"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_schema.format = "i"; }),
              HasSubstr("not int32 over utf8"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_schema.format = nullptr; }),
              HasSubstr("not int32 over utf8"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_schema.n_children = 9; }),
              HasSubstr("not int32 over utf8"));
  for (const char* format :
       {"+w:0", "+w:-1", "+w:", "+w:2x", "+w:99999999999999999999999", "+w:16777217", "+l"})
    EXPECT_THAT(outcome([&](Raw& r) { r.schemas[3].format = format; }),
                HasSubstr("outside the accepted subset"));
  EXPECT_THAT(outcome([](Raw& r) { r.schemas[3].children = nullptr; }), HasSubstr("outside"));
  EXPECT_THAT(outcome([](Raw& r) { r.item_schema.format = "g"; }), HasSubstr("outside"));
  EXPECT_THAT(outcome([](Raw& r) { r.item_schema.n_children = 1; }), HasSubstr("outside"));
}

TEST(Import, RefusesMalformedArrays) {
  EXPECT_THAT(outcome([](Raw& r) { r.array.release = nullptr; }), HasSubstr("table was released"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.n_children = 3; }),
              HasSubstr("3 columns but its schema has 4"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.children = nullptr; }),
              HasSubstr("columns but its schema"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.length = -1; }),
              HasSubstr("impossible length or offset"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.offset = -1; }),
              HasSubstr("impossible length or offset"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.length = INT64_MAX; }),
              HasSubstr("impossible length or offset"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.null_count = 1; }), HasSubstr("null rows"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.null_count = -1, r.no_buffers[0] = &r.bits; }),
              HasSubstr("null rows"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.dictionary = &r.value_array; }),
              HasSubstr("dictionary of its own"));
  EXPECT_THAT(outcome([](Raw& r) { r.array_children[0] = nullptr; }),
              HasSubstr("column 'int' is missing"));
  EXPECT_THAT(outcome([](Raw& r) { r.array.offset = 1; }),
              HasSubstr("column 'int' is shorter than its table"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].length = 2; }), HasSubstr("shorter than its table"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].offset = -1; }), HasSubstr("impossible offset"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].n_buffers = 3; }),
              HasSubstr("3 buffers instead of 2"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].buffers = nullptr; }),
              HasSubstr("buffers instead of 2"));
  EXPECT_THAT(outcome([](Raw& r) { r.int_buffers[1] = nullptr; }), HasSubstr("no data buffer"));
  EXPECT_THAT(outcome([](Raw& r) { r.int_buffers[1] = r.bytes.data() + 1; }),
              HasSubstr("not aligned to 4 bytes"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].null_count = 1; }), HasSubstr("no validity bitmap"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].n_children = 2; }),
              HasSubstr("children its schema lacks"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[0].dictionary = &r.value_array; }),
              HasSubstr("dictionary its schema lacks"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[2].dictionary = nullptr; }),
              HasSubstr("has no dictionary"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_array.n_buffers = 2; }),
              HasSubstr("2 buffers instead of 3"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_array.null_count = 1, r.value_buffers[0] = &r.bits; }),
              HasSubstr("nulls inside"));
  EXPECT_THAT(outcome([](Raw& r) { r.value_array.dictionary = &r.value_array; }),
              HasSubstr("nested deeper"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[3].n_children = 0; }), HasSubstr("no list values"));
  EXPECT_THAT(outcome([](Raw& r) { r.item_array_at = nullptr; }), HasSubstr("no list values"));
  EXPECT_THAT(outcome([](Raw& r) { r.item_array.length = 5; }),
              HasSubstr("column 'list' is shorter"));
  EXPECT_THAT(outcome([](Raw& r) { r.arrays[3].offset = 1; }),
              HasSubstr("column 'list' is shorter"));
  EXPECT_THAT(outcome([](Raw& r) {
                r.arrays[3].offset = std::int64_t{1} << 40, r.schemas[3].format = "+w:16777216";
              }),
              HasSubstr("more list values than fit"));
  EXPECT_THAT(outcome([](Raw& r) { r.item_array.null_count = 1, r.item_buffers[0] = &r.bits; }),
              HasSubstr("nulls inside"));
}

TEST(Import, ValidateReadsOffsetsAndCodes) {
  EXPECT_THAT(outcome([](Raw& r) {
                r.offsets = {-1, 0, 1, 2};
              }),
              HasSubstr("column 'text' has a negative offset"));
  EXPECT_THAT(outcome([](Raw& r) {
                r.offsets = {0, 2, 1, 2};
              }),
              HasSubstr("column 'text' has decreasing offsets"));
  EXPECT_THAT(outcome([](Raw& r) { r.text_buffers[2] = nullptr; }),
              HasSubstr("has no text buffer"));
  EXPECT_THAT(outcome([](Raw& r) {
                r.offsets = {5, 5, 5, 5}, r.text_buffers[2] = nullptr;
              }),
              HasSubstr("has no text buffer"));
  EXPECT_THAT(outcome([](Raw& r) {
                r.value_offsets = {1, 0, 2};
              }),
              HasSubstr("column 'kind' has decreasing offsets"));
  EXPECT_THAT(outcome([](Raw& r) { r.codes[2] = 2; }),
              HasSubstr("has code 2 in row 2 but only 2 dictionary values"));
  EXPECT_THAT(outcome([](Raw& r) { r.codes[0] = -1; }), HasSubstr("has code -1 in row 0"));
}

}  // namespace
}  // namespace omen
