// SPDX-License-Identifier: Apache-2.0
// Writes a container with every dtype and a table, and checks one that Python wrote.
#include <cstdio>

#include "omen/container.hpp"

namespace {

using omen::container::Reader;
using omen::container::Writer;

template <class T>
void put(Writer& writer, const char* name) {
  const T values[] = {1, 2, 3};
  writer.put_tensor(name, omen::dtype_of<T>(), {3}, values, sizeof values);
}

void write(const char* path) {
  Writer writer;
  writer.put_meta("note", "größer \"than\" this");
  put<std::uint8_t>(writer, "uint8");
  put<double>(writer, "float64");
  put<std::int8_t>(writer, "int8");
  put<std::uint16_t>(writer, "uint16");
  put<std::int16_t>(writer, "int16");
  put<std::uint32_t>(writer, "uint32");
  put<std::int32_t>(writer, "int32");
  put<std::uint64_t>(writer, "uint64");
  put<std::int64_t>(writer, "int64");
  put<float>(writer, "float32");
  const float matrix[] = {1.5f, 2.5f, 3.5f, 4.5f};
  writer.put_tensor("matrix", "F32", {2, 2}, matrix, sizeof matrix);
  const double scalar = 7;
  writer.put_tensor("scalar", "F64", {}, &scalar, sizeof scalar);
  writer.put_tensor("nothing", "F32", {0, 4}, nullptr, 0);
  const omen::Table rows = omen::TableBuilder()
                               .add<double>("x", {0.25, 0.5, 0.75})
                               .valid({true, false, true})
                               .add_bools("flag", {true, false, true})
                               .add_strings("name", {"é", "", "zwei"})
                               .add_categories("kind", {"b", "a", "b"})
                               .add_list<float>("feat", 2, {1, 2, 3, 4, 5, 6})
                               .finish();
  omen::container::put_table(writer, "rows", rows);
  writer.write(path);
}

bool check(const char* path) {
  const Reader reader = Reader::open(path);
  const omen::ArtifactReader in(reader.source());
  if (in.meta("made by") != "python") return false;
  if (in.get<std::uint8_t>("odd") != std::vector<std::uint8_t>{1, 2, 3}) return false;
  if (in.tensor("half").dtype != "F16" || in.tensor("half").size != 2) return false;
  if (in.text("flags") != std::string("\1\0", 2) || in.tensor("flags").dtype != "BOOL")
    return false;
  return in.tensor("matrix").shape == std::vector<std::int64_t>{2, 3} &&
         in.get<double>("matrix") == std::vector<double>{0, 1, 2, 3, 4, 5};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc == 3 ? argv[1] : "";
  if (verb != "write" && verb != "check") {
    std::fprintf(stderr, "usage: %s write|check FILE\n", argv[0]);
    return 2;
  }
  try {
    if (verb == "write") return write(argv[2]), 0;
    if (check(argv[2])) return std::puts("we read a container that python wrote"), 0;
    std::fprintf(stderr, "error: %s does not hold what python wrote\n", argv[2]);
  } catch (const omen::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}
