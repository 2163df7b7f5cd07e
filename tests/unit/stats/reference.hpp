// SPDX-License-Identifier: Apache-2.0
// Reference values from tests/fixtures/stats/reference.txt.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace omen::host::stats {

// One case of the file: numbers by key.
class Reference {
 public:
  explicit Reference(const std::string& name) {
    std::ifstream file(OMEN_TEST_SOURCE_DIR "/fixtures/stats/reference.txt");
    std::string line;
    while (std::getline(file, line) && line != "case " + name) continue;
    while (std::getline(file, line) && line.rfind("case ", 0) != 0) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      for (double number; words >> number;) values_[key].push_back(number);
    }
    if (values_.empty()) throw std::runtime_error("no reference values for " + name);
  }

  const std::vector<double>& all(const std::string& key) const { return values_.at(key); }
  double one(const std::string& key) const { return values_.at(key).front(); }
  std::vector<std::int32_t> integers(const std::string& key) const {
    return {values_.at(key).begin(), values_.at(key).end()};
  }

 private:
  std::map<std::string, std::vector<double>> values_;
};

}  // namespace omen::host::stats
