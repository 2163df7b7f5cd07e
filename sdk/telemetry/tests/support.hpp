// SPDX-License-Identifier: Apache-2.0
// Fixture trees for /proc and /sys, and look-ups in sampled rows.
#ifndef OMEN_TESTS_TELEMETRY_SUPPORT_HPP
#define OMEN_TESTS_TELEMETRY_SUPPORT_HPP

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "omen/telemetry/source.hpp"

namespace omen::telemetry::test {

// A directory that goes with the test. Files are rewritten in place, as the kernel's are.
class TempTree {
 public:
  TempTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "omen-tele-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path operator/(const std::string& name) const { return root_ / name; }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  // Several files of one directory, each with the line that it holds.
  void write_lines(const std::string& directory,
                   std::initializer_list<std::pair<const char*, const char*>> files) const {
    for (const auto& [name, line] : files) write(directory + name, std::string(line) + "\n");
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(root_ / name); }

 private:
  std::filesystem::path root_;
};

// What a source needs, over a fixture tree with proc/ and sys/.
struct Bench {
  TempTree tree;
  MetricTable metrics;
  Notes notes;
  std::vector<Sample> rows;

  Context context() { return {{tree / "proc", tree / "sys"}, metrics, notes}; }

  // The rows of one tick only.
  void tick(Source& source, double seconds) {
    rows.clear();
    source.sample(static_cast<std::int64_t>(seconds * 1e9), rows);
  }
  std::vector<double> values(const std::string& metric, std::int32_t device = -1,
                             std::int32_t pid = 0) {
    std::vector<double> found;
    const std::int32_t id = metrics.id(metric);
    for (const Sample& row : rows)
      if (row.metric == id && row.device == device && row.pid == pid) found.push_back(row.value);
    return found;
  }
  // The value of a metric that has one row in this tick; not a number otherwise.
  double value(const std::string& metric, std::int32_t device = -1, std::int32_t pid = 0) {
    const std::vector<double> found = values(metric, device, pid);
    return found.size() == 1 ? found[0] : std::numeric_limits<double>::quiet_NaN();
  }
  bool has_note(const std::string& part) {
    for (const Note& note : notes.list())
      if (note.message.find(part) != std::string::npos) return true;
    return false;
  }
};

// The error that a call throws; code OMEN_OK where it throws none.
template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(OMEN_OK, "nothing was thrown");
}

}  // namespace omen::telemetry::test

#endif  // OMEN_TESTS_TELEMETRY_SUPPORT_HPP
