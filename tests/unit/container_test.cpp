// SPDX-License-Identifier: Apache-2.0
// Container files: round trips of tensors and tables, and a zoo of broken files with the message
// each one earns.
#include "omen/container.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "omen/testing/temp_dir.hpp"
#include "omen/utf8.hpp"

namespace omen::container {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ContainerTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }
  auto files() const {
    return std::distance(std::filesystem::directory_iterator(directory_.path()), {});
  }

  test::TempDir directory_;
};

Reader read_bytes(const std::string& bytes) {
  auto held = std::make_shared<const std::string>(bytes);
  return Reader::from_memory(held->data(), held->size(), held);
}

// Header length, header, data: the raw layout, without any of the writer's checks.
std::string file(const std::string& header, const std::string& data = {}) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

Error container_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(OMEN_OK, "no error was thrown");
}

template <class T>
void put(Writer& writer, const std::string& name, const char* dtype, const std::vector<T>& values) {
  writer.put_tensor(name, dtype, {static_cast<std::int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(T));
}

template <class T>
std::vector<T> get(const Reader& reader, const std::string& name) {
  const Entry* entry = reader.find(name);
  if (!entry) return {};
  const auto* data = static_cast<const T*>(reader.bytes(*entry));
  return {data, data + (entry->end - entry->begin) / sizeof(T)};
}

// -------------------------------------------------------------------------------------- round trip

TEST_F(ContainerTest, KeepsTensorsMetadataAndAlignment) {
  Writer writer;
  writer.put_meta("note", "größer\n\"quoted\"");
  put<std::uint8_t>(writer, "odd", "U8", {1, 2, 3});
  put<double>(writer, "wide", "F64", {1.5, -2.5});
  put<std::int16_t>(writer, "short", "I16", {7});
  writer.put_tensor("scalar", "F32", {}, "\0\0\x80\x3f", 4);
  writer.put_tensor("empty", "F64", {3, 0}, nullptr, 0);
  writer.write(path("a.omen"));

  const Reader reader = Reader::open(path("a.omen"));
  EXPECT_EQ(reader.metadata().at("note"), "größer\n\"quoted\"");
  EXPECT_THAT(get<std::uint8_t>(reader, "odd"), ElementsAre(1, 2, 3));
  EXPECT_THAT(get<double>(reader, "wide"), ElementsAre(1.5, -2.5));
  EXPECT_THAT(get<std::int16_t>(reader, "short"), ElementsAre(7));
  EXPECT_THAT(get<float>(reader, "scalar"), ElementsAre(1.0f));
  EXPECT_THAT(reader.find("empty")->shape, ElementsAre(3, 0));
  EXPECT_EQ(reader.find("missing"), nullptr);
  for (const Entry& entry : reader.entries())
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader.bytes(entry)) % dtype_width(entry.dtype), 0u)
        << entry.name;
  EXPECT_EQ(reader.metadata().at("omen.digest"), reader.digest());
  reader.verify_digest();
}

TEST_F(ContainerTest, SameContentMakesTheSameBytes) {
  const auto make = [] {
    Writer writer;
    put<float>(writer, "b", "F32", {1});
    put<float>(writer, "a", "F32", {2});
    writer.put_meta("z", "1");
    writer.put_meta("y", "2");
    return writer.serialise();
  };
  EXPECT_EQ(make(), make());
}

TEST_F(ContainerTest, EmptyContainerIsValid) {
  const Reader reader = read_bytes(Writer().serialise());
  EXPECT_TRUE(reader.entries().empty());
  EXPECT_EQ(reader.data_size(), 0u);
  EXPECT_TRUE(read_bytes(file("{}")).metadata().empty());
}

