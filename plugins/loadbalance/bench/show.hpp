// SPDX-License-Identifier: Apache-2.0
// What the acceptance figures of the front end share: CPU clocks, modules in memory, SHOW lines.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace omen::loadbalance::bench {

constexpr int kSkipped = 77;

// Control runs break what is measured and must then miss the goal.
inline bool broken() {
  return std::getenv("OMEN_SHOW_BREAK") != nullptr;
}

// User and system seconds of this process, or of its children that ended.
inline double cpu_seconds(int who = RUSAGE_SELF) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline double cpu_seconds_of(const auto& work) {
  const double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

struct File {
  std::string path, text;
};

inline std::vector<File> files_in(const std::string& directory, const std::string& suffix) {
  std::vector<File> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != suffix) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files.push_back({entry.path().string(),
                     {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

// 0 where `value` meets the goal, else 1.
inline int show(const std::string& name, double value, const char* unit, const std::string& op,
                double bound) {
  std::printf("SHOW %s %.4g %s goal %s %g\n", name.c_str(), value, unit, op.c_str(), bound);
  std::fflush(stdout);
  const bool met = op == "<=" ? value <= bound : op == ">=" ? value >= bound : value == bound;
  return met ? 0 : 1;
}

// A figure without a goal.
inline void show(const std::string& name, double value, const char* unit) {
  std::printf("SHOW %s %.4g %s goal none\n", name.c_str(), value, unit);
}

}  // namespace omen::loadbalance::bench
