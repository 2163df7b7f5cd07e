// SPDX-License-Identifier: Apache-2.0
// Container files: round trips of tensors, and a zoo of broken files with the message each earns.
#include "omen/container.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "omen/utf8.hpp"
#include "support/container_bytes.hpp"

namespace omen::container {
namespace {

using bytes::file;
using bytes::put;
using bytes::read_bytes;
using test::thrown_by;
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
  const Error error = thrown_by([&] { writer.write(path("target")); });
  EXPECT_EQ(error.code(), OMEN_IO);
  EXPECT_THAT(error.what(), HasSubstr("cannot replace"));
  EXPECT_EQ(files(), 1) << "no temporary file stays";
  EXPECT_EQ(thrown_by([&] { writer.write(path("no/such/dir/x.omen")); }).code(), OMEN_IO);
}

TEST_F(ContainerTest, UnreadablePathsAreIoErrors) {
  EXPECT_EQ(thrown_by([&] { Reader::open(path("missing.omen")); }).code(), OMEN_IO);
  const Error directory = thrown_by([&] { Reader::open(directory_.path()); });
  EXPECT_EQ(directory.code(), OMEN_IO);
  EXPECT_THAT(directory.what(), HasSubstr("Is a directory"));
  EXPECT_EQ(thrown_by([&] { sha256_file(path("missing")); }).code(), OMEN_IO);
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
  const Error error = thrown_by([&] { reader.verify_digest(); });
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
        thrown_by([&] { writer.put_tensor(name, dtype, std::move(shape), bytes, size); });
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
  EXPECT_THAT(thrown_by([&] { writer.put_meta("k", "\xc3"); }).what(),
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
  const Error error = thrown_by([] { read_bytes(GetParam().bytes); });
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
  EXPECT_THAT(thrown_by([&] { out.put_meta("omen.seed", "1"); }).what(),
              HasSubstr("is the host's"));
  EXPECT_EQ(thrown_by([&] { out.put_raw("bad", "F32", {1}, nullptr, 3); }).code(),
            OMEN_INVALID_ARGUMENT);

  const Reader reader = read_bytes(writer.serialise());
  const ArtifactReader in(reader.source());
  EXPECT_EQ(in.meta("note"), "n");
  EXPECT_EQ(in.find_meta("omen.seed"), std::nullopt);
  EXPECT_THAT(in.get<double>("w"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(in.tensor("w").shape, ElementsAre(2, 2));
  EXPECT_EQ(in.text("vocabulary"), "a\nb");
  EXPECT_THAT(in.names(), ElementsAre("w", "vocabulary"));
  EXPECT_EQ(thrown_by([&] { in.tensor("missing"); }).code(), OMEN_NOT_FOUND);
}

TEST_F(ContainerTest, SourceFollowsAMovedReader) {
  Writer writer;
  put<float>(writer, "x", "F32", {4});
  Reader first = read_bytes(writer.serialise());
  first.source();
  const Reader second = std::move(first);
  EXPECT_THAT(ArtifactReader(second.source()).get<float>("x"), ElementsAre(4));
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