TEST_F(ContainerTest, WriteReplacesAtomicallyAndLeavesNothingBehind) {
  Writer first, second;
  put<float>(first, "x", "F32", {1});
  put<float>(second, "x", "F32", {2});
  first.write(path("m.omen"));
  const Reader old = Reader::open(path("m.omen"));
  second.write(path("m.omen"));
  EXPECT_THAT(get<float>(old, "x"), ElementsAre(1)) << "an open reader keeps the file it opened";
  EXPECT_THAT(get<float>(Reader::open(path("m.omen")), "x"), ElementsAre(2));
  EXPECT_EQ(files(), 1);

  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat info {};
  ASSERT_EQ(::stat(path("m.omen").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u & ~mask);
}

TEST_F(ContainerTest, FailedWriteLeavesTheOldFileAlone) {
  std::filesystem::create_directories(path("target"));
  std::ofstream(path("target") / "inside") << "x";
  Writer writer;
  put<float>(writer, "x", "F32", {1});
  const Error error = container_error_of([&] { writer.write(path("target")); });
  EXPECT_EQ(error.code(), OMEN_IO);
  EXPECT_THAT(error.what(), HasSubstr("cannot replace"));
  EXPECT_EQ(files(), 1) << "no temporary file stays";
  EXPECT_EQ(container_error_of([&] { writer.write(path("no/such/dir/x.omen")); }).code(), OMEN_IO);
}

TEST_F(ContainerTest, UnreadablePathsAreIoErrors) {
  EXPECT_EQ(container_error_of([&] { Reader::open(path("missing.omen")); }).code(), OMEN_IO);
  const Error directory = container_error_of([&] { Reader::open(directory_.path()); });
  EXPECT_EQ(directory.code(), OMEN_IO);
  EXPECT_THAT(directory.what(), HasSubstr("Is a directory"));
  EXPECT_EQ(container_error_of([&] { sha256_file(path("missing")); }).code(), OMEN_IO);
}

TEST_F(ContainerTest, Sha256MatchesPublishedVectors) {
  const std::string abc = "abc";
  EXPECT_EQ(sha256(abc.data(), 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(nullptr, 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  std::ofstream(path("abc"), std::ios::binary) << abc;
  EXPECT_EQ(sha256_file(path("abc")), sha256(abc.data(), 3));
}

TEST_F(ContainerTest, DigestNoticesAFlippedBit) {
  Writer writer;
  put<double>(writer, "x", "F64", {1, 2, 3});
  std::string bytes = writer.serialise();
  bytes.back() ^= 1;
  const Reader reader = read_bytes(bytes);
  const Error error = container_error_of([&] { reader.verify_digest(); });
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("was changed"));
}

// ----------------------------------------------------------------------------------- writer checks

TEST_F(ContainerTest, WriterRefusesWhatNoReaderAccepts) {
  Writer writer;
  put<float>(writer, "x", "F32", {1});
  const float one = 1;
  const auto message = [&](const std::string& name, const char* dtype,
                           std::vector<std::int64_t> shape, const void* bytes, std::size_t size) {
    const Error error =
        container_error_of([&] { writer.put_tensor(name, dtype, std::move(shape), bytes, size); });
    EXPECT_EQ(error.code(), OMEN_INVALID_ARGUMENT);
    return std::string(error.what());
  };
  EXPECT_THAT(message("x", "F32", {1}, &one, 4), HasSubstr("put twice"));
  EXPECT_THAT(message("y", "F31", {1}, &one, 4), HasSubstr("unknown dtype 'F31'"));
  EXPECT_THAT(message("y", "F32", {2}, &one, 4), HasSubstr("4 bytes, its shape needs 8"));
  EXPECT_THAT(message("y", "F32", {-1}, &one, 4), HasSubstr("impossible shape"));
  EXPECT_THAT(message("y", "F32", {INT64_MAX, 16}, &one, 4), HasSubstr("impossible shape"));
  EXPECT_THAT(message("y", "F32", {1}, nullptr, 4), HasSubstr("no bytes"));
  EXPECT_THAT(message("\xff", "F32", {1}, &one, 4), HasSubstr("not UTF-8"));
  EXPECT_THAT(message(std::string("a\0b", 3), "F32", {1}, &one, 4), HasSubstr("byte 1"));
  EXPECT_THAT(message("__metadata__", "F32", {1}, &one, 4), HasSubstr("__metadata__"));
  EXPECT_THAT(container_error_of([&] { writer.put_meta("k", "\xc3"); }).what(),
              HasSubstr("metadata 'k' is not UTF-8"));
  EXPECT_EQ(read_bytes(writer.serialise()).entries().size(), 1u)
      << "refused tensors leave no trace";
}

// ------------------------------------------------------------------------------------ broken files

struct Broken {
  const char* name;
  std::string bytes;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

std::string tensor(const std::string& name, const std::string& body) {
  return "\"" + name + "\":{" + body + "}";
}

std::string u8(const std::string& name, int begin, int end) {
  return tensor(name, R"("dtype":"U8","shape":[)" + std::to_string(end - begin) +
                          R"(],"data_offsets":[)" + std::to_string(begin) + "," +
                          std::to_string(end) + "]");
}

std::vector<Broken> zoo() {
  const std::string huge_header("\x01\xe1\xf5\x05\0\0\0\0", 8);
  const std::string endless_header(8, '\xff');
  const std::string valid = file("{" + u8("a", 0, 4) + "}", "1234");
  return {
      {"empty", "", "truncated: 0 bytes are too few"},
      {"seven_bytes", "1234567", "truncated: 7 bytes are too few"},
      {"header_over_limit", huge_header,
       "header of 100000001 bytes exceeds the limit of 100000000"},
      {"header_endless", endless_header + "{}", "exceeds the limit"},
      {"header_truncated", valid.substr(0, 20), "truncated: header of"},
      {"data_truncated", valid.substr(0, valid.size() - 1),
       "truncated: tensor 'a' ends at byte 4 of the data, the file has only 3"},
      {"trailing_bytes", valid + "xyz", "3 bytes follow the last tensor"},
      {"only_trailing_bytes", file("{}", "x"), "1 bytes follow the last tensor"},
      {"header_empty", file(""), "header does not start with '{'"},
      {"header_array", file("[]"), "header does not start with '{'"},
      {"header_byte_order_mark", file("\xef\xbb\xbf{}"), "header does not start with '{'"},
      {"header_unclosed", file("{"), "not valid JSON"},
      {"header_garbage_behind", file("{}x"), "not valid JSON at its byte 3"},
      {"header_nul_padding", file(std::string("{}\0\0", 4)), "not valid JSON"},
      {"header_latin1", file("{\"__metadata__\":{\"a\":\"\xe9\"}}"),
       "header is not UTF-8 at its byte 22"},
      {"header_lone_surrogate", file(R"({"__metadata__":{"a":"\ud800"}})"), "not valid JSON"},
      {"overlap", file("{" + u8("a", 0, 3) + "," + u8("b", 2, 4) + "}", "1234"),
       "tensors 'a' and 'b' overlap"},
      {"same_bytes_twice", file("{" + u8("a", 0, 4) + "," + u8("b", 0, 4) + "}", "1234"),
       "tensors 'a' and 'b' overlap"},
      {"gap", file("{" + u8("a", 0, 1) + "," + u8("b", 3, 4) + "}", "1234"),
       "bytes 1 to 3 of the data, before tensor 'b', belong to no tensor"},
      {"gap_at_start", file("{" + u8("a", 1, 4) + "}", "1234"), "bytes 0 to 1"},
      {"duplicate_tensor", file("{" + u8("a", 0, 4) + "," + u8("a", 0, 4) + "}", "1234"),
       "name 'a' appears twice in the header"},
      {"duplicate_escaped", file("{" + u8("a", 0, 4) + "," + u8("\\u0061", 4, 4) + "}", "1234"),
       "name 'a' appears twice"},
      {"duplicate_metadata_object", file(R"({"__metadata__":{},"__metadata__":{}})"),
       "'__metadata__' appears twice"},
      {"duplicate_metadata_key", file(R"({"__metadata__":{"k":"1","k":"2"}})"),
       "metadata key 'k' appears twice"},
      {"duplicate_field", file("{" + tensor("a", R"("dtype":"U8","dtype":"I8")") + "}"),
       "has the field 'dtype' twice"},
      {"unknown_field", file("{" + tensor("a", R"("stride":[1])") + "}"), "unknown field 'stride'"},
      {"unknown_dtype",
       file("{" + tensor("a", R"("dtype":"X9","shape":[],"data_offsets":[0,0])") + "}"),
       "tensor 'a' has unknown dtype 'X9'"},
      {"no_dtype", file("{" + tensor("a", R"("shape":[0],"data_offsets":[0,0])") + "}"),
       "tensor 'a' has no dtype"},
      {"no_shape", file("{" + tensor("a", R"("dtype":"U8","data_offsets":[0,0])") + "}"),
       "tensor 'a' has no shape"},
      {"no_offsets", file("{" + tensor("a", R"("dtype":"U8","shape":[0])") + "}"),
       "tensor 'a' has no data_offsets"},
      {"one_offset",
       file("{" + tensor("a", R"("dtype":"U8","shape":[0],"data_offsets":[0])") + "}"),
       "data_offsets needs two numbers, not 1"},
      {"three_offsets",
       file("{" + tensor("a", R"("dtype":"U8","shape":[0],"data_offsets":[0,0,0])") + "}"),
       "data_offsets needs two numbers, not 3"},
      {"backward_offsets",
       file("{" + tensor("a", R"("dtype":"U8","shape":[0],"data_offsets":[4,0])") + "}", "1234"),
       "tensor 'a' ends before it begins"},
      {"size_mismatch",
       file("{" + tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[0,4])") + "}", "1234"),
       "tensor 'a' needs 8 bytes for its shape but has 4"},
      {"shape_overflow",
       file("{" +
            tensor("a", R"("dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0])") +
            "}"),
       "shape whose size overflows 64 bits"},
      {"extent_over_int64",
       file("{" +
            tensor("a", R"("dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0])") +
            "}"),
       "shape has a number that is no 64-bit integer"},
      {"offset_over_uint64",
       file("{" +
            tensor("a", R"("dtype":"U8","shape":[0],"data_offsets":[0,18446744073709551616])") +
            "}"),
       "data_offsets has a number that is no 64-bit integer"},
      {"negative_extent",
       file("{" + tensor("a", R"("dtype":"U8","shape":[-1],"data_offsets":[0,0])") + "}"),
       "shape has the negative number -1"},
      {"negative_offset",
       file("{" + tensor("a", R"("dtype":"U8","shape":[0],"data_offsets":[-4,0])") + "}"),
       "data_offsets has the negative number -4"},
      {"fractional_extent",
       file("{" + tensor("a", R"("dtype":"U8","shape":[1.5],"data_offsets":[0,0])") + "}"),
       "shape has a number that is no 64-bit integer"},
      {"text_extent",
       file("{" + tensor("a", R"("dtype":"U8","shape":["1"],"data_offsets":[0,0])") + "}"),
       "shape must hold integers, found text"},
      {"nested_shape",
       file("{" + tensor("a", R"("dtype":"U8","shape":[[1]],"data_offsets":[0,0])") + "}"),
       "shape must hold integers, found an array"},
      {"shape_number", file("{" + tensor("a", R"("dtype":"U8","shape":1)") + "}"),
       "shape must be an array of integers, found a number"},
      {"offsets_object", file("{" + tensor("a", R"("data_offsets":{})") + "}"),
       "data_offsets must be an array of integers, found an object"},
      {"dtype_number", file("{" + tensor("a", R"("dtype":8)") + "}"),
       "dtype must be text, found a number"},
      {"dtype_null", file("{" + tensor("a", R"("dtype":null)") + "}"),
       "dtype must be text, found null"},
      {"tensor_text", file(R"({"a":"U8"})"), "tensor 'a' must be an object, found text"},
      {"tensor_boolean", file(R"({"a":true})"), "tensor 'a' must be an object, found a boolean"},
      {"metadata_array", file(R"({"__metadata__":[]})"),
       "__metadata__ must be an object, found an array"},
      {"metadata_number", file(R"({"__metadata__":{"k":1}})"),
       "metadata 'k' must be text, found a number"},
      {"metadata_float", file(R"({"__metadata__":{"k":1.5}})"),
       "metadata 'k' must be text, found a number"},
      {"metadata_negative", file(R"({"__metadata__":{"k":-1}})"),
       "metadata 'k' must be text, found a number"},
      {"metadata_nested", file(R"({"__metadata__":{"k":{}}})"),
       "metadata 'k' must be text, found an object"},
      {"metadata_value_nul", file(R"({"__metadata__":{"k":"\u0000"}})"),
       "a metadata value contains a NUL"},
      {"metadata_key_nul", file(R"({"__metadata__":{"\u0000":""}})"),
       "a metadata key contains a NUL"},
      {"name_nul", file("{" + u8("a\\u0000b", 0, 0) + "}"), "a tensor name contains a NUL"},
      {"deep_nesting", file("{\"a\":" + std::string(100000, '[')),
       "tensor 'a' must be an object, found an array"},
  };
}

class BrokenContainer : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenContainer, IsRefusedWithItsReason) {
  const Error error = container_error_of([] { read_bytes(GetParam().bytes); });
  EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
  EXPECT_THAT(error.what(), HasSubstr("is not a valid container: "));
  EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  EXPECT_NE(error.hint(), "");
}

