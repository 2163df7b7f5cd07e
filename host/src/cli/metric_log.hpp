// SPDX-License-Identifier: Apache-2.0
// What components report with run.metric(): a table, and a curve over the steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace omen::host::cli {

class MetricLog {
 public:
  void add(const char* name, std::int64_t step, double value);  // [any-thread]
  // metrics.csv and, as a page, metrics.html; nothing where nothing was reported.
  void write(const std::filesystem::path& directory) const;

 private:
  struct Metric {
    std::string name;
    std::int64_t step;
    double value;
  };
  mutable std::mutex mutex_;
  std::vector<Metric> metrics_;
};

}  // namespace omen::host::cli
