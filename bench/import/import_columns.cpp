// SPDX-License-Identifier: Apache-2.0
// Imports tables of many columns: CPU time of 200 000 over that of 50 000, which is 4 where it
// grows in proportion and 16 where it grows with the square. The dictionaries of the larger one do
// not fit into memory at once.
//   import_columns OMEN    with OMEN_SHOW_BREAK=1 the smaller table has 12 500
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

// Numbers and text in turn, because text is looked at more closely.
void write_table(const std::filesystem::path& file, int columns) {
  std::ofstream out(file);
  for (int c = 0; c < columns; ++c) out << (c ? ",c" : "c") << c;
  for (int row = 0; row < 6; ++row) {
    out << "\n";
    for (int c = 0; c < columns; ++c) {
      if (c > 0) out << ",";
      if (c % 2)
        out << "word" << (c + row) % 5;
      else
        out << (c + row) % 10;
    }
  }
  out << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const omen::test::TempDir directory;
  const auto cpu_of = [&](int columns) {
    const std::string name = "c" + std::to_string(columns);
    write_table(directory / (name + ".csv"), columns);
    const std::string command = std::string(argv[1]) + " data import -q " +
                                (directory / (name + ".csv")).string() + " -o " +
                                (directory / name).string();
    const double start = omen::test::cpu_seconds(RUSAGE_CHILDREN);
    if (std::system(command.c_str()) != 0) std::exit(1);
    return omen::test::cpu_seconds(RUSAGE_CHILDREN) - start;
  };
  const double few = cpu_of(omen::test::broken() ? 12500 : 50000), many = cpu_of(200000);
  return omen::test::show("data_import_columns_ratio", many / few, "x", "<=", 8);
}