INSTANTIATE_TEST_SUITE_P(Zoo, BrokenContainer, ::testing::ValuesIn(zoo()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(ContainerTest, TheZooDiffersFromAValidFile) {
  EXPECT_EQ(
      read_bytes(file("{" + u8("a", 0, 3) + "," + u8("b", 3, 4) + "}   ", "1234")).entries().size(),
      2u);
  EXPECT_EQ(read_bytes(file(R"({"__metadata__":{"k":"1","l":"2"}})")).metadata().size(), 2u);
}

TEST_F(ContainerTest, EveryPrefixOfAFileIsRefused) {
  Writer writer;
  put<float>(writer, "x", "F32", {1, 2});
  const std::string bytes = writer.serialise();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_bytes(bytes.substr(0, size)), Error) << size;
}

// ---------------------------------------------------------------------------------- the C boundary

TEST_F(ContainerTest, SinkAndSourceCarryAModel) {
  Writer writer;
  ArtifactWriter out(writer.sink());
  out.put_meta("note", "n");
  out.put<double>("w", {1, 2, 3, 4}, {2, 2});
  out.put_text("vocabulary", "a\nb");
  EXPECT_THAT(container_error_of([&] { out.put_meta("omen.seed", "1"); }).what(),
              HasSubstr("is the host's"));
  EXPECT_EQ(container_error_of([&] { out.put_raw("bad", "F32", {1}, nullptr, 3); }).code(),
            OMEN_INVALID_ARGUMENT);

  const Reader reader = read_bytes(writer.serialise());
  const ArtifactReader in(reader.source());
  EXPECT_EQ(in.meta("note"), "n");
  EXPECT_EQ(in.find_meta("omen.seed"), std::nullopt);
  EXPECT_THAT(in.get<double>("w"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(in.tensor("w").shape, ElementsAre(2, 2));
  EXPECT_EQ(in.text("vocabulary"), "a\nb");
  EXPECT_THAT(in.names(), ElementsAre("w", "vocabulary"));
  EXPECT_EQ(container_error_of([&] { in.tensor("missing"); }).code(), OMEN_NOT_FOUND);
}

TEST_F(ContainerTest, SourceFollowsAMovedReader) {
  Writer writer;
  put<float>(writer, "x", "F32", {4});
  Reader first = read_bytes(writer.serialise());
  first.source();
  const Reader second = std::move(first);
  EXPECT_THAT(ArtifactReader(second.source()).get<float>("x"), ElementsAre(4));
}

// ------------------------------------------------------------------------------------------ tables

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

TEST_F(ContainerTest, TablesOfEveryTypeComeBackEqual) {
  const Table table = every_type();
  Writer writer;
  put_table(writer, "all", table);
  put_table(writer, "middle", table.slice(1, 2));
  put_table(writer, "none", table.slice(0, 0));
  put_table(writer, "no columns", Table());
  writer.write(path("t.omt"));
  const Reader reader = Reader::open(path("t.omt"));
  EXPECT_THAT(table_names(reader), ElementsAre("all", "middle", "no columns", "none"));
  EXPECT_EQ(describe(get_table(reader, "all")), describe(table));
  EXPECT_EQ(describe(get_table(reader, "middle")), describe(table.slice(1, 2)));
  EXPECT_EQ(describe(get_table(reader, "none")), describe(table.slice(0, 0)));
  EXPECT_EQ(get_table(reader, "no columns").columns(), 0u);
}

TEST_F(ContainerTest, TablesAreReadInPlaceAndOutliveTheReader) {
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

TEST_F(ContainerTest, MisalignedColumnsOfForeignWritersAreCopied) {
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

TEST_F(ContainerTest, MissingTablesNameWhatThereIs) {
  Writer writer;
  put_table(writer, "nodes", every_type());
  const Reader reader = read_bytes(writer.serialise());
  const Error error = container_error_of([&] { get_table(reader, "edges"); });
  EXPECT_EQ(error.code(), OMEN_NOT_FOUND);
  EXPECT_EQ(error.hint(), "The file has: nodes.");
  EXPECT_THROW(put_table(writer, "a/b", every_type()), Error);
  EXPECT_THROW(put_table(writer, "", every_type()), Error);
}

TEST_F(ContainerTest, ColumnsOfOneNameAreRefused) {
  Writer writer;
  const Table table = TableBuilder().add<double>("x", {1}).add<double>("x", {2}).finish();
  EXPECT_THAT(container_error_of([&] { put_table(writer, "t", table); }).what(),
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
    const Error error = container_error_of([&] { get_table(reader, "t"); });
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

TEST_F(ContainerTest, DamagedTablesAreRefusedWithTheirReason) {
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

TEST_F(ContainerTest, FindsInvalidUtf8) {
  EXPECT_EQ(find_invalid_utf8("plain ascii that is longer than eight bytes"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("é ü € \xf0\x9f\x98\x80"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("12345678\x80"), 8u);
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xe0\x80\xaf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xf0\x80\x80\xaf"), 0u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("a\xed\xa0\x80"), 1u) << "surrogate";
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u) << "beyond U+10FFFF";
  EXPECT_EQ(find_invalid_utf8("\xf5\x80\x80\x80"), 0u);
  EXPECT_EQ(find_invalid_utf8("ab\xe2\x82"), 2u) << "cut";
}

}  // namespace
}  // namespace omen::container
