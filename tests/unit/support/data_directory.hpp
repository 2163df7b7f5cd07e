// SPDX-License-Identifier: Apache-2.0
// A directory for datasets, recipes and raw files, with a cache of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/import.hpp"
#include "data/recipe.hpp"
#include "omen/container.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::test::data {

using host::DatasetInfo, host::ImportPlan, host::Recipe, host::Tables, host::read_recipe;

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string sha(const std::string& text) {
  return container::sha256(text.data(), text.size());
}

inline std::vector<std::string> dataset_files_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& item : std::filesystem::directory_iterator(directory, none))
    names.push_back(item.path().filename());
  return names;
}

// Own cache and own raw files for each test.
class Data : public ::testing::Test {
 protected:
  Data() {
    ::setenv("XDG_CACHE_HOME", (dir_.path() / "cache").c_str(), 1);
    ::setenv("OMEN_DATA", (dir_.path() / "raw").c_str(), 1);
  }
  ~Data() override {
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("OMEN_DATA");
  }

  // A dataset of one CSV table.
  std::filesystem::path dataset(const std::string& csv, const std::string& more = "") {
    const std::filesystem::path directory = dir_.path() / "set";
    write(directory / "t.csv", csv);
    write(
        directory / "dataset.json",
        R"({"format_version": 1, "name": "set", "summary": "s", "files": [{"file": "t.csv", "sha256": ")" +
            sha(csv) + R"(", "tables": ["workloads"]}])" + more + "}");
    return directory;
  }
  void raw(const std::string& file, const std::string& text) {
    write(dir_.path() / "raw" / file, text);
    raw_ += (raw_.empty() ? "" : ", ") + std::string(R"({"file": ")") + file + R"(", "sha256": ")" +
            sha(text) + R"("})";
  }
  Recipe recipe(const std::string& rest) {
    const std::filesystem::path file = dir_.path() / "data/recipes/made.json";
    write(file, R"({"format_version": 1, "name": "made", "summary": "s", "origin": "o", )"
                R"("license": "l", "raw": [)" +
                    raw_ + "], " + rest + "}");
    return read_recipe(file);
  }
  Tables made(const std::string& rest) {
    return load_dataset(make_dataset(recipe(rest), dir_.path() / "made"));
  }
  DatasetInfo import(const std::string& csv, ImportPlan plan = {}, const char* suffix = ".csv") {
    write(dir_.path() / ("in" + std::string(suffix)), csv);
    if (plan.info.name.empty()) plan.info.name = "imported";
    return import_tables(plan, {(dir_.path() / ("in" + std::string(suffix))).string()},
                         dir_.path() / "imported");
  }

  TempDir dir_;
  std::string raw_;
};

}  // namespace omen::test::data
