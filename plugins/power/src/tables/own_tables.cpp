// SPDX-License-Identifier: Apache-2.0
// Containers with tables, one or a directory of them.
#include "tables/own_tables.hpp"

#include <filesystem>
#include <omen/container.hpp>

namespace omen::power {
namespace {

namespace fs = std::filesystem;

}  // namespace

NamedTables read_own_tables(const std::string& path) {
  NamedTables tables;
  const auto read = [&](const fs::path& file) {
    const container::Reader reader = container::Reader::open(file);
    for (const std::string& name : container::table_names(reader))
      tables[name] = container::get_table(reader, name);
  };
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".omt") read(entry.path());
  } else if (fs::path(path).extension() == ".omt") {
    read(path);
  }
  return tables;
}

}  // namespace omen::power
