// SPDX-License-Identifier: Apache-2.0
// The profiler loadbalance.opencl as `omen profile` runs it, for programs that measure kernels.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "omen/testing/csv_table.hpp"
#include "omen/testing/temp_dir.hpp"
#include "opencl/split_search.hpp"

namespace omen::loadbalance {

// Options as one would type them, without the dashes.
using Flags = std::vector<std::pair<std::string, std::string>>;

struct ProfiledKernel {
  std::map<std::string, double> metrics;  // the last value of each
  std::vector<SplitSample> samples;
};

// What `omen profile` wrote to stderr before it ended with `exit_code`.
struct ProfileFailure : std::runtime_error {
  ProfileFailure(int code, const std::string& text) : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};
inline constexpr int kInvalidData = 4;  // exit codes as of docs/omen.1

class KernelProfiler {
 public:
  explicit KernelProfiler(std::string omen) : omen_(std::move(omen)) {}

  bool has_devices() const { return call(" --probe") == 0; }

  ProfiledKernel run(const std::string& source, const Flags& flags) const {
    const std::filesystem::path file = directory_.write("kernel.cl", source);
    std::string words = " --no-plot -q -o " + quoted((directory_ / "rows.csv").string());
    for (const auto& [key, value] : flags) words += " --" + key + " " + quoted(value);
    const int code = call(words + " -- " + quoted(file.string()));
    if (code != 0) throw ProfileFailure(code, directory_.read("log"));
    return read(test::csv_fields(directory_.read("rows.csv")));
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  int call(const std::string& words) const {
    const int status = std::system((quoted(omen_) + " profile --with loadbalance.opencl" + words +
                                    " > " + quoted((directory_ / "log").string()) + " 2>&1")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static ProfiledKernel read(const std::vector<std::vector<std::string>>& rows) {
    ProfiledKernel found;
    const auto column = [&rows](const char* name) {
      for (std::size_t c = 0; c < rows.at(0).size(); ++c)
        if (rows[0][c] == name) return c;
      throw std::runtime_error(std::string("no column ") + name);
    };
    const std::size_t metric = column("metric"), device = column("device"), at = column("value");
    for (std::size_t row = 1; row < rows.size() && !rows[row].empty(); ++row) {
      const std::string& name = rows[row].at(metric);
      const double value = std::strtod(rows[row].at(at).c_str(), nullptr);
      found.metrics[name] = value;
      if (name == "share_percent") found.samples.push_back({value, {}, SearchStep::kSweep});
      if (name == "split_ms") found.samples.back().time.total_ms = value;
      if (name == "device_ms")
        (rows[row].at(device) == "0" ? found.samples.back().time.first_ms
                                     : found.samples.back().time.second_ms) = value;
    }
    return found;
  }

  std::string omen_;
  test::TempDir directory_;
};

}  // namespace omen::loadbalance
