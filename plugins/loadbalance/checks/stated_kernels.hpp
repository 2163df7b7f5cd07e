// SPDX-License-Identifier: Apache-2.0
// Kernels that state above themselves whether they can be divided, and in which launch that shows.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace omen::loadbalance {

enum class Truth {
  kDivisible,
  kDependent,  // a group reads what another one writes
  kUnordered,  // it does, which shows where a driver starts the last group first
  kCollides,   // groups write the same place, and none reads it
};

struct StatedKernel {
  std::filesystem::path file;
  std::string name;
  Truth truth = Truth::kDivisible;
  std::string global, local;
  std::vector<std::string> arguments;  // "n=8"
};

inline Truth truth_of(const std::string& word) {
  if (word == "divisible") return Truth::kDivisible;
  if (word == "unordered") return Truth::kUnordered;
  return word == "collides" ? Truth::kCollides : Truth::kDependent;
}

// Every kernel of every .cl file in a directory, by file and then in order. A kernel without a
// statement is an error.
inline std::vector<StatedKernel> stated_kernels(const std::filesystem::path& directory) {
  static const std::regex kStatement(
      "// (dependent|unordered|divisible|collides) ([0-9,]+)/([0-9,]+)((?: [a-z]=-?[0-9]+)*): .*");
  static const std::regex kKernel("KERNEL\\((\\w+)\\) \\{.*");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".cl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<StatedKernel> kernels;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    StatedKernel next;
    for (std::string line; std::getline(in, line);) {
      std::smatch found;
      if (std::regex_match(line, found, kStatement)) {
        next = {file, "", truth_of(found[1]), found[2], found[3], {}};
        std::istringstream words(found[4]);
        for (std::string word; words >> word;) next.arguments.push_back(word);
      } else if (std::regex_match(line, found, kKernel)) {
        if (next.global.empty()) throw std::runtime_error("nothing is stated of " + found[1].str());
        next.name = found[1];
        kernels.push_back(next);
        next = {};
      }
    }
  }
  return kernels;
}

}  // namespace omen::loadbalance
